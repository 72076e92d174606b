"""Many instances, one per line: solved in order, in one process or several, with bounded memory."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from memopt import Instance, solve
from memopt.errors import Fault, InvalidInstance, SolverFailed, SolverLimit
from memopt.jsontext import parse
from memopt.solvers import jit
from memopt.workers import Pace, chunked, in_processes

from .faults import invalid_result
from .output import json_bytes

_FIRST_CHUNK_BYTES = 16_384
_LARGEST_CHUNK_BYTES = 4 * 2**20

Line = tuple[int, bytes]
"""Line number from 1, and the bytes of the line."""


@dataclass(frozen=True)
class Solved:
    """Results of consecutive lines.

    Attributes
    ----------
    text
        The result lines, ready to be written.
    statuses
        How many lines ended in each status.
    read
        Bytes of input that they came from.
    seconds
        Wall time of the work, in seconds.
    """

    text: bytes
    statuses: Counter[str]
    read: int
    seconds: float


def solve_line(line: Line, solver: str, time_limit: float | None) -> dict[str, Any]:
    """Return the result object of one line, with its number under ``line``.

    A line that declares no valid instance, and one the solver refuses or fails on, has status
    ``invalid`` and says why under ``errors``.
    """
    number, text = line
    try:
        result = solve(Instance.model_validate(parse(text)), solver, time_limit).to_dict()
    except InvalidInstance as error:
        result = invalid_result(error)
    except SolverLimit as error:
        result = invalid_result(InvalidInstance([Fault("solver_limit", str(error), field="solver")]))
    except SolverFailed as error:
        result = invalid_result(InvalidInstance([Fault("solver_failed", str(error), field="solver")]))
    return {"line": number} | result


def solve_chunk(chunk: list[Line], solver: str, time_limit: float | None) -> Solved:
    """Solve consecutive lines; what a worker process runs."""
    began = time.perf_counter()
    results = [solve_line(line, solver, time_limit) for line in chunk]
    text = b"".join(map(json_bytes, results))
    statuses = Counter(str(result["status"]) for result in results)
    return Solved(text, statuses, sum(len(line) for _, line in chunk), time.perf_counter() - began)


def solve_lines(
    lines: Iterable[bytes], solver: str, time_limit: float | None, jobs: int
) -> Generator[Solved]:
    """Solve every line that is not blank, in order.

    With one job each line is answered as soon as it is read; with more, processes take chunks
    worth some milliseconds each, and only a few chunks are held at a time.
    """
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    work = partial(solve_chunk, solver=solver, time_limit=time_limit)
    if jobs == 1:
        yield from (work([line]) for line in numbered)
    else:
        if solver == "dp":
            jit.prepare()  # once, here: on a new machine every process would compile it
        yield from _in_processes(numbered, work, jobs)


def _in_processes(lines: Iterable[Line], work: partial[Solved], jobs: int) -> Generator[Solved]:
    pace = Pace(_FIRST_CHUNK_BYTES, _LARGEST_CHUNK_BYTES)
    chunks = chunked(lines, pace, lambda line: len(line[1]))
    with closing(in_processes(chunks, work, jobs)) as done:
        for solved in done:
            pace.learn(solved.read, solved.seconds)
            yield solved
