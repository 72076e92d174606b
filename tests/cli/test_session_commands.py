"""The commands on sessions: what they print, refuse and leave behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ITEM = {"id": "a", "levels": {"raw": {"tokens": 60, "utility": 2}, "keywords": {"tokens": 5, "utility": 1}}}
PIN = {"id": "p", "pinned": True, "levels": {"raw": {"tokens": 50, "utility": 1}}}
TURN = {"budget": 100, "items": [ITEM, PIN]}


@pytest.fixture
def db(tmp_path: Path) -> list[str]:
    return ["--db", str(tmp_path / "memory.db"), "--session", "s1"]


@pytest.fixture
def begun(run: Any, db: list[str]) -> list[str]:
    """A session with an original, a turn and an outcome."""
    assert run("put", "-", *db, data={"a": "The plan is to go to Rome. Anna comes along."}).exit_code == 0
    assert run("turn", "-", *db, "--gain", "2", "--id", "t1", data=TURN).exit_code == 0
    assert run("outcome", "-", *db, data={"id": "e1", "success": True, "retrieved": ["a"]}).exit_code == 0
    return db


def told(done: Any) -> Any:
    return json.loads(done.stdout)


def test_turn_prints_the_result_object_and_what_the_session_adds(run: Any, db: list[str]) -> None:
    result = told(run("turn", "-", *db, "--json", "--id", "t1", data=TURN))
    assert result["choices"] == {"a": "keywords", "p": "raw"}
    assert (result["status"], result["tokens"], result["budget"]) == ("optimal", 55, 100)
    assert (result["event"], result["recorded"], result["turn"]) == ("t1", True, 1)
    assert (result["pressure"], result["next_pressure"]) == ("0.000000000000000000",) * 2
    solved = told(run("solve", "-", "--json", data=TURN))
    assert set(solved) - {"seconds"} <= set(result)


def test_turn_for_a_person(run: Any, db: list[str]) -> None:
    done = run("turn", "-", *db, data=TURN)
    assert "keywords" in done.stdout
    assert "55 of 100 (55.0%)" in done.stdout
    longer = {"id": "a", "levels": {"keywords": {"tokens": 9, "utility": 1}}}
    again = run("turn", "-", *db, data={"budget": 50, "items": [longer, PIN]})
    assert "refused    'a' at keywords: 9 tokens are more than it holds" in again.stdout
    assert "pinned_above_target" in again.stdout


def test_turn_twice_with_one_id(run: Any, begun: list[str]) -> None:
    done = run("turn", "-", *begun, "--id", "t1", data={"budget": 1, "items": []})
    assert done.exit_code == 0
    assert done.stderr == "memopt: event 't1' was recorded before: nothing is changed\n"
    assert told(run("turn", "-", *begun, "--id", "t1", "--json", data=TURN))["recorded"] is False
    assert told(run("status", *begun, "--json"))["turns"] == 1


def test_an_infeasible_turn_is_exit_status_3_and_leaves_the_session_as_it_was(
    run: Any, begun: list[str]
) -> None:
    before = told(run("status", *begun, "--json"))
    done = run("turn", "-", *begun, "--json", data={"budget": 20, "items": [PIN]})
    assert done.exit_code == 3
    assert (told(done)["status"], told(done)["shortfall"]) == ("infeasible", 30)
    done = run("turn", "-", *begun, data={"budget": 20, "items": [PIN]})
    assert done.exit_code == 3
    assert "shortfall: 30" in done.stderr
    assert told(run("status", *begun, "--json")) == before


def test_a_pin_that_was_deleted_is_named(run: Any, db: list[str]) -> None:
    assert run("turn", "-", *db, data={"budget": 0, "items": [ITEM]}).exit_code == 0
    done = run("turn", "-", *db, "--json", data={"budget": 99, "items": [ITEM | {"pinned": True}]})
    assert done.exit_code == 2
    (error,) = told(done)["errors"]
    assert (error["code"], error["item"]) == ("pinned_without_level", "a")
    assert "refresh" in error["message"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (TURN | {"price": 1}, "no price of its own"),
        (TURN | {"ladder": ["raw"]}, "a turn has no key 'ladder'"),
        ([], "a turn is an object"),
        (TURN | {"id": 3}, "the id of a turn is text"),
        (TURN | {"id": "#1"}, "may not be empty or begin with"),
        (b"nonsense", "not_json"),
        ({"budget": 10}, "items"),
        ({"budget": 10, "items": [ITEM, ITEM]}, "duplicate_id"),
    ],
)
def test_a_wrong_turn_is_exit_status_2(data: Any, said: str, run: Any, begun: list[str]) -> None:
    before = told(run("status", *begun, "--json"))
    done = run("turn", "-", *begun, data=data)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert told(run("status", *begun, "--json")) == before


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"gain": -1}, "gain"),
        ({"worth": {"hgih": 1}}, "worth.hgih"),
        ({"governance": {"mode": "rule"}}, "governance.mode"),
        ([], "a configuration is an object"),
    ],
)
def test_a_wrong_configuration_is_exit_status_2(
    config: Any, said: str, run: Any, db: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    done = run("turn", "-", *db, "--config", str(path), data=TURN)
    assert done.exit_code == 2
    assert said in done.stderr


def test_the_gain_stands_after_the_first_turn(run: Any, begun: list[str]) -> None:
    assert run("turn", "-", *begun, "--gain", "2", data=TURN).exit_code == 0
    done = run("turn", "-", *begun, "--gain", "3", data=TURN)
    assert (done.exit_code, done.stderr) == (2, "memopt: gain cannot change after the first turn\n")


def test_rules_may_change_later(run: Any, begun: list[str], tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"governance": {"mode": "govern"}}))
    assert run("turn", "-", *begun, "--config", str(path), data=TURN).exit_code == 0
    config = told(run("status", *begun, "--json"))["config"]
    assert (config["governance"]["mode"], config["gain"]) == ("govern", 2.0)


def test_outcome_results_a_line_each(run: Any, begun: list[str]) -> None:
    lines = [
        {"id": "e1", "success": False, "retrieved": ["a"]},
        {"id": "e2", "success": True, "retrieved": ["a", "p"], "scores": [1, 3]},
        {"id": "e3", "success": "yes", "retrieved": ["a"]},
        {"id": "e4", "success": True, "retrieved": "a"},
        {"id": "e5", "success": True, "retrieved": ["a"], "turn": "t9"},
        {"id": "e6", "success": True, "retrieved": ["a"], "extra": 1},
        {"success": True, "retrieved": []},
    ]
    data = b"\n".join([*(json.dumps(line).encode() for line in lines), b"nonsense", b""])
    done = run("outcome", "-", *begun, "--json", data=data)
    assert done.exit_code == 2
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [result["line"] for result in results] == list(range(1, 9))
    statuses = ["known", "recorded", *["invalid"] * 4, "recorded", "invalid"]
    assert [result["status"] for result in results] == statuses
    codes = [result["errors"][0]["code"] for result in results if result["errors"]]
    assert codes == ["success_not_boolean", "not_an_outcome", "unknown_turn", "not_an_outcome", "not_json"]
    assert results[1]["weights"] == {"a": 0.5, "p": 0.5}
    done = run("outcome", "-", *begun, data=data)
    assert done.stdout == "1 recorded, 2 recorded before, 5 invalid\n"
    assert "line 4: retrieved is a list of ids, read 'a'" in done.stderr


def test_outcome_says_what_was_not_in_the_context(run: Any, db: list[str]) -> None:
    big = {"id": "b", "levels": {"raw": {"tokens": 500, "utility": 9}}}
    assert run("turn", "-", *db, data={"budget": 100, "items": [ITEM, big]}).exit_code == 0
    result = told(run("outcome", "-", *db, "--json", data={"success": True, "retrieved": ["a", "b"]}))
    assert (result["weights"], result["unexposed"]) == ({"a": 1.0}, ["b"])


def test_put_adds_keeps_and_refuses(run: Any, begun: list[str]) -> None:
    done = told(run("put", "-", *begun, "--json", "--id", "p2", data={"b": "new", "p": "pin"}))
    assert done == {"event": "p2", "recorded": True, "added": ["b", "p"]}
    assert told(run("put", "-", *begun, "--json", "--id", "p2", data={"c": "new"}))["recorded"] is False
    assert "recorded before" in run("put", "-", *begun, "--id", "p2", data={"c": "new"}).stdout
    assert run("put", "-", *begun, data={"b": "new"}).stdout == "0 originals added, 1 were there\n"
    for data, said in (
        ({"b": "another"}, "item 'b' has another original already"),
        ({"d": 3}, "originals are texts by id"),
        ([], "originals are an object"),
        (b"x", "no JSON"),
    ):
        done = run("put", "-", *begun, data=data)
        assert done.exit_code == 2
        assert said in done.stderr


def test_refresh_makes_levels_and_names_what_is_missing(run: Any, begun: list[str]) -> None:
    done = told(run("refresh", *begun, "--json", "--id", "r1", "--item", "a", "--item", "p"))
    assert done["levels"]["a"]["raw"] == "The plan is to go to Rome. Anna comes along."
    assert done["missing"] == ["p"]
    assert "recorded before" in run("refresh", *begun, "--id", "r1").stderr
    done = run("refresh", *begun, "--item", "a", "--item", "p")
    assert "characters" in done.stdout
    assert "'p'" in done.stderr


def test_status(run: Any, begun: list[str]) -> None:
    found = told(run("status", *begun, "--json"))
    assert (found["session"], found["turns"], found["events"]) == ("s1", 1, 5)
    assert found["average_occupancy"] == found["identity"] == 0.55
    assert found["levels"] == {"raw": 1, "summary": 0, "abstraction": 0, "keywords": 1, "delete": 0}
    assert found["worth"] == {"high": 0, "low": 0, "mixed": 0, "uncertain": 2}
    assert found["originals"] == 1
    text = run("status", *begun).stdout
    for part in ("pressure Q", "price", "average occupancy", "regret certificate", "levels held", "worth"):
        assert part in text


def test_worth(run: Any, begun: list[str]) -> None:
    found = told(run("worth", *begun, "--json"))
    assert [memory["memory"] for memory in found["memories"]] == ["a", "p"]
    first, second = found["memories"]
    assert (first["plus"], first["minus"], first["ratio"], first["lift"]) == (1.0, 0.0, 1.0, 1.0)
    assert (first["label"], first["state"]) == ("uncertain", "normal")
    assert (second["ratio"], second["lift"], second["retrievals"]) == (0.5, None, 0)
    assert "uncertain" in run("worth", *begun).stdout


def test_worth_says_what_governance_would_do(run: Any, db: list[str]) -> None:
    run("put", "-", *db, data={"bad": "x", "good": "y"})
    lines = [{"success": name == "good", "retrieved": [name]} for name in ("bad", "good") for _ in range(40)]
    assert run("outcome", "-", *db, data="\n".join(map(json.dumps, lines)).encode()).exit_code == 0
    found = told(run("worth", *db, "--json"))
    assert found["mode"] == "observe"
    assert [memory["state"] for memory in found["memories"]] == ["suppressed", "normal"]
    assert "association only" in found["memories"][0]["reason"]


def test_log_and_replay(run: Any, begun: list[str], tmp_path: Path) -> None:
    table = run("log", *begun).stdout
    assert "turn 1: 55 of 100 tokens, price 0, 2 items" in table
    path = tmp_path / "s1.jsonl"
    assert run("log", *begun, "--out", path).exit_code == 0
    text = path.read_bytes()
    assert run("log", *begun, "--json").stdout_bytes == text
    assert run("log", *begun, "--out", path).exit_code == 2
    assert run("log", *begun, "--out", path, "--force").exit_code == 0
    done = run("replay", path)
    assert (done.exit_code, done.stdout) == (0, "5 events, 1 of them turns: identical\n")
    assert told(run("replay", "-", "--json", data=text))["identical"] is True
    path.write_bytes(text.replace(b'"raw": [60, ', b'"raw": [61, '))
    done = run("replay", path)
    assert done.exit_code == 4
    assert "NOT identical\nline 4, event 't1': it was changed" in done.stdout
    found = told(run("replay", path, "--json"))
    assert (found["identical"], found["findings"][0]["line"]) == (False, 4)


def test_commands_that_only_read_make_no_database(run: Any, tmp_path: Path) -> None:
    for command in ("status", "worth", "log", "refresh"):
        done = run(command, "--db", tmp_path / "none.db")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "none.db" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_session_that_does_not_exist_is_named(run: Any, begun: list[str]) -> None:
    done = run("status", *begun[:2], "--session", "s2")
    assert done.exit_code == 2
    assert "there is no session 's2'" in done.stderr


def test_a_file_that_is_no_database_is_a_sentence(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("no database " * 100)
    done = run("status", "--db", path)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "the database failed: file is not a database" in done.stderr


TRACE = [
    {"kind": "put", "texts": {"a": "The plan is to go to Rome."}},
    {"kind": "turn"} | TURN,
    {"kind": "outcome", "id": "e1", "success": True, "retrieved": ["a"]},
    {"kind": "refresh", "items": ["a"]},
    {"kind": "turn", "budget": 120, "items": [ITEM, PIN]},
]


def lines(trace: list[Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in trace)


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


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ({"kind": "dance"}, 2, "line 6: kind is one of turn, outcome, refresh, put"),
        ({"kind": "outcome", "success": True, "retrieved": ["x"]}, 2, "there is no memory 'x'"),
        ({"kind": "turn", "budget": 1, "items": [PIN]}, 3, "line 6: infeasible"),
        ({"kind": "put", "texts": {"a": "other"}}, 2, "another original"),
        ({"kind": "put", "texts": "a"}, 2, "texts"),
        ({"kind": "refresh", "items": "a"}, 2, "items"),
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
