"""The program as a linear model in binaries: what LP and MPS files say, row by row.

One binary per candidate level of each item, 1 if the item is kept at that level. `delete` is a variable
like the others, and the links need only that one: of a group all members are deleted or none, of an
exclusive set at least all units but one are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memopt.export.names import Names, names_of
from memopt.program import Program

BUDGET = "budget"


@dataclass(frozen=True)
class Row:
    """One constraint: ``lower <= sum of coefficient * variable <= upper``.

    Attributes
    ----------
    name
        ``budget``, or the kind and the item: ``item_a``, ``group_a``, ``exclusive_a``.
    items
        The items it is about; none for the budget.
    terms
        Option index to integer coefficient, no zeros.
    lower, upper
        Integers; None = unlimited on that side.
    """

    name: str
    items: tuple[int, ...]
    terms: dict[int, int]
    lower: int | None
    upper: int | None


@dataclass(frozen=True)
class Linear:
    """Maximise the sum of value * variable over binaries, subject to the rows.

    Attributes
    ----------
    digest, scale
        The program's: one unit of value is 10^-scale utility.
    names
        Names of the variables.
    values
        Objective coefficient of each option, shape ``[options]``.
    rows
        The budget, one row per item, one per link (a group of n members has n - 1).
    """

    digest: str
    scale: int
    names: Names
    values: tuple[int, ...]
    rows: tuple[Row, ...]


def linear_model(program: Program) -> Linear:
    """Return the linear model of a program."""
    names = names_of(program)
    return Linear(
        digest=program.digest,
        scale=program.scale,
        names=names,
        values=tuple(program.value.tolist()),
        rows=(_budget(program), *_items(program, names), *_links(program, names)),
    )


def _budget(program: Program) -> Row:
    tokens = {option: cost for option, cost in enumerate(program.tokens.tolist()) if cost}
    return Row(BUDGET, (), tokens, None, program.budget)


def _items(program: Program, names: Names) -> Iterator[Row]:
    for item, called in enumerate(names.items):
        yield Row(f"item_{called}", (item,), dict.fromkeys(program.options(item), 1), 1, 1)


def _links(program: Program, names: Names) -> Iterator[Row]:
    for first, *others in program.groups:
        for other in others:
            terms = _deleted(program, first, 1) | _deleted(program, other, -1)
            if terms:  # none if both are pinned
                yield Row(f"group_{names.items[other]}", (first, other), terms, 0, 0)
    for units in program.exclusives:
        # Any member stands for its unit: the group makes the others agree.
        members = tuple(unit[0] for unit in units)
        terms = {option: one for item in members for option, one in _deleted(program, item, 1).items()}
        yield Row(f"exclusive_{names.items[members[0]]}", members, terms, len(units) - 1, None)


def _deleted(program: Program, item: int, coefficient: int) -> dict[int, int]:
    """Return the term of an item's ``delete`` variable; there is none if the item is pinned."""
    option = program.delete_option(item)
    return {} if option is None else {option: coefficient}
