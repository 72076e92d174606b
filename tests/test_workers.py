from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import active_children
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from memopt.workers import (
    CHUNK_SECONDS,
    WAITING_PER_JOB,
    Pace,
    _interrupts_held_back,
    chunked,
    in_processes,
)


def test_a_pace_is_learnt_from_what_came_back() -> None:
    pace = Pace(10, 1000)
    assert pace.size == 10
    pace.learn(10, 10 * CHUNK_SECONDS)
    assert pace.size == 1
    pace.learn(100, CHUNK_SECONDS / 2)
    assert pace.size == 200
    pace.learn(100, CHUNK_SECONDS * 1000)
    assert pace.size == 1  # one that is slow is still sent
    pace.learn(100, CHUNK_SECONDS / 1000)
    assert pace.size == 1000  # the most
    pace.learn(5, 0.0)
    assert pace.size == 1000


def test_chunks_follow_the_pace_and_lose_nothing() -> None:
    pace = Pace(3, 100)
    chunks = chunked(range(1, 10), pace, lambda unit: 1)
    assert next(chunks) == [1, 2, 3]
    pace.size = 1
    assert next(chunks) == [4]
    pace.size = 100
    assert list(chunks) == [[5, 6, 7, 8, 9]]
    assert list(chunked("abcd", Pace(3, 100), lambda unit: 2)) == [["a", "b"], ["c", "d"]]
    assert list(chunked([], Pace(3, 100), lambda unit: 2)) == []


def _later(number: int) -> tuple[int, int]:
    time.sleep(0.05 if number % 2 == 0 else 0)
    return number, os.getpid()


def test_results_come_in_order_and_few_chunks_are_asked_for_ahead() -> None:
    asked = []

    def numbers() -> Iterator[int]:
        for number in range(12):
            asked.append(number)
            yield number

    done = in_processes(numbers(), _later, 2)
    first, _ = next(done)
    assert (first, len(asked)) == (0, 2 * WAITING_PER_JOB)
    rest = list(done)
    assert [number for number, _ in rest] == list(range(1, 12))
    assert os.getpid() not in {process for _, process in rest}
    assert active_children() == []


def test_whoever_stops_listening_ends_the_processes() -> None:
    done = in_processes(range(100), _later, 2)
    next(done)
    done.close()
    assert active_children() == []


def _keep_a_folder(parent: str) -> None:
    with tempfile.TemporaryDirectory(dir=parent):
        Path(parent, "begun").touch()
        time.sleep(60)


def test_what_a_process_has_begun_ends_with_it(tmp_path: Path) -> None:
    def interrupted() -> Iterator[str]:
        yield str(tmp_path)
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        raise KeyboardInterrupt

    done = in_processes(interrupted(), _keep_a_folder, 1)
    with pytest.raises(KeyboardInterrupt):
        next(done)
    assert active_children() == []
    assert [path.name for path in tmp_path.iterdir()] == ["begun"]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to threads")
def test_what_a_process_has_begun_ends_even_if_its_parent_is_killed(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(
        "import sys, tempfile, time\n"
        "from pathlib import Path\n"
        "from memopt.workers import in_processes\n"
        "def keep(folder):\n"
        "    with tempfile.TemporaryDirectory(dir=folder):\n"
        "        Path(folder, 'begun').touch()\n"
        "        time.sleep(60)\n"
        "if __name__ == '__main__':\n"
        "    list(in_processes(sys.argv[1:], keep, 1))\n"
    )
    folder = tmp_path / "kept"
    folder.mkdir()
    with subprocess.Popen([sys.executable, "parent.py", str(folder)], cwd=tmp_path) as parent:
        while not (folder / "begun").exists():
            assert parent.poll() is None
            time.sleep(0.01)
        parent.kill()
    until = time.monotonic() + 60
    while len(list(folder.iterdir())) > 1:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_more_processes_than_any_system_has_are_no_error() -> None:
    assert [number for number, _ in in_processes([1, 2], _later, 10**30)] == [1, 2]
    assert active_children() == []


def _fail(number: int) -> int:
    if number == 3:
        raise ZeroDivisionError("three")
    return number


def test_an_error_comes_back_as_it_was() -> None:
    with pytest.raises(ZeroDivisionError, match="three"):
        list(in_processes(range(5), _fail, 2))
    assert active_children() == []


def _die(number: int) -> int:
    os._exit(1)


def test_a_process_that_dies_is_said() -> None:
    with pytest.raises(ChildProcessError, match="ended before its work was done"):
        list(in_processes(range(5), _die, 1))


def test_a_process_that_dies_while_another_one_starts_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object) -> None:
        raise OSError("handle is closed")  # what its pipes say once the pool has seen the death

    monkeypatch.setattr(SpawnProcess, "start", closed)
    with pytest.raises(ChildProcessError, match="ended before its work was done"):
        list(in_processes(range(5), _later, 2))


def test_a_process_that_cannot_be_started_is_said_as_the_system_says_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "too many processes")

    monkeypatch.setattr(SpawnProcess, "start", refused)
    with pytest.raises(BlockingIOError, match="too many processes"):
        list(in_processes(range(5), _later, 2))


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs signal masks")
def test_an_interrupt_that_comes_while_a_process_starts_is_heard_afterwards() -> None:
    steps = []

    def interrupted() -> None:
        with _interrupts_held_back():
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("inside")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert steps == ["inside"]
