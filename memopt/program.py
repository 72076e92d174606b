"""The one canonical problem: an integer multiple-choice knapsack with links. Integers only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Unit = tuple[int, ...]
"""Items that are present together or not at all: a group, or an item alone."""
Selection = NDArray[np.int64]
"""One option index per item, shape ``[items]``: the only thing ever taken from a solver."""


@dataclass(frozen=True)
class Audit:
    """A selection recomputed in exact integers.

    Attributes
    ----------
    value
        Sum of the chosen values, in grid units (10^-scale utility).
    tokens
        Sum of the chosen tokens.
    broken
        Every constraint the selection breaks, in words; empty when it is feasible.
    """

    value: int
    tokens: int
    broken: tuple[str, ...]

    @property
    def feasible(self) -> bool:
        """Whether no constraint is broken."""
        return not self.broken


@dataclass(frozen=True, eq=False)
class Program:
    """An instance compiled to integers; what every solver, emitter and checker reads.

    Choose exactly one option per item so that the sum of values is largest, then the sum of tokens
    smallest, subject to ``sum of tokens <= budget`` and the links. Items stand in canonical order
    (by id), options of an item richest level first, so that permuting an input changes nothing.

    Attributes
    ----------
    budget
        Hard capacity in tokens.
    scale
        Grid exponent k: one unit of value is 10^-k utility.
    ladder
        Level names, richest first, ``delete`` last.
    ids
        Item ids, shape ``[items]``, canonical order.
    start
        Options of item i are ``start[i]:start[i + 1]``; int64, shape ``[items + 1]``.
    level, tokens, value
        Per option: index into `ladder`, tokens (>= 0) and value; int64, shape ``[options]``.
    groups
        Item indices that are all present or all deleted.
    exclusives
        Sets of units, at most one of which is present; a unit is one whole group (or the members
        of it) or a lone item, given as a tuple of item indices.
    """

    budget: int
    scale: int
    ladder: tuple[str, ...]
    ids: Sequence[str]
    start: Ints
    level: Ints
    tokens: Ints
    value: Ints
    groups: tuple[Unit, ...] = ()
    exclusives: tuple[tuple[Unit, ...], ...] = ()

    def __post_init__(self) -> None:
        for array in (self.start, self.level, self.tokens, self.value):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def deleted(self) -> int:
        """Index of the ``delete`` level in `ladder`."""
        return len(self.ladder) - 1

    @cached_property
    def digest(self) -> str:
        """Content digest: equal programs have equal digests, whatever order the input had."""
        head = {
            "budget": self.budget,
            "scale": self.scale,
            "ladder": self.ladder,
            "groups": self.groups,
            "exclusives": self.exclusives,
            "ids": list(self.ids),
        }
        content = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
        for array in (self.start, self.level, self.tokens, self.value):
            content.update(np.ascontiguousarray(array, dtype="<i8").data)
        return f"sha256:{content.hexdigest()}"

    def options(self, item: int) -> range:
        """Return the option indices of an item."""
        return range(int(self.start[item]), int(self.start[item + 1]))

    def delete_option(self, item: int) -> int | None:
        """Return the option of an item that deletes it, None where it is pinned."""
        last = int(self.start[item + 1]) - 1
        return last if self.level[last] == self.deleted else None

    def alternatives(self) -> Iterator[tuple[Unit, ...]]:
        """Yield every exclusive set, and every unit that is in none as a set of its own.

        Of one set at most one unit is present, and every item is in exactly one unit of one set.
        """
        yield from self.exclusives
        seen = set(chain.from_iterable(chain.from_iterable(self.exclusives)))
        for unit in [*self.groups, *((item,) for item in range(len(self)))]:
            if unit[0] not in seen:
                seen.update(unit)
                yield (unit,)

    def levels(self, selection: Selection) -> Ints:
        """Return the level index each item holds under a selection, shape ``[items]``."""
        return self.level[selection]

    def choices(self, selection: Selection) -> dict[str, str]:
        """Return the level name of every item under a selection."""
        levels = self.levels(selection).tolist()
        return {item: self.ladder[level] for item, level in zip(self.ids, levels, strict=True)}

    def audit(self, selection: Selection) -> Audit:
        """Recompute value, tokens and every constraint of a selection.

        Parameters
        ----------
        selection
            One option index per item, shape ``[items]``; nothing else is believed.

        Returns
        -------
        Audit
            With ``broken`` naming each violated constraint. A selection of the wrong shape or with
            an option of another item has value 0 and tokens 0.
        """
        chosen = np.asarray(selection)
        if chosen.shape != (len(self),) or chosen.dtype.kind not in "iu":
            return Audit(0, 0, ("shape: the selection is not one option index an item",))
        astray = np.flatnonzero((chosen < self.start[:-1]) | (chosen >= self.start[1:]))
        if len(astray):
            names = ", ".join(repr(self.ids[i]) for i in astray[:5])
            return Audit(0, 0, (f"one option an item: {len(astray)} items have none of theirs ({names})",))
        broken = []
        tokens = int(self.tokens[chosen].sum())
        if tokens > self.budget:
            broken.append(f"budget: {tokens} tokens are {tokens - self.budget} over {self.budget}")
        broken += self._broken_links(self.level[chosen] != self.deleted)
        return Audit(int(self.value[chosen].sum()), tokens, tuple(broken))

    def _broken_links(self, present: NDArray[np.bool_]) -> list[str]:
        broken = []
        for members in self.groups:
            held = [self.ids[i] for i in members if present[i]]
            if held and len(held) < len(members):
                broken.append(f"group: of {[self.ids[i] for i in members]} only {held} are present")
        for units in self.exclusives:
            held = [self.ids[unit[0]] for unit in units if any(present[i] for i in unit)]
            if len(held) > 1:
                broken.append(f"exclusive: {held} are present together")
        return broken

    def forced(self, item: int, level: int) -> Program | None:
        """Return the program in which an item must take a level, or None if it has no such option."""
        kept = [o for o in self.options(item) if self.level[o] == level]
        if not kept:
            return None
        first, last = int(self.start[item]), int(self.start[item + 1])
        mask = np.ones(len(self.value), dtype=bool)
        mask[first:last] = False
        mask[kept[0]] = True
        start = self.start.copy()
        start[item + 1 :] -= last - first - 1
        return replace(
            self,
            start=start,
            level=self.level[mask],
            tokens=self.tokens[mask],
            value=self.value[mask],
        )
