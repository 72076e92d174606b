"""Off-policy estimates of a memory's worth: what a log with known propensities says of another policy.

An episode retrieved a memory with a known probability, its propensity, which may depend on the task.
Worth asks how often the episodes succeed that did retrieve it; the estimates here ask how often
episodes would succeed if *every* episode retrieved it: tasks that seldom retrieve it count for more
(Horvitz and Thompson 1952; Swaminathan and Joachims 2015; Dudik, Langford and Li 2011).

They read the counters of `memopt.session.counters`, recorded with weights ``1 / propensity``: the
self-normalised estimate *is* Memory Worth under those weights. Tasks come in strata (clusters); a table
of a log has shape ``[..., strata, memories, 4]``. A memory that was never retrieved in a stratum adds
nothing there, and where that is because its propensity is 0, no estimate makes up for it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from memopt.session.counters import PLUS, Floats, ratio, weight_of


def ips(table: Floats, episodes: ArrayLike) -> Floats:
    """Return the inverse propensity scored estimate, ``mean(A Y / e)``; unbiased, not bounded by 1.

    Parameters
    ----------
    table
        Counters, weighed by 1 / propensity; shape ``[..., strata, memories, 4]``.
    episodes
        Episodes in each stratum, those included that did not retrieve the memory; ``[..., strata]``.
    """
    count = np.asarray(episodes, dtype=np.float64)
    estimate: Floats = table[..., PLUS].sum(axis=-2) / count.sum(axis=-1)[..., None]
    return estimate


def snips(table: Floats) -> Floats:
    """Return the self-normalised estimate, ``sum(A Y / e) / sum(A / e)``; 0.5 without evidence.

    Consistent, between 0 and 1, and much steadier than `ips`; its bias falls like 1 / episodes.
    """
    return ratio(table.sum(axis=-3))


def doubly_robust(table: Floats, episodes: ArrayLike, model: ArrayLike) -> Floats:
    """Return the doubly robust estimate, ``mean(q + A (Y - q) / e)``.

    Unbiased for any fixed model q; the nearer q is to the truth, the steadier.

    Parameters
    ----------
    table, episodes
        As for `ips`.
    model
        q: rate of success predicted for each stratum, whichever memory is retrieved; ``[..., strata]``.
    """
    count, predicted = np.asarray(episodes, dtype=np.float64), np.asarray(model, dtype=np.float64)
    surprise = table[..., PLUS] - predicted[..., None] * weight_of(table)
    total = ((count * predicted)[..., None] + surprise).sum(axis=-2)
    estimate: Floats = total / count.sum(axis=-1)[..., None]
    return estimate
