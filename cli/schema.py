"""`memopt schema`: the JSON Schema of a problem file."""

from __future__ import annotations

import re
from typing import Any

from memopt import Instance

from .output import emit, json_bytes

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ATTRIBUTE = re.compile(r"^(\w+)\n((?: {4}.*\n?)+)", re.MULTILINE)


def schema() -> None:
    """Print the JSON Schema of a problem file."""
    emit(json_bytes({"$schema": _DIALECT} | problem_schema(), indent=2))


def problem_schema() -> dict[str, Any]:
    """Return the JSON Schema of a problem file, with one description per field and no noise."""
    generated = Instance.model_json_schema()
    definitions = generated.pop("$defs")
    cleaned = _model(generated)
    return cleaned | {"$defs": {name: _model(model) for name, model in definitions.items()}}


def _model(model: dict[str, Any]) -> dict[str, Any]:
    """Clean the schema of one model, taking the fields' descriptions from its docstring."""
    summary, _, rest = model["description"].partition("\n\nAttributes\n----------\n")
    told = {name: " ".join(text.split()) for name, text in _ATTRIBUTE.findall(rest)}
    fields = {
        name: _words({"description": told[name]}) | _field(field)
        for name, field in model["properties"].items()
    }
    return _field(model) | _words({"description": summary}) | {"properties": fields}


def _field(field: dict[str, Any]) -> dict[str, Any]:
    """Drop generated titles, and defaults that only say that a field may be left out."""
    return {
        key: value
        for key, value in field.items()
        if key != "title" and not (key == "default" and value is None)
    }


def _words(described: dict[str, str]) -> dict[str, str]:
    return {key: text.replace("`", "") for key, text in described.items()}
