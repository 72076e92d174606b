"""`memopt replay`: identical, differing, or no log at all."""

from __future__ import annotations

from typing import Any

import pytest
from session_inputs import TURN, told


def test_a_log_replays_to_the_digest_that_status_shows(run: Any, begun: list[str]) -> None:
    text = run("log", *begun, "--json").stdout_bytes
    done = run("replay", "-", data=text)
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "1 turn: identical")
    status = [line.split() for line in run("status", *begun).stdout.splitlines()]
    assert [line.split() for line in done.stdout.splitlines()[1:]] == status[1:3]
    assert status[1] == ["events", "5"]
    assert told(run("replay", "-", "--json", data=text))["identical"] is True


def test_a_log_cut_short_is_seen_by_events_and_digest(run: Any, begun: list[str]) -> None:
    text = run("log", *begun, "--json").stdout_bytes
    found = told(run("replay", "-", "--json", data=b"".join(text.splitlines(keepends=True)[:-1])))
    status = told(run("status", *begun, "--json"))
    assert (found["identical"], found["read_to_end"]) == (True, True)
    assert found["events"] == status["events"] - 1
    assert found["digest"] != status["digest"]


def test_a_changed_line_is_exit_status_4(run: Any, begun: list[str]) -> None:
    text = run("log", *begun, "--json").stdout_bytes
    other = text.replace(b'"raw": [60, ', b'"raw": [61, ')
    done = run("replay", "-", data=other)
    assert done.exit_code == 4
    assert "NOT identical\nline 4, event 't1': it was changed" in done.stdout
    found = told(run("replay", "-", "--json", data=other))
    assert (found["identical"], found["findings"][0]["line"]) == (False, 4)
    cut = run("replay", "-", data=text[:-20])
    assert (cut.exit_code, "line 5: " in cut.stdout) == (4, True)


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"no log", b"\xff\xfe", b"[" * 100_000, TURN, {"kind": "turn"}]
)
def test_what_is_no_log_is_exit_status_2(data: Any, run: Any) -> None:
    for options in ((), ("--json",)):
        done = run("replay", "-", *options, data=data)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith("memopt: this is no log of a session: ")


def test_of_what_follows_from_a_changed_line_only_the_number_is_told(run: Any, begun: list[str]) -> None:
    for budget in (60, 55):
        assert run("turn", "-", *begun, data=TURN | {"budget": budget}).exit_code == 0
    lines = run("log", *begun, "--json").stdout_bytes.splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"raw": [60, 50]', b'"raw": [61, 5]')
    data = b"".join(lines)
    found = told(run("replay", "-", "--json", data=data))["findings"]
    first = [finding for finding in found if finding["line"] == 4]
    said = run("replay", "-", data=data).stdout.splitlines()
    assert all(line.startswith("line 4, ") for line in said[1 : 1 + len(first)])
    assert [line for line in said if "its digest is not that of its text" in line] == [said[1]]
    assert "program digest" in [finding["what"] for finding in first]
    more = len(found) - len(first)
    assert more > 1
    assert said[1 + len(first)] == (
        f"and {more} more behind that line, which may follow from it; --json lists them all"
    )
    assert said[2 + len(first)].startswith("events")
