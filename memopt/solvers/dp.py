"""The exact algorithm: dual bound, reduction, core, sparse states with dominance, traceback.

In the tradition of the minimal algorithm for the multiple-choice knapsack (Pisinger 1995), with one
fixed rational multiplier instead of a sorted list of slopes: a block is decided by enumeration only
while its second-best option loses less than the incumbent leaves open (facts/solvers.md).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from memopt.program import Ints, Program
from memopt.solvers import jit
from memopt.solvers.blocks import Blocks, decompose, relaxed_bound
from memopt.solvers.bounds import Multiplier, Survey, find_multiplier, look
from memopt.solvers.kernels import DONE, FULL, PAUSED
from memopt.solvers.protocol import Answer

_PROBE, _PROBE_STATES = 32, 100_000
"""Blocks and states of the first attempt, which only looks for a better incumbent."""
_WORK_PER_STATE = 100
"""States that a search may make in all for each that may live at once; beyond, it stops with a gap."""
_INCUMBENT = -1
"""Marks the node of the incumbent that a search started with."""


@dataclass(frozen=True)
class DynamicProgram:
    """Exact solver: largest value, then fewest tokens; of equal items the earlier id takes more tokens.

    Attributes
    ----------
    most_states
        Live states at which the search stops with a gap instead of taking more memory (about 100
        bytes a state); it also stops once it has made a hundred times as many.
    """

    most_states: int = 2_000_000
    name: str = "dp"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        """Solve a program; it refuses none, and finds a selection whenever there is one."""
        kernels = jit.select(len(program.value))
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        blocks = decompose(program, kernels, deadline)
        parameters = {"most_states": self.most_states, "time_limit": time_limit}
        if len(blocks) == 0:
            return Answer(np.zeros(0, np.int64), bound=0, proof="nothing to decide", parameters=parameters)
        if blocks.linked and (np.diff(blocks.start) == 0).any():
            return Answer(
                None, infeasible=True, proof="a linked block has no combination", parameters=parameters
            )
        survey = look(blocks, program.budget, kernels)
        room = program.budget - survey.floor
        if room < 0:
            proof = f"the least tokens {survey.floor} exceed the budget"
            return Answer(None, infeasible=True, proof=proof, parameters=parameters)
        if survey.heavy <= program.budget:
            chosen = survey.best
            bound = int(blocks.value[chosen].sum())
            proof, price, done = "every item at its best option fits the budget", (0, 1), True
        else:
            chosen, bound, proof, price, done = self._search(blocks, survey, room, kernels, deadline)
        if not blocks.complete:
            bound = relaxed_bound(program, *price)
            proof += "; a linked block was too large to enumerate: linear bound"
        return Answer(
            blocks.selection(chosen), bound=bound, fewest=done and blocks.complete, proof=proof,
            parameters=parameters,
        )  # fmt: skip

    def _search(
        self, blocks: Blocks, survey: Survey, room: int, kernels: Any, deadline: float | None
    ) -> tuple[Ints, int, str, tuple[int, int], bool]:
        """Return the chosen options, a bound, the proof in words, the multiplier, and whether it ended."""
        room -= room % survey.token_step
        dual = find_multiplier(blocks, survey, room, kernels)
        core = _Core(blocks, survey, room, dual, kernels)
        why = core.search(self.most_states, deadline)
        chosen = core.chosen
        value = int(blocks.value[chosen].sum())
        bound = value if why == DONE else max(value, core.bound)
        core.settle_ties(chosen)
        stopped = {DONE: "", FULL: "; stopped at the state limit"}.get(why, "; stopped at the time limit")
        proof = (
            f"dual multiplier {dual.a}/{dual.b}; core of {len(core.blocks)} in {len(blocks)} blocks; "
            f"{core.made} states{stopped}"
        )
        return chosen, bound, proof, (dual.a, dual.b), why == DONE


class _Core:
    """The blocks that the bound leaves open, and the search over them.

    The base selection stands at the multiplier; the incumbent differs from it by `_changes`, a gain
    in value and extra tokens. A block stays open while another of its options loses no more than the
    incumbent leaves to be gained.
    """

    def __init__(self, blocks: Blocks, survey: Survey, room: int, dual: Multiplier, kernels: Any) -> None:
        self._data, self._dual, self._kernels = blocks, dual, kernels
        self._steps = (survey.token_step, survey.value_step)
        self._given = (blocks.start, blocks.tokens, blocks.value, survey.least, room, dual.a, dual.b)
        self._base, self._key, self._nearest = (np.empty(len(blocks), np.int64) for _ in range(3))
        settled = kernels.settle(*self._given, dual.open, dual.weight, self._base, self._key, self._nearest)
        self._left, self._lost, self._gain, self._extra, change = map(int, settled)
        self._changes = [] if change < 0 else [change]
        self.made, self._least, self._loading = 0, 0, 0.0
        self._opened, self._distinct = self._open()
        self.blocks = self._opened

    def search(self, most_states: int, deadline: float | None) -> int:
        """Find the optimum and prove it, or stop at a limit; returns why it stopped."""
        size = _PROBE
        while size < len(self.blocks):
            self._grow(self.blocks[:size], min(most_states, _PROBE_STATES), deadline, _PROBE_STATES)
            opened, _ = self._open()
            if len(opened) >= len(self.blocks):
                break
            self.blocks = opened
            size *= 8
        return self._grow(self.blocks, most_states, deadline)

    @property
    def chosen(self) -> Ints:
        """Option of every block in the incumbent."""
        chosen = self._base.copy()
        if self._changes:
            chosen[self._changed] = self._changes
        return chosen

    @property
    def _changed(self) -> Ints:
        """Blocks that the incumbent changes, in the order of `_changes`."""
        return np.searchsorted(self._data.start, self._changes, side="right") - 1

    @property
    def bound(self) -> int:
        """Upper bound on the value: what the least lossy state that is still open can reach."""
        a, b = self._dual.a, self._dual.b
        base = int(self._data.value[self._base].sum())
        return base + (self._lost + a * self._left - self._least) // b

    def settle_ties(self, chosen: Ints) -> None:
        """Let the earlier of two interchangeable items stand at the level of more tokens.

        Only blocks that were open at first can differ although they are equal: all others are settled
        by their content alone. Equal blocks at one option have one key.
        """
        if self._distinct and not self._lost:
            return
        start, tokens, value = self._data.start, self._data.tokens, self._data.value
        free = np.sort(self._opened[self._opened < len(self._data.free)])
        head = tokens[start[free]], value[start[free]]
        order = np.lexsort(head)
        twins = (np.diff(head[0][order]) == 0) & (np.diff(head[1][order]) == 0)
        alike: dict[tuple[bytes, bytes], list[int]] = {}
        for i in np.unique([free[order[:-1][twins]], free[order[1:][twins]]]).tolist():
            span = slice(start[i], start[i + 1])
            alike.setdefault((tokens[span].tobytes(), value[span].tobytes()), []).append(i)
        for members in alike.values():
            offsets = chosen[members] - start[members]
            chosen[members] = start[members] + offsets[np.lexsort((offsets, -tokens[chosen[members]]))]

    @property
    def _limit(self) -> int:
        """Largest loss a better selection can have: with more value, or as much and fewer tokens."""
        a, b = self._dual.a, self._dual.b
        token_step, value_step = self._steps
        more = self._lost + a * self._left - b * (self._gain + value_step)
        lighter = self._lost + a * (self._extra - token_step) - b * self._gain
        return max(more, lighter)

    def _open(self) -> tuple[Ints, bool]:
        """Return the open blocks, smallest loss first, and whether no two lose the same."""
        opened, distinct = self._kernels.nearest_first(
            self._data.tokens, self._base, self._nearest, self._key, self._limit
        )
        return opened, bool(distinct)

    def _grow(self, core: Ints, most_states: int, deadline: float | None, enough: int | None = None) -> int:
        """Decide the blocks of a core, or stop at a limit or after so many states as are enough."""
        key = self._key[core]
        first, option, loss, up, down = self._kernels.gather(*self._given, self._base, core, self._limit)
        parent, change = np.zeros(1024, np.int32), np.zeros(1024, np.int32)
        change[1] = _INCUMBENT
        zero = np.zeros(1, np.int64)
        state: Any = (0, 0, zero, zero.copy(), zero.copy(), 1, parent, change, 2, self._gain, self._extra, 1)
        while True:
            slice_ = self._kernels.slice if enough is None else min(enough, self._kernels.slice)
            why, *state, made = self._kernels.grow(
                self._data.tokens, self._data.value, first, option, loss, key, up, down,
                self._dual.a, self._dual.b, self._left, self._lost, *self._steps, most_states, slice_, *state,
            )  # fmt: skip
            self.made += int(made)
            if why != PAUSED or (enough is not None and made >= enough):
                break
            if self.made > _WORK_PER_STATE * most_states:
                why = FULL
                break
            now = time.perf_counter()
            left = None if deadline is None else deadline + self._loading - now
            if left is not None and left <= 0:
                break
            self._kernels = jit.select(0, self.made, left)
            self._loading += time.perf_counter() - now  # is not part of the limit
        _, prefix, weight, worth, _, _, parent, change, _, gain, extra, found = state
        if why != DONE:
            self._least = int((self._dual.a * weight - self._dual.b * worth).min()) + int(prefix)
        if change[found] != _INCUMBENT:
            self._gain, self._extra, self._changes = int(gain), int(extra), []
            while found:
                self._changes.append(int(option[change[found]]))
                found = parent[found]
        return int(why)
