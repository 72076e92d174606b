"""Memory Worth by columns: one update and one set of estimators, for sessions and experiments alike.

A table has one row per memory and four columns: the weight of its retrievals that ended in success, the
weight of those that ended in failure, the sum of squared weights, and the raw number of retrievals.
The first two are the published counters (Simsek, "When to Forget", arXiv 2604.12007); the others say
how much evidence stands behind them.

Several worlds (seeds) are one table: memory m of world s is row ``s * memories + m``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memopt.session.interval import beta_interval, wilson_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PLUS, MINUS, SQUARES, RETRIEVALS = range(4)
"""Columns of a table."""

Label = Literal["high", "low", "mixed", "uncertain"]
LABELS: tuple[Label, ...] = ("high", "low", "mixed", "uncertain")
Weighting = Literal["uniform", "score", "given"]

Evidence = Literal["retrievals", "weight"]
Interval = Literal["wilson", "beta"]

_KNOWN = {"evidence": get_args(Evidence), "weights": get_args(Weighting), "interval": get_args(Interval)}
_ROUNDOFF = 1e-9
"""Boundaries are inclusive up to this, so that the last bits of 1/3 + 1/3 + 1/3 decide nothing."""


@dataclass(frozen=True, slots=True)
class WorthRule:
    """How outcomes are weighed and what is said of the counters.

    Attributes
    ----------
    high, low
        A memory is high at a ratio >= high and low at a ratio <= low. Whether the published
        inequalities are strict is not known; both boundaries are inclusive here.
    least_evidence
        V_min; with less evidence a memory is uncertain whatever its ratio. Inclusive.
    evidence
        What V counts: ``retrievals`` (raw, the default) or ``weight`` (sum of weights). Our choice.
    weights
        ``uniform`` 1/k; ``score``: in proportion to the retrieval scores, uniform where there are none;
        ``given``: in proportion to numbers that must be handed in (oracle, experiments only).
    half_life
        Retrievals of a memory after which a counted outcome weighs half; None = never. Its own
        retrievals are the clock, so that evidence does not fade while a memory is not asked.
    interval
        ``wilson``, or ``beta`` (posterior under a uniform prior).
    confidence
        Of the interval.
    overlap
        Pairs retrieved together in at least this share of the episodes of either are confounded.
    """

    high: float = 0.60
    low: float = 0.40
    least_evidence: float = 10.0
    evidence: Evidence = "retrievals"
    weights: Weighting = "uniform"
    half_life: float | None = None
    interval: Interval = "wilson"
    confidence: float = 0.95
    overlap: float = 0.9

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= 1:
            raise ValueError(f"thresholds must satisfy 0 <= low < high <= 1, read {self.low}, {self.high}")
        for name, known in _KNOWN.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is one of {', '.join(known)}, read {getattr(self, name)!r}")
        if not self.least_evidence >= 0:
            raise ValueError(f"the least evidence must be >= 0, read {self.least_evidence}")
        if not (self.half_life is None or (math.isfinite(self.half_life) and self.half_life > 0)):
            raise ValueError(f"the half-life must be above 0 or None, read {self.half_life}")
        if not 0 < self.confidence < 1:
            raise ValueError(f"the confidence must lie between 0 and 1, read {self.confidence}")
        if not 0 < self.overlap <= 1:
            raise ValueError(f"the overlap must be above 0 and at most 1, read {self.overlap}")


def new_table(rows: int) -> Floats:
    """Return a table without evidence, shape ``[rows, 4]``."""
    return np.zeros((rows, 4))


def retrieval_weights(scores: ArrayLike) -> Floats:
    """Return weights in proportion to scores, each row summing to 1.

    Parameters
    ----------
    scores
        Finite and >= 0, shape ``[..., k]``. A row of zeros is weighed uniformly.

    Raises
    ------
    ValueError
        When a score is negative or not finite.
    """
    given = np.asarray(scores, dtype=np.float64)
    if not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError("scores must be finite and >= 0")
    largest = given.max(axis=-1, keepdims=True, initial=0.0)
    given = np.where(largest > 0, given, 1.0) / np.where(largest > 0, largest, 1.0)
    weights: Floats = given / given.sum(axis=-1, keepdims=True)
    return weights


def fading(half_life: float | None) -> Floats:
    """Return what a row is multiplied by before a retrieval adds to it, shape ``[4]``."""
    kept = 1.0 if half_life is None else 2.0 ** (-1.0 / half_life)
    return np.array([kept, kept, kept * kept, 1.0])


def record(
    table: Floats, rows: ArrayLike, weights: ArrayLike, success: ArrayLike, half_life: float | None = None
) -> None:
    """Credit retrievals to a table, in place and in the order given.

    One call may hold one episode or thousands: the result is the same to the last bit.

    Parameters
    ----------
    table
        Shape ``[n, 4]``.
    rows
        Row of each retrieval, any shape; C order is the order of time.
    weights, success
        Its weight and whether its episode succeeded, of a shape that broadcasts to that of rows.
    half_life
        See `WorthRule`.
    """
    which = np.asarray(rows, dtype=np.int64)
    weight, won = np.asarray(weights, dtype=np.float64), np.asarray(success, dtype=bool)
    added = np.empty((*which.shape, 4))
    added[..., PLUS] = weight * won
    added[..., MINUS] = weight * ~won
    added[..., SQUARES] = weight * weight
    added[..., RETRIEVALS] = 1.0
    which, added = which.reshape(-1), added.reshape(-1, 4)
    if half_life is None:
        np.add.at(table, which, added)
        return
    kept = fading(half_life)
    if len(np.unique(which)) == len(which):
        table[which] = table[which] * kept + added
        return
    for row, part in zip(which.tolist(), added, strict=True):
        table[row] = table[row] * kept + part


def weight_of(table: Floats) -> Floats:
    """Return the sum of weights of each row."""
    weight: Floats = table[..., PLUS] + table[..., MINUS]
    return weight


def ratio(table: Floats) -> Floats:
    """Return Memory Worth of each row, ``plus / (plus + minus)``; 0.5 without evidence."""
    return _quotient(table[..., PLUS], weight_of(table), 0.5)


def effective(table: Floats) -> Floats:
    """Return the effective number of retrievals, ``(sum w)^2 / sum w^2`` (Kish).

    The raw number when all weights are equal; less when they differ or fade.
    """
    return _quotient(weight_of(table) ** 2, table[..., SQUARES], 0.0)


def evidence(table: Floats, rule: WorthRule) -> Floats:
    """Return V of each row, as the rule counts it."""
    raw: Floats = table[..., RETRIEVALS]
    return raw if rule.evidence == "retrievals" else weight_of(table)


def classify(table: Floats, rule: WorthRule) -> NDArray[np.int8]:
    """Return the class of each row as an index into `LABELS`."""
    worth = ratio(table)
    codes = np.full(worth.shape, LABELS.index("mixed"), dtype=np.int8)
    codes[worth >= rule.high - _ROUNDOFF] = LABELS.index("high")
    codes[worth <= rule.low + _ROUNDOFF] = LABELS.index("low")
    codes[evidence(table, rule) < rule.least_evidence - _ROUNDOFF] = LABELS.index("uncertain")
    return codes


def interval(table: Floats, rule: WorthRule) -> tuple[Floats, Floats]:
    """Return the lower and upper end of each row's interval; 0 and 1 without evidence."""
    ends = wilson_interval if rule.interval == "wilson" else beta_interval
    return ends(ratio(table), effective(table), rule.confidence)


def lift(table: Floats, base_rate: ArrayLike) -> Floats:
    """Return ``ratio / base_rate`` of each row; NaN without evidence or where the base rate is 0."""
    base = np.broadcast_to(np.asarray(base_rate, dtype=np.float64), table.shape[:-1])
    return _quotient(ratio(table), np.where(weight_of(table) > 0, base, 0.0), np.nan)


def overlap(together: ArrayLike, one: ArrayLike, other: ArrayLike) -> Floats:
    """Return the share of the episodes with either memory that had both (Jaccard); 0 where none had."""
    both = np.asarray(together, dtype=np.float64)
    return _quotient(both, np.asarray(one) + np.asarray(other) - both, 0.0)


def _quotient(part: Floats, whole: Floats, otherwise: float) -> Floats:
    quotient = np.full(np.shape(whole), otherwise)
    np.divide(part, whole, out=quotient, where=whole > 0)
    return quotient
