"""`memopt fit`: the messages on standard output, the report beside them; cases of kind `messages`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CHAT = [
    {"role": "system", "content": "You plan trips."},
    {"role": "user", "content": "Plan my trip to the lake: a train in the morning, a hotel near the water."},
    {"role": "assistant", "content": "There is a train at nine, but the hotel is full. Shall I look on?"},
    {"role": "user", "content": "Yes, another hotel."},
]


def fitted(run: Any, data: Any, *options: str) -> Any:
    result = run("fit", "-", "--window", "100000", "--json", *options, data=data)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", ["07-messages-to-groups", "08-messages-orphan-result-in-input"])
def test_groups_pins_and_diagnostics_of_the_cases(run: Any, case: Any, name: str) -> None:
    asked = case(name)
    report = fitted(run, asked["input"])["report"]
    if "groups" in asked["expect"]:
        groups: dict[int, list[int]] = {}
        for row in report["rows"]:
            groups.setdefault(row["group"], []).append(row["index"])
        assert list(groups.values()) == asked["expect"]["groups"]
        assert [row["index"] for row in report["rows"] if row["pinned"]] == asked["expect"]["pinned"]
    odd = [{"index": fault["index"], "code": fault["code"]} for fault in report["diagnostics"]]
    assert odd == asked["expect"].get("diagnostics", [])


@pytest.mark.parametrize("name", ["39-messages-without-ids", "40-message-content-shapes"])
def test_every_message_of_the_cases_is_one_item(run: Any, case: Any, name: str) -> None:
    asked = case(name)
    found = fitted(run, asked["input"])
    assert found["messages"] == asked["input"]["messages"]
    assert len({row["id"] for row in found["report"]["rows"]}) == len(asked["input"]["messages"])
    for index in asked["expect"].get("nonzero", []):
        assert found["report"]["rows"][index]["tokens"] > 3


def test_the_reserve_of_the_case_is_subtracted_part_by_part(run: Any, case: Any) -> None:
    asked = case("12-reserve-system-tools-output")
    parts = ",".join(f"{name}={tokens}" for name, tokens in asked["input"]["reserved"].items())
    options = ("--window", str(asked["input"]["window"]), "--reserve", parts, "--json")
    result = run("fit", "-", *options, data=CHAT)
    assert json.loads(result.stdout)["report"]["budget"] == asked["expect"]["budget"]


def test_a_reserve_larger_than_the_window_is_invalid(run: Any, case: Any) -> None:
    asked = case("13-reserve-larger-than-window")
    parts = ",".join(f"{name}={tokens}" for name, tokens in asked["input"]["reserved"].items())
    options = ("--window", str(asked["input"]["window"]), "--reserve", parts, "--json")
    result = run("fit", "-", *options, data=CHAT)
    assert result.exit_code == 2
    found = json.loads(result.stdout)
    assert (found["code"], found["shortfall"]) == (asked["expect"]["code"], asked["expect"]["shortfall"])
    assert run("fit", "-", *options[:-1], data=CHAT).stderr.startswith("memopt: --window and --reserve")


def test_a_person_gets_messages_and_a_report_beside_them(run: Any) -> None:
    result = run("fit", "-", "--window", "130", "--reserve", "system=auto,reply=10", data=CHAT)
    assert json.loads(result.stdout)[0] == CHAT[0]
    assert "counted together by bytes" in result.stderr
    assert "of 120 after" in result.stderr


def test_json_lines_are_a_chat_too(run: Any) -> None:
    lines = "\n".join(map(json.dumps, CHAT)).encode()
    assert fitted(run, lines)["messages"] == CHAT


def test_turns_of_a_session_fall_and_replay(run: Any, tmp_path: Path) -> None:
    db, log = tmp_path / "memory.db", tmp_path / "log.jsonl"
    options = ("--db", str(db), "--session", "s", "--gain", "2", "--cache-price", "0.5", "--window", "160")
    for size in (2, 3, 4):
        result = run("fit", "-", *options, "--json", data=CHAT[:size])
        assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)["report"]
    assert report["tokens_after"] <= 160
    assert report["prefix_tokens"] is not None
    assert run("log", "--db", db, "--session", "s", "--out", log).exit_code == 0
    assert run("replay", log).exit_code == 0
    again = (
        run("fit", "-", *options, "--id", "t", data=CHAT),
        run("fit", "-", *options, "--id", "t", data=CHAT),
    )
    assert again[0].stdout == again[1].stdout
    assert "nothing is changed" in again[1].stderr
    assert "of 160 after" in again[0].stderr
    larger = run("fit", "-", *options[:-1], "1300", "--id", "t", data=CHAT)
    assert "1,300" not in larger.stderr
    in_log = [line for line in again[0].stderr.splitlines() if line.startswith("in the log")]
    assert in_log == [line for line in larger.stderr.splitlines() if line.startswith("in the log")]
    share = in_log[0].removeprefix("in the log").strip().partition(":")[0]
    assert f"{share} tokens" in run("log", "--db", db, "--session", "s").stdout
    other = run("fit", "-", *options, "--id", "t", data=CHAT[:2])
    assert other.exit_code == 2
    assert "other messages" in other.output


def test_pins_that_do_not_fit_are_infeasible_and_no_session_is_begun(run: Any, tmp_path: Path) -> None:
    result = run("fit", "-", "--window", "20", "--json", data=CHAT)
    assert result.exit_code == 3
    assert json.loads(result.stdout)["pinned"] == ["m0", "m3"]
    assert "shortfall" in run("fit", "-", "--window", "20", data=CHAT).output
    db = tmp_path / "memory.db"
    assert run("fit", "-", "--window", "20", "--db", db, data=CHAT).exit_code == 3
    assert run("status", "--db", db).exit_code == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--reserve", "reply"),
        ("--reserve", "reply=-3"),
        ("--reserve", "reply=auto"),
        ("--reserve", "=3"),
        ("--reserve", "reply=1,reply=2"),
        ("--reserve", "reply=" + "9" * 5_000),
        ("--gain", "2"),
        ("--cache-price", "1"),
        ("--id", "x"),
        ("--session", "s"),
        ("--tokenizer", "o300k"),
        ("--tokenizer", "tokenizers:/nowhere"),
    ],
)
def test_wrong_options_are_one_sentence(run: Any, options: tuple[str, ...]) -> None:
    result = run("fit", "-", "--window", "100", *options, data=CHAT)
    assert result.exit_code == 2
    assert options[0].removeprefix("--") in result.output or options[1] in result.output


@pytest.mark.parametrize(
    ("data", "code"), [({"messages": 3}, "not_messages"), ([{"role": "user", "content": 3}], "content_type")]
)
def test_a_chat_that_is_none_is_refused_with_its_code(run: Any, data: Any, code: str) -> None:
    result = run("fit", "-", "--window", "100", "--json", data=data)
    assert result.exit_code == 2
    assert code in [fault["code"] for fault in json.loads(result.stdout)["errors"]]
