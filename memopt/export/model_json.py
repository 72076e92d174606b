"""memopt's own model file: the whole program with its names, nothing lost, read back by any JSON reader."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

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


def read(content: bytes) -> Program:
    """Return the program that a model file holds."""
    document = json.loads(content)
    items = document["items"]
    options = [option for item in items for option in item["options"]]
    ladder = tuple(document["ladder"])
    rank = {level: index for index, level in enumerate(ladder)}

    def column(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(values, dtype=np.int64)

    return Program(
        budget=document["budget"],
        scale=document["scale"],
        ladder=ladder,
        ids=tuple(item["id"] for item in items),
        start=np.cumsum([0, *(len(item["options"]) for item in items)], dtype=np.int64),
        level=column([rank[option["level"]] for option in options]),
        tokens=column([option["tokens"] for option in options]),
        value=column([option["value"] for option in options]),
        groups=tuple(map(tuple, document["groups"])),
        exclusives=tuple(tuple(map(tuple, units)) for units in document["exclusives"]),
    )


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
