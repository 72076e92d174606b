"""Which levels an item may be present at, and what each is worth: before any price and any link."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from memopt.columns import Columns

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The levels left after capping, pinning, repair and dominance; n items, L ladder levels.

    Attributes
    ----------
    allowed
        Candidate levels, shape ``[n, L]``.
    pinned
        Items that may not be deleted, shape ``[n]``.
    utility
        After repair, shape ``[n, L]``; read only where allowed.
    dominated
        Levels dropped because a richer one costs no more and is worth no less, shape ``[n, L]``.
    origin
        Ladder level each utility was declared at, shape ``[n, L]``; None = each at its own, nothing
        was repaired.
    """

    allowed: Mask
    pinned: Mask
    utility: Floats
    dominated: Mask
    origin: Ints | None

    def raised(self) -> tuple[Ints, Ints]:
        """Return the repaired utilities as ``(item, level)``, each shape ``[repaired]``."""
        if self.origin is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        item, level = np.nonzero(self.origin != np.arange(self.origin.shape[1]))
        return item.astype(np.int64), level.astype(np.int64)


def find_candidates(columns: Columns) -> Candidates:
    """Cap (``current``), hold (``pinned``), repair (monotone rule) and drop dominated levels."""
    allowed, worth = _allowed(columns), _comparable(columns)
    origin = _origin(worth, allowed) if columns.repair else None
    utility = columns.utility
    if origin is not None:
        worth = np.take_along_axis(worth, origin, axis=1)
        utility = np.take_along_axis(utility, origin, axis=1)
    dominated = _dominated(columns.tokens, worth, allowed)
    return Candidates(allowed & ~dominated, _pinned(columns), utility, dominated, origin)


def within_budget(columns: Columns, allowed: Mask, forced: Mask) -> Mask:
    """Return the candidates within the budget; an item that must stay keeps its cheapest at least."""
    fits = allowed & (columns.tokens <= columns.budget)
    held = np.flatnonzero(forced)
    stuck = held[allowed[held].any(axis=1) & ~fits[held].any(axis=1)]
    if len(stuck):
        cost = np.where(allowed[stuck], columns.tokens[stuck], np.iinfo(np.int64).max)
        fits[stuck, cost.argmin(axis=1)] = True
    return fits


def _allowed(columns: Columns) -> Mask:
    allowed = columns.tokens >= 0
    levels = np.arange(allowed.shape[1])
    if columns.richest is not None:
        allowed &= levels >= columns.richest[:, None]
    if columns.poorest is not None:
        allowed &= levels <= columns.poorest[:, None]
    return allowed


def _pinned(columns: Columns) -> Mask:
    if columns.poorest is None:
        return np.zeros(len(columns), dtype=bool)
    return columns.poorest < len(columns.ladder)


def _comparable(columns: Columns) -> Floats:
    """Return numbers that compare within an item as its exact utilities do.

    Doubles cannot tell all decimal strings apart, so an item that declares any is ranked exactly.
    """
    if not columns.decimals:
        return columns.utility
    worth = columns.utility.copy()
    for row in {row for row, _ in columns.decimals}:
        exact = [
            columns.decimals.get((row, level), Fraction(number))
            for level, number in enumerate(columns.utility[row].tolist())
        ]
        rank = {number: index for index, number in enumerate(sorted(set(exact)))}
        worth[row] = [rank[number] for number in exact]
    return worth


def _origin(worth: Floats, allowed: Mask) -> Ints | None:
    """Return the level each utility is taken from: the best of its own level and all poorer ones."""
    items, levels = worth.shape
    origin: Ints | None = None
    best, holder = np.full(items, -np.inf), np.zeros(items, dtype=np.int64)
    for level in reversed(range(levels)):
        raised = allowed[:, level] & (worth[:, level] < best)
        leads = allowed[:, level] & ~raised
        np.copyto(best, worth[:, level], where=leads)
        np.copyto(holder, level, where=leads)
        if raised.any():
            if origin is None:
                origin = np.tile(np.arange(levels, dtype=np.int64), (items, 1))
            origin[raised, level] = holder[raised]
    return origin


def _dominated(tokens: Ints, worth: Floats, allowed: Mask) -> Mask:
    dominated = np.zeros_like(allowed)
    for poor in range(1, allowed.shape[1]):
        costs_less = tokens[:, :poor] <= tokens[:, poor, None]
        is_worth = worth[:, :poor] >= worth[:, poor, None]
        dominated[:, poor] = (allowed[:, :poor] & costs_less & is_worth).any(axis=1)
    return dominated & allowed
