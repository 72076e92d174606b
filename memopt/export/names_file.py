"""The names file beside a model: what each variable, row and link stands for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from memopt.export.linear import Linear
from memopt.instance import Instance
from memopt.program import Program
from memopt.solvers.cpsat import token_step

FORMAT = 1


def write(program: Program, model: Linear, instance: Instance | None = None) -> bytes:
    """Return the file's content.

    It says of a variable its item's id and level, of a row the ids it is about, of the row of a link the
    name that the instance declares, and in units of how many tokens CP-SAT's files count.
    """
    level = program.level.tolist()
    variables = (
        (model.names.options[option], {"item": program.ids[item], "level": program.ladder[level[option]]})
        for item in range(len(program))
        for option in program.options(item)
    )
    rows = ((row.name, [program.ids[item] for item in row.items]) for row in model.rows)
    links = () if instance is None else _links(program, model, instance)
    return (
        f'{{"memopt_names": {FORMAT},\n"digest": "{model.digest}",\n'
        f'"cpsat_token_step": {token_step(program)},\n"variables": {_object(variables)},\n'
        f'"rows": {_object(rows)},\n"links": {_object(links)}}}\n'
    ).encode()


def _links(program: Program, model: Linear, instance: Instance) -> Iterator[tuple[str, str | None]]:
    """Yield the row of each link, and its name in the instance; a group of n members has n - 1 rows."""
    declared = {item.id: item for item in instance.items}
    rows = model.rows[1 + len(program) :]
    groups = len(rows) - len(program.exclusives)
    for row in rows[:groups]:
        yield row.name, declared[program.ids[row.items[0]]].group
    for row, units in zip(rows[groups:], program.exclusives, strict=True):
        first = (declared[program.ids[item]].exclusive for item in units[0])  # one for the whole group
        yield row.name, next(filter(None, first), None)


def _object(pairs: Iterable[tuple[str, Any]]) -> str:
    """Return a JSON object, a key a line."""
    lines = (f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in pairs)
    return "{\n" + ",\n".join(lines) + "\n}"
