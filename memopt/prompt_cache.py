"""What is sent again unchanged, from the start on, is cheap: the provider has it in its prompt cache.

Every kept token behind the first change costs ``cache_price / budget`` more than one before it. Which
leading part stays as it was (the *cut*) is decided together with all the rest, exactly. A cut fixes
what lies before it and charges what follows: that is a program like any other, and the best over
all cuts is the optimum. (Where a solution keeps a longer leading part than its cut assumes, a later cut
gives the same solution a higher value.)

Hardly any cut has to be solved. For a given price per token, one backward pass over the items bounds all
cuts at once; the cut with the largest bound gets a tighter one, then is solved, until no other bound
reaches the best value found. Source: the first objection of users in facts/field.md; case 52.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from memopt.allocation import Allocation
from memopt.columns import DELETE
from memopt.compile import Compiled
from memopt.grid import FINEST, VALUE_SUM_BELOW
from memopt.program import Ints, Program
from memopt.solve import solve_compiled

MOST_CACHE_PRICE = 2.0**40
_INT64_BELOW = 2**61
_MANY_STEPS, _FEW_STEPS = 64, 4

Sent = Mapping[str, tuple[str, int]]
"""What was sent last: item id to its level and tokens, in the order of the conversation."""


def solve_cached(
    compiled: Compiled,
    sent: Sent,
    cache_price: float,
    order: Sequence[str] | None = None,
    solver: str = "dp",
) -> Allocation:
    """Choose one level per item when tokens behind the first change cost more.

    Parameters
    ----------
    compiled
        The problem; its price holds for every token.
    sent
        What the last turn kept. An item that is not in it is new, or was deleted.
    cache_price
        From 0 to 2^40: what a full budget behind the first change costs more, in utility.
    order
        Ids in the order of the conversation; None = as declared.
    solver
        As in `memopt.solve`.

    Returns
    -------
    Allocation
        Its ``value`` includes the charge, its ``objective`` does not. Its program is that of the
        best cut, where an item before the cut has one option.

    Raises
    ------
    ValueError
        When the cache price is out of range.
    SolverMissing, SolverLimit, SolverFailed
        As `memopt.solve`.
    """
    if not 0 <= cache_price <= MOST_CACHE_PRICE:
        raise ValueError(f"the cache price is a number from 0 to 2^40, not {cache_price!r}")
    if not (cache_price and len(compiled.program) and compiled.program.budget):
        return solve_compiled(compiled, solver)
    ids = order or compiled.columns.ids or [str(row) for row in range(len(compiled.program))]
    return _Cuts(compiled, _Conversation.of(compiled.program, ids, sent), cache_price).best(solver)


@dataclass(frozen=True, eq=False)
class _Conversation:
    """A program in the order of the conversation.

    Attributes
    ----------
    at
        Position of each item; shape ``[items]``.
    keeps
        Option that an item keeps before a cut: as sent, or deleted; -1 = neither can be.
    cuts
        Positions where a cut may lie, rising from 0.
    """

    at: Ints
    keeps: Ints
    cuts: Ints

    @classmethod
    def of(cls, program: Program, ids: Sequence[str], sent: Sent) -> _Conversation:
        """Place what was sent last in a program."""
        position = {name: place for place, name in enumerate(ids)}
        at = np.array([position[name] for name in program.ids], dtype=np.int64)
        last = program.start[1:] - 1
        keeps = np.where(program.level[last] == program.deleted, last, -1)
        item_of = {name: item for item, name in enumerate(program.ids)}
        cuts = [0]
        for name, (level, tokens) in sent.items():
            item = item_of.get(name)
            if item is None or at[item] < cuts[-1]:
                break
            option = _option(program, item, level, tokens)
            if option is None:
                break
            keeps[item] = option
            cuts.append(int(at[item]) + 1)
        stuck = at[keeps < 0].min(initial=len(program))
        return cls(at, keeps, np.array([cut for cut in cuts if cut <= stuck], dtype=np.int64))

    def before(self, of_option: Ints) -> Ints:
        """Return what the kept options before each cut add up to; shape ``[cuts]``."""
        placed = np.zeros(len(self.at) + 1, dtype=np.int64)
        placed[self.at + 1] = np.where(self.keeps < 0, 0, of_option[self.keeps])
        before: Ints = np.cumsum(placed)[self.cuts]
        return before


def _option(program: Program, item: int, level: str, tokens: int) -> int | None:
    for option in program.options(item):
        if (program.ladder[program.level[option]], program.tokens[option]) == (level, tokens):
            return option if level != DELETE else None
    return None


class _Cuts:
    """All cuts of one program, each with a proven upper bound."""

    def __init__(self, compiled: Compiled, conversation: _Conversation, cache_price: float) -> None:
        self._compiled, self._program = compiled, compiled.program
        self._scale, self._cheap, self._dear = _values(compiled, cache_price)
        self._at, self._keeps, self._cuts = conversation.at, conversation.keeps, conversation.cuts
        self._room = self._program.budget - conversation.before(self._program.tokens)
        self._fixed = conversation.before(self._cheap)
        fits = self._room >= 0
        self._cuts, self._room, self._fixed = self._cuts[fits], self._room[fits], self._fixed[fits]
        self._multiplier = 0
        self._bound = self._bounds(0)

    def best(self, solver: str) -> Allocation:
        """Return the best allocation over all cuts; of equal ones that of fewer tokens, then longer part."""
        found: list[tuple[int, Allocation]] = []
        best: tuple[int, int, int] | None = None
        open_ = np.ones(len(self._cuts), dtype=bool)
        tight = np.zeros(len(self._cuts), dtype=bool)
        while open_.any():
            largest = max(self._bound[open_])
            cut = int(np.flatnonzero(open_ & (self._bound == largest))[-1])
            if best is not None and largest < best[0]:
                break
            if not tight[cut]:
                self._tighten(cut)
                tight[cut] = True
                continue
            open_[cut] = False
            allocation = solve_compiled(self._cut(cut), solver)
            found.append((cut, allocation))
            if allocation.units is not None and allocation.tokens is not None:
                reached = (allocation.units, -allocation.tokens, cut)
                best = reached if best is None else max(best, reached)
        return self._judged(found, None if best is None else best[2])

    def _judged(self, found: list[tuple[int, Allocation]], best: int | None) -> Allocation:
        answers = dict(found)
        seconds = sum(allocation.seconds for allocation in answers.values())
        if best is None:
            return replace(answers[0], seconds=seconds)
        chosen = answers[best]
        feasible = [(cut, each) for cut, each in found if each.units is not None]
        bounds = [
            self._bound[cut] if each.bound_units is None else each.bound_units for cut, each in feasible
        ]
        proved = all(
            each.status == "optimal" or bound < (chosen.units or 0)
            for (_, each), bound in zip(feasible, bounds, strict=True)
        )
        what = f"best of {len(self._cuts)} leading parts that may stay, {len(found)} solved, the rest bounded"
        return replace(
            chosen,
            status="optimal" if proved else "feasible",
            bound_units=int(max(bounds)),
            proof=f"{chosen.proof}; {what}" if chosen.proof else what,
            seconds=seconds,
        )

    def _cut(self, cut: int) -> Compiled:
        """Return the program of a cut."""
        program, first = self._program, int(self._cuts[cut])
        behind = np.repeat(self._at >= first, np.diff(program.start))
        allowed = behind.copy()
        allowed[self._keeps[self._at < first]] = True
        start = np.zeros_like(program.start)
        np.cumsum(np.add.reduceat(allowed, program.start[:-1], dtype=np.int64), out=start[1:])
        number = np.cumsum(allowed) - 1
        return replace(
            self._compiled,
            worth=self._compiled.worth[allowed],
            exact={int(number[o]): worth for o, worth in self._compiled.exact.items() if allowed[o]},
            program=replace(
                program,
                scale=self._scale,
                start=start,
                level=program.level[allowed],
                tokens=program.tokens[allowed],
                value=np.where(behind, self._dear, self._cheap)[allowed],
            ),
        )

    def _bounds(self, multiplier: int) -> NDArray[np.object_]:
        """Return what no selection of each cut exceeds: links relaxed, the budget priced."""
        program = self._program
        most = int(program.tokens.max()) * len(program) + program.budget
        kind = np.int64 if multiplier * most < _INT64_BELOW else object  # a huge number never overflows
        tokens, dear = program.tokens.astype(kind), self._dear.astype(kind)
        placed = np.zeros(len(program) + 1, dtype=kind)
        placed[self._at] = np.maximum.reduceat(dear - multiplier * tokens, program.start[:-1])
        behind = np.cumsum(placed[::-1])[::-1][self._cuts]
        bounds = self._fixed + behind + multiplier * self._room.astype(kind)
        return np.asarray(bounds, dtype=object)

    def _tighten(self, cut: int) -> None:
        """Lower the bound of a cut, and any others, by multipliers towards its own best one.

        The first search is a long one; later ones begin near their end and take some steps only, for a cut is
        solved in the time of a few looks.
        """
        low, high = 0, max(int(self._dear.max()), 0) + 1
        near, step = self._multiplier, max(1, self._multiplier >> 8)
        for _ in range(_FEW_STEPS if near else _MANY_STEPS):
            if low >= high:
                break
            middle = min(max(near, low), high - 1)
            if self._look(middle + 1)[cut] >= self._look(middle)[cut]:
                high, near = middle, middle - step
            else:
                low, near = middle + 1, middle + 1 + step
            step *= 2
            if not low <= near < high or step > high - low:
                near = (low + high) // 2
        self._multiplier = min(max(near, low), high)

    def _look(self, multiplier: int) -> NDArray[np.object_]:
        bounds = self._bounds(multiplier)
        self._bound = np.minimum(self._bound, bounds)
        return bounds


def _values(compiled: Compiled, cache_price: float) -> tuple[int, Ints, Ints]:
    """Return values before and behind the cut on one grid, fine enough for any mixture of the two."""
    price, finest = compiled.columns.price_exact, FINEST
    while True:
        dear = compiled.priced(price + Fraction(cache_price), finest)
        cheap = compiled.priced(price, dear.scale)
        either = np.maximum(np.abs(cheap.values), np.abs(dear.values))
        total = int(np.maximum.reduceat(either, compiled.program.start[:-1]).sum())
        if cheap.scale == dear.scale and total < VALUE_SUM_BELOW:
            return cheap.scale, cheap.values, dear.values
        finest = min(cheap.scale, dear.scale - 1)
