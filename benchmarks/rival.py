"""CP-SAT's bare solve beside work that is timed step by step: how both are measured, and their table."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from benchmarks.clock import Contestant, Timing, alternate
from benchmarks.peers import CpSat, Outcome
from benchmarks.report import Column, Row, milliseconds, verdict
from memopt.errors import SolverMissing
from memopt.program import Program

TARGET = 20.0
"""CPU time of CP-SAT's bare solve, as a multiple of the whole work's, that is asked for."""


def against_cpsat(
    contestants: Mapping[str, Contestant], program: Program, limit: float, rounds: int
) -> tuple[dict[str, Timing], Outcome | None]:
    """Let contestants and CP-SAT take turns.

    Parameters
    ----------
    contestants
        By name; CP-SAT joins them as ``cpsat``.
    program
        What CP-SAT solves.
    limit
        Seconds it gets.
    rounds
        Turns of each.

    Returns
    -------
    tuple
        The median time of each, and what CP-SAT found; None, and no time of it, where it is not installed.
    """
    rivals = {}
    with suppress(SolverMissing):
        rivals["cpsat"] = CpSat(program, limit)
    timings = alternate({**contestants, **rivals}, rounds)
    return timings, rivals["cpsat"].outcome() if rivals else None


def step_row(step: str, timing: Timing, total: Timing) -> Row:
    """Return the row of one step, with its share of the CPU time of all."""
    return {"step": step, "cpu": timing.cpu, "wall": timing.wall, "share": timing.cpu / total.cpu}


def rival_row(seed: int, outcome: Outcome, ours: int | None, timing: Timing, total: Timing) -> Row:
    """Return the row of CP-SAT.

    Parameters
    ----------
    outcome, ours
        What it found, and the value that memopt found.
    timing, total
        Its time, and the time of all that memopt does.

    Raises
    ------
    ValueError
        When it proved another value.
    """
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
