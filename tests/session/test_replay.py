from __future__ import annotations

import json
import math
import random

import pytest

from memopt.session.config import Config
from memopt.session.errors import InvalidLog
from memopt.session.events import START, canonical, chained
from memopt.session.governance import GovernanceRule
from memopt.session.replay import replay
from memopt.session.session import Session


def item(name, worth):
    sizes = {"raw": (60, 1.0), "summary": (24, 0.7), "keywords": (4, 0.15)}
    return {
        "id": name,
        "levels": {level: {"tokens": n, "utility": u * worth} for level, (n, u) in sizes.items()},
    }


@pytest.fixture(scope="module")
def lines():
    """An exported log with every kind of event."""
    rng = random.Random(7)
    session = Session(Config(gain=1.5, governance=GovernanceRule(mode="govern", withhold=0.2)))
    session.put({"m0": "The first text.", "m1": "The second text."})
    for turn in range(12):
        items = [item(f"m{k}", rng.uniform(0.5, 2)) for k in range(6)]
        session.turn(items, rng.randint(100, 300), f"turn {turn}")
        session.outcome(
            f"outcome {turn}",
            rng.random() < 0.5,
            sorted(session.state.context)[:2],
            [1.0, 2.0][: len(session.state.context)],
        )
        if turn % 4 == 3:
            session.refresh({}, ["m0", "m1"])
    session.configure(Config(gain=1.5))
    return [canonical(record.line()) for record in session.events()]


def test_a_log_replays_to_the_last_bit(lines):
    done = replay(lines)
    assert (done.identical, done.read_to_end) == (True, True)
    assert (done.events, done.turns) == (len(lines), 12)
    assert done.state.digest == json.loads(lines[-1])["digest"]


def test_bytes_blank_lines_and_other_spacing_are_fine(lines):
    spaced = [json.dumps(json.loads(line), indent=None).encode() + b"\n" for line in lines]
    assert replay([b"\n", *spaced, b""]).identical


CHANGES = {
    "turn": ("pressure", "next_pressure", "sizes", "turn", "items_changed", "pinned_tokens", "id"),
    "outcome": ("success", "retrieved", "weights", "scores", "id"),
    "refresh": ("opened", "turn"),
    "put": ("texts",),
    "config": ("config",),
}


def changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + "9"
    if isinstance(value, list):
        return value[:-1]
    if isinstance(value, dict) and "gain" in value:
        return value | {"gain": value["gain"] + 0.5}
    if isinstance(value, dict):
        return dict(list(value.items())[1:])
    return None


def tampered(lines, index, key):
    data = json.loads(lines[index])
    before = data[key]
    data[key] = changed(before)
    return None if data[key] == before else [*lines[:index], canonical(data), *lines[index + 1 :]]


def test_any_changed_line_is_found_and_named(lines):
    tried = 0
    for index, line in enumerate(lines[:24]):
        for key in CHANGES[json.loads(line)["kind"]]:
            other = tampered(lines, index, key)
            if other is not None:
                first = replay(other[: index + 1]).findings[0]
                assert (first.line, first.what) == (index + 1, "digest"), key
                assert f"line {index + 1}" in first.told()
                tried += 1
    assert tried > 60


def forged(lines, index, change):
    """Change a line and make all digests right again: only deciding again can find it."""
    events = [json.loads(line) for line in lines]
    change(events[index])
    digest, made = START, []
    for event in events:
        event.pop("digest")
        digest = chained(digest, canonical(event))
        made.append(canonical(event | {"digest": digest}))
    return made


def turn_at(lines, nth):
    return [index for index, line in enumerate(lines) if json.loads(line)["kind"] == "turn"][nth]


def nudge_price(event):
    event["result"]["price"] = math.nextafter(event["result"]["price"], math.inf)


def delete_one(event):
    event["result"]["choices"][next(iter(event["sizes"]))] = "delete"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (delete_one, "choices"),
        (nudge_price, "price"),
        (lambda event: event.update(pressure="0.500000000000000000"), "pressure"),
        (lambda event: event.update(next_pressure="0.500000000000000001"), "next_pressure"),
        (lambda event: event["result"].update(tokens=1), "tokens"),
    ],
)
def test_a_forged_result_is_found_by_deciding_again(change, what, lines):
    index = turn_at(lines, 5)
    found = replay(forged(lines, index, change)).findings
    assert [finding.line for finding in found] == [index + 1]
    assert [finding.what for finding in found] == [what]
    assert what in found[0].told()


def test_a_forged_input_is_found_by_what_follows(lines):
    index = turn_at(lines, 2)
    found = replay(forged(lines, index, lambda event: event["candidates"].update(budget=90))).findings
    assert found[0].line == index + 1
    assert "budget" in {finding.what for finding in found}


