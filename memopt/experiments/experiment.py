"""What an experiment is: parameters, a run over seeds, figures beside published ones, and a plot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from memopt.experiments.papers import Paper

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Advance = Callable[[float], object]
"""Told the share of the whole run that is done, 0 to 1."""
Share = Annotated[float, Field(ge=0, le=1)]
"""A parameter that is a share or a probability."""
Published = float | tuple[float, float]
"""A published figure, or the lower and upper end of a published range."""


class Parameters(BaseModel):
    """What `--set` changes: numbers, words and tuples of numbers, each with its default and its range."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @property
    def changed(self) -> dict[str, Any]:
        """Parameters whose value is not the default, by name."""
        usual = dict(type(self)())
        return {name: value for name, value in self if value != usual[name]}


@dataclass(frozen=True)
class Run:
    """What one seed gave. It depends on the seed and the parameters alone, not on the other seeds.

    Attributes
    ----------
    seed
        Of the world.
    values
        Figures by name; None where there is none (a curve that never crosses).
    trajectories
        Curves by name, thinned to at most 200 points, all over the same axis ``x``.
    kept
        Anything else worth keeping: counter-examples, confusion counts.
    """

    seed: int
    values: Mapping[str, float | None]
    trajectories: Mapping[str, Sequence[float]] = field(default_factory=dict)
    kept: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A row of the table *published / ours / difference*.

    Attributes
    ----------
    name
        What is measured.
    ours, spread
        Mean and standard deviation over the seeds that have a value; None where there is none.
    published
        What the paper says, a figure or a range; None where nothing is published.
    band
        How far off the published figure or range is still "met"; None = shown, not judged.
    expected
        What theory demands whatever the parameters, to be met exactly; None where it demands nothing.
    unit
        What is counted; empty where the name says it already. None = a rate, not a count.
    seeds_with_value
        How many seeds `ours` is the mean of; None where it is no mean over seeds.
    """

    name: str
    ours: float | None
    spread: float | None = None
    published: Published | None = None
    band: float | None = None
    expected: float | None = None
    unit: str | None = None
    seeds_with_value: int | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus what is published or expected: of a range its nearer end, and 0 within it."""
        aim = self.published if self.expected is None else self.expected
        if self.ours is None or aim is None:
            return None
        low, high = aim if isinstance(aim, tuple) else (aim, aim)
        return self.ours - min(max(self.ours, low), high)

    @property
    def met(self) -> bool | None:
        """Whether what is published or expected is met; None where nothing is judged."""
        band = self.band if self.expected is None else 0.0
        if band is None or (self.published is None and self.expected is None):
            return None
        return self.difference is not None and abs(self.difference) <= band + 1e-9


@dataclass(frozen=True)
class Claims:
    """What the figures of an experiment do and do not show.

    Attributes
    ----------
    component_only
        Only a mechanism is exercised, no agent and no language model.
    diagnostic_only
        No improvement of any task is claimed.
    shows, shows_not
        Sentences. What is shown is shown by the default parameters and seeds; another run may say otherwise.
    """

    component_only: bool
    diagnostic_only: bool
    shows: tuple[str, ...]
    shows_not: tuple[str, ...]


P = TypeVar("P", bound=Parameters)


class Experiment(ABC, Generic[P]):
    """An experiment; the registry holds one object of each.

    Attributes
    ----------
    name, title
        What the command line calls it, and what it is about.
    paper, number
        The paper it is from, and which of the paper's experiments it is; None = none of them.
    parameters
        The kind of its parameters.
    seeds
        Those run by default, rising.
    claims
        What its figures do and do not show.
    """

    name: str
    title: str
    paper: Paper
    number: int | None
    parameters: type[P]
    seeds: tuple[int, ...]
    claims: Claims

    @abstractmethod
    def run(self, parameters: P, seeds: Sequence[int], advance: Advance) -> list[Run]:
        """Return a run for each seed, in order."""

    def inputs(self, parameters: P) -> Mapping[str, str]:
        """Return the SHA-256 of every file read besides the package's sources, by name."""
        return {}

    def notes(self, runs: Sequence[Run]) -> Mapping[str, str]:
        """Return in what the runs are not those of the default setup for want of something, by name.

        A text each, shown above the table. No published figure is judged where there is a note.
        """
        return {}

    @abstractmethod
    def figures(self, parameters: P, runs: Sequence[Run]) -> list[Figure]:
        """Return the rows of the table; `memopt.experiments.result.judged` leaves out what is not judged."""

    @abstractmethod
    def plot(self, parameters: P, runs: Sequence[Run], drawing: Drawing) -> None:
        """Draw the curves with their error bands; titles, labels, units and a legend included."""


class SeedBySeed(Experiment[P]):
    """An experiment that runs one seed after the other."""

    @abstractmethod
    def run_seed(self, parameters: P, seed: int) -> Run:
        """Return the run of one seed."""

    def run(self, parameters: P, seeds: Sequence[int], advance: Advance) -> list[Run]:
        """Return a run for each seed, in order."""
        runs = []
        for done, seed in enumerate(seeds, 1):
            runs.append(self.run_seed(parameters, seed))
            advance(done / len(seeds))
        return runs


def over_seeds(
    runs: Sequence[Run],
    name: str,
    published: Published | None = None,
    band: float | None = None,
    *,
    expected: float | None = None,
    unit: str | None = None,
) -> Figure:
    """Return the figure of one of the values of some runs, over the seeds that have it; see `Figure`."""
    values = [run.values[name] for run in runs]
    found = [value for value in values if value is not None]
    spread = stdev(found) if len(found) > 1 else None
    mean = fmean(found) if found else None
    return Figure(name, mean, spread, published, band, expected, unit, len(found))
