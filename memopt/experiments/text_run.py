"""The runs of the text experiment: one world per seed and shift, counted with and without decay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from memopt.experiments.detection_lag import crossing, decayed_law, measured_lag, plain_law
from memopt.experiments.experiment import Advance, Parameters, Run, Share
from memopt.experiments.text_world import (
    KINDS,
    MEMORIES,
    ORDINARY_KIND,
    SPECIALIST,
    SPECIALIST_KIND,
    STALE,
    STALE_KIND,
    UNKNOWN_KIND,
    Retrieval,
)
from memopt.session import counters
from memopt.session.counters import Floats, Ints

_POINTS = 200
PLAIN, DECAYED = "no decay", "half-life"
WHO = ("stale", "specialist", "others")


class TextParameters(Parameters):
    """Parameters of the world, and of how it is counted.

    Attributes
    ----------
    retrieval
        ``minilm``, ``bm25``, or ``auto``: MiniLM where it is installed, BM25 elsewhere.
    top, least_similarity
        The most memories that a query retrieves, and the least cosine similarity of each.
    episodes
        Queries asked.
    shifts
        Episodes after which the stale memory is wrong, each in a world of its own. The curves are of the
        first; the detection lag is measured at all of them.
    p_before, p_after
        Chance of success where the stale memory is asked for, before and after the shift.
    p_ok, p_miss
        Chance of success elsewhere, with the keyword among the memories retrieved and without it.
    stale_share, specialist_share, unknown_share
        Shares of the queries about the stale memory, about the specialist, and about what no memory
        knows; the rest is spread evenly over the other memories.
    half_life
        Of the decayed counters, in retrievals.
    low
        Threshold that the stale memory crosses.
    """

    retrieval: Literal["auto", "minilm", "bm25"] = "auto"
    top: Annotated[int, Field(ge=1, le=20)] = 3
    least_similarity: Annotated[float, Field(ge=-1, le=1)] = 0.25
    episodes: Annotated[int, Field(ge=1)] = 3_000
    shifts: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] = (100, 300, 600)
    p_before: Share = 0.85
    p_after: Share = 0.15
    p_ok: Share = 0.80
    p_miss: Share = 0.50
    stale_share: Share = 0.08
    specialist_share: Share = 0.02
    unknown_share: Share = 0.02
    half_life: Annotated[float, Field(gt=0)] = 20.0
    low: Share = 0.40

    @model_validator(mode="after")
    def _shares_fit(self) -> TextParameters:
        if self.stale_share + self.specialist_share + self.unknown_share > 1:
            raise ValueError("the shares of the queries add up to more than 1")
        return self

    @property
    def rates(self) -> tuple[float, float, float]:
        """Chances of success before and after the shift, and the threshold: what the laws of lag ask for."""
        return self.p_before, self.p_after, self.low


@dataclass(frozen=True)
class Counted:
    """What the counters of one kind say, worlds by seed and shift.

    Attributes
    ----------
    stale
        Worth of the stale memory after each episode, shape ``[episodes, seeds, shifts]``.
    points
        Worth of all memories at the points drawn, at the first shift, shape ``[points, seeds, memories]``.
    """

    stale: Floats
    points: Floats

    def of(self, place: int) -> Counted:
        """Return what is said of one seed, its axis gone."""
        return Counted(self.stale[:, place], self.points[:, place])


def run_seeds(
    told: TextParameters, retrieval: Retrieval, seeds: Sequence[int], advance: Advance
) -> list[Run]:
    """Return a run for each seed, all stepped together."""
    asked, luck = _drawn(told, seeds)
    at = np.unique(np.linspace(0, told.episodes - 1, min(told.episodes, _POINTS)).astype(np.int64))
    won = luck[:, :, None] < _chances(told, retrieval)[_phase(told)[:, None, :], asked[:, :, None]]
    counted = {}
    for number, (name, half_life) in enumerate(((PLAIN, None), (DECAYED, told.half_life))):
        counted[name] = _counted(retrieval.top[asked], won, at, half_life)
        advance((number + 1) / 2)
    of_stale = np.cumsum((retrieval.top[asked] == STALE).any(axis=2), axis=0)
    return [
        _run(
            told, seed, at, {name: one.of(place) for name, one in counted.items()}, of_stale[:, place],
            retrieval,
        )
        for place, seed in enumerate(seeds)
    ]  # fmt: skip


def _drawn(told: TextParameters, seeds: Sequence[int]) -> tuple[Ints, Floats]:
    """Return the queries and the luck of all episodes, shape ``[episodes, seeds]``."""
    shares = {
        STALE_KIND: told.stale_share,
        SPECIALIST_KIND: told.specialist_share,
        UNKNOWN_KIND: told.unknown_share,
    }
    shares[ORDINARY_KIND] = 1 - sum(shares.values())
    chance = np.zeros(len(KINDS))
    for kind, share in shares.items():
        chance[kind == KINDS] = share / np.count_nonzero(kind == KINDS)
    chance /= chance.sum()
    drawn = [np.random.default_rng([seed, 5]) for seed in seeds]
    asked = [rng.choice(len(KINDS), told.episodes, p=chance) for rng in drawn]
    return np.stack(asked, axis=1), np.stack([rng.random(told.episodes) for rng in drawn], axis=1)


def _chances(told: TextParameters, retrieval: Retrieval) -> Floats:
    """Return the success probability of each query before and after the shift, shape ``[2, queries]``."""
    usual = np.where(retrieval.helped, told.p_ok, told.p_miss)
    moved = (KINDS == STALE_KIND) & retrieval.helped
    return np.stack([np.where(moved, told.p_before, usual), np.where(moved, told.p_after, usual)])


def _phase(told: TextParameters) -> Ints:
    """Return 0 before and 1 after the shift, shape ``[episodes, shifts]``."""
    return (np.arange(told.episodes)[:, None] >= np.array(told.shifts)).astype(np.int64)


def _counted(top: Ints, won: NDArray[np.bool_], at: Ints, half_life: float | None) -> Counted:
    """Credit all episodes to `counters`, worlds side by side.

    Parameters
    ----------
    top
        Memories retrieved, shape ``[episodes, seeds, k]``.
    won
        Outcomes, shape ``[episodes, seeds, shifts]``.
    """
    episodes, seeds, shifts = won.shape
    memories = len(MEMORIES)
    table = counters.new_table(seeds * shifts * memories)
    worlds = np.arange(seeds * shifts).reshape(seeds, shifts, 1) * memories
    by_world = table.reshape(seeds, shifts, memories, -1)
    there = np.broadcast_to((top >= 0)[:, :, None], (episodes, seeds, shifts, top.shape[2]))
    weights = counters.retrieval_weights((top >= 0).astype(np.float64))
    stale, points = np.empty(won.shape), []
    drawn = frozenset(at.tolist())
    for episode in range(episodes):
        mask = there[episode]
        rows, weight, success = np.broadcast_arrays(
            worlds + top[episode][:, None], weights[episode][:, None], won[episode][:, :, None]
        )
        counters.record(table, rows[mask], weight[mask], success[mask], half_life)
        stale[episode] = counters.ratio(by_world[:, :, STALE])
        if episode in drawn:
            points.append(counters.ratio(by_world[:, 0]))
    return Counted(stale, np.array(points))


def _run(
    told: TextParameters,
    seed: int,
    at: Ints,
    counted: dict[str, Counted],
    of_stale: Ints,
    retrieval: Retrieval,
) -> Run:
    first = min(told.shifts[0], told.episodes)
    values: dict[str, float | None] = {"stale at the shift": float(counted[PLAIN].stale[first - 1, 0])}
    curves: dict[str, list[float]] = {"x": (at + 1).tolist()}
    for name, one in counted.items():
        worth = one.points
        parts = (worth[:, STALE], worth[:, SPECIALIST], worth[:, SPECIALIST + 1 :].mean(axis=1))
        for who, curve in zip(WHO, parts, strict=True):
            curves[named(who, name)] = curve.tolist()
            values[named(f"{who} at the end", name)] = float(curve[-1])
        crossed = crossing(one.stale[:, 0], told.shifts[0], told.low)
        values[named("stale crosses at episode", name)] = None if crossed is None else crossed + 1.0
    for number, shift in enumerate(told.shifts):
        tenure = float(of_stale[min(shift, told.episodes) - 1])
        values[tenure_before(shift)] = tenure
        for name, one in counted.items():
            values[lag(shift, name)] = measured_lag(one.stale[:, number], shift, told.low, of_stale)
            if retrieval.stale_alone:
                values[lag(shift, law_of(name))] = law(told, name, tenure)
    about = {"retrieval": retrieval.by, "note": retrieval.note, "laws": retrieval.stale_alone}
    return Run(seed, values, curves, about | {"ends": counted[PLAIN].points[-1].tolist()})


def law(told: TextParameters, counters_of: str, tenure: float) -> float | None:
    """Return the lag of one kind of counters by its law, in retrievals; None = never."""
    if counters_of == PLAIN:
        return plain_law(tenure, *told.rates)
    return decayed_law(told.half_life, tenure, *told.rates)


def named(what: str, counters_of: str) -> str:
    """Return the name of a figure of one kind of counters."""
    return f"{what}, {counters_of}"


def lag(shift: int, by: str) -> str:
    """Return the name of a lag: retrievals of the stale memory between a shift and its crossing."""
    return named(f"lag after a shift at {shift:,}", by)


def law_of(counters_of: str) -> str:
    """Return what `lag` calls the law of one kind of counters."""
    return f"law of {counters_of}"


def tenure_before(shift: int) -> str:
    """Return the name of a tenure: retrievals of the stale memory before a shift."""
    return f"retrievals before a shift at {shift:,}"
