"""`memopt refresh`: levels made, items without an original refused."""

from __future__ import annotations

from typing import Any

from session_inputs import ORIGINAL, told


def test_refresh_makes_levels_that_get_shorter(run: Any, begun: list[str]) -> None:
    done = told(run("refresh", *begun, "--json", "--id", "r1", "--item", "a"))
    assert done == {
        "event": "r1",
        "recorded": True,
        "same": True,
        "levels": {"a": {"raw": ORIGINAL, "summary": "Anna comes along.", "keywords": "plan, go, rome"}},
    }
    assert "'r1' was recorded before: nothing" in run("refresh", *begun, "--id", "r1", "--item", "a").stderr
    assert "characters" in run("refresh", *begun).stdout
    assert run("put", "-", *begun, data={"b": "Oslo."}).exit_code == 0
    assert "other content" in run("refresh", *begun, "--id", "r1", "--item", "b").stderr


def test_an_item_without_an_original_is_named_and_nothing_is_opened(run: Any, begun: list[str]) -> None:
    before = told(run("status", *begun, "--json"))
    done = run("refresh", *begun, "--json", "--item", "a", "--item", "p", "--item", "q")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no original of 'p', 'q'" in done.stderr
    assert told(run("status", *begun, "--json")) == before
