"""Linked items decided together: a program as blocks that no link joins any more.

A block's options are the undominated combinations of its members' options, so that a plain
multiple-choice knapsack over the blocks is the whole program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from memopt.program import Ints, Program, Selection

MOST_COMBINATIONS = 200_000
"""Undominated combinations of one block that are kept; beyond, only an evenly spaced sample is."""


@dataclass(frozen=True)
class Linked:
    """A block of several items.

    Attributes
    ----------
    items
        Its members, shape ``[members]``.
    options
        The program's option of every member, shape ``[combinations, members]``.
    """

    items: Ints
    options: Ints


@dataclass(frozen=True)
class Blocks:
    """A multiple-choice knapsack without links, equivalent to a program.

    Attributes
    ----------
    start, tokens, value
        Options of block i are ``start[i]:start[i + 1]``; int64.
    free
        Items that are a block of their own, in block order; the linked blocks follow them.
    first
        Index of each free block's first option in the program, shape ``[free]``.
    linked
        The blocks of several items.
    complete
        Whether every undominated combination is there. If not, the blocks prove nothing, and
        `relaxed_bound` takes the place of what they would.
    """

    start: Ints
    tokens: Ints
    value: Ints
    free: Ints
    first: Ints
    linked: tuple[Linked, ...]
    complete: bool

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self.start) - 1

    def selection(self, chosen: Ints) -> Selection:
        """Translate one option index a block, shape ``[blocks]``, to one option an item."""
        if not self.linked:
            return chosen
        free = len(self.free)
        selection = np.empty(free + sum(len(block.items) for block in self.linked), dtype=np.int64)
        selection[self.free] = self.first + (chosen[:free] - self.start[:free])
        for block, option, begin in zip(self.linked, chosen[free:], self.start[free:], strict=False):
            selection[block.items] = block.options[option - begin]
        return selection


def decompose(program: Program, kernels: Any) -> Blocks:
    """Return the blocks of a program.

    Parameters
    ----------
    kernels
        The kernels to combine options with, plain or compiled.
    """
    if not program.groups and not program.exclusives:
        everything = np.arange(len(program), dtype=np.int64)
        return Blocks(
            program.start, program.tokens, program.value, everything, program.start[:-1], (), complete=True
        )
    units = [*program.groups]
    loose = set(chain.from_iterable(units))
    for named in program.exclusives:
        for unit in named:
            if unit[0] not in loose:
                units.append(unit)
                loose.update(unit)
    combined = {unit[0]: _combine(program, unit, kernels) for unit in units}
    linked, complete = _join_exclusives(program, units, combined)
    alone = np.ones(len(program), dtype=bool)
    alone[list(loose)] = False
    free = np.flatnonzero(alone)
    kept = np.repeat(alone, np.diff(program.start))
    sizes = [*np.diff(program.start)[free].tolist(), *(len(table.value) for table in linked)]
    start = np.cumsum([0, *sizes], dtype=np.int64)
    return Blocks(
        start=start,
        tokens=np.concatenate([program.tokens[kept], *(table.tokens for table in linked)]),
        value=np.concatenate([program.value[kept], *(table.value for table in linked)]),
        free=free,
        first=program.start[free],
        linked=tuple(Linked(table.items, table.options) for table in linked),
        complete=complete,
    )


def relaxed_bound(program: Program, a: int, b: int) -> int:
    """Return an upper bound on the value at the multiplier a / b, without listing any combination.

    With a price a / b on every token and no budget, the members of a unit choose apart from each
    other; that relaxation and the price of the whole budget bound the optimum.
    """
    scores = [b * p - a * w for p, w in zip(program.value.tolist(), program.tokens.tolist(), strict=True)]
    present = (program.level != program.deleted).tolist()
    stay = [
        max((scores[o] for o in program.options(i) if present[o]), default=None) for i in range(len(program))
    ]
    must = [all(present[o] for o in program.options(i)) for i in range(len(program))]

    def gain(unit: tuple[int, ...]) -> int | None:
        parts = [part for item in unit if (part := stay[item]) is not None]
        return sum(parts) if len(parts) == len(unit) else None

    total = 0
    for units in _alternatives_of(program):
        held = [unit for unit in units if any(must[item] for item in unit)]
        gains = [found for unit in held or units if (found := gain(unit)) is not None]
        total += max(gains if held else [0, *gains])
    return (total + a * program.budget) // b


def _alternatives_of(program: Program) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield every exclusive set, and every unit that is in none as a set of its own."""
    yield from program.exclusives
    seen = set(chain.from_iterable(chain.from_iterable(program.exclusives)))
    for unit in [*program.groups, *((item,) for item in range(len(program)))]:
        if unit[0] not in seen:
            seen.update(unit)
            yield (unit,)


