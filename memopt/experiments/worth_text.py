"""Experiment 5: Memory Worth with real sentences, real retrieval, and a world that changes.

Simsek, "When to Forget" (arXiv 2604.12007), retrieves among 20 sentences by all-MiniLM-L6-v2 and judges by
keyword, without a language model. The sentences, queries, their shares, the success probabilities, the limit
of three memories per query and the least cosine similarity of .25 are this project's own, chosen after
seeing the published figures: consistent with them, not the published setup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from memopt.experiments import minilm
from memopt.experiments.detection_lag import decayed_law
from memopt.experiments.experiment import Advance, Claims, Experiment, Figure, Run, over_seeds
from memopt.experiments.papers import MEMORY_WORTH
from memopt.experiments.plotting import band, finish
from memopt.experiments.text_run import (
    DECAYED,
    PLAIN,
    WHO,
    TextParameters,
    lag,
    named,
    run_seeds,
    tenure_before,
)
from memopt.experiments.text_world import SPECIALIST, available, retrieve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

PUBLISHED = {
    "stale at the shift": (0.97, 0.05),
    named("stale crosses at episode", PLAIN): (300.0, 100.0),
    named("stale at the end", PLAIN): (0.17, 0.03),
    named("specialist at the end", PLAIN): (0.77, 0.05),
}
"""Published values, and how far off is still met."""
NAMES = {"minilm": "all-MiniLM-L6-v2", "bm25": "BM25, not MiniLM"}
"""How retrieval is called where figures are shown."""
_OTHERS, _OTHERS_BAND = (0.73, 0.77), 0.02

CLAIMS = Claims(
    component_only=True,
    diagnostic_only=True,
    shows=(
        "The worth of a memory that the world has outrun falls below .40, the later the longer it was right.",
        "With decay the lag stops growing once the tenure exceeds the half-life; lags are counted in "
        "retrievals of the stale memory.",
        "Memories retrieved beside the stale one lose worth with it: association, not cause.",
    ),
    shows_not=(
        "The published setup: its sentences, queries, probabilities and least similarity are not known. The "
        "start at about .97 asks for a higher success before the shift than the .85 assumed here.",
        "Anything of a language model: the outcome is drawn by keyword.",
        "Anything published, where retrieval was by BM25 (see `retrieval` in what each run keeps).",
    ),
)


class WorthText(Experiment[TextParameters]):
    """Twenty sentences, one of which turns wrong; counters with and without decay over the same episodes."""

    name = "worth-text"
    title = "Memory Worth over real sentences when the world changes"
    paper = MEMORY_WORTH
    number = 5
    parameters = TextParameters
    seeds = tuple(range(20))
    claims = CLAIMS

    def run(self, parameters: TextParameters, seeds: Sequence[int], advance: Advance) -> list[Run]:
        """Return a run for each seed, in order.

        Raises
        ------
        EmbedderMissing
            When MiniLM is asked for and not installed.
        """
        retrieval = retrieve(parameters.retrieval, parameters.top, parameters.least_similarity)
        return run_seeds(parameters, retrieval, seeds, advance)

    def inputs(self, parameters: TextParameters) -> Mapping[str, str]:
        """Return the digests of the model's files, where it is used."""
        return minilm.digests() if available(parameters.retrieval)[0] == "minilm" else {}

    def figures(self, parameters: TextParameters, runs: Sequence[Run]) -> list[Figure]:
        """Return the stale memory, the others, and the law of detection lag.

        With BM25 each row says so, and nothing is judged.
        """
        by = runs[0].kept["retrieval"]
        judged, said = by == "minilm", "" if by == "minilm" else f" [{NAMES[by]}]"
        rows = []
        units = _units(parameters.shifts)
        for name in runs[0].values:
            published, off = PUBLISHED.get(name, (None, None))
            row = over_seeds(runs, name, published, off if judged else None, unit=units.get(name))
            rows.append(replace(row, name=name + said))
        ends = np.mean([run.kept["ends"] for run in runs], axis=0)[SPECIALIST + 1 :]
        for what, ours, published in zip(
            ("lowest", "highest"), (ends.min(), ends.max()), _OTHERS, strict=True
        ):
            off = _OTHERS_BAND if judged else None
            rows.append(Figure(f"others at the end, {what} mean{said}", float(ours), None, published, off))
        law = f"lag after any shift, law of half-life {parameters.half_life:g}"
        flat = decayed_law(parameters.half_life, *parameters.rates)
        return [*rows, Figure(law + said, flat, unit="retrievals")]

    def plot(self, parameters: TextParameters, runs: Sequence[Run], drawing: Drawing) -> None:
        """Draw worth over episodes, and lag over tenure beside its laws."""
        drawing.set_size_inches(13, 5.5)
        worth, lags = drawing.subplots(1, 2, width_ratios=(3, 2))
        by = NAMES[runs[0].kept["retrieval"]]
        _draw_worth(worth, parameters, runs)
        finish(
            worth,
            f"Worth of 20 sentences, retrieval by {by}",
            "episode",
            "Memory Worth (mean ± sd over seeds)",
        )
        worth.legend(loc="upper right", fontsize="small", framealpha=0.9, ncols=2)
        _draw_lags(lags, parameters, runs)
        finish(
            lags,
            f"Detection lag: shift until worth ≤ {parameters.low:g}",
            "retrievals of the stale memory before the shift",
            "its retrievals from the shift to the crossing",
        )


