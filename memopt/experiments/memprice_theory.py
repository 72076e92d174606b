"""What the theory says of every turn of a trace, recomputed without the session's code."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from memopt.experiments.memprice_trace import Stream, Trace
from memopt.session.counters import Floats

BROKEN = (
    "turns over the budget",
    "turns off an identity of the queue",
    "turns above a bound of the theory",
    "turns with another optimum than by a float DP",
    "turns on which CP-SAT disagrees",
    "levels raised without a refresh",
    "refreshes that moved queue or clock",
)
"""What must not happen in a trace."""
SEEN = ("turns solved by CP-SAT as well", "levels regained after a refresh")
"""What should happen now and then, or the counts above would show nothing."""
CURVES = ("pressure", "average", "regret", "certificate")
"""Curves of `Judged` worth drawing."""


@dataclass(frozen=True)
class Judged:
    """What a trace amounts to.

    Attributes
    ----------
    pressure, average, regret, certificate, certificate_bound
        After each turn: Q; mean occupancy; regret against the best that keeps <= alpha * B in each
        turn on the same candidates; the certificate of that regret, slack included; and the bound that
        the certificate cannot exceed.
    broken, seen
        Counts by the names in `BROKEN` and `SEEN`.
    """

    pressure: Floats
    average: Floats
    regret: Floats
    certificate: Floats
    certificate_bound: Floats
    broken: dict[str, int]
    seen: dict[str, int]


def judge(made: Stream, trace: Trace, budget: int, alpha: float, gain: float) -> Judged:
    """Recompute a trace without the session's code and hold it against the theory."""
    count = np.arange(1, len(trace.events) + 1)
    kept = np.array([event.tokens for event in trace.events])
    queues = trace.queues
    share = Fraction(repr(alpha))
    # Lindley: the queue is the walk less its lowest point so far. Integers, in units of 1/(budget * q).
    walk = np.cumsum(share.denominator * kept - share.numerator * budget)
    lowest = np.minimum(np.minimum.accumulate(walk), 0)
    unit = float(share.denominator * budget)
    pressure, average = (walk - lowest) / unit, np.cumsum(kept) / (budget * count)
    told = np.array(
        [[q.pressure, q.largest_pressure, q.average_occupancy, q.identity, q.turn - 1] for q in queues]
    )
    recomputed = [pressure, np.maximum.accumulate(pressure), average, alpha + walk / unit / count, count]
    off = (np.abs(told - np.column_stack(recomputed)) > 1e-12).any(axis=1)

    value = frontier(made, trace.held, budget)
    allowed = int(share * budget)
    price = np.array([event.price for event in trace.events])
    objective = np.array([event.result["objective"] for event in trace.events])
    best = (value - (price / budget)[:, None] * np.arange(budget + 1)).max(axis=1)
    missed = np.abs(objective - best) > 1e-8 * (1 + np.abs(best))
    thrifty = value[:, : allowed + 1].max(axis=1)
    regret = np.cumsum(thrifty - (objective + price * kept / budget))
    certificate, slack, bound = np.array([[q.certificate, q.slack, q.certificate_bound] for q in queues]).T
    resummed = np.cumsum(price * (alpha - kept / budget))
    critical = critical_rate(value, allowed) * budget
    bounds = [
        (average, alpha + pressure / count),
        (regret, certificate + slack),
        (certificate, bound),
        (np.abs(certificate - resummed), 0 * bound),
        (np.where(price > critical * (1 + 1e-9), kept, 0), allowed + 0 * bound),
    ]
    if gain:
        highest = np.maximum.accumulate(critical) * np.sqrt(count) / gain + 1 - alpha
        bounds += [(pressure, highest), (average, alpha + highest / count)]
    above = np.any([left > right + 1e-9 * (1 + np.abs(right)) for left, right in bounds], axis=0)
    counts = ((kept > budget).sum(), off.sum(), above.sum(), missed.sum())
    told_apart = (*map(int, counts), trace.disagreed, trace.raised, trace.moved)
    return Judged(
        pressure, average, regret, certificate + slack, bound,
        dict(zip(BROKEN, told_apart, strict=True)),
        dict(zip(SEEN, (trace.asked, trace.regained), strict=True)),
    )  # fmt: skip


def frontier(made: Stream, held: list[list[int]], budget: int) -> Floats:
    """Return the largest utility at each exact number of tokens, for every turn at once.

    By a dynamic program in floats over the levels that nothing forbids; shape ``[turns, budget + 1]``,
    -inf where no selection has that many tokens.
    """
    turns, width = len(held), made.arrivals * made.life
    value = np.full((turns, budget + 1), -np.inf)
    value[:, 0] = 0.0
    place = np.arange(budget + 1)
    for slot in range(width):
        there = [turn for turn in range(turns) if slot < len(held[turn])]
        memory = np.array([made.offered(turn)[slot] for turn in there], dtype=np.int64)
        bound = np.array([held[turn][slot] for turn in there], dtype=np.int64)
        before = value[there]
        after = before.copy()
        for level in range(made.tokens.shape[1]):
            source = place - made.tokens[memory, level][:, None]
            got = np.take_along_axis(before, np.maximum(source, 0), axis=1)
            got += made.utility[memory, level][:, None]
            got[(source < 0) | (bound > level)[:, None]] = -np.inf
            np.maximum(after, got, out=after)
        value[there] = after
    return value


def critical_rate(value: Floats, allowed: int) -> Floats:
    """Return the smallest price of a token at which a turn's optimum keeps <= `allowed`, shape ``[turns]``.

    Keeping g tokens loses to keeping h < g once the price reaches ``(V(g) - V(h)) / (g - h)``; so each g
    above the limit has to meet the least of these, and the price has to meet the most demanding g.
    """
    rate = np.zeros(len(value))
    below = np.arange(allowed + 1)
    for kept in range(allowed + 1, value.shape[1]):
        reached = np.isfinite(value[:, kept])
        loses = (value[reached, kept][:, None] - value[reached, : allowed + 1]) / (kept - below)
        rate[reached] = np.maximum(rate[reached], loses.min(axis=1))
    return rate
