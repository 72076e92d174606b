"""The parts of MemPrice, each held against an independent reference. No agent, no model.

MemPrice (Zong et al., 2026) chooses one level per memory under a hard budget, priced by a queue. Its own
code, budgets and gain c are not published, so nothing here reproduces its tables, nor is this one of its
experiments; what can be checked is that the mechanism does what the theory says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from memopt.compile import compile
from memopt.experiments.experiment import Advance, Claims, Experiment, Figure, Parameters, Run, over_seeds
from memopt.experiments.memprice_problems import (
    FAULTS,
    accepted_faults,
    against_exhaustive,
    kept_at_a_high_price,
)
from memopt.experiments.memprice_theory import BROKEN, CURVES, SEEN, Judged, judge
from memopt.experiments.memprice_trace import record, stream
from memopt.experiments.papers import MEMPRICE
from memopt.experiments.plotting import band, finish
from memopt.families import FAMILIES
from memopt.instance import Instance
from memopt.session.config import Config
from memopt.solvers import get, jit
from memopt.workers import in_processes

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_POINTS = 200
_WORTH_A_PROCESS = 2_000
"""Least number of turns in a trace for which it pays to start processes."""


class MemPriceParameters(Parameters):
    """Sizes of the checks.

    Attributes
    ----------
    problems, most_items
        Number of random problems that are enumerated, and the most items in one.
    rounds
        Number of sessions in which a huge price meets fresh items.
    turns, budget, alpha, gains
        Of the traces: turns, tokens per turn, target occupancy, and the gains c, with a trace for each.
    arrivals, life
        Memories that come in a turn, and turns for which each is offered.
    refresh_every
        Turns between refreshes; 0 = none.
    check_every
        Turns between two that CP-SAT solves as well; 0 = none, and OR-Tools is not needed.
    """

    problems: Annotated[int, Field(ge=1)] = 500
    most_items: Annotated[int, Field(ge=1, le=8)] = 5
    rounds: Annotated[int, Field(ge=1)] = 20
    turns: Annotated[int, Field(ge=1)] = 3_000
    budget: Annotated[int, Field(ge=1, le=2_000)] = 120
    alpha: Annotated[float, Field(gt=0, le=1)] = 0.8
    gains: Annotated[tuple[Annotated[float, Field(ge=0)], ...], Field(min_length=1)] = (0.3, 1.0, 3.0)
    arrivals: Annotated[int, Field(ge=1, le=10)] = 2
    life: Annotated[int, Field(ge=1, le=10)] = 3
    refresh_every: Annotated[int, Field(ge=0)] = 50
    check_every: Annotated[int, Field(ge=0)] = 50


CLAIMS = Claims(
    component_only=True,
    diagnostic_only=True,
    shows=(
        "The solver's optimum is that of enumeration on small problems and of CP-SAT on turns of a trace; "
        "greedy is strictly worse on some.",
        "Queue, price, fidelity ledger and refresh keep the identities and bounds of the theory on every "
        "turn, against a recomputation that shares no code with them.",
    ),
    shows_not=(
        "That an agent does better: no agent, no language model and no task is run.",
        "The paper's results: its c, budgets, utilities and windows are not published. What is expected is "
        "what theory demands, no figure of the paper.",
        "Little regret against comparators with a downgrade history of their own: nothing is known of them.",
    ),
)

NO_COUNTER_EXAMPLE = "control: share of seeds with greedy never worse"
GREEDY_WORSE = "problems on which greedy is strictly worse"
REGRET, BOUND = "regret after the last turn", "bound of its certificate"
"""In utility, summed over turns; regret is below 0 where a trace beats what it is held against."""
NONE_EXPECTED = (
    "problems with another optimum than by enumeration",
    "problems over the hard capacity",
    "faulty inputs accepted or misnamed",
    "items kept at a huge price",
    NO_COUNTER_EXAMPLE,
    *BROKEN,
)
"""Figures that theory demands to be 0, and a control: enumeration that never beats greedy would test nothing.
The others are shown and not judged."""
_COUNTS = {*NONE_EXPECTED, GREEDY_WORSE, *SEEN} - {NO_COUNTER_EXAMPLE}


class MemPrice(Experiment[MemPriceParameters]):
    """Small problems, faulty input and a huge price; then long traces through real sessions."""

    name = "memprice"
    title = "MemPrice: component diagnostic"
    paper = MEMPRICE
    number = None
    parameters = MemPriceParameters
    seeds = (42, 43, 44)
    claims = CLAIMS

    def run(self, parameters: MemPriceParameters, seeds: Sequence[int], advance: Advance) -> list[Run]:
        """Return a run for each seed, in order.

        Raises
        ------
        SolverMissing
            When turns are to be solved by CP-SAT and OR-Tools is not installed; raised before anything runs.
        """
        if parameters.check_every:
            get("cpsat").solve(compile(Instance(budget=0, items=())).program)
        tasks = [(parameters, seed, gain) for seed in seeds for gain in parameters.gains]
        steps = len(tasks) + len(seeds)
        traced: dict[int, dict[float, Judged]] = {seed: {} for seed in seeds}
        for done, ((_, seed, gain), judged) in enumerate(zip(tasks, _traces(tasks), strict=True), 1):
            traced[seed][gain] = judged
            advance(done / steps)
        runs = []
        for done, seed in enumerate(seeds, len(tasks) + 1):
            runs.append(_run(parameters, seed, traced[seed]))
            advance(done / steps)
        return runs

    def figures(self, parameters: MemPriceParameters, runs: Sequence[Run]) -> list[Figure]:
        """Return what must be 0 (judged), then what was measured (not judged)."""
        rows = []
        for name in runs[0].values:
            expected = 0.0 if name in NONE_EXPECTED else None
            unit = "" if name in _COUNTS else "utility" if name.startswith((REGRET, BOUND)) else None
            rows.append(over_seeds(runs, name, expected=expected, unit=unit))
        return rows

    def plot(self, parameters: MemPriceParameters, runs: Sequence[Run], drawing: Drawing) -> None:
        """Draw queue and occupancy by c, and regret under its certificate."""
        drawing.set_size_inches(15, 5)
        queue, occupancy, regret = drawing.subplots(1, 3)
        x = runs[0].trajectories["x"]

        def curves(name: str) -> list[Sequence[float]]:
            return [run.trajectories[name] for run in runs]

        for number, gain in enumerate(parameters.gains):
            color = f"C{number}"
            band(queue, x, curves(of("pressure", gain)), f"c = {gain:g}", color)
            band(occupancy, x, curves(of("average", gain)), f"c = {gain:g}", color)
            band(regret, x, curves(of("certificate", gain)), f"certificate, c = {gain:g}", color)
            band(regret, x, curves(of("regret", gain)), f"regret, c = {gain:g}", color)
            regret.lines[-1].set_linestyle("--")
        occupancy.axhline(parameters.alpha, color="k", linestyle=":", label=f"target {parameters.alpha:g}")
        finish(queue, "Pressure", "turn", "Q (budgets)")
        finish(occupancy, "Average occupancy so far", "turn", "kept tokens / budget")
        finish(
            regret,
            f"Regret against the best within {parameters.alpha:g} B per turn",
            "turn",
            "utility, summed over turns",
        )


def _traces(tasks: Sequence[tuple[MemPriceParameters, int, float]]) -> Iterator[Judged]:
    """Yield the traces in order; long ones are made in as many processes as there are processors."""
    jobs = min(os.cpu_count() or 1, len(tasks))
    if jobs == 1 or tasks[0][0].turns < _WORTH_A_PROCESS:
        yield from map(_trace, tasks)
        return
    jit.prepare()  # here, or every process would compile the same on a new machine
    with closing(in_processes(tasks, _trace, jobs)) as made:
        yield from made


def _trace(task: tuple[MemPriceParameters, int, float]) -> Judged:
    told, seed, gain = task
    made = stream(seed, told.turns, told.arrivals, told.life)
    config = Config(gain=gain, alpha=told.alpha)
    trace = record(made, config, told.turns, told.budget, told.refresh_every, told.check_every)
    return judge(made, trace, told.budget, told.alpha, gain)


def of(what: str, gain: float) -> str:
    """Return the name of a figure or a curve of one trace."""
    return f"{what}, c = {gain:g}"


def _run(told: MemPriceParameters, seed: int, traced: Mapping[float, Judged]) -> Run:
    problems = against_exhaustive(seed, told.problems, told.most_items)
    accepted = accepted_faults(seed)
    values: dict[str, float | None] = {
        "problems with another optimum than by enumeration": problems.differ,
        "problems over the hard capacity": problems.over,
        "faulty inputs accepted or misnamed": len(accepted),
        "items kept at a huge price": kept_at_a_high_price(seed, told.rounds),
        NO_COUNTER_EXAMPLE: float(not problems.losses),
    }
    values |= {name: sum(one.broken[name] for one in traced.values()) for name in BROKEN}
    values |= {
        GREEDY_WORSE: len(problems.losses),
        "share of the optimum that greedy loses on the worst": max(problems.losses, default=None),
    }
    values |= {name: sum(one.seen[name] for one in traced.values()) for name in SEEN}
    at = np.unique(np.linspace(0, told.turns - 1, min(told.turns, _POINTS)).astype(np.int64))
    curves: dict[str, list[float]] = {"x": (at + 1).tolist()}
    for gain, one in traced.items():
        values[of("average occupancy", gain)] = float(one.average[-1])
        values[of("last Q", gain)] = float(one.pressure[-1])
        values[of(REGRET, gain)] = float(one.regret[-1])
        values[of(BOUND, gain)] = float(one.certificate_bound[-1])
        for name in CURVES:
            curves[of(name, gain)] = getattr(one, name)[at].tolist()
    kept = {
        "families": list(FAMILIES),
        "infeasible_problems": problems.infeasible,
        "greedy_losses": list(problems.losses),
        "counter_examples": list(problems.counter_examples),
        "faults_tried": list(FAULTS),
        "faults_accepted": accepted,
    }
    return Run(seed, values, curves, kept)


EXPERIMENT = MemPrice()
