"""An instance column by column: what `compile` reads, and what large inputs are given as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

DEFAULT_LADDER = ("raw", "summary", "abstraction", "keywords")
DELETE = "delete"


@dataclass(frozen=True, eq=False)
class Columns:
    """A declared instance in columns; n items, L ladder levels.

    Made by `Instance.columns` and `Instance.from_arrays`, which validate; there are no per-item
    objects here.

    Attributes
    ----------
    budget
        Tokens.
    price
        Price lambda as declared; `price_exact` is the same number as a fraction.
    ladder
        Level names, richest first, without ``delete``.
    repair
        Whether utilities that fall with fidelity are raised (the monotone rule).
    ids
        Item ids in input order, or None: items are then known by their position.
    tokens
        int64, shape ``[n, L]``; below 0 = the level is absent.
    utility
        float64, shape ``[n, L]``; read only where tokens >= 0.
    decimals
        Utilities declared as decimal strings: ``(item, level)`` to the exact number.
    richest, poorest
        Allowed ladder range of an item, int64, shape ``[n]``; L stands for ``delete``. None = all.
        ``poorest < L`` makes the item pinned.
    group, exclusive
        Link number of an item, int64, shape ``[n]``, -1 = none. None = no links at all.
    """

    budget: int
    price: float | str
    ladder: tuple[str, ...]
    repair: bool
    ids: Sequence[str] | None
    tokens: NDArray[np.int64]
    utility: NDArray[np.float64]
    decimals: dict[tuple[int, int], Fraction] = field(default_factory=dict)
    richest: NDArray[np.int64] | None = None
    poorest: NDArray[np.int64] | None = None
    group: NDArray[np.int64] | None = None
    exclusive: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def price_exact(self) -> Fraction:
        """The price to its last digit."""
        return Fraction(self.price)
