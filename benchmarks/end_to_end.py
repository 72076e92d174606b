"""JSON text in, result JSON out: every step timed, against CP-SAT's bare solve of the same program."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from benchmarks.clock import Contestant, Stopwatch, Timing, alternate, middle
from benchmarks.peers import CpSat, Outcome
from benchmarks.report import Column, Report, Row, milliseconds, verdict
from memopt import Instance, jsontext
from memopt.compile import compile as compiled
from memopt.errors import SolverMissing
from memopt.families import generate
from memopt.solve import judge
from memopt.solvers import get, jit

STEPS = ("parse", "validate", "compile", "solve", "audit", "write")
TARGET = 20.0
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

    def step(self, name: str) -> Timing:
        """Return the median time of a step."""
        return middle([lap[name] for lap in self.laps])


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
    pipelines, totals, rivals = [], [], []
    for seed in seeds:
        text = problem_text(items, seed)
        pipeline = Pipeline(text)
        contestants: dict[str, Contestant] = {"memopt": pipeline}
        rival = None
        with suppress(SolverMissing):
            contestants["cpsat"] = rival = CpSat(compiled(Instance.model_validate_json(text)).program, limit)
        timings = alternate(contestants, rounds)
        pipelines.append(pipeline)
        totals.append(timings["memopt"])
        if rival is not None:
            outcome, ours = rival.outcome(), pipeline.allocation.units
            rivals.append(_rival(seed, outcome, ours, timings["cpsat"], timings["memopt"]))
    total = middle(totals)
    steps = {step: middle([pipeline.step(step) for pipeline in pipelines]) for step in STEPS}
    rows = [_row(step, timing, total) for step, timing in (steps | {"total": total}).items()]
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


def _row(step: str, timing: Timing, total: Timing) -> Row:
    return {"step": step, "cpu": timing.cpu, "wall": timing.wall, "share": timing.cpu / total.cpu}


def _rival(seed: int, outcome: Outcome, ours: int | None, timing: Timing, total: Timing) -> Row:
    finished = outcome.status == "optimal"
    if finished and outcome.value != ours:
        raise ValueError(f"CP-SAT proved {outcome.value}, memopt {ours}")
    ratio = timing.cpu / total.cpu
    met = True if ratio >= TARGET else False if finished else None
    return {
        "step": f"cpsat, bare solve, seed {seed}",
        "cpu": timing.cpu,
        "wall": timing.wall,
        "status": outcome.status,
        "ratio": ratio,
        "lower_bound": not finished,
        "target": TARGET,
        "met": met,
    }


def _ratio(row: Row) -> str:
    return f"{'>' if row['lower_bound'] else ''}{row['ratio']:,.1f} x" if "ratio" in row else ""


COLUMNS = (
    Column("step", lambda row: str(row["step"]), right=False),
    Column("cpu ms", lambda row: milliseconds(row["cpu"])),
    Column("wall", lambda row: milliseconds(row["wall"])),
    Column("share", lambda row: f"{row['share']:.0%}" if "share" in row else ""),
    Column("ratio", _ratio),
    Column("target", lambda row: f">= {row['target']:g} x" if "target" in row else ""),
    Column("", lambda row: verdict(row["met"]) if "met" in row else "", right=False),
)
