"""`memopt log`: the events, for a person and for a replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any


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
