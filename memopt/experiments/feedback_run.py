"""The loops of worth-feedback-loop: worth decides what is retrieved, and so what worth learns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from memopt.experiments.experiment import Advance, Run, Share
from memopt.experiments.ranks import spearman
from memopt.experiments.success import SuccessParameters
from memopt.session.counters import LABELS, Floats, WorthRule, classify, new_table, ratio, record

_LOST = 0.1
_POINTS = 40
_AT_A_TIME = 200
"""Episodes drawn at a time; their number changes no figure."""


class FeedbackParameters(SuccessParameters):
    """Parameters of the world and of retrieval.

    Of the two success models of worth-calibration the default is the one whose rho without bias lies nearer
    to the published range; it was chosen after seeing that range.

    Attributes
    ----------
    memories, retrieved, episodes
        Number of memories, how many of them an episode retrieves, and number of episodes.
    betas
        Strengths of the bias; 0 is uniform retrieval.
    epsilons
        Shares of the episodes that retrieve uniformly.
    """

    memories: Annotated[int, Field(ge=2, le=1_000)] = 100
    retrieved: Annotated[int, Field(ge=1)] = 8
    episodes: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    success_model: Literal["sigmoid", "mean"] = "mean"
    betas: Annotated[
        tuple[Annotated[float, Field(ge=0, le=1_000)], ...], Field(min_length=1, max_length=20)
    ] = (
        0.0,
        1.0,
        2.0,
        5.0,
        10.0,
        20.0,
    )
    epsilons: Annotated[tuple[Share, ...], Field(min_length=1, max_length=10)] = (0.0, 0.05, 0.2)

    @model_validator(mode="after")
    def _fits_together(self) -> FeedbackParameters:
        if self.retrieved > self.memories:
            raise ValueError(f"{self.retrieved} memories cannot be retrieved out of {self.memories}")
        return self

    @property
    def arms(self) -> list[tuple[float, float]]:
        """Every beta with every epsilon; without bias all episodes are uniform and epsilon has no effect."""
        return [
            (beta, epsilon)
            for beta in self.betas
            for epsilon in (self.epsilons if beta > 0 else self.epsilons[:1])
        ]


def named(what: str, beta: float, epsilon: float) -> str:
    """Return the name of a value or trajectory of an arm."""
    return f"{what}, beta {beta:g}, epsilon {epsilon:g}"


def collapse(epsilon: float) -> str:
    """Return the name of the least beta whose rho is `_LOST` or more below that of the least beta of all."""
    return f"least beta that loses {_LOST:g} of rho, epsilon {epsilon:g}"


def run_seeds(parameters: FeedbackParameters, seeds: Sequence[int], advance: Advance) -> list[Run]:
    """Step all arms of all seeds together; a seed's arms share its draws, and seeds share nothing."""
    beta, epsilon = np.array(parameters.arms).T[..., None]
    size, k, shape = parameters.memories, parameters.retrieved, (len(beta), len(seeds))
    streams = [np.random.default_rng(seed).spawn(4) for seed in seeds]
    utility = np.stack([stream[0].random(size) for stream in streams])
    table = new_table(shape[0] * shape[1] * size)
    worth = ratio(table).reshape(*shape, size)
    first_row = size * np.arange(shape[0] * shape[1]).reshape(*shape, 1)
    own = np.arange(len(seeds))[:, None]
    thinned = -(-parameters.episodes // _POINTS)
    x, curves, won = [], [], np.zeros(shape)
    for episode, (noise, luck, explores) in enumerate(_draws(parameters, streams), 1):
        pull = np.where(explores < epsilon, 0.0, beta)
        keys = pull[..., None] * worth + noise
        retrieved = keys.argpartition(size - k, axis=-1)[..., size - k :]
        rows = first_row + retrieved
        mean = utility[own, retrieved].mean(axis=-1)
        success = luck < parameters.chance(mean)
        record(table, rows, 1 / k, success[..., None])
        worth.reshape(-1)[rows] = ratio(table[rows])
        won += success
        if episode % thinned == 0 or episode == parameters.episodes:
            x.append(episode)
            curves.append(spearman(worth, utility))
            advance(episode / parameters.episodes)
    labels = classify(table, WorthRule()).reshape(*shape, size)
    uncertain = (labels == LABELS.index("uncertain")).mean(axis=-1)
    rho = np.stack(curves, axis=-1)
    return [
        _told(parameters, seed, x, rho[:, s], uncertain[:, s], won[:, s] / parameters.episodes)
        for s, seed in enumerate(seeds)
    ]


def _draws(
    parameters: FeedbackParameters, streams: Sequence[Sequence[np.random.Generator]]
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield for each episode Gumbel noise ``[seeds, memories]``, luck and explores, both ``[seeds]``."""
    for begin in range(0, parameters.episodes, _AT_A_TIME):
        count = min(_AT_A_TIME, parameters.episodes - begin)
        noise = np.stack([gumbel.gumbel(size=(count, parameters.memories)) for _, gumbel, _, _ in streams], 1)
        luck = np.stack([stream.random(count) for _, _, stream, _ in streams], 1)
        explores = np.stack([stream.random(count) for _, _, _, stream in streams], 1)
        yield from zip(noise, luck, explores, strict=True)


def _told(
    parameters: FeedbackParameters, seed: int, x: list[int], rho: Floats, uncertain: Floats, success: Floats
) -> Run:
    """Return the run of a seed from its arms: rho ``[arms, points]``, the others ``[arms]``."""
    values: dict[str, float | None] = {}
    trajectories: dict[str, Sequence[float]] = {"x": x}
    for arm, curve, few, rate in zip(parameters.arms, rho.tolist(), uncertain, success, strict=True):
        trajectories[named("rho", *arm)] = curve
        values[named("rho", *arm)] = curve[-1]
        values[named("share uncertain", *arm)] = float(few)
        values[named("success rate", *arm)] = float(rate)
    ends = dict(zip(parameters.arms, rho[:, -1].tolist(), strict=True))
    least = min(parameters.arms)
    for epsilon in parameters.epsilons:
        lost = [beta for beta, e in parameters.arms if e == epsilon and ends[least] - ends[beta, e] >= _LOST]
        values[collapse(epsilon)] = min(lost, default=None)
    return Run(seed, values, trajectories)
