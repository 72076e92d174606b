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


def decayed_law(half_life: float, before: float, after: float, low: float) -> float | None:
    """Return the lag of decayed counters in retrievals, after a long tenure; None = never.

    From ``p2 + (p1 - p2) 2^(-n/H) = theta``: 1.5 H at .85, .15 and .40; 1.7 H at the published .97 and
    .144. After a tenure shorter than the half-life there is less to forget.
    """
    return half_life * math.log2((before - after) / (low - after)) if after < low < before else None
