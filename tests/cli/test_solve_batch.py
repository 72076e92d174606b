from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from memopt_cli import batch
from memopt_cli.batch import solve_lines

from memopt import Instance, InvalidInstance, SolverLimit, SolverMissing, solve
from memopt.errors import Fault

STUCK = {"budget": 1, "items": [{"id": "a", "pinned": True, "levels": {"raw": {"tokens": 3, "utility": 1}}}]}


def _instance(seed: int) -> dict[str, Any]:
    draw = random.Random(seed)
    items = [
        {"id": f"m{n}", "levels": {"raw": {"tokens": draw.randint(1, 30), "utility": draw.random()}}}
        for n in range(draw.randint(0, 20))
    ]
    return {"budget": draw.randint(10, 200), "price": draw.random(), "items": items}


def _lines(*documents: Any) -> bytes:
    texts = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in documents]
    return b"\n".join(texts)


def _results(text: str | bytes) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in json.loads(line).items() if key != "seconds"}
        for line in text.splitlines()
    ]


def test_one_result_a_line_in_order(run: Any) -> None:
    instances = [_instance(seed) for seed in range(30)]
    done = run("solve-batch", "-", data=_lines(*instances))
    assert done.exit_code == 0
    expected = [solve(Instance.model_validate(one)).to_dict() for one in instances]
    assert [result["digest"] for result in _results(done.stdout)] == [one["digest"] for one in expected]
    assert [result["choices"] for result in _results(done.stdout)] == [one["choices"] for one in expected]


def test_a_bad_line_is_a_result_with_its_number_and_not_the_end(run: Any, strict_json: Any) -> None:
    data = _lines(
        _instance(1), b"{nonsense", b"", b"   ", {"budget": -3, "items": []}, b"\xff\xfe", _instance(2)
    )
    done = run("solve-batch", "-", data=data)
    assert done.exit_code == 2
    results = [strict_json(line) for line in done.stdout.splitlines()]
    assert [(result["line"], result["status"]) for result in results] == [
        (1, "optimal"), (2, "invalid"), (5, "invalid"), (6, "invalid"), (7, "optimal"),
    ]  # fmt: skip
    assert [result["errors"][0]["code"] for result in results[1:4]] == [
        "not_json", "budget_negative", "not_utf8",
    ]  # fmt: skip
    assert (results[2]["code"], results[2]["shortfall"]) == ("budget_negative", 3)


@pytest.mark.parametrize(
    ("documents", "status"),
    [
        ([], 0),
        ([b"", b""], 0),
        ([_instance(1)], 0),
        ([_instance(1), STUCK], 3),
        ([b"{", STUCK], 2),
        ([b"{"], 2),
    ],
)
def test_exit_status(documents: list[Any], status: int, run: Any) -> None:
    assert run("solve-batch", "-", data=_lines(*documents)).exit_code == status


def test_windows_line_ends_and_a_byte_order_mark_are_no_fault(run: Any) -> None:
    text = b"\xef\xbb\xbf" + json.dumps(STUCK | {"budget": 9}).encode() + b"\r\n\r\n"
    done = run("solve-batch", "-", data=text)
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 1


def test_solver_and_time_limit_are_passed_on(run: Any) -> None:
    done = run("solve-batch", "-", "--solver", "greedy", "--time-limit", "5", data=_lines(_instance(3)))
    assert _results(done.stdout)[0]["solver"] == "greedy"


def test_a_solver_that_refuses_a_line_is_no_end(run: Any) -> None:
    levels = {"raw": {"tokens": 1, "utility": 1}, "keywords": {"tokens": 0, "utility": 0.5}}
    huge = {"budget": 20, "items": [{"id": f"m{n}", "levels": levels} for n in range(60)]}
    done = run("solve-batch", "-", "--solver", "exhaustive", data=_lines(huge, STUCK | {"budget": 9}))
    results = _results(done.stdout)
    assert done.exit_code == 2
    assert [result["status"] for result in results] == ["invalid", "optimal"]
    assert results[0]["errors"][0]["code"] == "solver_limit"


