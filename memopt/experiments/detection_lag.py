"""How long worth takes to notice that a memory has become wrong: measured, and by law."""

from __future__ import annotations

import math

import numpy as np

from memopt.session.counters import Floats, Ints


def crossing(worth: Floats, shift: int, low: float) -> int | None:
    """Return the first episode from the shift on after which worth is at most `low`, counted from 0."""
    below = np.flatnonzero(worth[shift:] <= low + 1e-9)
    return shift + int(below[0]) if len(below) else None


def measured_lag(worth: Floats, shift: int, low: float, retrievals: Ints) -> float | None:
    """Return how often a memory is retrieved from the shift up to its crossing; None = it never crosses.

    Parameters
    ----------
    worth, retrievals
        Worth of the memory after each episode, and how often it was retrieved by then.
    """
    crossed = crossing(worth, shift, low)
    return None if crossed is None else float(retrievals[crossed] - retrievals[shift - 1])


def plain_law(tenure: float, before: float, after: float, low: float) -> float | None:
    """Return the lag of undecayed counters in retrievals, None = never.

    ``tenure * (p1 - theta) / (theta - p2)``, the tenure being the retrievals before the shift.
    """
    return tenure * (before - low) / (low - after) if after < low < before else None


def decayed_law(half_life: float, tenure: float, before: float, after: float, low: float) -> float | None:
    """Return the lag of decayed counters in retrievals, None = never.

    After t0 retrievals and n more, what came before the shift weighs ``2^(-n/H) a`` and what came after it
    ``1 - 2^(-n/H)``, with ``a = 1 - 2^(-t0/H)``. Worth is theta at
    ``2^(-n/H) = (theta - p2) / ((theta - p2) + a (p1 - theta))``.

    For a short tenure that is `plain_law`. For a long one (a = 1) it levels off at
    ``H log2((p1 - p2) / (theta - p2))``: 1.5 H at .85, .15 and .40; 1.7 H at the published .97 and .144.
    """
    if not after < low < before:
        return None
    weight = -math.expm1(-tenure / half_life * math.log(2))
    return half_life * math.log2(1 + weight * (before - low) / (low - after))
