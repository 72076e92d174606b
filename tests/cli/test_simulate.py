"""`memopt simulate`: a trace in memory, as a database would have it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from session_inputs import ITEM, PIN, TURN, lines, told

TRACE = [
    {"kind": "put", "texts": {"a": "The plan is to go to Rome."}},
    {"kind": "turn"} | TURN,
    {"kind": "outcome", "id": "e1", "success": True, "retrieved": ["a"]},
    {"kind": "refresh", "items": ["a"]},
    {"kind": "turn", "budget": 120, "items": [ITEM, PIN]},
]


def test_simulate_writes_the_trace_that_a_database_would_have(
    run: Any, db: list[str], tmp_path: Path
) -> None:
    done = run("simulate", "-", "--gain", "2", data=lines(TRACE))
    assert done.exit_code == 0
    trace = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["kind"] for event in trace] == ["config", "put", "turn", "outcome", "refresh", "turn"]
    assert [event["result"]["choices"]["a"] for event in trace if event["kind"] == "turn"] == [
        "keywords",
        "raw",
    ]
    assert run("replay", "-", data=done.stdout_bytes).exit_code == 0
    path = tmp_path / "trace.jsonl"
    status = run("simulate", "-", "--gain", "2", "--out", path, data=lines(TRACE))
    assert "average occupancy" in status.stdout
    assert path.read_bytes() == done.stdout_bytes
    found = told(run("simulate", "-", "--gain", "2", "--out", path, "--force", "--json", data=lines(TRACE)))
    assert found["digest"] == trace[-1]["digest"]


def test_a_file_that_exists_is_refused_before_the_run(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("mine")
    infeasible = lines([{"kind": "turn", "budget": 1, "items": [PIN]}])
    done = run("simulate", "-", "--out", path, data=infeasible)
    assert done.exit_code == 2
    assert "exists already; --force overwrites it" in done.stderr
    assert run("simulate", "-", "--out", path, "--force", data=infeasible).exit_code == 3
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ({"kind": "dance"}, 2, "line 6: kind is one of turn, outcome, refresh, put"),
        ({"kind": "outcome", "success": True, "retrieved": ["x"]}, 2, "there is no memory 'x'"),
        ({"kind": "turn", "budget": 1, "items": [PIN]}, 3, "line 6: infeasible"),
        ({"kind": "put", "texts": {"a": "other"}}, 2, "another original"),
        ({"kind": "put", "texts": "a"}, 2, "texts"),
        ({"kind": "refresh", "items": "a"}, 2, "items"),
        ({"kind": "refresh", "items": ["q"]}, 2, "line 6: there is no original of 'q'"),
        ("nonsense", 2, "line 6"),
    ],
)
def test_simulate_ends_at_a_wrong_line_and_writes_nothing(
    line: Any, status: int, said: str, run: Any, tmp_path: Path
) -> None:
    done = run("simulate", "-", "--out", tmp_path / "trace.jsonl", data=lines([*TRACE, line]))
    assert (done.exit_code, done.stdout) == (status, "")
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_solving_loads_no_database_and_no_session_needs_a_solver_package(tmp_path: Path) -> None:
    code = (
        "import sys; from memopt_cli.app import app\n"
        "for name in ('ortools', 'pulp', 'highspy'): sys.modules[name] = None\n"
        "try: app(sys.argv[1:])\n"
        "except SystemExit as done: assert done.code == 0\n"
        "print(sorted({'sqlalchemy', 'psycopg', 'numba'} & set(sys.modules)))"
    )
    path = tmp_path / "trace.jsonl"
    path.write_bytes(lines(TRACE))
    command = [sys.executable, "-c", code, "simulate", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
