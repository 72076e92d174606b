"""Experiment 4: two memories that are always retrieved together cannot be told apart.

An anchor of utility .90 and a hitchhiker of .05 come up in every episode, beside other memories drawn
uniformly. In a broken episode one of the two, each with the same chance, is left out and another memory
takes its place. Unbroken episodes give both the same counters, so with a share b broken the expected gap is
``b / (2 - b)`` times the difference of utilities, divided by k: one memory of k moves the mean by 1 / k.

Simsek, "When to Forget" (arXiv 2604.12007), publishes about .49 for both, and separation from 30 % on; k,
the others' utilities and what counts as separation are not published.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from memopt.experiments.co_retrieval_run import (
    SILENT,
    CoRetrievalParameters,
    apart_from,
    named,
    reported_at,
    run_seed,
    scaled,
)
from memopt.experiments.experiment import Claims, Figure, Run, SeedBySeed, over_seeds
from memopt.experiments.papers import MEMORY_WORTH
from memopt.experiments.plotting import band, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

PUBLISHED_WORTH, PUBLISHED_SEPARATION = (0.49, 0.51), 0.30
"""Worth of either when never apart; and the share from which they separate."""

CLAIMS = Claims(
    component_only=True,
    diagnostic_only=True,
    shows=(
        "A pair never apart has the same worth, however unlike its utilities; the gap grows with the share "
        "of broken episodes and falls like 1 / k.",
        "The report of confounded pairs goes silent before intervals separate the pair, the more so the "
        "larger k is: silence does not mean that the two can be told apart.",
    ),
    shows_not=(
        "The published setup: k, the others' utilities and the criterion of separation are not published. "
        "At the defaults the figures are consistent with the published ones, nothing more.",
        "The published worth of the pair at k = 2: nothing else is retrieved there, so it is the mean of the "
        "pair's utilities, .475 at the defaults. The larger k, the nearer it is to the mean of all memories.",
        "Cause, or how often real memories come up together.",
    ),
)


class WorthCoRetrieval(SeedBySeed[CoRetrievalParameters]):
    """One table for each k and seed; a world of it for each broken share, all from the same draws."""

    name = "worth-co-retrieval"
    title = "Memory Worth of two memories retrieved together"
    paper = MEMORY_WORTH
    number = 4
    parameters = CoRetrievalParameters
    seeds = tuple(range(20))
    claims = CLAIMS

    def run_seed(self, parameters: CoRetrievalParameters, seed: int) -> Run:
        """Return the run of one seed."""
        return run_seed(parameters, seed)

    def figures(self, parameters: CoRetrievalParameters, runs: Sequence[Run]) -> list[Figure]:
        """Return both worths when never apart, the gaps, the law of k, and where report and overlap end."""
        rows = []
        for k in parameters.sizes:
            for name in ("worth of anchor", "worth of hitchhiker") if 0 in parameters.broken else ():
                rows.append(over_seeds(runs, named(name, k, 0), PUBLISHED_WORTH, 0.0))
        measured = [named("gap", k, share) for k in parameters.sizes for share in parameters.broken]
        measured += [scaled(k) for k in parameters.sizes]
        measured += [reported_at(share) for share in parameters.broken]
        rows += [over_seeds(runs, name) for name in (*measured, SILENT)]
        return rows + [over_seeds(runs, apart_from(k), PUBLISHED_SEPARATION) for k in parameters.sizes]

    def plot(self, parameters: CoRetrievalParameters, runs: Sequence[Run], drawing: Drawing) -> None:
        """Draw the gap over the broken share, and where the report ends and the intervals part."""
        gaps, ends = drawing.subplots(1, 2)
        x = np.array(runs[0].trajectories["x"])
        percent = 100 * x
        for color, k in enumerate(parameters.sizes):
            band(gaps, percent, [run.trajectories[f"gap, k {k}"] for run in runs], f"k {k}", f"C{color}")
            apart = np.mean([run.trajectories[f"apart, k {k}"] for run in runs], axis=0)
            ends.plot(percent, 100 * apart, color=f"C{color}", label=f"told apart, k {k}")
        for k in parameters.sizes:
            law = x / (2 - x) * (parameters.anchor - parameters.hitchhiker) / k
            last = k == parameters.sizes[-1]
            gaps.plot(
                percent, law, "k:", linewidth=1, label="expected: b / (2 - b) · ΔU / k" if last else None
            )
        reported = np.mean([run.trajectories["reported"] for run in runs], axis=0)
        ends.plot(percent, 100 * reported, "k--", label="reported as confounded")
        broken = "b: episodes that break the pair (%)"
        finish(gaps, "Anchor against hitchhiker", broken, "gap of Memory Worth (mean ± sd over seeds)")
        finish(ends, "When is the pair reported, when told apart?", broken, "seeds (%)")
        ends.legend(loc="center right", fontsize="small", framealpha=0.9)


EXPERIMENT = WorthCoRetrieval()
