"""JSON text in, result JSON out: every step timed, against CP-SAT's bare solve of the same program."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.clock import Stopwatch, Timing, medians, middle
from benchmarks.report import Report
from benchmarks.rival import COLUMNS, against_cpsat, rival_row, step_row
from memopt import Instance, jsontext
from memopt.compile import compile as compiled
from memopt.families import generate
from memopt.solve import judge
from memopt.solvers import get, jit

FAMILY = "memory-like"


class Pipeline:
    """What `memopt solve --json` does with a text, step by step."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self.laps: list[dict[str, Timing]] = []

    def prepare(self) -> None:
        """Nothing is needed."""

    def run(self) -> None:
        """Go from the text to the result, noting the time of every step."""
        watch, laps = Stopwatch(), {}
        declared = jsontext.parse(self._text)
        laps["parse"] = watch.lap()
        instance = Instance.model_validate(declared)
        laps["validate"] = watch.lap()
        program = compiled(instance)
        laps["compile"] = watch.lap()
        solver = get("dp")
        answer = solver.solve(program.program)
        laps["solve"] = watch.lap()
        self.allocation = judge(program, solver.name, answer, laps["solve"].wall)
        laps["audit"] = watch.lap()
        self.result = self.allocation.to_json()
        laps["write"] = watch.lap()
        self.laps.append(laps)


def measure(items: int, seeds: Sequence[int], limit: float, rounds: int) -> Report:
    """Measure the way from text to text.

    Parameters
    ----------
    items, seeds
        Size of the memory-like instances, and the seed of each.
    limit
        Seconds CP-SAT gets.
    rounds
        Turns of each contestant on each instance.
    """
    jit.prepare()
    totals, steps, rivals = [], [], []
    for seed in seeds:
        text = problem_text(items, seed)
        pipeline = Pipeline(text)
        program = compiled(Instance.model_validate_json(text)).program
        timings, outcome = against_cpsat({"memopt": pipeline}, program, limit, rounds)
        totals.append(timings["memopt"])
        steps.append(medians(pipeline.laps))
        if outcome is not None:
            ours = pipeline.allocation.units
            rivals.append(rival_row(seed, outcome, ours, timings["cpsat"], timings["memopt"]))
    total = middle(totals)
    rows = [step_row(step, timing, total) for step, timing in (medians(steps) | {"total": total}).items()]
    notes = (
        f"{FAMILY}, {items:,} items at four levels, seeds {', '.join(map(str, seeds))}; about {len(text):,} "
        f"bytes of JSON in, {len(pipeline.result):,} out; medians of {rounds} turns, taken alternately. "
        "The ratio is of process CPU time: CP-SAT's bare solve by the total of the same instance.",
        f"'>': CP-SAT stopped at its limit of {limit:g} s, so the ratio is a lower bound.",
        "Kernels are loaded beforehand; `first-run` tells what that costs.",
    )
    return Report("end-to-end", rows + rivals, COLUMNS, notes)


def problem_text(items: int, seed: int) -> bytes:
    """Return a problem file as a program would write it, without the texts."""
    instance = generate(FAMILY, items, seed)
    return instance.model_dump_json(exclude_defaults=True).encode()