def test_an_unknown_solver_is_said_before_anything_is_written(run: Any, tmp_path: Path) -> None:
    done = run("solve-batch", "-", "--solver", "magic", "--out", tmp_path / "out", data=_lines(STUCK))
    assert done.exit_code == 2
    assert "no solver 'magic'" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_several_processes_give_the_same_lines(run_process: Any, tmp_path: Path) -> None:
    documents = [_instance(seed) for seed in range(400)]
    documents[7], documents[300] = b"{", STUCK
    path = tmp_path / "many.jsonl"
    path.write_bytes(_lines(*documents))
    alone = run_process("solve-batch", path)
    together = run_process("solve-batch", path, "--jobs", "2")
    assert alone.returncode == together.returncode == 2
    assert _results(alone.stdout) == _results(together.stdout)
    assert len(alone.stdout.splitlines()) == 400
    assert together.stderr.count(b"\n") <= 1  # a new machine compiles once, whoever is first, and says so


def test_out_writes_a_file_and_prints_nothing(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    done = run("solve-batch", "-", "--out", out, data=_lines(_instance(1), STUCK))
    assert done.exit_code == 3
    assert done.stdout == ""
    assert [result["line"] for result in _results(out.read_bytes())] == [1, 2]
    assert list(tmp_path.iterdir()) == [out]


def test_out_is_overwritten_only_with_force(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    out.write_text("precious")
    refused = run("solve-batch", "-", "--out", out, data=_lines(_instance(1)))
    assert refused.exit_code == 2
    assert refused.stderr == f"memopt: '{out}': it exists already; --force overwrites it\n"
    assert out.read_text() == "precious"
    assert run("solve-batch", "-", "--out", out, "--force", data=_lines(_instance(1))).exit_code == 0
    assert len(_results(out.read_bytes())) == 1


def test_a_missing_input_leaves_no_output(run: Any, tmp_path: Path) -> None:
    done = run("solve-batch", tmp_path / "none.jsonl", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_no_progress_bar_without_a_terminal(run: Any) -> None:
    assert run("solve-batch", "-", data=_lines(_instance(1))).stderr == ""


def test_a_progress_bar_is_shown_on_a_terminal_only_on_standard_error(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_bytes(_lines(*map(_instance, range(20))))
    terminal, ours = os.openpty()
    command = [sys.executable, "-m", "memopt", "solve-batch", str(path)]
    environment = os.environ | {"TERM": "xterm"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=ours, env=environment, check=True)
    os.close(ours)
    assert b"solving" in os.read(terminal, 65536)
    assert len(_results(done.stdout)) == 20


@pytest.mark.parametrize("jobs", ["0", "-2", "many"])
def test_jobs_are_at_least_one(jobs: str, run: Any) -> None:
    done = run("solve-batch", "-", "--jobs", jobs, data=b"")
    assert done.exit_code == 2
    assert "--jobs" in done.stderr


def test_lines_are_solved_as_they_come() -> None:
    """One job answers each line before it asks for the next: a partner can talk line by line."""
    asked = []

    def lines() -> Iterator[bytes]:
        for number in range(5):
            asked.append(number)
            yield json.dumps(STUCK).encode()

    for number, _ in enumerate(solve_lines(lines(), "dp", None, 1)):
        assert asked == list(range(number + 1))


def test_processes_hold_only_a_few_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are read only as results leave: memory does not grow with the file."""
    monkeypatch.setattr(batch, "_FIRST_CHUNK_BYTES", 1)
    monkeypatch.setattr(batch, "_LARGEST_CHUNK_BYTES", 1)
    asked = []

    def lines() -> Iterator[bytes]:
        for number in range(100):
            asked.append(number)
            yield json.dumps(STUCK).encode()

    solved = solve_lines(lines(), "dp", None, 2)
    next(solved)
    held = len(asked)
    rest = list(solved)
    assert held == 6
    assert len(rest) == len(asked) - 1 == 99


def test_an_abandoned_batch_leaves_no_process() -> None:
    solved = solve_lines([json.dumps(STUCK).encode()] * 50, "dp", None, 2)
    next(solved)
    solved.close()
    assert active_children() == []


def test_a_process_that_dies_is_said_and_does_not_hang() -> None:
    def lines() -> Iterator[bytes]:
        while True:
            yield json.dumps(STUCK).encode() + b" " * 20_000
            for child in active_children():
                child.kill()

    with pytest.raises(ChildProcessError, match="ended before its work was done"):
        list(solve_lines(lines(), "dp", None, 2))


@pytest.mark.parametrize(
    "error",
    [
        SolverMissing("cpsat", "ortools", "solvers"),
        SolverLimit("cpsat", "tokens", 9, 8),
        InvalidInstance([Fault("a", "b")], [Fault("c", "d")]),
    ],
)
def test_errors_cross_process_borders_whole(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), vars(copy)) == (str(error), vars(error))
