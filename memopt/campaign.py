"""Many instances, drawn or given, each verified: in this process or in several, in order."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from memopt.errors import InvalidInstance, writable
from memopt.families import generate
from memopt.instance import Instance
from memopt.jsontext import parse
from memopt.report import Row, Said
from memopt.solvers import jit
from memopt.verdict import Verdict
from memopt.verify import verify
from memopt.workers import Pace, chunked, in_processes

MOST_ITEMS = 20
"""Items of the largest random instance."""
_SMALL_TEXT = jit.PLAIN_OPTIONS * len('"a":{"tokens":1,"utility":1},')
"""Bytes that hold no program for the compiled solver, however tersely it is written."""
_FIRST_CHUNK, _LARGEST_CHUNK = 4, 500
_WAITING_PER_JOB = 50
"""One hard instance takes as long as thousands of others: these must not wait for its row."""


@dataclass(frozen=True)
class Drawn:
    """A random instance, named by what it is generated from."""

    family: str
    seed: int
    items: int

    @property
    def text(self) -> bytes:
        """The instance as a problem file."""
        return generate(self.family, self.items, self.seed).model_dump_json(exclude_defaults=True).encode()

    @property
    def place(self) -> dict[str, Any]:
        """Where it comes from, as a row says it."""
        return {"group": self.family, "seed": self.seed, "items": self.items}


@dataclass(frozen=True)
class Given:
    """An instance somebody wrote.

    Attributes
    ----------
    group
        What it is counted under.
    path, line
        The file it stands in, and the line if it is one of several there.
    text
        The problem file, or that line of it.
    """

    group: str
    path: str
    line: int | None
    text: bytes

    @property
    def place(self) -> dict[str, Any]:
        """Where it comes from, as a row says it."""
        return {"group": writable(self.group), "path": writable(self.path), "line": self.line}


Task = Drawn | Given


def draw(count: int, families: Sequence[str], seed: int) -> Iterator[Drawn]:
    """Yield so many random instances: the families in turn, each with 0 to `MOST_ITEMS` items in turn.

    The seed rises by one with every turn of the families.
    """
    for number in range(count):
        turn, which = divmod(number, len(families))
        yield Drawn(families[which], seed + turn, turn % (MOST_ITEMS + 1))


def verify_tasks(
    tasks: Iterable[Task], against: Sequence[str], time_limit: float | None = None, jobs: int = 1
) -> Generator[list[Row]]:
    """Verify every instance and yield the rows, some at a time, in order.

    An instance that is not valid is a row, too. One job works in this process, an instance at a time;
    more are processes that take chunks of some milliseconds and build every model themselves. Where
    no time limit is hit, the rows are the same for any number of jobs, but for their seconds.

    Raises
    ------
    UnknownSolver, SolverMissing
        As `memopt.verify`.
    """
    if jobs == 1:
        yield from ([verify_task(task, against, time_limit)] for task in tasks)
        return
    pace = Pace(_FIRST_CHUNK, _LARGEST_CHUNK)
    chunks = chunked(_compiled_for(tasks), pace, lambda task: 1)
    work = partial(verify_chunk, against=tuple(against), time_limit=time_limit)
    with closing(in_processes(chunks, work, jobs, _WAITING_PER_JOB)) as done:
        for rows in done:
            pace.learn(len(rows), sum(sum(row.seconds.values()) for row in rows))
            yield rows


def _compiled_for(tasks: Iterable[Task]) -> Iterator[Task]:
    """Compile the solver before the first task that may need it, or every process would do the same.

    That is once a machine; the processes load it when they meet a program that is not small.
    """
    for task in tasks:
        if isinstance(task, Given) and len(task.text) > _SMALL_TEXT:
            jit.prepare()
        yield task


def verify_chunk(tasks: list[Task], against: Sequence[str], time_limit: float | None) -> list[Row]:
    """Verify some instances; what a worker process runs."""
    return [verify_task(task, against, time_limit) for task in tasks]


def verify_task(task: Task, against: Sequence[str], time_limit: float | None) -> Row:
    """Verify one instance and return its row."""
    text = task.text
    row = Row(**task.place, sha256=hashlib.sha256(text).hexdigest(), verdict="rejected")
    try:
        verdict = verify(Instance.model_validate(parse(text)), against, time_limit)
    except InvalidInstance as error:
        return row.model_copy(update={"errors": [fault.to_dict() for fault in error.faults]})
    return row.model_copy(update=_found(verdict, text))


def _found(verdict: Verdict, text: bytes) -> dict[str, Any]:
    agreed = verdict.kind in ("equal", "infeasible")
    told = verdict.to_dict()
    return {
        "digest": told["digest"],
        "verdict": verdict.kind,
        "reason": None if agreed else verdict.reason,
        "value": verdict.value,
        "tokens": verdict.tokens,
        "answers": [
            Said(proved=answer.proved, **{name: said[name] for name in _SAID})
            for answer, said in zip(verdict.answers, told["answers"], strict=True)
        ],
        "text": text.decode() if verdict.refuted else None,
        "seconds": {answer.solver: round(answer.seconds, 6) for answer in verdict.answers},
    }


_SAID = ("solver", "status", "value", "tokens", "bound", "limit")
