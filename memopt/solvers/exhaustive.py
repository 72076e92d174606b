"""Every selection there is, one after the other: the reference for small programs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from memopt.program import Ints, Program
from memopt.solvers.protocol import Answer, Limit

_AT_ONCE = 1 << 14
"""Selections tried between two looks at the clock."""


@dataclass(frozen=True)
class Exhaustive:
    """Plain enumeration: largest value, then fewest tokens, then earlier ids at richer levels.

    Attributes
    ----------
    most_selections
        Programs with more selections, feasible or not, are refused.
    """

    most_selections: int = 2_000_000
    name: ClassVar[str] = "exhaustive"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        """Solve a program; see `Solver`.

        Raises
        ------
        SolverLimit
            ``selections``: there are more selections than `most_selections`.
        """
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        limit = self.limit(program)
        limit.check()
        count = limit.read
        parameters = {"most_selections": self.most_selections, "time_limit": time_limit}
        best: tuple[int, int] | None = None
        selection = None
        tried = 0
        while tried < count and (deadline is None or time.perf_counter() < deadline):
            options = _decode(program, np.arange(tried, min(tried + _AT_ONCE, count)))
            tried += len(options)
            options = options[_feasible(program, options)]
            if len(options) == 0:
                continue
            value, tokens = program.value[options].sum(axis=1), program.tokens[options].sum(axis=1)
            first = int(np.lexsort((tokens, -value))[0])  # stable: the earliest of equals
            rank = (int(value[first]), -int(tokens[first]))
            if best is None or rank > best:
                best, selection = rank, options[first]
        complete = tried == count
        proof = f"tried all {count} selections" if complete else ""
        claimed = "complete" if complete else f"time limit after {tried} of {count} selections"
        if best is None or selection is None:
            return Answer(None, infeasible=complete, proof=proof, claimed=claimed, parameters=parameters)
        bound = best[0] if complete else None
        return Answer(selection, bound=bound, proof=proof, claimed=claimed, parameters=parameters)

    def limit(self, program: Program) -> Limit:
        """Return where a program stands against the limit of `solve`."""
        count = 1
        for options in np.diff(program.start).tolist():
            count *= options
            if count > 10**15:  # large enough to refuse, small enough to print
                break
        return Limit(self.name, "selections", count, self.most_selections)


def _decode(program: Program, numbers: Ints) -> Ints:
    """Return the selections of these numbers, shape ``[numbers, items]``.

    Number 0 has every item at its richest option; the last item changes fastest, so that of two
    selections the one with the lower number is richer at the first item where they differ.
    """
    options = np.empty((len(numbers), len(program)), dtype=np.int64)
    for item in reversed(range(len(program))):
        first, last = int(program.start[item]), int(program.start[item + 1])
        numbers, digit = np.divmod(numbers, last - first)
        options[:, item] = first + digit
    return options


def _feasible(program: Program, options: Ints) -> NDArray[np.bool_]:
    """Return which selections `Program.audit` would find feasible, shape ``[selections]``."""
    feasible: NDArray[np.bool_] = program.tokens[options].sum(axis=1) <= program.budget
    present = program.level[options] != program.deleted
    for members in program.groups:
        held = present[:, members]
        feasible &= held.all(axis=1) | ~held.any(axis=1)
    for units in program.exclusives:
        held = np.column_stack([present[:, unit].any(axis=1) for unit in units])
        feasible &= held.sum(axis=1) <= 1
    return feasible
