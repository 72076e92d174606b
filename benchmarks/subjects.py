"""What is measured: programs by family and size, their rivals, and the ratios asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from memopt.columns import Columns
from memopt.families import generate_columns


@dataclass(frozen=True)
class Subject:
    """Programs of one family and size; five options an item (four levels and ``delete``).

    Attributes
    ----------
    family, items
        As in `memopt.families`.
    rivals
        Target by name of a peer, None = the ratio is shown only. For a solver the ratio is its time
        divided by the DP's, and should reach the target; for ``numpy`` it is the DP's time divided by
        that of the pass, and should not exceed the target.
    seeds
        One program per seed.
    """

    family: str
    items: int
    rivals: dict[str, float | None] = field(hash=False)
    seeds: tuple[int, ...] = (1,)

    def columns(self, seed: int) -> Columns:
        """Return one of the declared instances."""
        return generate_columns(self.family, self.items, seed)

    def at_most(self, items: int | None, seeds: int | None = None) -> Subject:
        """Return the subject with at most so many items and seeds; of fewer items no target is asked for."""
        if items is None or items >= self.items:
            return replace(self, seeds=self.seeds[:seeds])
        return replace(self, items=items, rivals=dict.fromkeys(self.rivals), seeds=self.seeds[:seeds])


_SOLVERS: dict[str, float | None] = {"cpsat": None, "highs": None}

SPEED = (
    Subject("memory-like", 100, {"cpsat": 300, "highs": 300}, (1, 2, 3, 4, 5)),
    Subject("memory-like", 1_000, {"cpsat": 300, "highs": 300}, (1, 2, 3)),
    Subject("memory-like", 10_000, _SOLVERS),
    Subject("memory-like", 100_000, {"numpy": 6}, (1, 2, 3)),
    Subject("memory-like", 1_000_000, {"numpy": 6}),
    Subject("strongly-correlated", 1_000, {"cpsat": 100}, (1, 2, 3)),
    Subject("priced", 1_000, {"cpsat": None}),
    Subject("subset-sum", 1_000, _SOLVERS),
    Subject("duplicates", 1_000, _SOLVERS),
    Subject("zig-zag", 1_000, _SOLVERS),
    Subject("weakly-correlated", 1_000, _SOLVERS),
    Subject("uncorrelated", 1_000, _SOLVERS),
)
"""The table of `benchmarks.speed`; ``duplicates`` are equal items (three different ones in all)."""
