"""Experiment 3: retrieval that prefers memories of high worth, and so decides what worth gets to see.

A set of k memories is drawn without replacement, each next one in proportion to ``exp(beta * worth)`` (the
Gumbel-top-k trick: Kool, van Hoof and Welling, arXiv 1903.06059). With probability epsilon an episode
retrieves uniformly instead. Simsek, "When to Forget" (arXiv 2604.12007), reports no collapse, without the
strength of the bias: a strength of at most 5 is consistent with those figures, a stronger one is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from memopt.experiments.experiment import Advance, Claims, Experiment, Figure, Run, over_seeds
from memopt.experiments.feedback_run import FeedbackParameters, collapse, named, run_seeds
from memopt.experiments.papers import MEMORY_WORTH
from memopt.experiments.plotting import band, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

PUBLISHED = (0.895, 0.899)
"""Least and greatest published value of Spearman's rho of worth and utility at the end."""
MILD = 5.0
"""Bias up to which the published range is judged; at which bias that was found is not published."""
_BAND = 0.02
"""The band is that of the checkpoints of worth-calibration, the same figure without bias. All arms of a seed
share their draws, so that what bias costs shows far more exactly than what rho itself is."""
_TOGETHER = 20
"""Seeds stepped together; their number changes no figure."""
_STYLES = ("-", "--", "-.", ":")

CLAIMS = Claims(
    component_only=True,
    diagnostic_only=True,
    shows=(
        "Mild bias leaves the order of worth as it is under uniform retrieval.",
        "Strong bias collapses it: memories of bad luck at the start are never asked again, and stay "
        "without the evidence that any label needs.",
        "A small share of uniform episodes restores much of it, at little or no cost in successes.",
    ),
    shows_not=(
        "The published setup: the strength of the bias and the success model are not published. The success "
        "model was chosen after seeing the range; mild bias is consistent with it, and that there is no "
        "collapse at all is not shown.",
        "The published range: the usual seeds lie less than .01 below it, within the band alone, and without "
        "any bias .005 below it. What is shown is that mild bias costs next to nothing.",
        "Anything of real retrieval, where similarity to the task is the larger part of the score.",
    ),
)


class WorthFeedbackLoop(Experiment[FeedbackParameters]):
    """One loop for each beta, epsilon and seed, all stepped together."""

    name = "worth-feedback-loop"
    title = "Memory Worth when retrieval follows Memory Worth"
    paper = MEMORY_WORTH
    number = 3
    parameters = FeedbackParameters
    seeds = tuple(range(20))
    claims = CLAIMS

    def run(self, parameters: FeedbackParameters, seeds: Sequence[int], advance: Advance) -> list[Run]:
        """Return a run for each seed, in order."""
        runs: list[Run] = []
        for begin in range(0, len(seeds), _TOGETHER):
            some = seeds[begin : begin + _TOGETHER]

            def told(done: float, before: int = begin, count: int = len(some)) -> None:
                advance((before + done * count) / len(seeds))

            runs += run_seeds(parameters, some, told)
        return runs

    def figures(self, parameters: FeedbackParameters, runs: Sequence[Run]) -> list[Figure]:
        """Return the correlations of all arms, where they collapse, and what bias gains and starves."""
        rows = []
        for beta, epsilon in parameters.arms:
            published, near = (PUBLISHED, _BAND) if epsilon == 0 and 0 < beta <= MILD else (None, None)
            rows.append(over_seeds(runs, named("rho", beta, epsilon), published, near))
        rows += [over_seeds(runs, collapse(epsilon)) for epsilon in parameters.epsilons]
        for what in ("share uncertain", "success rate"):
            rows += [
                over_seeds(runs, named(what, beta, epsilon))
                for beta, epsilon in parameters.arms
                if beta > MILD or epsilon == parameters.epsilons[0]
            ]
        return rows

    def plot(self, parameters: FeedbackParameters, runs: Sequence[Run], drawing: Drawing) -> None:
        """Draw rho over episodes without exploration, and at the end over the strength of the bias."""
        curves, ends = drawing.subplots(1, 2, sharey=True)
        first = parameters.epsilons[0]
        for beta, style in zip(parameters.betas, cycle(_STYLES), strict=False):
            name = named("rho", beta, first)
            x = runs[0].trajectories["x"]
            band(curves, x, [run.trajectories[name] for run in runs], f"beta {beta:g}", style=style)
        for epsilon in parameters.epsilons:
            names = [named("rho", beta, epsilon if beta > 0 else first) for beta in parameters.betas]
            found = np.array([[run.values[name] for name in names] for run in runs], dtype=np.float64)
            band(ends, parameters.betas, found, f"epsilon {epsilon:g}")
        for axes in (curves, ends):
            axes.axhspan(*PUBLISHED, color="k", alpha=0.6, linewidth=0, label="published range")
        ends.set_xticks(parameters.betas)
        curves.set_ylim(-0.15, 1.0)
        rho = "Spearman's rho with utility (mean ± sd over seeds)"
        finish(curves, f"Epsilon {first:g}: rho while it learns", "episodes", rho)
        finish(ends, f"After {parameters.episodes:,} episodes", "beta: strength of the bias to worth", rho)
        for axes in (curves, ends):
            axes.legend(loc="lower left", ncols=3, frameon=False, fontsize="small")


EXPERIMENT = WorthFeedbackLoop()
