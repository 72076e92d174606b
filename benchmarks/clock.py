"""Measuring side by side: the contestants take turns, and medians of the turns are compared."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

SAMPLE_SECONDS = 0.05
"""A turn repeats its call until all calls together took this long; it counts with their mean."""
LONG_SECONDS = 10.0
"""A contestant whose call took this long gets no further turn."""


@dataclass(frozen=True)
class Timing:
    """Seconds of wall time, and of process CPU time (all threads)."""

    wall: float
    cpu: float


class Contestant(Protocol):
    """Something to measure."""

    def prepare(self) -> None:
        """Get ready for one call; not measured."""
        ...

    def run(self) -> None:
        """Do what is measured."""
        ...


class Stopwatch:
    """Wall and CPU time since it was made or last read."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def lap(self) -> Timing:
        """Return the time since the last reading."""
        wall, cpu = time.perf_counter(), time.process_time()
        passed = Timing(wall - self._wall, cpu - self._cpu)
        self._wall, self._cpu = wall, cpu
        return passed


def alternate(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, Timing]:
    """Return the median time of one call of each contestant.

    Parameters
    ----------
    contestants
        By name; every round gives each of them one turn, in this order.
    rounds
        How many turns each gets, unless its calls are long.
    """
    turns: dict[str, list[Timing]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            if not turns[name] or turns[name][-1].wall < LONG_SECONDS:
                turns[name].append(_turn(contestant))
    return {name: middle(timings) for name, timings in turns.items()}


def middle(timings: list[Timing]) -> Timing:
    """Return the medians of wall and CPU time."""
    return Timing(median(t.wall for t in timings), median(t.cpu for t in timings))


def medians(laps: Sequence[Mapping[str, Timing]]) -> dict[str, Timing]:
    """Return the median time of every step, given the steps' times in every run."""
    return {step: middle([lap[step] for lap in laps]) for step in laps[0]}


def _turn(contestant: Contestant) -> Timing:
    wall = cpu = 0.0
    calls = 0
    while wall < SAMPLE_SECONDS:
        contestant.prepare()
        watch = Stopwatch()
        contestant.run()
        passed = watch.lap()
        wall, cpu, calls = wall + passed.wall, cpu + passed.cpu, calls + 1
    return Timing(wall / calls, cpu / calls)
