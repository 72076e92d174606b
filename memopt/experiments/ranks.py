"""Spearman's rank correlation of many worlds at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from memopt.session.counters import Floats


def ranks(values: ArrayLike) -> Floats:
    """Return the ranks along the last axis, from 0; equal values share the mean of their ranks.

    Raises
    ------
    ValueError
        When a value is NaN: it has no rank.
    """
    given = np.asarray(values, dtype=np.float64)
    if np.isnan(given).any():
        raise ValueError("NaN has no rank")
    order = np.argsort(given, axis=-1, kind="stable")
    ordered = np.take_along_axis(given, order, axis=-1)
    starts = np.ones(given.shape, dtype=bool)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ends = np.ones(given.shape, dtype=bool)
    ends[..., :-1] = starts[..., 1:]
    count = given.shape[-1]
    place = np.arange(count)
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, place, count)[..., ::-1], axis=-1)[..., ::-1]
    found = np.empty(given.shape)
    np.put_along_axis(found, order, (first + last) / 2, axis=-1)
    return found


def spearman(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return Spearman's rho along the last axis: Pearson's correlation of the ranks, ties averaged.

    Where one side is constant the correlation is not defined (0/0). It is 0 here: a constant orders
    nothing, and so says nothing about the order of the other side.

    Parameters
    ----------
    x, y
        Shapes ``[..., n]`` that broadcast.
    """
    a, b = ranks(x), ranks(y)
    a -= a.mean(axis=-1, keepdims=True)
    b -= b.mean(axis=-1, keepdims=True)
    size = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    together = (a * b).sum(axis=-1)
    rho = np.zeros(np.shape(together))
    np.divide(together, size, out=rho, where=size > 0)
    return rho
