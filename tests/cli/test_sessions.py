"""What the commands on sessions share: configuration, databases, sessions made and missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from session_inputs import PIN, TURN, told

from memopt.session.config import Config


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"gain": -1}, "configuration: the gain must be finite and >= 0, read -1.0"),
        ({"gian": 1}, "a configuration has no key 'gian'; did you mean 'gain'?"),
        ({"zzz": 1}, "a configuration has no key 'zzz'; known are gain, alpha, ladder, repair"),
        ({"worth": {"hgih": 1}}, "no key 'worth.hgih'; did you mean 'high'?"),
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
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--gain", "-1", "the gain must be finite and >= 0"),
        ("--gain", "nan", "the gain must be finite and >= 0"),
        ("--alpha", "0", "alpha must be above 0 and at most 1"),
    ],
)
def test_an_option_out_of_range_is_named(option: str, value: str, said: str, run: Any, db: list[str]) -> None:
    done = run("turn", "-", *db, option, value, data=TURN)
    assert done.exit_code == 2
    assert f"Invalid value for '{option}': {said}" in done.stderr


def test_the_help_names_every_key_of_the_configuration(run_process: Any) -> None:
    text = run_process("turn", "--help", COLUMNS="200").stdout.decode()
    assert all(key in text for key in Config.__dataclass_fields__)


@pytest.mark.parametrize(
    ("command", "said"),
    [(command, "made when missing") for command in ("turn", "put")]
    + [(command, "must exist") for command in ("outcome", "refresh", "status", "worth", "log")],
)
def test_the_help_says_which_commands_make_a_database(
    command: str, said: str, run: Any, db: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert said in run(command, "--help").stdout
    data: Any = {"turn": TURN, "put": {"a": "x"}}.get(command, b"")
    assert run(command, *["-"][: command in ("turn", "put", "outcome")], *db, data=data).exit_code == (
        0 if said == "made when missing" else 2
    )
    assert Path(db[1]).exists() == (said == "made when missing")


@pytest.mark.parametrize(
    ("command", "data", "status"),
    [
        ("turn", {"budget": 20, "items": [PIN]}, 3),
        ("turn", {"budget": 20}, 2),
        ("turn", TURN | {"id": "#1"}, 2),
        ("put", {"a": 3}, 2),
        ("put", [], 2),
        ("outcome", {"id": "e", "success": True, "retrieved": ["a"]}, 2),
    ],
)
def test_a_command_that_fails_makes_no_database_and_no_session(
    command: str, data: Any, status: int, run: Any, db: list[str], tmp_path: Path
) -> None:
    assert run(command, "-", *db, data=data).exit_code == status
    assert list(tmp_path.iterdir()) == []
    assert run("put", "-", *db[:2], "--session", "other", data={"x": "y"}).exit_code == 0
    done = run(command, "-", *db, data=data)
    assert (done.exit_code, "new session" in done.stderr) == (status, False)
    assert "there is no session 's1'" in run("status", *db).stderr


def test_a_new_session_is_told(run: Any, db: list[str]) -> None:
    done = run("turn", "-", *db, "--json", data=TURN)
    assert done.stderr == f"memopt: new session 's1' in {db[1]!r}\n"
    assert told(done)["number"] == 2  # after its configuration
    assert run("turn", "-", *db, data=TURN).stderr == ""


def test_a_turn_that_fails_changes_no_configuration(run: Any, begun: list[str], tmp_path: Path) -> None:
    before = told(run("status", *begun, "--json"))
    path = tmp_path / "config.json"
    path.write_text('{"cache_price": 2}')
    assert run("turn", "-", *begun, "--config", path, data={"budget": 20, "items": [PIN]}).exit_code == 3
    assert told(run("status", *begun, "--json")) == before


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


def test_commands_that_only_read_make_no_database(run: Any, tmp_path: Path) -> None:
    for command in ("status", "worth", "log", "refresh"):
        done = run(command, "--db", tmp_path / "none.db")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "none.db" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_session_that_does_not_exist_is_named(run: Any, begun: list[str]) -> None:
    done = run("status", *begun[:2], "--session", "s2")
    assert done.exit_code == 2
    assert "there is no session 's2' in " in done.stderr
    assert "; there are 's1'" in done.stderr


def test_a_file_that_is_no_database_is_a_sentence(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("no database " * 100)
    done = run("status", "--db", path)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "the database failed: file is not a database" in done.stderr


@pytest.mark.parametrize("nowhere", ["", ":memory:", "sqlite://", "sqlite:///:memory:"])
def test_a_database_that_is_kept_nowhere_is_refused(nowhere: str, run: Any) -> None:
    done = run("turn", "-", "--db", nowhere, data=TURN)
    assert (done.exit_code, "would be lost" in done.stderr) == (2, True)


def test_reading_by_url_makes_no_file(run: Any, tmp_path: Path) -> None:
    assert run("status", "--db", f"sqlite:///{tmp_path / 'x.db'}").exit_code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"), [("{", "Expecting"), ("", "empty"), ('{"gain": 1, "gain": 2}', "more than once")]
)
def test_a_broken_configuration_names_its_own_file(text: str, said: str, run: Any, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(text)
    done = run("simulate", "-", "--config", config, data=TURN)
    assert done.exit_code == 2
    assert str(config) in done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("outcome", '{"id": "e", "success": true, "success": false, "retrieved": []}'),
        ("turn", '{"budget": 9, "budget": 100, "items": []}'),
        ("put", '{"note": "one", "note": "two"}'),
    ],
)
def test_a_key_that_is_there_twice_is_refused(command: str, line: str, run: Any, begun: list[str]) -> None:
    before = run("status", *begun, "--json").stdout
    assert run(command, "-", *begun, data=line.encode()).exit_code == 2
    assert run("status", *begun, "--json").stdout == before
