"""Every model file is read back by a reader that did not write it, and compared with the program."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Literal

from memopt.allocation import Allocation
from memopt.errors import visible
from memopt.export.cpsat_reader import read_cpsat
from memopt.export.highs_reader import read_with_highs
from memopt.export.linear import BUDGET, Linear
from memopt.export.reading import Read, RereadDiffers, canonical
from memopt.export.table_reader import Entry, read_table
from memopt.program import Program
from memopt.solvers.cpsat import token_step


def check_linear(kind: Literal["lp", "mps"], content: bytes, model: Linear) -> None:
    """Read an LP or MPS file with HiGHS and compare.

    Raises
    ------
    SolverMissing
        When HiGHS is not installed.
    RereadDiffers
        When anything differs.
    """
    _compare(kind, read_with_highs(kind, content), _expected(model, 1))


def check_cpsat(kind: str, content: bytes, program: Program, model: Linear) -> None:
    """Read a CP-SAT model with protobuf's classes (JSON: as plain JSON) and compare.

    Raises
    ------
    RereadDiffers
        When anything differs.
    """
    _compare(kind, read_cpsat(kind, content), _expected(model, token_step(program)))


def check_json(content: bytes, program: Program, model: Linear) -> None:
    """Read memopt's own model file as plain JSON and compare every part of it.

    Raises
    ------
    RereadDiffers
        When anything differs.
    """
    read = json.loads(content)
    groups, exclusives = json.loads(json.dumps([program.groups, program.exclusives]))  # lists for tuples
    head = {
        "digest": program.digest, "budget": program.budget, "scale": program.scale,
        "ladder": list(program.ladder), "groups": groups, "exclusives": exclusives,
    }  # fmt: skip
    _same("json", "part", [(name, read[name]) for name in head], list(head.items()))
    named = list(zip(program.ids, model.names.items, strict=True))
    _same("json", "item", [(item["id"], item["name"]) for item in read["items"]], named)
    level, tokens, value = program.level.tolist(), program.tokens.tolist(), program.value.tolist()
    options = [
        (program.ids[item], program.ladder[level[at]], tokens[at], value[at], model.names.options[at])
        for item in range(len(program))
        for at in program.options(item)
    ]
    shown = [
        (item["id"], option["level"], option["tokens"], option["value"], option["variable"])
        for item in read["items"]
        for option in item["options"]
    ]
    _same("json", "option", shown, options)


def check_table(kind: Literal["md", "latex"], content: bytes, allocation: Allocation) -> None:
    """Read the table of the numbers in a Markdown or LaTeX file and compare, marks of the choice included.

    Raises
    ------
    RereadDiffers
        When anything differs.
    """
    read, program = read_table(kind, content), allocation.compiled.program
    chosen = set() if allocation.selection is None else set(allocation.selection.tolist())
    levels, items = [visible(level) for level in program.ladder], [visible(item) for item in program.ids]
    _same(kind, "level", read.levels, levels)
    _same(kind, "item", read.items, items)
    level, tokens, value = program.level.tolist(), program.tokens.tolist(), program.value.tolist()
    entries = [
        Entry(
            items[item],
            levels[level[at]],
            tokens[at],
            Decimal(value[at]).scaleb(-program.scale),
            at in chosen,
        )
        for item in range(len(program))
        for at in program.options(item)
    ]
    _same(kind, "cell", read.entries, entries)


def _expected(model: Linear, token_step: int) -> Read:
    """Return what a file must say; CP-SAT counts tokens in units of their common divisor."""
    rows = []
    for row in model.rows:
        step = token_step if row.name == BUDGET else 1
        upper = None if row.upper is None else row.upper // step
        terms = [(option, factor // step) for option, factor in row.terms.items()]
        rows.append((row.name, canonical(row.lower, upper, terms)))
    return Read(list(model.names.options), list(model.values), rows)


def _compare(kind: str, read: Read, expected: Read) -> None:
    _same(kind, "variable", read.variables, expected.variables)
    _same(kind, "objective coefficient", read.values, expected.values)
    _same(kind, "row", sorted(read.rows, key=_name), sorted(expected.rows, key=_name))


def _name(row: tuple[str, Any]) -> str:
    return row[0]


def _same(kind: str, what: str, read: list[Any], expected: list[Any]) -> None:
    if read == expected:
        return
    for one, other in zip(read, expected, strict=False):
        if one != other:
            raise RereadDiffers(kind, f"a {what} is {one!r}, not {other!r}")
    raise RereadDiffers(kind, f"it has {len(read)} of {what}, not {len(expected)}")
