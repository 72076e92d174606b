"""`memopt worth`: what is known, and what governance makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from session_inputs import lines, told


def test_worth(run: Any, begun: list[str]) -> None:
    found = told(run("worth", *begun, "--json"))
    assert [memory["memory"] for memory in found["memories"]] == ["a", "p"]
    first, second = found["memories"]
    assert (first["plus"], first["minus"], first["ratio"], first["lift"]) == (1.0, 0.0, 1.0, 1.0)
    assert (first["label"], first["state"]) == ("uncertain", "normal")
    assert (second["ratio"], second["lift"], second["retrievals"]) == (0.5, None, 0)
    assert "uncertain" in run("worth", *begun).stdout


def episodes(counts: dict[str, tuple[int, int]]) -> bytes:
    """Return outcomes in which each memory alone won and lost so often."""
    return lines(
        [
            {"id": f"{name} {number}", "success": number < won, "retrieved": [name]}
            for name, (won, lost) in counts.items()
            for number in range(won + lost)
        ]
    )


def test_worth_says_what_governance_would_do(run: Any, db: list[str]) -> None:
    run("put", "-", *db, data={"bad": "x", "good": "y"})
    assert run("outcome", "-", *db, data=episodes({"bad": (0, 40), "good": (40, 0)})).exit_code == 0
    found = told(run("worth", *db, "--json"))
    assert found["mode"] == "observe"
    assert [memory["state"] for memory in found["memories"]] == ["suppressed", "normal"]
    assert "association only" in found["memories"][0]["reason"]
    text = run("worth", *db).stdout
    assert "'bad' would be suppressed: its worth of 0.00 (0.00 to 0.09) lies below 0.40" in text


def test_worth_and_status_say_the_same_before_and_after_the_next_turn(
    run: Any, db: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"governance": {"mode": "govern", "show": 0}}')
    run("put", "-", *db, "--config", path, data={"bad": "x", "good": "y"})
    assert run("outcome", "-", *db, data=episodes({"bad": (0, 40), "good": (40, 0)})).exit_code == 0
    status, bad = told(run("status", *db, "--json")), told(run("worth", *db, "--json"))["memories"][0]
    assert (bad["state"], bad["governed"]) == ("suppressed", "normal")
    assert status["governed"] == {"normal": 2, "suppressed": 0, "deprecated": 0}
    assert status["governed_next"] == {"normal": 1, "suppressed": 1, "deprecated": 0}
    because = "unless it is pinned: its worth of 0.00"
    assert f"'bad' normal, suppressed from its next turn on {because}" in run("worth", *db).stdout
    assert (
        "(govern; from their next turns on: normal 1, suppressed 1, deprecated 0)"
        in run("status", *db).stdout
    )
    level = {"raw": {"tokens": 60, "utility": 2}, "keywords": {"tokens": 5, "utility": 1}}
    turn = {"budget": 100, "items": [{"id": "bad", "levels": level}]}
    assert told(run("turn", "-", *db, "--json", data=turn))["choices"] == {"bad": "keywords"}
    status, bad = told(run("status", *db, "--json")), told(run("worth", *db, "--json"))["memories"][0]
    assert (bad["state"], bad["governed"]) == ("suppressed", "suppressed")
    assert status["governed"] == status["governed_next"] == {"normal": 1, "suppressed": 1, "deprecated": 0}
    assert "'bad' suppressed: its worth" in run("worth", *db).stdout
    assert "suppressed 1, deprecated 0 (govern)" in run("status", *db).stdout
    again = lines([{"id": f"again {number}", "success": True, "retrieved": ["bad"]} for number in range(60)])
    assert run("outcome", "-", *db, data=again).exit_code == 0
    assert "'bad' suppressed, normal from its next turn on\n" in run("worth", *db).stdout


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ({"dull": (6, 14), "good": (30, 0)}, "below 0.40"),
        ({"dull": (10, 40), "poor": (2, 58)}, "below the base rate 0.11"),
        ({"dull": (6, 14), "poor": (1, 49)}, "below 0.40 and the base rate 0.10"),
    ],
)
def test_a_low_memory_that_is_not_suppressed_says_why(
    counts: dict[str, tuple[int, int]], why: str, run: Any, db: list[str]
) -> None:
    run("put", "-", *db, data=dict.fromkeys(counts, "x"))
    assert run("outcome", "-", *db, data=episodes(counts)).exit_code == 0
    dull = told(run("worth", *db, "--json"))["memories"][0]
    assert (dull["label"], dull["state"]) == ("low", "normal")
    assert dull["reason"].endswith(f"does not lie wholly {why}")
    assert f"'dull' is low, not suppressed: {dull['reason']}" in run("worth", *db).stdout


def test_the_table_stands_on_80_columns(run_process: Any, tmp_path: Path) -> None:
    db = ["--db", tmp_path / "memory.db"]
    names = ("a-memory-of-16", "another")
    assert run_process("put", "-", *db, data=json.dumps(dict.fromkeys(names, "x")).encode()).returncode == 0
    both = [{"id": str(number), "success": number < 20, "retrieved": names} for number in range(41)]
    assert run_process("outcome", "-", *db, data=lines(both)).returncode == 0
    text = run_process("worth", *db, COLUMNS="80", PYTHONIOENCODING="utf-8").stdout.decode()
    header = text.splitlines()[1]
    columns = ["memory", "class", "seen", "won", "lost", "ratio", "interval", "lift"]
    assert header.replace("┃", " ").split() == columns
    cells = text.splitlines()[3].replace("│", " ").split()
    assert cells == [names[0], "mixed", "41", "10", "10.5", "0.488", "0.34-0.64", "1.00"]
    assert f"'another' is retrieved with '{names[0]}': confounded" in text