def test_a_line_that_is_gone_ends_the_replay(lines):
    done = replay([*lines[:5], *lines[6:]])
    assert [finding.what for finding in done.findings] == ["digest", "order"]
    assert done.findings[-1].line == 6
    assert not done.read_to_end
    assert done.events == 5


@pytest.mark.parametrize("line", ["nonsense", "[]", '{"kind": "turn"}', '{"kind": 3}', "\ufeff{}"])
def test_a_line_that_cannot_be_read_is_named(line, lines):
    done = replay([*lines[:3], line, *lines[4:]])
    assert done.findings[-1].line == 4
    assert done.findings[-1].what == "unreadable"
    assert (done.events, done.read_to_end) == (3, False)
    json.dumps(done.to_dict(), allow_nan=False)


def test_a_session_without_events_replays():
    assert replay([]).identical


def test_a_log_without_its_beginning_is_refused(lines):
    assert replay(lines[1:]).findings[-1].what == "order"


@pytest.mark.parametrize("line", ["nonsense", '{"budget": 9, "items": []}', "[" * 100_000])
def test_what_is_no_log_is_refused(line):
    with pytest.raises(InvalidLog, match="no log of a session: line 2: "):
        replay(["", line])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"flags":', '"flags":[],"flags":'),
        ('"utility":{', '"utility":{"x":[NaN],'),
        ('"digest":"', '"digest":"\\ud800'),
        ('"refused":[],', ""),
    ],
)
def test_a_line_that_only_looks_the_same_is_found(before, after, lines):
    at = next(k for k, line in enumerate(lines) if before in _spaced(line))
    changed = [*lines[:at], _spaced(lines[at]).replace(before, after, 1), *lines[at + 1 :]]
    found = replay(changed).findings
    assert found
    assert found[0].line == at + 1


def _spaced(line):
    return json.dumps(json.loads(line), separators=(",", ":"))


def of_kind(lines, kind, nth=0):
    return [index for index, line in enumerate(lines) if json.loads(line)["kind"] == kind][nth]


@pytest.mark.parametrize(
    ("kind", "nth", "change", "said"),
    [
        ("outcome", 1, {"id": "outcome 0"}, "an event of that id stands there already"),
        ("outcome", 1, {"turn": "turn 99"}, "there is no turn 'turn 99' before it"),
    ],
)
def test_a_forged_event_that_no_session_takes_is_named(kind, nth, change, said, lines):
    index = of_kind(lines, kind, nth)
    done = replay(forged(lines, index, lambda event: event.update(change)))
    assert [finding.told() for finding in done.findings] == [
        f"line {index + 1}, event {change.get('id', 'outcome 1')!r}: {said}"
    ]
    assert not done.read_to_end


def test_a_forged_original_is_named(lines):
    session = Session()
    session.put({"a": "x"})
    session.put({"b": "y"}, "other")
    log = [canonical(record.line()) for record in session.events()]
    done = replay(forged(log, 2, lambda event: event.update(texts={"a": "z"})))
    assert [finding.told() for finding in done.findings] == [
        "line 3, event 'other': item 'a' has an original already"
    ]


def test_a_changed_line_accuses_no_line_behind_it(lines):
    index = turn_at(lines, 3)
    found = replay(tampered(lines, index, "items_changed")).findings
    assert [(finding.line, finding.what) for finding in found] == [
        (index + 1, "digest"), (index + 1, "items_changed"),
    ]  # fmt: skip


def test_a_forged_turn_of_a_refresh_is_found(lines):
    index = next(index for index, line in enumerate(lines) if json.loads(line)["kind"] == "refresh")
    found = replay(forged(lines, index, lambda event: event.update(turn=event["turn"] - 1))).findings
    assert (found[0].line, found[0].what) == (index + 1, "turn")


def test_a_forged_outcome_of_no_turn_is_named(lines):
    index = of_kind(lines, "outcome", 1)
    done = replay(forged(lines, index, lambda event: event.update(turn=None)))
    assert [finding.told() for finding in done.findings] == [
        f"line {index + 1}, event 'outcome 1': an outcome after a turn names its turn"
    ]


def test_a_forged_configuration_that_had_to_stand_is_named(lines):
    session = Session(Config(gain=1.5))
    session.turn([item("a", 1.0)], 100)
    session.configure(Config(gain=1.5, cache_price=1.0))
    log = [canonical(record.line()) for record in session.events()]
    done = replay(forged(log, 2, lambda event: event["config"].update(gain=2.0)))
    assert [finding.told() for finding in done.findings] == [
        "line 3, event '#3': gain cannot change after the first turn"
    ]
