"""Why a program has no selection: the least tokens that must stay, and who insists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memopt.program import Program

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Shortage:
    """Why no selection exists.

    Attributes
    ----------
    code
        ``pinned_exceeds_budget``, or ``pinned_conflict`` when links forbid what pins demand.
    message
        A sentence for a person.
    pinned
        Ids of the pinned items, canonical order.
    minimum_tokens
        Least tokens any selection needs; None in a conflict.
    shortfall
        ``minimum_tokens - budget``; None in a conflict.
    """

    code: str
    message: str
    pinned: tuple[str, ...]
    minimum_tokens: int | None
    shortfall: int | None


def find_shortage(program: Program) -> Shortage | None:
    """Return why a program is infeasible, or None when it has a selection.

    The least tokens are exact: items that may be deleted cost nothing, every other unit its
    cheapest present options.
    """
    if len(program) == 0:
        return None
    present = program.level != program.deleted
    pinned, forced = _must_stay(program, present)
    names = tuple(program.ids[i] for i in pinned)
    conflict = _conflict(program, present, forced)
    if conflict:
        return Shortage("pinned_conflict", conflict, names, None, None)
    least = _least(program, present, forced)
    if least <= program.budget:
        return None
    short = least - program.budget
    message = (
        f"what must stay needs at least {least} tokens, {short} over the budget of {program.budget}; "
        f"pinned: {', '.join(names)}"
    )
    return Shortage("pinned_exceeds_budget", message, names, least, short)


def least_tokens(program: Program) -> int:
    """Return the least tokens any selection of a program that has one needs; 0 without pins."""
    if len(program) == 0:
        return 0
    present = program.level != program.deleted
    return _least(program, present, _must_stay(program, present)[1])


def _must_stay(program: Program, present: Mask) -> tuple[list[int], set[int]]:
    """Return the pinned items in canonical order, and all that must stay with them."""
    can_leave = np.logical_or.reduceat(~present, program.start[:-1])
    pinned = np.flatnonzero(~can_leave).tolist()
    forced = set(pinned)
    for members in program.groups:
        if forced.intersection(members):
            forced.update(members)
    return pinned, forced


def _least(program: Program, present: Mask, forced: set[int]) -> int:
    return sum(min(int(program.tokens[o]) for o in program.options(item) if present[o]) for item in forced)


def _conflict(program: Program, present: Mask, forced: set[int]) -> str:
    for members in program.groups:
        if forced.intersection(members):
            for item in members:
                if not any(present[o] for o in program.options(item)):
                    name = program.ids[item]
                    return f"the group of item {name!r} must be present, but the item has no level left"
    for units in program.exclusives:
        held = [unit for unit in units if forced.intersection(unit)]
        if len(held) > 1:
            names = ", ".join(repr(program.ids[unit[0]]) for unit in held)
            return f"at most one of {names} may be present, but each of them must stay"
    return ""