def _units(shifts: Sequence[int]) -> dict[str, str]:
    """Return what the figures count that are no rates; see `Figure`."""
    units = {named("stale crosses at episode", by): "" for by in (PLAIN, DECAYED)}
    units |= {tenure_before(shift): "" for shift in shifts}
    return units | {lag(shift, by): "retrievals" for shift in shifts for by in (PLAIN, DECAYED, "law")}


def _draw_worth(axes: Axes, told: TextParameters, runs: Sequence[Run]) -> None:
    x = runs[0].trajectories["x"]
    for number, who in enumerate(WHO):
        band(axes, x, [run.trajectories[named(who, PLAIN)] for run in runs], who, f"C{number}")
    fading = [run.trajectories[named("stale", DECAYED)] for run in runs]
    band(axes, x, fading, f"stale, half-life {told.half_life:g} retrievals", "C3")
    axes.axhline(told.low, color="k", linestyle="--", linewidth=0.8, label=f"threshold {told.low:g}")
    axes.axvline(told.shifts[0], color="k", linestyle=":", linewidth=0.8, label="shift of the world")
    if runs[0].kept["retrieval"] == "minilm":
        axes.plot([300, 3_000], [0.40, 0.17], "kx", label="published: crossing and end of stale")
    axes.set_ylim(0, 1.25)


def _draw_lags(axes: Axes, told: TextParameters, runs: Sequence[Run]) -> None:
    tenure = [over_seeds(runs, tenure_before(shift)).ours or 0.0 for shift in told.shifts]
    for number, name in enumerate((PLAIN, DECAYED)):
        found = [over_seeds(runs, lag(shift, name)) for shift in told.shifts]
        label = name if name == PLAIN else f"{name} {told.half_life:g}"
        y = [np.nan if one.ours is None else one.ours for one in found]
        spread = [one.spread or 0.0 for one in found]
        axes.errorbar(
            tenure, y, spread, fmt="o", capsize=3, color=f"C{3 * number}", label=f"measured, {label}"
        )
    law = [over_seeds(runs, lag(shift, "law")).ours for shift in told.shifts]
    axes.plot(tenure, [np.nan if y is None else y for y in law], "C0-", label="t0 (p1 - θ) / (θ - p2)")
    flat = decayed_law(told.half_life, *told.rates)
    if flat is not None:
        axes.axhline(flat, color="C3", label=f"H log2((p1 - p2) / (θ - p2)) = {flat / told.half_life:.2f} H")


EXPERIMENT = WorthText()
