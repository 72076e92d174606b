"""Priced utilities rounded once to an integer grid, exactly.

The priced utility ``u - price * tokens / budget`` is first computed in doubles together with a bound
on its error. Where that bound leaves the rounding open (a value near the middle between two grid
points) the number is computed again as a fraction. The result is therefore the half-even rounding of
the exact number everywhere, at the speed of numpy nearly everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

FINEST = 9
"""Largest grid exponent k."""
VALUE_SUM_BELOW = 2**53
COEFFICIENT_BELOW = 10**12
_ROUNDOFF = 2.0**-49
"""Sixteen units of roundoff: more than the six roundings below can lose, relative to the magnitudes."""


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
    values: NDArray[np.int64]


def round_to_grid(
    utility: NDArray[np.float64],
    tokens: NDArray[np.int64],
    rate: Fraction,
    start: NDArray[np.int64],
    decimals: dict[int, Fraction],
) -> Grid:
    """Round every priced utility half-even to the finest grid that keeps all sums exact.

    Parameters
    ----------
    utility, tokens
        Per option, shape ``[options]``.
    rate
        Price of one token: price / budget.
    start
        Options of item i are ``start[i]:start[i + 1]``, at least one each.
    decimals
        Exact utilities of options that were declared as decimal strings.

    Returns
    -------
    Grid
        With the largest k <= 9 for which the sum over the items of the largest absolute value stays
        below 2^53 and every absolute value below 10^12 (numeric contract of the design).
    """
    if len(utility) == 0:
        return Grid(FINEST, np.zeros(0, dtype=np.int64))
    scale = _guess(utility, tokens, rate, start)
    while True:
        values = _rounded(utility, tokens, rate, scale, decimals)
        if values is not None:
            largest = np.maximum.reduceat(np.abs(values), start[:-1])
            if int(largest.max()) < COEFFICIENT_BELOW and int(largest.sum()) < VALUE_SUM_BELOW:
                return Grid(scale, values)
        scale -= 1


def _guess(
    utility: NDArray[np.float64], tokens: NDArray[np.int64], rate: Fraction, start: NDArray[np.int64]
) -> int:
    """Return a scale that is at most one too fine; the integer check above decides."""
    priced = np.abs(utility - _double(rate) * tokens)
    largest = np.maximum.reduceat(priced, start[:-1])
    top = float(largest.max())
    if top == 0.0:
        return FINEST
    whole = math.log10(top) + math.log10(math.fsum(largest / top))
    finest = min(math.log10(COEFFICIENT_BELOW) - math.log10(top), math.log10(VALUE_SUM_BELOW) - whole)
    return min(FINEST, math.floor(finest + 1e-6))


def _double(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _rounded(
    utility: NDArray[np.float64],
    tokens: NDArray[np.int64],
    rate: Fraction,
    scale: int,
    decimals: dict[int, Fraction],
) -> NDArray[np.int64] | None:
    unit = Fraction(10) ** scale
    factor, cost = _double(unit), _double(rate)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        charge = cost * tokens
        scaled = (utility - charge) * factor
        error = (np.abs(utility) + np.abs(charge)) * (factor * _ROUNDOFF)
        open_ = ~(np.abs(scaled - np.floor(scaled) - 0.5) > error + 2.0**-40)
        open_ |= ~(np.abs(scaled) < 2.0 * COEFFICIENT_BELOW)
    values = np.rint(np.where(open_, 0.0, scaled)).astype(np.int64)
    for option in np.flatnonzero(open_).tolist():
        worth = decimals[option] if option in decimals else Fraction(float(utility[option]))
        value = round((worth - rate * int(tokens[option])) * unit)
        if abs(value) >= COEFFICIENT_BELOW:
            return None
        values[option] = value
    return values
