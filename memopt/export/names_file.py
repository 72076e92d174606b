"""The names file beside a model: what each variable and each row stands for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from memopt.export.linear import Linear
from memopt.program import Program

FORMAT = 1


def write(program: Program, model: Linear) -> bytes:
    """Return the file's content: variable to item id and level, row to the ids it is about."""
    level = program.level.tolist()
    variables = (
        (model.names.options[option], {"item": program.ids[item], "level": program.ladder[level[option]]})
        for item in range(len(program))
        for option in program.options(item)
    )
    rows = ((row.name, [program.ids[item] for item in row.items]) for row in model.rows)
    return (
        f'{{"memopt_names": {FORMAT},\n"digest": "{model.digest}",\n'
        f'"variables": {_object(variables)},\n"rows": {_object(rows)}}}\n'
    ).encode()


def _object(pairs: Iterable[tuple[str, Any]]) -> str:
    """Return a JSON object, a key a line."""
    lines = (f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in pairs)
    return "{\n" + ",\n".join(lines) + "\n}"
