from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from memopt_cli.schema import problem_schema

from memopt import Instance
from memopt.instance import Item, Option, Window


def _schemas(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for child in node.values():
            yield from _schemas(child)
    elif isinstance(node, list):
        for child in node:
            yield from _schemas(child)


def test_the_schema_is_printed_with_its_dialect(run: Any, strict_json: Any) -> None:
    done = run("schema")
    assert done.exit_code == 0
    printed = strict_json(done.stdout)
    assert printed.pop("$schema") == "https://json-schema.org/draft/2020-12/schema"
    assert printed == problem_schema()


def test_titles_and_identifiers_are_gone(run: Any) -> None:
    for node in _schemas(json.loads(run("schema").stdout)):
        assert "$id" not in node
        assert "title" not in node


def test_every_field_is_there_with_its_description() -> None:
    schema = problem_schema()
    told = {"Instance": schema} | schema["$defs"]
    fields = {
        "Instance": set(Instance.model_fields),
        "Item": set(Item.model_fields),
        "Window": set(Window.model_fields),
        "Option": set(Option.__dataclass_fields__),
    }
    assert {name: set(model["properties"]) for name, model in told.items()} == fields
    for model in told.values():
        for field in [model, *model["properties"].values()]:
            assert field["description"].endswith((".", ")")), field
            assert "\n" not in field["description"]
            assert "Attributes" not in field["description"]


def test_every_reference_is_defined() -> None:
    schema = problem_schema()
    references = {node["$ref"] for node in _schemas(schema) if "$ref" in node}
    assert references == {f"#/$defs/{name}" for name in schema["$defs"]}
