"""`memopt outcome`: one result per line."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from session_inputs import ITEM, lines, told


def test_outcome_results_a_line_each(run: Any, begun: list[str]) -> None:
    lines = [
        {"id": "e1", "success": False, "retrieved": ["a"]},
        {"id": "e2", "success": True, "retrieved": ["a", "p"], "scores": [1, 3]},
        {"id": "e3", "success": "yes", "retrieved": ["a"]},
        {"id": "e4", "success": True, "retrieved": "a"},
        {"id": "e5", "success": True, "retrieved": ["a"], "turn": "t9"},
        {"id": "e6", "success": True, "retrieved": ["a"], "extra": 1},
        {"id": "e7", "success": True, "retrieved": []},
        {"success": True, "retrieved": []},
    ]
    data = b"\n".join([*(json.dumps(line).encode() for line in lines), b"nonsense", b""])
    done = run("outcome", "-", *begun, "--json", data=data)
    assert done.exit_code == 2
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [result["line"] for result in results] == list(range(1, 10))
    statuses = ["known", "recorded", *["invalid"] * 4, "recorded", *["invalid"] * 2]
    assert [result["status"] for result in results] == statuses
    codes = [result["errors"][0]["code"] for result in results if result["errors"]]
    shape = "not_an_outcome"
    assert codes == ["success_not_boolean", shape, "unknown_turn", shape, "id_missing", "not_json"]
    assert [result["same"] for result in results if "same" in result] == [False, True, True]
    assert results[1]["weights"] == {"a": 0.5, "p": 0.5}
    done = run("outcome", "-", *begun, data=data)
    assert done.stdout == "0 recorded, 3 recorded before, 6 invalid\n"
    assert "line 1: event 'e1' was recorded before with other content: nothing is changed" in done.stderr
    assert "line 2:" not in done.stderr
    assert "line 4: retrieved is a list of ids, read 'a'" in done.stderr


def test_outcome_says_what_was_not_in_the_context(run: Any, db: list[str]) -> None:
    big = {"id": "b", "levels": {"raw": {"tokens": 500, "utility": 9}}}
    assert run("turn", "-", *db, data={"budget": 100, "items": [ITEM, big]}).exit_code == 0
    result = told(
        run("outcome", "-", *db, "--json", data={"id": "e", "success": True, "retrieved": ["a", "b"]})
    )
    assert (result["weights"], result["unexposed"]) == ({"a": 1.0}, ["b"])


def test_a_session_that_does_not_exist_has_no_outcomes(run: Any, begun: list[str]) -> None:
    done = run(
        "outcome", "-", *begun[:2], "--session", "s2", data={"id": "e", "success": True, "retrieved": []}
    )
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no session 's2'" in done.stderr


def test_rejected_outcomes_change_no_configuration(run: Any, begun: list[str], tmp_path: Path) -> None:
    before = told(run("status", *begun, "--json"))
    path = tmp_path / "config.json"
    path.write_text('{"governance": {"mode": "govern"}}')
    ghost = {"id": "e2", "success": True, "retrieved": ["ghost"]}
    assert run("outcome", "-", *begun, "--config", path, data=ghost).exit_code == 2
    assert told(run("status", *begun, "--json")) == before
    assert run("outcome", "-", *begun, "--config", path, data=ghost | {"retrieved": ["a"]}).exit_code == 0
    after = told(run("status", *begun, "--json"))
    assert (after["config"]["governance"]["mode"], after["events"]) == ("govern", before["events"] + 2)


def test_a_batch_beyond_what_can_be_counted_is_wrong_usage(run: Any, begun: list[str]) -> None:
    assert run("outcome", "-", *begun, "--batch", "9" * 30).exit_code == 2


def test_the_summary_counts_outcomes_that_credited_nobody(run: Any, db: list[str]) -> None:
    big = {"id": "b", "levels": {"raw": {"tokens": 500, "utility": 9}}}
    assert run("turn", "-", *db, data={"budget": 100, "items": [ITEM, big]}).exit_code == 0
    retrieved = {"e1": ["b"], "e2": ["a", "b"], "e3": []}
    data = lines([{"id": name, "success": True, "retrieved": ids} for name, ids in retrieved.items()])
    done = run("outcome", "-", *db, data=data)
    nobody = "of those recorded credited nobody"
    assert done.stdout == (
        "3 recorded, 0 recorded before, 0 invalid\n"
        f"1 {nobody}: its memories were not in the context of the turn\n"
    )
    assert nobody not in run("outcome", "-", *db, data=data).stdout
    more = lines([{"id": name, "success": True, "retrieved": ["b"]} for name in ("e4", "e5")])
    assert f"\n2 {nobody}: their memories" in run("outcome", "-", *db, data=more).stdout


def test_an_error_of_the_database_says_what_was_recorded_before_it(
    run: Any, run_process: Any, begun: list[str]
) -> None:
    with sqlite3.connect(begun[1]) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON memopt_events WHEN NEW.number > 7 "
            "BEGIN SELECT RAISE(ABORT, 'no space left'); END"
        )
    connection.close()
    data = lines([{"id": f"x{number}", "success": True, "retrieved": ["a"]} for number in range(4)])
    done = run_process("outcome", "-", *begun, "--batch", "1", data=data)
    assert (done.returncode, done.stdout) == (2, b"")
    said = done.stderr.decode().splitlines()
    assert said[0] == "memopt: 2 recorded, 0 recorded before, 0 invalid"
    assert "no space left" in said[1]
    assert told(run("status", *begun, "--json"))["episodes"] == 3


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_end_by_signal_says_what_was_recorded_before_it(
    number: int, status: int, begun: list[str]
) -> None:
    command = [sys.executable, "-m", "memopt", "outcome", "-", *begun, "--batch", "1", "--json"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for name in ("x1", "x2"):
            process.stdin.write(lines([{"id": name, "success": True, "retrieved": ["a"]}]))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["status"] == "recorded"
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == status
    assert said.startswith(b"memopt: 2 recorded, 0 recorded before, 0 invalid\nmemopt: interrupted")
