"""What `memopt verify` does: ask, go on, keep what is done, say what was found."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import BinaryIO, NoReturn

import typer

import memopt
from memopt import Instance
from memopt.campaign import Given, Task, draw, verify_tasks
from memopt.families import FAMILIES
from memopt.jsontext import parse
from memopt.provenance import made_by
from memopt.report import OUTCOMES, Asked, Report, Timing, UnusableReport
from memopt.shortage import find_shortage
from memopt.signals import held_back

from . import files
from .exits import Exit
from .faults import reporting
from .inputs import Inputs
from .output import emit, emit_text, json_bytes, say
from .progress import tally
from .verdicts import counted, side_by_side
from .witness import write_witness

MOST_WITNESSES = 10
"""Disagreements of one run that are shrunk; the report has all of them."""


def run(asked: Asked, jobs: int, out: str | None, force: bool, as_json: bool) -> None:
    """Verify what is asked, from the beginning."""
    if out == files.STANDARD:
        raise typer.BadParameter("a report goes to a file; --json prints its summary", param_hint="--out")
    with ExitStack() as kept:
        file = None if out is None else kept.enter_context(files.writing(out, force))
        tasks, total = _tasks(asked)
        if isinstance(tasks, Inputs) and total == 1 and file is None:
            _show(next(iter(tasks)), asked, as_json)
        made = made_by(asked.against, asked.time_limit)
        report = Report(asked=asked, made_by=made, total=total, timing=Timing(jobs=jobs))
        stopped = _go_on(report, iter(tasks), jobs, os.path.dirname(out or ""))
        if file is not None:
            _save(report, file, kept)
    _finish(report, stopped, out, as_json)


def resume(path: str, jobs: int, as_json: bool) -> None:
    """Go on where a report stopped, and write it anew.

    Raises
    ------
    UnusableReport
        When it is no report, was made by other versions or sources, or its inputs have changed.
    """
    if path == files.STANDARD:
        raise typer.BadParameter("a report is a file: it is written anew", param_hint="--resume")
    try:
        _resume(path, jobs, as_json)
    except UnusableReport as error:
        raise UnusableReport(f"{path!r}: {error}") from None


def _resume(path: str, jobs: int, as_json: bool) -> None:
    report = Report.read(files.read(path))
    asked = report.asked
    here, there = made_by(asked.against, asked.time_limit), report.made_by
    if here.sources != there.sources or here.versions != there.versions:
        raise UnusableReport("the report was made by other versions or sources: start a new one")
    with ExitStack() as kept:
        file = kept.enter_context(files.writing(path, force=True))
        tasks, total = _tasks(asked)
        rest = iter(tasks)
        for row in report.rows:
            task = next(rest, None)
            if isinstance(task, Given) and hashlib.sha256(task.text).hexdigest() != row.sha256:
                raise UnusableReport(f"{task.path!r} has changed since it was verified")
        if total != report.total:
            raise UnusableReport(f"there were {report.total:,} instances and are {total:,} now")
        before = len(report.rows)
        stopped = _go_on(report, rest, jobs, os.path.dirname(path))
        if len(report.rows) > before:  # or the throughput would be said of processes that did nothing
            report.timing.jobs = jobs
        _save(report, file, kept)
    _finish(report, stopped, path, as_json)


def _save(report: Report, file: BinaryIO, kept: ExitStack) -> None:
    """Write a report whole and under its name, even if a second Ctrl-C follows the first one."""
    with held_back():
        file.write(report.to_bytes())
        kept.close()


def _tasks(asked: Asked) -> tuple[Inputs | Iterator[Task], int]:
    if asked.random is None:
        inputs = Inputs(asked.paths or [])
        return inputs, inputs.count()
    return draw(asked.random, asked.families or FAMILIES, asked.seed or 0), asked.random


def _go_on(report: Report, tasks: Iterator[Task], jobs: int, folder: str) -> BaseException | None:
    """Verify the rest and shrink what disagrees; returns what stopped it, if anything did."""
    asked, began = report.asked, time.perf_counter()
    before, totals = report.timing.seconds, report.totals()
    try:
        with (
            tally(report.total) as show,
            closing(verify_tasks(tasks, asked.against, asked.time_limit, jobs)) as found,
        ):
            for rows in found:
                report.rows += rows
                report.timing.seconds = round(before + time.perf_counter() - began, 3)
                totals.update(row.verdict for row in rows)
                show(len(report.rows), {outcome: totals[outcome] for outcome in OUTCOMES})
        refuted = [row for row in report.rows if row.text is not None]
        for row in refuted[len(report.witnesses) : MOST_WITNESSES]:
            name = _witness(row.text or "", row.place, asked, folder)
            if name is None:
                break  # the others would not be written, either
            report.witnesses.append(name)
        if len(refuted) > MOST_WITNESSES:
            say(f"{len(refuted) - MOST_WITNESSES:,} more were not shrunk")
    except BaseException as error:  # whatever it is, what is done is kept
        return error
    return None


def _witness(text: str, place: dict[str, object], asked: Asked, folder: str) -> str | None:
    """Shrink a disagreement and write it; one that cannot be written is a disagreement all the same."""
    try:
        path, verdict = write_witness(text, place, asked.against, asked.time_limit, folder)
    except OSError as error:
        say(f"no witness was written to {folder or os.curdir!r}: {error.strerror or error}")
        return None
    how = "shrunk and" if verdict.refuted else "it does not show again;"
    say(f"{how} written to {path!r} ({verdict.kind}: {verdict.reason})")
    return os.path.basename(path)


def _finish(report: Report, stopped: BaseException | None, out: str | None, as_json: bool) -> None:
    """Print what was found, and end with the status that says it."""
    if as_json:
        emit(json_bytes(report.summary()))
    else:
        emit_text(counted(report))
    if isinstance(stopped, KeyboardInterrupt | SystemExit):  # Ctrl-C, or asked to end
        kept = f"{out!r} keeps them, --resume goes on" if out else "no report was asked for (--out FILE)"
        say(f"interrupted; {len(report.rows):,} of {report.total:,} are verified; {kept}")
        raise typer.Exit(Exit.INTERRUPTED if isinstance(stopped, KeyboardInterrupt) else Exit.TERMINATED)
    if stopped is not None:
        raise stopped
    totals = report.totals()
    if totals["differ"] or totals["invalid"]:
        raise typer.Exit(Exit.REFUTED)
    if totals["rejected"]:
        raise typer.Exit(Exit.INVALID)


def _show(task: Given, asked: Asked, as_json: bool) -> NoReturn:
    """Verify one instance, print the answers side by side, and end."""
    with reporting(task.path, as_json):
        verdict = memopt.verify(Instance.model_validate(parse(task.text)), asked.against, asked.time_limit)
    shortage = find_shortage(verdict.program) if verdict.kind == "infeasible" else None
    if as_json:
        emit(json_bytes(verdict.to_dict()))
    else:
        emit_text(side_by_side(verdict))
    if shortage is not None:
        say(f"infeasible ({shortage.code}): {shortage.message}")
        raise typer.Exit(Exit.INFEASIBLE)
    if verdict.refuted:
        _witness(task.text.decode(), task.place, asked, "")
        raise typer.Exit(Exit.REFUTED)
    raise typer.Exit
