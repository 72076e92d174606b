"""Priced utilities rounded once to an integer grid, exactly.

The priced utility ``u - price * tokens / budget`` is first computed in doubles together with a bound
on its error. Where that bound leaves the rounding open (a value near the middle between two grid
points) the number is computed again as a fraction. The result is therefore the half-even rounding of
the exact number everywhere, at the speed of numpy nearly everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

FINEST = 9
"""Largest grid exponent k."""
VALUE_SUM_BELOW = 2**53
COEFFICIENT_BELOW = 10**12
_ROUNDOFF = 2.0**-49
"""Sixteen units of roundoff: more than the five roundings below can lose, relative to the magnitudes."""
_UNDERFLOW = 2.0**-40
"""More than is lost where numbers are so small that roundoff is no longer relative."""
_ITEMS_AT_ONCE = 4096
"""Items worked on together, so that what lies between the steps stays in the processor's cache."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Grid:
    """Values on the grid 10^-scale.

    Attributes
    ----------
    scale
        Grid exponent k, at most 9; negative when utilities are huge.
    values
        int64, one per option, in grid units.
    """

    scale: int
    values: Ints


def round_to_grid(
    utility: Floats,
    tokens: Ints,
    rate: Fraction,
    start: Ints,
    decimals: dict[int, Fraction],
    finest: int = FINEST,
) -> Grid:
    """Round every priced utility half-even to the finest grid that keeps all sums exact.

    Parameters
    ----------
    utility, tokens
        Per option, shape ``[options]``; no charge may leave the range of doubles.
    rate
        Price of one token: price / budget.
    start
        Options of item i are ``start[i]:start[i + 1]``, at least one each.
    decimals
        Exact utilities of options that were declared as decimal strings.
    finest
        Largest grid exponent wanted.

    Returns
    -------
    Grid
        With the largest k <= finest for which the sum over the items of the largest absolute value stays
        below 2^53 and every absolute value below 10^12 (numeric contract of the design).
    """
    scale = min(finest, _least_doubtful(utility, tokens, rate, start))
    while True:
        values = np.empty(len(utility), dtype=np.int64)
        top, total = _round(values, utility, tokens, rate, start, decimals, scale)
        if top < COEFFICIENT_BELOW and total < VALUE_SUM_BELOW:
            return Grid(scale, values)
        scale -= max(1, len(str(top)) - 12, len(str(total)) - 16)  # no smaller step can be enough


def _blocks(start: Ints) -> Iterator[tuple[slice, Ints]]:
    """Yield the options of a few thousand items at a time, and where each item begins among them."""
    for first in range(0, len(start) - 1, _ITEMS_AT_ONCE):
        bounds = start[first : first + _ITEMS_AT_ONCE + 1]
        yield slice(int(bounds[0]), int(bounds[-1])), bounds[:-1] - bounds[0]


def _priced(utility: Floats, tokens: Ints, rate: float) -> tuple[Floats, Floats]:
    """Return priced utilities as doubles, and how far each may be from the exact number."""
    charge = rate * tokens
    return utility - charge, (np.abs(utility) + charge) * _ROUNDOFF


def _least_doubtful(utility: Floats, tokens: Ints, rate: Fraction, start: Ints) -> int:
    """Return a scale that is not too coarse, and hardly ever too fine; the integers decide."""
    top = total = 0.0
    for options, begin in _blocks(start):
        priced, error = _priced(utility[options], tokens[options], float(rate))
        largest = np.maximum.reduceat(np.maximum(np.abs(priced) - error, 0.0), begin)
        top = max(top, float(largest.max()))
        total += float(largest.sum())
    if top == 0.0:
        return FINEST
    finest = min(
        math.log10(COEFFICIENT_BELOW) - math.log10(top), math.log10(VALUE_SUM_BELOW) - math.log10(total)
    )
    return min(FINEST, math.floor(finest + 1e-6))


def _round(
    values: Ints,
    utility: Floats,
    tokens: Ints,
    rate: Fraction,
    start: Ints,
    decimals: dict[int, Fraction],
    scale: int,
) -> tuple[int, int]:
    """Fill in the values; return the largest, and the sum over the items of the largest of each.

    Stops at a value that is too large for any array, and returns that.
    """
    unit = Fraction(10) ** scale
    factor, cost = float(unit), float(rate)
    top = total = 0
    for options, begin in _blocks(start):
        priced, error = _priced(utility[options], tokens[options], cost)
        scaled = priced * factor
        nearest = np.rint(scaled)
        error *= factor
        open_ = ~(np.abs(scaled - nearest) < 0.5 - _UNDERFLOW - error)
        open_ |= np.abs(nearest) >= 2.0 * COEFFICIENT_BELOW
        nearest[open_] = 0.0
        values[options] = nearest
        for option in (np.flatnonzero(open_) + options.start).tolist():
            worth = decimals[option] if option in decimals else Fraction(float(utility[option]))
            value = round((worth - rate * int(tokens[option])) * unit)
            if abs(value) >= VALUE_SUM_BELOW:
                return abs(value), abs(value)
            values[option] = value
        largest = np.maximum.reduceat(np.abs(values[options]), begin)
        top = max(top, int(largest.max()))
        total += int(largest.sum())
    return top, total
