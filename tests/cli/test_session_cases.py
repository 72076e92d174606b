"""Every public case of kind `trace`, `state` and `feedback`, through the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parents[3] / "shared" / "cases"
MEMOPT = [sys.executable, "-m", "memopt"]


def test_every_case_of_these_kinds_is_here(shared: Path) -> None:
    kinds = ("trace", "state", "feedback")
    paths = sorted(CASES.glob("*.json"))
    found = [path.stem[:2] for path in paths if json.loads(path.read_bytes())["kind"] in kinds]
    assert found == ["42", "43", "44", "45", "48", "49", "50", "52", "53", "54"]


def pinned(name: str, tokens: int) -> dict[str, Any]:
    return {"id": name, "pinned": True, "levels": {"raw": {"tokens": tokens, "utility": 1}}}


def take(run: Any, db: list[str], budget: int, items: list[dict[str, Any]], *options: str) -> dict[str, Any]:
    """Take a turn through the command line."""
    done = run("turn", "-", *db, "--json", *options, data={"budget": budget, "items": items})
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def record(run: Any, db: list[str], episodes: list[dict[str, Any]], *options: str) -> list[dict[str, Any]]:
    """Record episodes through the command line."""
    lines = b"".join(json.dumps(episode).encode() + b"\n" for episode in episodes)
    done = run("outcome", "-", *db, "--json", *options, data=lines)
    return [json.loads(line) for line in done.stdout.splitlines()]


def worth(run: Any, db: list[str]) -> dict[str, dict[str, Any]]:
    found = json.loads(run("worth", *db, "--json").stdout)
    return {memory["memory"]: memory for memory in found["memories"]}


def put(run: Any, db: list[str], names: list[str]) -> None:
    assert run("put", "-", *db, data={name: f"the text of {name}" for name in names}).exit_code == 0


def check_row(told: dict[str, Any], row: dict[str, Any]) -> None:
    assert told["turn"] == row["t"]
    assert float(told["pressure"]) == pytest.approx(row["Q"], abs=1e-12)
    assert told["price"] == pytest.approx(row["price"], abs=1e-11)
    assert told["tokens"] == row["tokens"]
    assert float(told["next_pressure"]) == pytest.approx(row["Q_next"], abs=1e-12)


def test_42_worth_counters(case: Any, run: Any, db: list[str], tmp_path: Path) -> None:
    given, expected = case("42")["input"], case("42")["expect"]
    config = tmp_path / "config.json"
    rule = {"high": given["theta_high"], "low": given["theta_low"], "least_evidence": given["v_min"]}
    config.write_text(json.dumps({"worth": rule}))
    put(run, db, list(given["counters"]))
    episodes = [
        {"id": f"{name} {success} {number}", "success": success, "retrieved": [name]}
        for name, counts in given["counters"].items()
        for success, count in zip((True, False), counts, strict=True)
        for number in range(count)
    ]
    assert {told["status"] for told in record(run, db, episodes, "--config", str(config))} == {"recorded"}
    found = worth(run, db)
    assert {name: memory["ratio"] for name, memory in found.items()} == pytest.approx(expected["worth"])
    assert {name: memory["label"] for name, memory in found.items()} == expected["class"]
    assert {name: [memory["plus"], memory["minus"]] for name, memory in found.items()} == given["counters"]


def test_43_co_retrieved_cannot_be_told_apart(case: Any, run: Any, db: list[str]) -> None:
    given, expected = case("43")["input"], case("43")["expect"]
    put(run, db, expected["equal_worth"])
    record(run, db, [{"id": str(number)} | episode for number, episode in enumerate(given["episodes"])])
    found = worth(run, db)
    assert {found[name]["ratio"] for name in expected["equal_worth"]} == {expected["worth"]}
    for one, other in expected["confounded_pairs"]:
        assert found[one]["confounded"] == [other]
        assert found[other]["confounded"] == [one]


def renamed(episode: dict[str, Any]) -> dict[str, Any]:
    return {"id": episode["event"]} | {key: part for key, part in episode.items() if key != "event"}


def test_44_outcome_recorded_twice(case: Any, run: Any, db: list[str]) -> None:
    given, expected = case("44")["input"], case("44")["expect"]
    put(run, db, ["a"])
    told = record(run, db, [renamed(episode) for episode in given["episodes"]])
    assert [each["status"] for each in told] == ["recorded", "known", "recorded"]
    told = record(run, db, [renamed(given["episodes"][0])])
    assert [each["status"] for each in told] == ["known"]
    assert [worth(run, db)["a"][side] for side in ("plus", "minus")] == expected["counters"]["a"]


def test_45_outcome_edge_inputs(case: Any, run: Any, db: list[str]) -> None:
    given, expected = case("45")["input"], case("45")["expect"]
    put(run, db, given["known"])
    told = record(run, db, [renamed(episode) for episode in given["episodes"]])
    assert [each["event"] for each in told if each["status"] == "invalid"] == expected["errors"]
    assert [each["errors"][0]["code"] for each in told if each["errors"]] == [
        "unknown_memory",
        "score_negative",
    ]
    found = worth(run, db)
    assert {name: [found[name]["plus"], found[name]["minus"]] for name in found} == expected["counters"]


@pytest.mark.parametrize("number", ["48", "49"])
def test_48_and_49_the_queue_rises_drains_and_survives_a_refresh(
    number: str, case: Any, run: Any, db: list[str]
) -> None:
    given, expected = case(number)["input"], case(number)["expect"]
    options = ("--gain", str(given["c"]), "--alpha", str(given["alpha"]))
    put(run, db, ["m1"])
    assert len(expected["rows"]) == len(given["tokens"])
    for row, tokens in zip(expected["rows"], given["tokens"], strict=True):
        told = take(run, db, given["budget"], [pinned(f"m{row['t']}", tokens)], *options)
        assert told["tokens"] <= given["budget"]
        check_row(told, row)
        if row["t"] in given.get("refresh_after", []):
            done = run("refresh", *db, "--json")
            assert list(json.loads(done.stdout)["levels"]) == ["m1"]


def test_49_candidates_reopen_after_the_refresh(run: Any, db: list[str]) -> None:
    item = {
        "id": "a",
        "levels": {"raw": {"tokens": 60, "utility": 2}, "keywords": {"tokens": 5, "utility": 1}},
    }
    put(run, db, ["a"])
    assert take(run, db, 10, [item])["choices"] == {"a": "keywords"}
    assert take(run, db, 100, [item])["choices"] == {"a": "keywords"}
    assert run("refresh", *db).exit_code == 0
    assert take(run, db, 100, [item])["choices"] == {"a": "raw"}


def test_50_resume_in_a_new_process(case: Any, run: Any, run_process: Any, tmp_path: Path) -> None:
    given, expected = case("50")["input"], case("50")["expect"]
    turns = [
        json.dumps({"budget": given["budget"], "items": [pinned(f"m{t}", tokens)]}).encode()
        for t, tokens in enumerate(given["tokens"])
    ]
    options = ["--gain", str(given["c"]), "--alpha", str(given["alpha"]), "--json"]
    databases = {name: ["--db", str(tmp_path / f"{name}.db")] for name in ("whole", "resumed")}
    whole = [json.loads(run("turn", "-", *databases["whole"], *options, data=turn).stdout) for turn in turns]
    resumed = []
    for t, turn in enumerate(turns):
        if t < given["save_after"]:
            text: Any = run("turn", "-", *databases["resumed"], *options, data=turn).stdout
        else:
            text = run_process("turn", "-", *databases["resumed"], *options, data=turn).stdout
        resumed.append(json.loads(text))
    assert resumed == whole
    for told, row in zip(resumed, expected["rows"], strict=True):
        check_row(told, row)
    logs = [run("log", *databases[name], "--json").stdout for name in databases]
    assert logs[0] == logs[1]


def test_52_stable_when_nothing_changes(case: Any, run: Any, db: list[str]) -> None:
    given, expected = case("52")["input"], case("52")["expect"]
    told = [take(run, db, given["budget"], given["items"]) for _ in range(given["repeat"])]
    assert {each["price"] for each in told} == {given["price"]}
    assert len({json.dumps(each["choices"]) for each in told}) == 1
    for key in expected["report"]:
        assert all(isinstance(each[key], int) for each in told)
    assert [each["prefix_tokens_kept"] for each in told[1:]] == [told[0]["tokens"]] * 2
    assert [each["items_changed"] for each in told[1:]] == [0, 0]


def test_53_summaries_must_not_grow(case: Any, run: Any, db: list[str]) -> None:
    given, expected = case("53")["input"], case("53")["expect"]
    accepted, rejected = [], []
    for tokens in given["current_tokens"]:
        item = {"id": given["item"], "levels": {"summary": {"tokens": tokens, "utility": 1}}}
        told = take(run, db, 20_000, [item])
        assert told["sizes"] == {given["item"]: given["current_tokens"][0]}
        (rejected if told["refused"] else accepted).append(tokens)
    assert (accepted, rejected) == (expected["accepted"], expected["rejected"])


def successes(name: str, count: int) -> bytes:
    told = [{"id": f"{name}{number}", "success": True, "retrieved": ["counter"]} for number in range(count)]
    return b"".join(json.dumps(each).encode() + b"\n" for each in told)


def test_54_two_writers(case: Any, run: Any, db: list[str]) -> None:
    given, expected = case("54")["input"], case("54")["expect"]
    put(run, db, ["counter"])
    command = [*MEMOPT, "outcome", "-", *db, "--batch", "1"]
    writers = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(given["writers"])]
    for name, writer in zip("ab", writers, strict=True):
        assert writer.stdin is not None
        writer.stdin.write(successes(name, given["successes_each"]))
        writer.stdin.close()
    assert [writer.wait(timeout=120) for writer in writers] == [0] * given["writers"]
    found = worth(run, db)["counter"]
    assert [found["plus"], found["minus"]] == expected["counter"]
    assert json.loads(run("status", *db, "--json").stdout)["episodes"] == 100


def test_54_a_killed_write_leaves_the_former_state_readable(run: Any, db: list[str]) -> None:
    put(run, db, ["counter"])
    command = [*MEMOPT, "outcome", "-", *db, "--batch", "1", "--json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdin.write(successes("a", 1_000))
        writer.stdin.flush()
        assert json.loads(writer.stdout.readline())["status"] == "recorded"
        writer.kill()
    counted = worth(run, db)["counter"]["plus"]
    assert counted >= 1
    assert json.loads(run("status", *db, "--json").stdout)["events"] == 2 + counted
    record(run, db, [{"id": "last", "success": True, "retrieved": ["counter"]}])
    assert worth(run, db)["counter"]["plus"] == counted + 1
