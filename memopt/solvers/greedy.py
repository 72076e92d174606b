"""Greedy: what most tools do instead of solving. No bound, no proof; the baseline to beat."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import ClassVar, Literal

import numpy as np

from memopt.program import Program
from memopt.solvers import jit
from memopt.solvers.blocks import Blocks, decompose
from memopt.solvers.protocol import Answer


@dataclass(frozen=True)
class Greedy:
    """Start at the cheapest feasible selection and spend what is left of the budget in one pass.

    Pins, groups and exclusive sets are respected, because linked items are decided as one block.

    Attributes
    ----------
    by
        ``density``: again and again the upgrade with the largest gain in value per token that still
        fits. ``score``: the blocks by their largest value, each at its most valuable option that
        still fits.
    """

    by: Literal["density", "score"] = "density"
    name: ClassVar[str] = "greedy"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        """Give a feasible selection; see `Solver`. Always fast, so the time limit plays no part."""
        blocks = decompose(program, jit.select(len(program.value)))
        parameters = {"by": self.by}
        if (np.diff(blocks.start) == 0).any():
            proof = "a linked block has no combination"
            return Answer(None, infeasible=True, proof=proof, parameters=parameters)
        fill = _Fill(blocks, program.budget)
        if fill.room < 0:
            proof = f"the least tokens {program.budget - fill.room} exceed the budget"
            return Answer(None, infeasible=True, proof=proof, parameters=parameters)
        if self.by == "density":
            fill.by_density()
        else:
            fill.by_score()
        chosen = np.array(fill.chosen, dtype=np.int64)
        return Answer(blocks.selection(chosen), claimed="heuristic", parameters=parameters)


class _Fill:
    """The option each block holds, and the tokens that are left of the budget."""

    def __init__(self, blocks: Blocks, budget: int) -> None:
        self.start = blocks.start.tolist()
        self.tokens, self.value = blocks.tokens.tolist(), blocks.value.tolist()
        self.chosen = [
            min(self._options(block), key=lambda option: (self.tokens[option], -self.value[option]))
            for block in range(len(blocks))
        ]
        self.room = budget - sum(self.tokens[option] for option in self.chosen)

    def by_density(self) -> None:
        """Take the densest upgrade that fits until none is left."""
        heap = [entry for block in range(len(self.chosen)) for entry in self._densest(block)]
        heapify(heap)
        while heap:
            _, block, option = heappop(heap)
            # One entry per block, so it starts from what the block holds; the room may have shrunk.
            if self.tokens[option] - self.tokens[self.chosen[block]] <= self.room:
                self._take(block, option)
            for entry in self._densest(block):
                heappush(heap, entry)

    def by_score(self) -> None:
        """Give each block, most valuable first, the most valuable option that fits."""
        score = [max(self.value[option] for option in self._options(b)) for b in range(len(self.chosen))]
        for block in sorted(range(len(score)), key=lambda b: -score[b]):
            fitting = [(self.value[o], -self.tokens[o], -o) for o in self._upgrades(block)]
            if fitting:
                self._take(block, -max(fitting)[2])

    def _densest(self, block: int) -> list[tuple[float, int, int]]:
        """Return the block's densest fitting upgrade as ``(-density, block, option)``, or nothing."""
        held = self.chosen[block]
        ranked = [
            ((self.value[held] - self.value[o]) / (self.tokens[o] - self.tokens[held]), block, o)
            for o in self._upgrades(block)
        ]
        return [min(ranked)] if ranked else []

    def _upgrades(self, block: int) -> list[int]:
        """Return the options worth more than the held one that fit; they cost more, the held is cheapest."""
        held = self.chosen[block]
        most = self.tokens[held] + self.room
        return [
            o
            for o in self._options(block)
            if self.value[o] > self.value[held] and self.tokens[held] < self.tokens[o] <= most
        ]

    def _take(self, block: int, option: int) -> None:
        self.room -= self.tokens[option] - self.tokens[self.chosen[block]]
        self.chosen[block] = option

    def _options(self, block: int) -> range:
        return range(self.start[block], self.start[block + 1])
