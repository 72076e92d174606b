"""The world of worth-co-retrieval: a pair that some episodes break, its counters and its report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from memopt.experiments.experiment import Parameters, Run, Share
from memopt.session.counters import (
    RETRIEVALS,
    Floats,
    WorthRule,
    interval,
    new_table,
    overlap,
    ratio,
    record,
)

ANCHOR, HITCHHIKER = 0, 1
"""Rows of the pair."""
SILENT = "report silent from a broken share of"
_STEPS = 40
_AT_A_TIME = 2**20


class CoRetrievalParameters(Parameters):
    """Parameters of the world, and of the rule that reports pairs.

    Attributes
    ----------
    memories, episodes
        Number of memories, the pair included; number of episodes, each of which retrieves one of the
        pair or both.
    sizes
        k: memories an episode retrieves.
    anchor, hitchhiker
        Utilities of the pair; the others' are U(0, 1). The chance of success is the mean utility of
        what is retrieved.
    broken
        Shares of broken episodes that the table shows; the curves go from 0 to 1 in steps of .025.
    overlap, confidence
        As in `WorthRule`: overlap from which a pair is reported, confidence of the intervals.
    """

    memories: Annotated[int, Field(ge=3, le=10_000)] = 100
    episodes: Annotated[int, Field(ge=1, le=1_000_000)] = 4_000
    sizes: Annotated[tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=1, max_length=10)] = (2, 5, 8)
    anchor: Share = 0.90
    hitchhiker: Share = 0.05
    broken: Annotated[tuple[Share, ...], Field(min_length=1, max_length=20)] = (0.0, 0.1, 0.3, 1.0)
    overlap: Annotated[float, Field(gt=0, le=1)] = WorthRule().overlap
    confidence: Annotated[float, Field(gt=0, lt=1)] = WorthRule().confidence

    @model_validator(mode="after")
    def _fits_together(self) -> CoRetrievalParameters:
        if max(self.sizes) >= self.memories:
            raise ValueError(f"{max(self.sizes)} cannot be retrieved out of {self.memories}, one left out")
        return self

    @property
    def rule(self) -> WorthRule:
        """The rule that reports pairs and gives intervals: that of sessions."""
        return WorthRule(overlap=self.overlap, confidence=self.confidence)

    @property
    def shares(self) -> list[float]:
        """Broken shares of the curves and the table, rising."""
        return sorted({*(step / _STEPS for step in range(_STEPS + 1)), *self.broken})


def named(what: str, k: int, share: float) -> str:
    """Return the name of a value of a run at a broken share."""
    return f"{what}, k {k}, {100 * share:g} % broken"


def scaled(k: int) -> str:
    """Return the name of k times the gap when every episode is broken: the difference of utilities."""
    return f"k times gap, k {k}, all broken"


def reported_at(share: float) -> str:
    """Return the name of the share of seeds whose session would report the pair at a broken share."""
    return f"share of seeds that report the pair, {100 * share:g} % broken"


def apart_from(k: int) -> str:
    """Return the name of the broken share from which on the intervals of the pair do not overlap."""
    return f"intervals apart from a broken share of, k {k}"


def run_seed(parameters: CoRetrievalParameters, seed: int) -> Run:
    """Return the run of a seed; which episodes break is the same for all k."""
    pairing, *streams = np.random.default_rng(seed).spawn(1 + len(parameters.sizes))
    shares = parameters.shares
    utility = pairing.random(parameters.memories)
    utility[[ANCHOR, HITCHHIKER]] = parameters.anchor, parameters.hitchhiker
    luck, coin = pairing.random(parameters.episodes), pairing.random(parameters.episodes) < 0.5
    values: dict[str, float | None] = {}
    trajectories: dict[str, Sequence[float]] = {"x": shares}
    for k, random in zip(parameters.sizes, streams, strict=True):
        table, together = simulate(parameters, random, k, utility, luck, coin)
        worth = ratio(table)
        gap = worth[:, ANCHOR] - worth[:, HITCHHIKER]
        low, high = interval(table, parameters.rule)
        apart = low[:, ANCHOR] > high[:, HITCHHIKER]
        for share in parameters.broken:
            at = shares.index(share)
            values[named("worth of anchor", k, share)] = float(worth[at, ANCHOR])
            values[named("worth of hitchhiker", k, share)] = float(worth[at, HITCHHIKER])
            values[named("gap", k, share)] = float(gap[at])
        values[scaled(k)] = float(k * gap[-1])
        values[apart_from(k)] = _from(shares, apart)
        trajectories |= {f"gap, k {k}": gap.tolist(), f"apart, k {k}": apart.astype(float).tolist()}
    reported = is_reported(parameters.rule, table, together)
    values |= {reported_at(share): float(reported[shares.index(share)]) for share in parameters.broken}
    values[SILENT] = _from(shares, ~reported)
    return Run(seed, values, trajectories | {"reported": reported.astype(float).tolist()})


def simulate(
    parameters: CoRetrievalParameters,
    random: np.random.Generator,
    k: int,
    utility: Floats,
    luck: Floats,
    coin: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """Return the counters of the pair, ``[shares, 2, 4]``, and episodes with both, ``[shares]``.

    Parameters
    ----------
    parameters, random, k, utility
        The world.
    luck, coin
        An episode is broken where luck < broken share; then the anchor stays where coin is true, and the
        hitchhiker where it is false.
    """
    shares = np.array(parameters.shares)
    table, together = new_table(2 * len(shares)), np.zeros(len(shares))
    first = 2 * np.arange(len(shares))[:, None]
    step = max(1, _AT_A_TIME // parameters.memories)
    for begin in range(0, parameters.episodes, step):
        part = slice(begin, begin + step)
        keeps = coin[part]
        keys = random.random((len(keeps), parameters.memories - 2))
        others = utility[2 + keys.argpartition(k - 2, axis=1)[:, : k - 1]]
        beside = others[:, :-1].sum(axis=1)
        both = (beside + parameters.anchor + parameters.hitchhiker) / k
        stays = np.where(keeps, parameters.anchor, parameters.hitchhiker)
        alone = (beside + others[:, -1] + stays) / k
        broken = luck[part] < shares[:, None]
        success = random.random(len(keeps)) < np.where(broken, alone, both)
        for memory, there in ((ANCHOR, ~broken | keeps), (HITCHHIKER, ~(broken & keeps))):
            rows = np.broadcast_to(first + memory, there.shape)
            record(table, rows[there], 1 / k, success[there])
        together += (~broken).sum(axis=1)
    return table.reshape(len(shares), 2, -1), together


def is_reported(rule: WorthRule, table: Floats, together: Floats) -> NDArray[np.bool_]:
    """Return whether a session would report the pair as confounded (`Worth.confounded`), ``[shares]``."""
    times = table[..., RETRIEVALS]
    shared = overlap(together, times[:, ANCHOR], times[:, HITCHHIKER])
    reported: NDArray[np.bool_] = (together >= rule.least_evidence) & (shared >= rule.overlap)
    return reported


def _from(shares: Sequence[float], holds: NDArray[np.bool_]) -> float | None:
    """Return the least share from which on something holds; None if it does not hold at the last."""
    fails = np.flatnonzero(~holds)
    first = int(fails[-1]) + 1 if len(fails) else 0
    return shares[first] if first < len(shares) else None
