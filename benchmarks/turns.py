"""A whole turn of a stored session, against CP-SAT's bare solve of its program; outcomes a second."""

from __future__ import annotations

import gc
import json
import math
import random
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.clock import Contestant, Stopwatch, Timing, alternate, middle
from benchmarks.end_to_end import FAMILY, TARGET, problem_text
from benchmarks.peers import CpSat
from benchmarks.report import Column, Report, Row, milliseconds, verdict
from memopt.compile import compile as compiled
from memopt.errors import SolverMissing
from memopt.session.config import Config
from memopt.session.events import record
from memopt.session.session import Outcome, Session
from memopt.session.state import apply, touched
from memopt.session.store import Store
from memopt.session.turn import decide, declare
from memopt.solve import solve_compiled
from memopt.solvers import jit

STEPS = ("lock", "validate", "decide", "event", "state", "store")
OUTCOMES_A_SECOND = 5_000
FULL = 0.2
"""Pressure after a turn that filled its budget: 1 - alpha."""
RETRIEVED = 4
MEMORIES = 1_000


class Turn:
    """The second turn of a new session: every item is new, and tokens have the family's declared price.

    So its program is that of ``end-to-end``.
    """

    def __init__(self, store: Store, seed: int, items: int) -> None:
        self._store, self._name = store, f"{type(self).__name__} {seed}"
        declared = json.loads(problem_text(items, seed))
        self.items, self.budget = declared["items"], declared["budget"]
        self._gain = declared["price"] * math.sqrt(2) / FULL
        self._times = 0
        self.prepare()

    def prepare(self) -> None:
        """Begin a session whose first turn filled the budget."""
        self._times += 1
        self.log = self._store.session(f"{self._name}, {self._times}")
        self.session = Session(Config(gain=self._gain), self.log)
        full = {"id": "full", "pinned": True, "levels": {"raw": {"tokens": self.budget, "utility": 1}}}
        self.session.turn([full], self.budget)
        self.state = self.session.state
        gc.collect()  # or a turn now and then pays for what the contestants before it left behind

    def run(self) -> None:
        """Take the turn."""
        self.session.turn(self.items, self.budget)


class Steps(Turn):
    """The same, step by step, as `Session.turn` does them."""

    laps: list[dict[str, Timing]]

    def run(self) -> None:
        """Take the turn, noting the time of every step."""
        watch, laps = Stopwatch(), {}
        with self.log.writing() as transaction:
            laps["lock"] = watch.lap()
            instance = declare(self.state, self.items, self.budget)
            laps["validate"] = watch.lap()
            event = decide(self.state, instance, "turn")
            laps["decide"] = watch.lap()
            made = record(event, self.state.digest)
            laps["event"] = watch.lap()
            after = apply(self.state, event, made.digest)
            laps["state"] = watch.lap()
            transaction.append([made], touched(self.state, event, after), after)
        laps["store"] = watch.lap()
        self.laps = [*getattr(self, "laps", []), laps]

    def step(self, name: str) -> Timing:
        """Return the median time of a step."""
        return middle([lap[name] for lap in self.laps])


class Solve:
    """Compiling and solving alone, a part of ``decide``."""

    def __init__(self, turn: Turn) -> None:
        self.instance = declare(turn.state, turn.items, turn.budget)

    def prepare(self) -> None:
        """Nothing is needed."""

    def run(self) -> None:
        """Compile, solve and audit."""
        self.allocation = solve_compiled(compiled(self.instance))


