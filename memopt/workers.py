"""Work in several processes: sent in chunks, given back in order, ended by Ctrl-C without a trace."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread, main_thread
from typing import TypeVar

from memopt.signals import held_back

CHUNK_SECONDS = 0.075
"""Work sent to a process at a time: enough to hide the sending, little enough to stay in order."""
WAITING_PER_JOB = 3
"""Chunks held for each process: with work of even size, enough to keep it busy."""
MOST_JOBS = 61
"""Processes at a time, however many are asked for: Windows can wait for no more."""
_END_SECONDS = 10.0
"""For a process that is asked to end what it has begun."""

Unit = TypeVar("Unit")
Chunk = TypeVar("Chunk")
Done = TypeVar("Done")


class Pace:
    """How much makes a chunk of `CHUNK_SECONDS`, learnt from the chunks that came back.

    Attributes
    ----------
    size
        Units of work to send next, whatever the unit is.
    """

    def __init__(self, first: int, most: int) -> None:
        self.size, self._most = first, most

    def learn(self, size: int, seconds: float) -> None:
        """Take in that so many units took so long."""
        if seconds > 0:
            self.size = min(self._most, max(1, int(size / seconds * CHUNK_SECONDS)))


def chunked(units: Iterable[Unit], pace: Pace, size: Callable[[Unit], int]) -> Iterator[list[Unit]]:
    """Yield as many units at a time as the pace asks for, measured by their sizes."""
    chunk: list[Unit] = []
    held = 0
    for unit in units:
        chunk.append(unit)
        held += size(unit)
        if held >= pace.size:
            yield chunk
            chunk, held = [], 0
    if chunk:
        yield chunk


def in_processes(
    chunks: Iterable[Chunk], work: Callable[[Chunk], Done], jobs: int, waiting_per_job: int = WAITING_PER_JOB
) -> Generator[Done]:
    """Yield the work done on every chunk, in order; only a few chunks are held at a time.

    Processes are spawned, so ``work`` and all it takes and gives must be picklable. They end when the
    iterator does, however it ends. There are `MOST_JOBS` of them at most.

    Raises
    ------
    ChildProcessError
        When a process dies.
    """
    jobs = min(jobs, MOST_JOBS)
    waiting = deque[Future[Done]]()
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_follow_parent)
    source = iter(chunks)
    try:
        # The first ones start all processes at once: the pool breaks down if one dies while another starts.
        for chunk in chain(list(islice(source, jobs)), source):
            waiting.append(_submit(pool, work, chunk))
            if len(waiting) == jobs * waiting_per_job:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise ChildProcessError("a process of the batch ended before its work was done") from None
    except BaseException:
        for child in active_children():
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, work: Callable[[Chunk], Done], chunk: Chunk) -> Future[Done]:
    with _interrupts_held_back():  # it may start a process
        try:
            return pool.submit(_until_ended, work, chunk)
        except OSError as error:
            if error.errno is None:  # a pipe that the pool has closed: a process died this very moment
                raise BrokenProcessPool from error
            raise


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent process, and end with it even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_after, args=[parent_process()], daemon=True).start()


def _until_ended(work: Callable[[Chunk], Done], chunk: Chunk) -> Done:
    """Work; what is begun (a solver, a temporary folder) ends with a process that is asked to end."""
    signal.signal(signal.SIGTERM, _end)
    try:
        return work(chunk)
    except SystemExit:
        os._exit(1)  # the pool would send it as a result, and take the next chunk


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    if not hasattr(signal, "pthread_kill"):  # there is none on Windows
        os._exit(1)
    signal.pthread_kill(main_thread().ident or 0, signal.SIGTERM)


def _end(*_: object) -> None:
    # Some callbacks swallow every exception, and Python would print it.
    sys.unraisablehook = lambda _: None
    Thread(target=_end_hard, daemon=True).start()
    sys.exit(1)


def _end_hard() -> None:
    time.sleep(_END_SECONDS)
    os._exit(1)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let processes started inside be deaf to Ctrl-C from their first moment: the parent ends them.

    They inherit that the signal is blocked. One that comes meanwhile is raised at the end.
    """
    with held_back():
        masked = hasattr(signal, "pthread_sigmask")  # there is none on Windows
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masked else set()
        try:
            yield
        finally:
            if masked:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
