"""The world of worth-difficulty: tasks, logs of what they retrieve, and estimates from a log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from memopt.experiments.experiment import Parameters, Run, Share
from memopt.experiments.off_policy import doubly_robust, ips, snips
from memopt.experiments.ranks import spearman
from memopt.session.counters import RETRIEVALS, Floats, Ints, lift, new_table, ratio, record

ALL, HARD_ALONE, LIFT, IPS, SNIPS, ROBUST = ESTIMATES = (
    "all tasks",
    "hard tasks alone",
    "lift by cluster",
    "IPS",
    "SNIPS",
    "doubly robust",
)
"""Worth as published, worth in one cluster, lift over the base rate of each; then off-policy estimates."""
EASY, HARD = 0, 1
"""Clusters."""
_POINTS = 50


class DifficultyParameters(Parameters):
    """Parameters of the world and of the log.

    Attributes
    ----------
    generalists, specialists, specialist_utility
        Number of memories of either kind, and the utility of a specialist. A generalist's is U(0, 1).
    retrieved, episodes, hard_share
        How many memories an episode retrieves, number of episodes, and the chance that one is hard.
    easy_base, hard_base, slope
        The chance of success is ``base + slope * (mean utility retrieved - .5)``.
    explorations
        Chances to explore, with one log for each, all of the same tasks; 0 is the published design.
    """

    generalists: Annotated[int, Field(ge=2, le=500)] = 70
    specialists: Annotated[int, Field(ge=1, le=500)] = 30
    specialist_utility: Share = 0.85
    retrieved: Annotated[int, Field(ge=1)] = 8
    episodes: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    hard_share: Share = 0.5
    easy_base: Share = 0.78
    hard_base: Share = 0.28
    slope: Annotated[float, Field(ge=0, le=1)] = 0.12
    explorations: Annotated[tuple[Share, ...], Field(min_length=1, max_length=5)] = (0.0, 0.2)

    @model_validator(mode="after")
    def _fits_together(self) -> DifficultyParameters:
        if self.retrieved > self.generalists:
            raise ValueError(f"{self.retrieved} cannot be retrieved out of {self.generalists} generalists")
        for base in (self.easy_base, self.hard_base):
            if not self.slope / 2 <= base <= 1 - self.slope / 2:
                raise ValueError(f"base {base:g} -+ half the slope must lie between 0 and 1")
        return self

    @property
    def memories(self) -> int:
        """Generalists first, then specialists."""
        return self.generalists + self.specialists

    def propensities(self, exploration: float) -> Floats:
        """Return the chance that an easy and a hard task retrieves each memory, ``[2, memories]``."""
        found = np.full((2, self.memories), self.retrieved / self.memories)
        found[EASY, : self.generalists] = (self.retrieved - exploration) / self.generalists
        found[EASY, self.generalists :] = exploration / self.specialists
        return found


def named(estimate: str, exploration: float) -> str:
    """Return the name of a correlation among the values and trajectories of a run."""
    return f"rho, {estimate}, exploration {exploration:g}"


def names(exploration: float) -> list[str]:
    """Return the names of all correlations of a log."""
    return [named(estimate, exploration) for estimate in ESTIMATES]


def flips(exploration: float) -> str:
    """Return the name of the share of seeds with rho < 0 over all tasks and > 0 over hard ones alone."""
    return f"share of seeds whose sign flips, exploration {exploration:g}"


def run_seed(parameters: DifficultyParameters, seed: int) -> Run:
    """Return the run of a seed; its logs are of the same tasks."""
    random = np.random.default_rng(seed)
    utility = np.full(parameters.memories, parameters.specialist_utility)
    utility[: parameters.generalists] = random.random(parameters.generalists)
    logs, size = len(parameters.explorations), parameters.memories
    propensity = np.stack([parameters.propensities(exploration) for exploration in parameters.explorations])
    plain, weighed = new_table(logs * 2 * size), new_table(logs * 2 * size)
    clusters = new_table(logs * 2)
    stops = np.unique(np.linspace(0, parameters.episodes, _POINTS + 1).astype(np.int64))
    curves = []
    for episodes in np.diff(stops).tolist():
        hard, retrieved = retrieve(parameters, random, episodes)
        luck = random.random(episodes)
        base = np.where(hard == HARD, parameters.hard_base, parameters.easy_base)
        success = luck < base + parameters.slope * (utility[retrieved].mean(axis=-1) - 0.5)
        cluster = hard + 2 * np.arange(logs)[:, None]
        rows = cluster[..., None] * size + retrieved
        record(plain, rows, 1 / parameters.retrieved, success[..., None])
        record(weighed, rows, 1 / propensity.reshape(-1)[rows], success[..., None])
        record(clusters, cluster, 1.0, success)
        shape = (logs, 2, size, -1)
        curves.append(
            spearman(
                estimates(plain.reshape(shape), weighed.reshape(shape), clusters.reshape(logs, 2, -1)),
                utility,
            )
        )
    ends = np.stack(curves, axis=-1)
    values: dict[str, float | None] = {}
    trajectories: dict[str, Sequence[float]] = {"x": stops[1:].tolist()}
    for exploration, log in zip(parameters.explorations, ends.swapaxes(0, 1), strict=True):
        trajectories |= dict(zip(names(exploration), log.tolist(), strict=True))
        values |= dict(zip(names(exploration), log[:, -1].tolist(), strict=True))
        values[flips(exploration)] = float(log[0, -1] < 0 < log[1, -1])
    return Run(seed, values, trajectories)


def retrieve(
    parameters: DifficultyParameters, random: np.random.Generator, episodes: int
) -> tuple[Ints, Ints]:
    """Draw whether tasks are hard, ``[episodes]``, and what each log retrieves, ``[logs, episodes, k]``.

    The logs share all draws: they differ only in the places handed to specialists.
    """
    many, k = parameters.generalists, parameters.retrieved
    hard = (random.random(episodes) < parameters.hard_share).astype(np.int64)
    keys = random.random((episodes, parameters.memories))
    keys[hard == EASY, many:] = 2.0  # after every generalist
    retrieved = np.argpartition(keys, k - 1, axis=1)[:, :k]
    explores, place = random.random(episodes), random.integers(k, size=episodes)
    specialist = random.integers(many, parameters.memories, size=episodes)
    logs = np.repeat(retrieved[None], len(parameters.explorations), axis=0)
    for log, exploration in zip(logs, parameters.explorations, strict=True):
        which = np.flatnonzero((hard == EASY) & (explores < exploration))
        log[which, place[which]] = specialist[which]
    return hard, logs


def estimates(plain: Floats, weighed: Floats, clusters: Floats) -> Floats:
    """Return all `ESTIMATES`, shape ``[6, logs, memories]``.

    Parameters
    ----------
    plain, weighed
        Counters under equal weights and under 1 / propensity; ``[logs, 2, memories, 4]``.
    clusters
        Counters of the episodes of each cluster; ``[logs, 2, 4]``.
    """
    episodes, rates = clusters[..., RETRIEVALS], ratio(clusters)
    seen = plain[..., RETRIEVALS]
    lifts, total = np.nan_to_num(lift(plain, rates[..., None]), nan=1.0), seen.sum(axis=1)
    lifted = np.divide((lifts * seen).sum(axis=1), total, out=np.ones(total.shape), where=total > 0)
    return np.stack(
        [
            ratio(plain.sum(axis=1)),
            ratio(plain[:, HARD]),
            lifted,
            ips(weighed, episodes),
            snips(weighed),
            doubly_robust(weighed, episodes, rates),
        ]
    )