def measure(items: int, seeds: Sequence[int], limit: float, rounds: int) -> Report:
    """Measure a turn with everything it does, in a new SQLite file.

    Parameters
    ----------
    items, seeds
        Size of the memory-like candidates, and the seed of each.
    limit
        Seconds CP-SAT gets.
    rounds
        Turns of each contestant on each instance.
    """
    jit.prepare()
    totals, steps, solves, rivals = [], [], [], []
    with tempfile.TemporaryDirectory() as folder, Store(str(Path(folder) / "memory.db")) as store:
        for seed in seeds:
            turn, parts = Turn(store, seed, items), Steps(store, seed, items)
            solve = Solve(turn)
            contestants: dict[str, Contestant] = {"turn": turn, "steps": parts, "solve": solve}
            rival = None
            with suppress(SolverMissing):
                contestants["cpsat"] = rival = CpSat(compiled(solve.instance).program, limit)
            timings = alternate(contestants, rounds)
            totals.append(timings["turn"])
            solves.append(timings["solve"])
            steps.append(parts)
            if rival is not None:
                rivals.append(_rival(seed, rival, solve, timings["cpsat"], timings["turn"]))
    total = middle(totals)
    rows = [_row(step, middle([parts.step(step) for parts in steps]), total) for step in STEPS]
    rows.append(_row("decide: compile, solve, audit", middle(solves), total))
    rows.append(_row("total", total, total))
    notes = (
        f"{FAMILY} at its declared price, {items:,} new items, seeds {', '.join(map(str, seeds))}; "
        f"SQLite in a file; medians of {rounds} turns, taken alternately. The total is `Session.turn`, the "
        "steps are of the same work done one by one. The ratio is of process CPU time: CP-SAT's bare solve "
        "of the turn's program by the total of the same candidates. The collector runs before each turn; "
        "what it does within one counts.",
        f"'>': CP-SAT stopped at its limit of {limit:g} s, so the ratio is a lower bound.",
    )
    return Report("turn", rows + rivals, COLUMNS, notes)


def _row(step: str, timing: Timing, total: Timing) -> Row:
    return {"step": step, "cpu": timing.cpu, "wall": timing.wall, "share": timing.cpu / total.cpu}


def _rival(seed: int, rival: CpSat, solve: Solve, timing: Timing, total: Timing) -> Row:
    outcome, ours = rival.outcome(), solve.allocation.units
    finished = outcome.status == "optimal"
    if finished and outcome.value != ours:
        raise ValueError(f"CP-SAT proved {outcome.value}, memopt {ours}")
    ratio = timing.cpu / total.cpu
    return {
        "step": f"cpsat, bare solve, seed {seed}",
        "cpu": timing.cpu,
        "wall": timing.wall,
        "status": outcome.status,
        "ratio": ratio,
        "lower_bound": not finished,
        "target": TARGET,
        "met": True if ratio >= TARGET else False if finished else None,
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


def measure_outcomes(outcomes: int, batch: int) -> Report:
    """Measure outcomes recorded in batches, in a new SQLite file.

    Parameters
    ----------
    outcomes
        How many, each of four memories drawn from 1,000.
    batch
        Outcomes a transaction.
    """
    rng = random.Random(1)
    names = [f"m{number}" for number in range(MEMORIES)]
    told = [Outcome(rng.random() < 0.5, rng.sample(names, RETRIEVED), f"e{n}") for n in range(outcomes)]
    with tempfile.TemporaryDirectory() as folder, Store(str(Path(folder) / "memory.db")) as store:
        session = Session(log=store.session("s"))
        session.put(dict.fromkeys(names, "text"))
        watch = Stopwatch()
        for begin in range(0, outcomes, batch):
            session.outcomes(told[begin : begin + batch])
        passed = watch.lap()
        counted = sum(report.retrievals for report in session.worth())
    if counted != outcomes * RETRIEVED:
        raise ValueError(f"{counted} retrievals are counted, not {outcomes * RETRIEVED}")
    row = {
        "outcomes": outcomes,
        "batch": batch,
        "cpu": passed.cpu,
        "wall": passed.wall,
        "a_second": outcomes / passed.wall,
        "a_cpu_second": outcomes / passed.cpu,
        "target": OUTCOMES_A_SECOND,
        "met": outcomes / passed.wall >= OUTCOMES_A_SECOND,
    }
    notes = (
        f"Each outcome credits {RETRIEVED} of {MEMORIES:,} memories and counts their "
        f"{RETRIEVED * (RETRIEVED - 1) // 2} pairs; event and state in one transaction a batch.",
    )
    return Report("outcomes", [row], OUTCOME_COLUMNS, notes)


OUTCOME_COLUMNS = (
    Column("outcomes", lambda row: f"{row['outcomes']:,}"),
    Column("a batch", lambda row: f"{row['batch']:,}"),
    Column("cpu s", lambda row: f"{row['cpu']:.2f}"),
    Column("wall s", lambda row: f"{row['wall']:.2f}"),
    Column("a cpu second", lambda row: f"{row['a_cpu_second']:,.0f}"),
    Column("a second", lambda row: f"{row['a_second']:,.0f}"),
    Column("target", lambda row: f">= {row['target']:,}"),
    Column("", lambda row: verdict(row["met"]), right=False),
)
