"""memopt's own model file: the whole program with its names, nothing lost, for any JSON reader."""

from __future__ import annotations

import json
from typing import Any

from memopt.export.linear import Linear
from memopt.program import Program

FORMAT = 1


def write(program: Program, model: Linear) -> bytes:
    """Return the file's content, an item a line."""
    head: dict[str, Any] = {
        "memopt_program": FORMAT,
        "digest": program.digest,
        "budget": program.budget,
        "scale": program.scale,
        "ladder": program.ladder,
        "groups": program.groups,
        "exclusives": program.exclusives,
    }
    lines = [f'"{key}": {_text(value)}' for key, value in head.items()]
    items = ",\n".join(_text(_item(program, model, item)) for item in range(len(program)))
    return "".join(["{", ",\n".join(lines), ',\n"items": [\n', items, "\n]}\n"]).encode()


def _item(program: Program, model: Linear, item: int) -> dict[str, Any]:
    span = program.options(item)
    options = [
        {
            "level": program.ladder[program.level[option]],
            "tokens": int(program.tokens[option]),
            "value": int(program.value[option]),
            "variable": model.names.options[option],
        }
        for option in span
    ]
    return {"id": program.ids[item], "name": model.names.items[item], "options": options}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
