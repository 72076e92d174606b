"""`memopt status`: where a session stands."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from session_inputs import PIN, told


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


def test_the_last_turn_is_told_with_its_price_per_token_and_certificate(run: Any, db: list[str]) -> None:
    assert run("put", "-", *db, data={"a": "x"}).exit_code == 0
    assert told(run("status", *db, "--json"))["last_turn"] is None
    assert told(run("status", *db, "--json"))["price_per_token"] is None
    assert "last turn" not in run("status", *db).stdout
    full = {"budget": 50, "items": [PIN]}
    assert run("turn", "-", *db, "--gain", "3", data=full).exit_code == 0
    assert run("turn", "-", *db, data=full).exit_code == 0
    found = told(run("status", *db, "--json"))
    price = 3 * 0.2 / math.sqrt(2)
    last = found["last_turn"]
    assert (last["event"], last["tokens"], last["budget"]) == ("#5", 50, 50)
    assert last["price"] == pytest.approx(price)
    assert last["price_per_token"] == pytest.approx(price / 50)
    assert last["certificate"] == found["last_certificate"] == pytest.approx(price * (0.8 - 1))
    assert found["price_per_token"] == found["price"] / 50 > 0
    assert f", {found['price_per_token']:.3g} a token of 50)" in run("status", *db).stdout
    told_so = f"price {price:.6g}, {price / 50:.3g} a token; regret certificate {price * -0.2:.6g}"
    assert told_so in run("status", *db).stdout


def test_the_bound_known_beforehand_needs_a_price(run: Any, db: list[str]) -> None:
    full = {"budget": 50, "items": [PIN]}
    assert run("turn", "-", *db, "--gain", "2", data=full).exit_code == 0
    assert told(run("status", *db, "--json"))["occupancy_bound"] is None
    assert "bound 1)" in run("status", *db).stdout
    asked = ["--largest-price", "1"]
    assert told(run("status", *db, *asked, "--json"))["occupancy_bound"] == pytest.approx(0.8 + 1 / 2 + 0.2)
    assert "bound 1, known beforehand: 1.5)" in run("status", *db, *asked).stdout
    assert run("status", *db, "--largest-price", "-1").exit_code == 2
