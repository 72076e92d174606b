"""Experiment 1: how well Memory Worth orders memories when retrieval is uniform.

Simsek, "When to Forget" (arXiv 2604.12007), publishes the correlation with the true utilities at three
checkpoints. How success depends on the memories retrieved is not published. The default here was chosen
after seeing the published figures: it is consistent with them, but no reproduction of the setup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from memopt.experiments.calibration_run import (
    ARMS,
    COUNTS,
    ORACLE,
    RANGE,
    SCORE,
    SILENT,
    UNIFORM,
    CalibrationParameters,
    named,
    run_seed,
)
from memopt.experiments.experiment import Claims, Figure, Run, SeedBySeed, over_seeds
from memopt.experiments.papers import MEMORY_WORTH
from memopt.experiments.plotting import band, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

PUBLISHED = {
    SILENT: {2_000: 0.00, 5_000: 0.00, 10_000: 0.00},
    UNIFORM: {2_000: 0.66, 5_000: 0.81, 10_000: 0.89},
    SCORE: {2_000: 0.66, 5_000: 0.81, 10_000: 0.89},
    ORACLE: {2_000: 0.67, 5_000: 0.82, 10_000: 0.90},
}
"""Spearman's rho of Memory Worth and utility, by episodes; mean of 20 seeds, deviations of .02 to .06."""
_BAND = 0.02
CLAIMS = Claims(
    component_only=True,
    diagnostic_only=True,
    shows=(
        "Counters fed by uniform retrieval order memories by utility, the better the more episodes; the "
        "weighting hardly matters.",
        "p+ of a memory that is retrieved with others spans little. At the defaults no label of .60/.40 "
        "is right by its own threshold; an interval off the base rate names more memories and seldom errs.",
    ),
    shows_not=(
        "The published setup: the success model and the scores are not published, and the defaults were "
        "chosen after seeing the figures. They are consistent with them, nothing more.",
        "Cause: p+ is association. Nor anything of real tasks, real retrieval or a language model.",
    ),
)


class WorthCalibration(SeedBySeed[CalibrationParameters]):
    """No feedback, uniform, score-proportional and oracle weights over one stream of episodes per seed."""

    name = "worth-calibration"
    title = "Memory Worth against true utility under uniform retrieval"
    paper = MEMORY_WORTH
    number = 1
    parameters = CalibrationParameters
    seeds = tuple(range(20))
    claims = CLAIMS

    def run_seed(self, parameters: CalibrationParameters, seed: int) -> Run:
        """Return the run of one seed."""
        return run_seed(parameters, seed)

    def figures(self, parameters: CalibrationParameters, runs: Sequence[Run]) -> list[Figure]:
        """Return the correlations, then what the labels are worth."""
        rows = []
        for arm in ARMS:
            for at in parameters.stops:
                published = PUBLISHED.get(arm, {}).get(at)
                exact = 0.0 if arm == SILENT else _BAND
                near = None if published is None else exact
                rows.append(over_seeds(runs, named(f"rho, {arm}", at), published, near))
        for at in parameters.stops:
            rows += [over_seeds(runs, named(count, at), unit="memories") for count in COUNTS]
        return [*rows, over_seeds(runs, RANGE)]

    def plot(self, parameters: CalibrationParameters, runs: Sequence[Run], drawing: Drawing) -> None:
        """Draw rho over episodes, and Memory Worth against true p+."""
        curves, labels = drawing.subplots(1, 2)
        x = runs[0].trajectories["x"]
        for arm, style in zip(ARMS, ("-", "-", "--", ":", "-"), strict=True):
            band(curves, x, [run.trajectories[arm] for run in runs], arm, style=style)
        points = [
            (at, rho) for said in PUBLISHED.values() for at, rho in said.items() if at in parameters.stops
        ]
        if points:
            curves.plot(*zip(*points, strict=True), "k_", markersize=12, label="published")
        curves.set_ylim(-0.32, 1.02)
        finish(curves, "Rank correlation with utility", "episodes", "Spearman's rho, mean ± sd over seeds")
        curves.legend(loc="center right", fontsize="small", framealpha=0.9)

        p_plus = np.concatenate([run.kept["p_plus"] for run in runs])
        for at in dict.fromkeys((parameters.stops[0], parameters.stops[-1])):
            worth = np.concatenate([run.kept["worth"][str(at)] for run in runs])
            labels.plot(p_plus, worth, ".", markersize=3, alpha=0.4, label=f"after {at:,} episodes")
        ends = [p_plus.min(), p_plus.max()]
        labels.plot(ends, ends, "k-", linewidth=1, label="exact")
        for threshold in (parameters.high, parameters.low):
            labels.axhline(threshold, color="k", linestyle="--", linewidth=0.8)
        finish(
            labels,
            f"Labels at {parameters.high:g} and {parameters.low:g} (dashed)",
            "true p+: chance of success when retrieved",
            "Memory Worth, uniform weights",
        )
        labels.legend(loc="upper left", fontsize="small", markerscale=3, framealpha=0.9)


EXPERIMENT = WorthCalibration()
