"""`memopt log`: the events, for a person and for a replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def test_the_events_for_a_person_and_as_lines(run: Any, begun: list[str], tmp_path: Path) -> None:
    text = run("log", *begun).stdout
    for what in (
        "1 original",
        "turn 1: 55 of 100 tokens, price 0, 2 items",
        "success, 1 of 1 retrieved credited",
    ):
        assert what in text
    path = tmp_path / "s1.jsonl"
    assert run("log", *begun, "--out", path).exit_code == 0
    assert run("log", *begun, "--json").stdout_bytes == path.read_bytes()
    assert run("log", *begun, "--out", path).exit_code == 2
    assert run("log", *begun, "--out", path, "--force").exit_code == 0


def test_a_change_of_configuration_is_told_by_name(run: Any, begun: list[str], tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"governance": {"mode": "govern", "withhold": 0.1}, "worth": {"half_life": 20}}')
    outcome = {"id": "e2", "success": True, "retrieved": ["a"]}
    assert run("outcome", "-", *begun, "--config", path, data=outcome).exit_code == 0
    told = [line for line in run("log", *begun, "--json").stdout.splitlines() if '"kind": "config"' in line]
    assert len(told) == 3
    rows = [line for line in run("log", *begun).stdout.splitlines() if "│ config" in line]
    assert [row.split("│")[4].strip() for row in rows[:2]] == ["gain 0, alpha 0.8", "gain 0 -> 2"]
    text = " ".join(run("log", *begun).stdout.replace("│", " ").split())
    for change in ("half_life None -> 20", "mode observe -> govern", "withhold 0 -> 0.1"):
        assert change in text


def test_a_first_configuration_names_what_is_not_the_default(run: Any, db: list[str], tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"alpha": 0.7, "ladder": ["full", "gist"]}')
    assert run("put", "-", *db, "--config", path, data={"a": "x"}).exit_code == 0
    assert "gain 0, alpha 0.7, ladder full/gist" in run("log", *db).stdout


@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
def test_the_database_is_never_written_over_by_its_own_log(
    run: Any, begun: list[str], tmp_path: Path, end: str
) -> None:
    path = Path(begun[1])
    before = path.read_bytes()
    done = run("log", *begun, "--out", f"{path.parent}/./{path.name}{end}", "--force")
    assert done.exit_code == 2
    assert "it is the database itself" in " ".join(done.stderr.split())
    assert path.read_bytes() == before
