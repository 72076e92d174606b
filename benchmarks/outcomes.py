"""Outcomes recorded per second, in a session stored in a new SQLite file."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from benchmarks.clock import Stopwatch
from benchmarks.report import Column, Report, verdict
from memopt.session.session import Outcome, Session
from memopt.session.store import Store

TARGET = 5_000
"""Outcomes per second of wall time that are asked for."""
RETRIEVED = 4
MEMORIES = 1_000


def measure(outcomes: int, batch: int) -> Report:
    """Measure outcomes recorded in batches.

    Parameters
    ----------
    outcomes
        How many, each of four memories drawn from 1,000.
    batch
        Outcomes per transaction.

    Raises
    ------
    ValueError
        When the session counts other retrievals than were recorded.
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
        "target": TARGET,
        "met": outcomes / passed.wall >= TARGET,
    }
    notes = (
        f"Each outcome credits {RETRIEVED} of {MEMORIES:,} memories and counts their "
        f"{RETRIEVED * (RETRIEVED - 1) // 2} pairs; event and state in one transaction a batch.",
    )
    return Report("outcomes", [row], COLUMNS, notes)


COLUMNS = (
    Column("outcomes", lambda row: f"{row['outcomes']:,}"),
    Column("a batch", lambda row: f"{row['batch']:,}"),
    Column("cpu s", lambda row: f"{row['cpu']:.2f}"),
    Column("wall s", lambda row: f"{row['wall']:.2f}"),
    Column("a cpu second", lambda row: f"{row['a_cpu_second']:,.0f}"),
    Column("a second", lambda row: f"{row['a_second']:,.0f}"),
    Column("target", lambda row: f">= {row['target']:,}"),
    Column("", lambda row: verdict(row["met"]), right=False),
)
