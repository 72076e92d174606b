"""Linked items decided together: a program as blocks that no link joins any more.

A block's options are the undominated combinations of its members' options, so that a plain
multiple-choice knapsack over the blocks is the whole program.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from memopt.program import Ints, Program, Selection

MOST_COMBINATIONS, MOST_WHEN_LATE = 50_000, 64
"""Undominated combinations of one unit that are kept; beyond, only an evenly spaced sample is."""


@dataclass(frozen=True)
class Ways:
    """The ways in which all members of a unit are present, undominated ones only.

    Attributes
    ----------
    items
        Its members.
    steps
        For each member: its first option, and for every combination of the members so far where it
        came from (``option offset * width + combination before``), and that width.
    tokens, value
        Per combination.
    complete
        Whether no undominated combination is missing.
    """

    items: tuple[int, ...]
    steps: tuple[tuple[int, Ints, int], ...]
    tokens: Ints
    value: Ints
    complete: bool

    def options(self, combination: int) -> list[int]:
        """Return the program's option of every member in a combination."""
        found = []
        for first, origin, width in reversed(self.steps):
            offset, combination = divmod(int(origin[combination]), width)
            found.append(first + offset)
        return found[::-1]


@dataclass(frozen=True)
class Linked:
    """A block of units, at most one of which is present.

    Attributes
    ----------
    units
        The units that may be present; the block's options are their combinations, unit by unit.
    items, deleted
        Every member of the block, and its ``delete`` option (its last one, if it must stay).
    """

    units: tuple[Ways, ...]
    items: Ints
    deleted: Ints

    def select(self, option: int, selection: Selection) -> None:
        """Write the options of the members under one option of the block."""
        selection[self.items] = self.deleted
        for unit in self.units:
            if option < len(unit.tokens):
                selection[list(unit.items)] = unit.options(option)
                return
            option -= len(unit.tokens)


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
        """Translate one option index per block, shape ``[blocks]``, to one per item."""
        if not self.linked:
            return chosen
        free = len(self.free)
        selection = np.empty(free + sum(len(block.items) for block in self.linked), dtype=np.int64)
        selection[self.free] = self.first + (chosen[:free] - self.start[:free])
        for block, option, begin in zip(self.linked, chosen[free:], self.start[free:], strict=False):
            block.select(int(option - begin), selection)
        return selection


def decompose(program: Program, kernels: Any, deadline: float | None = None) -> Blocks:
    """Return the blocks of a program.

    Parameters
    ----------
    kernels
        The kernels to combine options with, plain or compiled.
    deadline
        Moment (of ``time.perf_counter``) from which on only few combinations a block are kept.
    """
    if not program.groups and not program.exclusives:
        everything = np.arange(len(program), dtype=np.int64)
        return Blocks(
            program.start, program.tokens, program.value, everything, program.start[:-1], (), complete=True
        )
    linked, alone = [], np.ones(len(program), dtype=bool)
    for units in program.alternatives():
        if len(units) > 1 or len(units[0]) > 1:
            alone[list(chain.from_iterable(units))] = False
            linked.append(_block(program, units, kernels, deadline))
    free = np.flatnonzero(alone)
    kept = np.repeat(alone, np.diff(program.start))
    sizes = [*np.diff(program.start)[free].tolist(), *(len(tokens) for _, tokens, _ in linked)]
    return Blocks(
        start=np.cumsum([0, *sizes], dtype=np.int64),
        tokens=np.concatenate([program.tokens[kept], *(tokens for _, tokens, _ in linked)]),
        value=np.concatenate([program.value[kept], *(value for _, _, value in linked)]),
        free=free,
        first=program.start[free],
        linked=tuple(block for block, _, _ in linked),
        complete=all(unit.complete for block, _, _ in linked for unit in block.units),
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
    for units in program.alternatives():
        held = [unit for unit in units if any(must[item] for item in unit)]
        gains = [found for unit in held or units if (found := gain(unit)) is not None]
        total += max(gains if held else [0, *gains])
    return (total + a * program.budget) // b


def _block(
    program: Program, units: tuple[tuple[int, ...], ...], kernels: Any, deadline: float | None
) -> tuple[Linked, Ints, Ints]:
    """Return the block of units of which at most one is present, with tokens and value of its options."""
    items = np.array(list(chain.from_iterable(units)), np.int64)
    deleted = program.start[items + 1] - 1
    must = program.level[deleted] != program.deleted
    held = [unit for unit in units if must[np.isin(items, unit)].any()] if must.any() else []
    candidates = [] if len(held) > 1 else held or units
    present = tuple(_combine(program, unit, kernels, deadline) for unit in candidates)
    nothing = np.zeros(0 if held else 1, np.int64)  # the option of having none of them
    tokens = np.concatenate([*(unit.tokens for unit in present), nothing])
    value = np.concatenate([*(unit.value for unit in present), nothing])
    return Linked(present, items, deleted), tokens, value


def _combine(program: Program, unit: tuple[int, ...], kernels: Any, deadline: float | None) -> Ways:
    """Return the undominated ways in which all members of a unit are present."""
    complete, steps = True, []
    tokens, value = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for item in unit:
        first, last = int(program.start[item]), int(program.start[item + 1])
        last -= int(program.level[last - 1]) == program.deleted
        width = len(tokens)
        tokens, value, origin = kernels.combine(
            tokens, value, program.tokens[first:last], program.value[first:last], program.budget
        )
        late = deadline is not None and time.perf_counter() >= deadline
        most = MOST_WHEN_LATE if late else MOST_COMBINATIONS
        if len(tokens) > most:
            thin = np.linspace(0, len(tokens) - 1, max(2, most // 4)).astype(np.int64)
            tokens, value, origin, complete = tokens[thin], value[thin], origin[thin], False
        steps.append((first, origin, width))
    return Ways(unit, tuple(steps), tokens, value, complete)
