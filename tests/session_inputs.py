"""Inputs of the commands on sessions, and their answers read."""

from __future__ import annotations

import json
from typing import Any

ITEM: dict[str, Any] = {
    "id": "a",
    "levels": {"raw": {"tokens": 60, "utility": 2}, "keywords": {"tokens": 5, "utility": 1}},
}
PIN: dict[str, Any] = {"id": "p", "pinned": True, "levels": {"raw": {"tokens": 50, "utility": 1}}}
ORIGINAL = "The plan is to go to Rome. Anna comes along."
TURN: dict[str, Any] = {"budget": 100, "items": [ITEM, PIN]}


def told(done: Any) -> Any:
    """Return the JSON that a command printed."""
    return json.loads(done.stdout)


def lines(parts: list[Any]) -> bytes:
    """Return JSON Lines."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in parts)
