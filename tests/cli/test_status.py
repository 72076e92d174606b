"""`memopt status`: where a session stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from session_inputs import told


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


def test_levels_held_are_without_the_caps_of_governance(run: Any, db: list[str], tmp_path: Path) -> None:
    assert run("put", "-", *db, data={"a": "x"}).exit_code == 0
    assert "caps" not in run("status", *db).stdout
    path = tmp_path / "config.json"
    path.write_text('{"governance": {"mode": "govern"}}')
    assert run("put", "-", *db, "--config", path, data={"b": "y"}).exit_code == 0
    (held,) = [line for line in run("status", *db).stdout.splitlines() if line.startswith("levels held")]
    assert held.endswith("delete 0 (before the caps of governance)")
