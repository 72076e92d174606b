"""A whole turn of a stored session, against CP-SAT's bare solve of its program."""

from __future__ import annotations

import gc
import json
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.clock import Contestant, Stopwatch, Timing, medians, middle
from benchmarks.end_to_end import FAMILY, problem_text
from benchmarks.report import Report
from benchmarks.rival import COLUMNS, against_cpsat, rival_row, step_row
from memopt.compile import compile as compiled
from memopt.session.config import Config
from memopt.session.events import record
from memopt.session.session import Session
from memopt.session.state import apply, touched
from memopt.session.store import Store
from memopt.session.turn import decide, declare
from memopt.solve import solve_compiled
from memopt.solvers import jit

FULL = 0.2
"""Pressure after a turn that filled its budget: 1 - alpha."""


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

    def __init__(self, store: Store, seed: int, items: int) -> None:
        super().__init__(store, seed, items)
        self.laps: list[dict[str, Timing]] = []

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
        self.laps.append(laps)


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
            program = compiled(solve.instance).program
            timings, outcome = against_cpsat(contestants, program, limit, rounds)
            totals.append(timings["turn"])
            solves.append(timings["solve"])
            steps.append(medians(parts.laps))
            if outcome is not None:
                ours = solve.allocation.units
                rivals.append(rival_row(seed, outcome, ours, timings["cpsat"], timings["turn"]))
    total = middle(totals)
    named = medians(steps) | {"decide: compile, solve, audit": middle(solves), "total": total}
    rows = [step_row(step, timing, total) for step, timing in named.items()]
    notes = (
        f"{FAMILY} at its declared price, {items:,} new items, seeds {', '.join(map(str, seeds))}; "
        f"SQLite in a file; medians of {rounds} turns, taken alternately. The total is `Session.turn`, the "
        "steps are of the same work done one by one. The ratio is of process CPU time: CP-SAT's bare solve "
        "of the turn's program by the total of the same candidates. The collector runs before each turn; "
        "what it does within one counts.",
        f"'>': CP-SAT stopped at its limit of {limit:g} s, so the ratio is a lower bound.",
    )
    return Report("turn", rows + rivals, COLUMNS, notes)
