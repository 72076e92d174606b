"""Many instances, one a line: solved in order, in this process or in several, with bounded memory."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

from memopt import Instance, solve
from memopt.errors import Fault, InvalidInstance, SolverFailed, SolverLimit
from memopt.jsontext import parse
from memopt.solvers import jit

from .faults import invalid_result
from .output import json_bytes

CHUNK_SECONDS = 0.075
"""Work sent to a process at a time: enough to hide the sending, little enough to stay in order."""
_FIRST_CHUNK_BYTES = 16_384
_LARGEST_CHUNK_BYTES = 4 * 2**20
_WAITING_PER_JOB = 3

Line = tuple[int, bytes]
"""Line number from 1, and the bytes of the line."""


@dataclass(frozen=True)
class Solved:
    """Results of some consecutive lines.

    Attributes
    ----------
    text
        The result lines, ready to be written.
    statuses
        How many lines ended in which status.
    read
        Bytes of input they came from.
    seconds
        Wall time the work took.
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

    With one job each line is answered as soon as it is read; with more, processes take chunks of
    about `CHUNK_SECONDS` and only a few chunks are held at a time.
    """
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    work = partial(solve_chunk, solver=solver, time_limit=time_limit)
    if jobs == 1:
        yield from (work([line]) for line in numbered)
    else:
        if solver == "dp":
            jit.prepare()  # here, or every process would compile the same on a new machine
        yield from _in_processes(numbered, work, jobs)


class _Pace:
    """How many bytes of input make a chunk, learnt from the chunks that came back."""

    def __init__(self) -> None:
        self.bytes = _FIRST_CHUNK_BYTES

    def learn(self, solved: Solved) -> None:
        if solved.seconds > 0:
            fitting = int(solved.read / solved.seconds * CHUNK_SECONDS)
            self.bytes = min(_LARGEST_CHUNK_BYTES, max(1, fitting))


def _chunks(lines: Iterable[Line], pace: _Pace) -> Iterator[list[Line]]:
    chunk: list[Line] = []
    held = 0
    for line in lines:
        chunk.append(line)
        held += len(line[1])
        if held >= pace.bytes:
            yield chunk
            chunk, held = [], 0
    if chunk:
        yield chunk


def _in_processes(lines: Iterable[Line], work: partial[Solved], jobs: int) -> Iterator[Solved]:
    pace, waiting = _Pace(), deque[Future[Solved]]()
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_follow_parent)
    try:
        for chunk in _chunks(lines, pace):
            with _interrupts_held_back():
                waiting.append(pool.submit(work, chunk))
            if len(waiting) == jobs * _WAITING_PER_JOB:
                yield _next(waiting, pace)
        while waiting:
            yield _next(waiting, pace)
    except BrokenProcessPool:
        raise ChildProcessError("a process of the batch ended before its work was done") from None
    except BaseException:
        for child in active_children():
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _next(waiting: deque[Future[Solved]], pace: _Pace) -> Solved:
    solved = waiting.popleft().result()
    pace.learn(solved)
    return solved


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent process, and end with it even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_after, args=[parent_process()], daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let processes started inside be deaf to Ctrl-C from their first moment: the parent ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