@dataclass(frozen=True)
class _Table:
    """Combinations of some items: their options, tokens and value, and whether none is missing."""

    items: Ints
    options: Ints
    tokens: Ints
    value: Ints
    complete: bool


def _combine(program: Program, unit: tuple[int, ...], kernels: Any) -> _Table:
    """Return the undominated ways in which all members of a unit are present."""
    complete = True
    tokens, value, steps = np.zeros(1, np.int64), np.zeros(1, np.int64), []
    for item in unit:
        first, last = int(program.start[item]), int(program.start[item + 1])
        last -= int(program.level[last - 1]) == program.deleted
        width = len(tokens)
        tokens, value, origin = kernels.combine(
            tokens, value, program.tokens[first:last], program.value[first:last], program.budget
        )
        if len(tokens) > MOST_COMBINATIONS:
            thin = np.linspace(0, len(tokens) - 1, MOST_COMBINATIONS // 4).astype(np.int64)
            tokens, value, origin, complete = tokens[thin], value[thin], origin[thin], False
        steps.append((first, origin, width))
    table = np.empty((len(tokens), len(unit)), dtype=np.int64)
    at = np.arange(len(tokens))
    for member in reversed(range(len(unit))):
        first, origin, width = steps[member]
        right, at = np.divmod(origin[at], width)
        table[:, member] = first + right
    return _Table(np.array(unit, np.int64), table, tokens, value, complete)


def _join_exclusives(
    program: Program, units: list[tuple[int, ...]], combined: dict[int, _Table]
) -> tuple[list[_Table], bool]:
    """Return one table a block: of an exclusive set, or of a unit that is in none."""
    sets = [*program.exclusives]
    named = {unit[0] for joined in sets for unit in joined}
    sets += [(unit,) for unit in units if unit[0] not in named]
    tables = [_alternatives(program, [combined[unit[0]] for unit in joined]) for joined in sorted(sets)]
    return tables, all(table.complete for table in tables)


def _alternatives(program: Program, units: list[_Table]) -> _Table:
    """Return the ways in which at most one of the units is present."""
    items = np.concatenate([unit.items for unit in units])
    absent = program.start[items + 1] - 1
    must = program.level[absent] != program.deleted
    ends = np.cumsum([len(unit.items) for unit in units]).tolist()
    places = [slice(end - len(unit.items), end) for unit, end in zip(units, ends, strict=True)]
    stays = [bool(must[place].any()) for place in places]
    options, tokens, value = [], [], []
    for unit, place, stay in zip(units, places, stays, strict=True):
        if sum(stays) > stay:
            continue  # another unit has to stay
        rows = np.empty((len(unit.tokens), len(items)), np.int64)
        rows[:] = absent
        rows[:, place] = unit.options
        options.append(rows)
        tokens.append(unit.tokens)
        value.append(unit.value)
    if not any(stays):
        options.append(absent[None, :])
        tokens.append(np.zeros(1, np.int64))
        value.append(np.zeros(1, np.int64))
    if not options:
        options, tokens, value = [np.empty((0, len(items)), np.int64)], [absent[:0]], [absent[:0]]
    return _Table(
        items,
        np.concatenate(options),
        np.concatenate(tokens),
        np.concatenate(value),
        all(unit.complete for unit in units),
    )
