"""Intervals for a rate from a number of trials that need not be whole."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_HALVINGS = 60
_TERMS = 300


def wilson_interval(rate: Floats, trials: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return Wilson's score interval (Wilson 1927).

    Parameters
    ----------
    rate, trials
        Rate and number of trials, of one shape; 0 trials give the whole range 0 to 1.
    confidence
        Between 0 and 1.
    """
    spread = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    total = trials + spread
    centre = (rate * trials + spread / 2) / total
    half = np.sqrt(spread * (rate * (1 - rate) * trials + spread / 4)) / total
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def beta_interval(rate: Floats, trials: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the central interval of the posterior Beta(1 + successes, 1 + failures)."""
    won, lost = 1 + rate * trials, 1 + (1 - rate) * trials
    tail = (1 - confidence) / 2
    return beta_quantile(tail, won, lost), beta_quantile(1 - tail, won, lost)


def beta_quantile(probability: float, a: Floats, b: Floats) -> Floats:
    """Return the quantile of Beta(a, b) distributions by bisection, a and b >= 1."""
    low, high = np.zeros(np.shape(a)), np.ones(np.shape(a))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = beta_cdf(middle, a, b) < probability
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def beta_cdf(x: Floats, a: Floats, b: Floats) -> Floats:
    """Return the regularised incomplete beta function I_x(a, b), for 0 < x < 1."""
    mirrored = x > (a + 1) / (a + b + 2)
    x, a, b = np.where(mirrored, 1 - x, x), np.where(mirrored, b, a), np.where(mirrored, a, b)
    front = np.exp(a * np.log(x) + b * np.log1p(-x) - _log_beta(a, b)) / a
    tail = front * _continued_fraction(x, a, b)
    return np.where(mirrored, 1 - tail, tail)


def _log_beta(a: Floats, b: Floats) -> Floats:
    log_gamma = np.vectorize(math.lgamma, otypes=[np.float64])
    result: Floats = log_gamma(a) + log_gamma(b) - log_gamma(a + b)
    return result


def _continued_fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    """Evaluate the fraction of I_x(a, b) by Lentz' method (Press et al., Numerical Recipes, 6.4)."""
    tiny = 1e-300
    c = np.ones(np.shape(x))
    d = 1 - (a + b) * x / (a + 1)
    d = 1 / np.where(np.abs(d) < tiny, tiny, d)
    h = d.copy()
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = h
        for term in (even, odd):
            d = 1 + term * d
            d = 1 / np.where(np.abs(d) < tiny, tiny, d)
            c = 1 + term / c
            c = np.where(np.abs(c) < tiny, tiny, c)
            h = h * d * c
        if (np.abs(h - before) <= 1e-15 * np.abs(h)).all():
            break
    return h
