"""What a user waits for: the README's first command as a whole process, and loading the kernels."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.clock import Timing, middle
from benchmarks.report import Column, Report, Row, verdict

ROOT = Path(__file__).parents[1]
COMMAND = ("-m", "memopt", "solve", "examples/trip.json")
_PREPARE = ("-c", "from memopt.solvers import jit; jit.prepare()")
_IMPORT = ("-c", "import memopt.solvers.jit")
FIRST, AFTERWARDS = 3.0, 1.0
"""Seconds of wall time asked for."""


def measure(rounds: int, kernels: bool, say: Callable[[str], None]) -> Report:
    """Measure processes, every round beginning with an empty cache.

    Parameters
    ----------
    rounds
        Rounds; each runs the command cold, then again, in caches of its own.
    kernels
        Whether to compile the kernels as well, once; takes half a minute.
    say
        Told what is measured next.
    """
    nothing, bytecode, again = [], [], []
    for number in range(rounds):
        say(f"{' '.join(COMMAND[1:])}, round {number + 1}")
        with tempfile.TemporaryDirectory() as folder:
            nothing.append(_process(COMMAND, NUMBA_CACHE_DIR=folder))
            again.append(_process(COMMAND, NUMBA_CACHE_DIR=folder))
        with tempfile.TemporaryDirectory() as folder:
            bytecode.append(_process(COMMAND, NUMBA_CACHE_DIR=folder, PYTHONPYCACHEPREFIX=folder))
    rows = [
        _row("memopt solve, no kernel ever compiled", middle(nothing), FIRST),
        _row("memopt solve, afterwards", middle(again), AFTERWARDS),
        _row("memopt solve, no Python bytecode either", middle(bytecode), FIRST),
    ]
    if kernels:
        rows += _kernels(rounds, say)
    notes = (
        f"`memopt {' '.join(COMMAND[2:])}` as a whole process, {rounds} rounds, medians. "
        "The targets are of wall time: it is what a user waits.",
        "'no Python bytecode either' compiles every module of every package anew, as after an installer "
        "that leaves that to the first run.",
        "A small program is solved by the plain loops, without waiting for the compiler; the kernels are "
        "what the first large one (or an agent's `jit.prepare()`) waits for, once a machine. "
        "Both kernel rows are without starting Python and importing memopt.",
    )
    return Report("first-run", rows, COLUMNS, notes)


def _kernels(rounds: int, say: Callable[[str], None]) -> list[Row]:
    say("compiling the kernels from nothing")
    with tempfile.TemporaryDirectory() as folder:
        compiled = _process(_PREPARE, NUMBA_CACHE_DIR=folder)
        loaded, plain = [], []
        for _ in range(rounds):
            plain.append(_process(_IMPORT, NUMBA_CACHE_DIR=folder))
            loaded.append(_process(_PREPARE, NUMBA_CACHE_DIR=folder))
    start = middle(plain)

    def without_start(timing: Timing) -> Timing:
        return Timing(timing.wall - start.wall, timing.cpu - start.cpu)

    return [
        _row("kernels, compiled from nothing", without_start(compiled), None),
        _row("kernels, loaded from the cache", without_start(middle(loaded)), None),
    ]


def _process(arguments: tuple[str, ...], **environment: str) -> Timing:
    """Return the time of a Python process from its start to its end.

    Raises
    ------
    CalledProcessError
        When it fails.
    """
    before, began = _children_cpu(), time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        check=True,
        capture_output=True,
    )
    return Timing(time.perf_counter() - began, _children_cpu() - before)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _row(what: str, timing: Timing, target: float | None) -> Row:
    met = None if target is None else timing.wall <= target
    return {"what": what, "wall": timing.wall, "cpu": timing.cpu, "target": target, "met": met}


COLUMNS = (
    Column("what", lambda row: str(row["what"]), right=False),
    Column("wall s", lambda row: f"{row['wall']:.2f}"),
    Column("cpu s", lambda row: f"{row['cpu']:.2f}"),
    Column("target", lambda row: "-" if row["target"] is None else f"<= {row['target']:g} s"),
    Column("", lambda row: verdict(row["met"]), right=False),
)
