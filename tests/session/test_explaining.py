from __future__ import annotations

import random
from typing import Any

import pytest

from memopt.errors import InvalidInstance, UnknownItem
from memopt.session.config import Config
from memopt.session.events import TurnEvent
from memopt.session.explaining import explain_turn
from memopt.session.session import Session

CONFIGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "priced": {"gain": 3.0},
    "cached": {"gain": 1.0, "cache_price": 2.0},
    "governed": {"gain": 1.0, "governance": {"mode": "govern", "withhold": 0.3}},
}


def lived(config: dict[str, Any]) -> Session:
    """Return a session after turns that bind one another: levels fall, bad memories are governed."""
    drawn = random.Random(11)
    session = Session(Config.from_dict(config))
    for turn in range(25):
        items = []
        for number in range(8):
            tokens = drawn.randrange(20, 90)
            levels = {
                level: {"tokens": tokens // share + 1, "utility": drawn.random() * 3 / share}
                for level, share in (("raw", 1), ("summary", 2), ("keywords", 6))
            }
            items.append({"id": f"m{number}", "levels": levels, "order": number, "pinned": number == 0})
        event = session.turn(items, drawn.randrange(140, 300), f"t{turn}").event
        assert isinstance(event, TurnEvent)
        kept = [item for item, level in event.choices.items() if level != "delete"]
        session.outcome(None, success="m3" not in kept, retrieved=kept)
        if turn % 6 == 5:
            session.put({item["id"]: "text" for item in items})
            session.refresh({}, [f"m{turn % 8}"])
    return session


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_every_item_of_every_turn_holds_the_level_that_is_explained(config: dict[str, Any]) -> None:
    session = lived(config)
    turns = [record.event for record in session.events() if isinstance(record.event, TurnEvent)]
    reasons = set()
    for event in turns[:: len(turns) // 5]:
        for item, level in event.choices.items():
            explained = explain_turn(session, item, event.id)
            assert (explained.item, explained.level) == (item, level)
            reasons |= {other.reason for other in explained.alternatives}
    assert {None, "richer_than_current", "pinned"} <= reasons


def test_the_last_turn_is_meant_where_none_is_named() -> None:
    session = lived({})
    last = explain_turn(session, "m1")
    assert last == explain_turn(session, "m1", "t24")


def test_what_is_not_there_is_named() -> None:
    session = Session()
    with pytest.raises(InvalidInstance, match="unknown_turn: the session has no turn yet"):
        explain_turn(session, "a")
    session.turn([{"id": "a", "levels": {"raw": {"tokens": 1, "utility": 1}}}], 5, "t1")
    with pytest.raises(InvalidInstance, match="unknown_turn: there is no turn 't2'"):
        explain_turn(session, "a", "t2")
    with pytest.raises(UnknownItem):
        explain_turn(session, "b", "t1")


def test_what_stays_as_it_was_sent_is_neither_pinned_nor_over_the_budget() -> None:
    session = Session(Config(cache_price=1.0))
    levels = {"raw": {"tokens": 30, "utility": 3.0}, "summary": {"tokens": 10, "utility": 0.5}}
    items = [{"id": name, "levels": levels} for name in ("m1", "m2", "m3")]
    session.turn(items[:2], 100, "t1")
    session.turn(items, 100, "t2")
    alternatives = {other.level: other for other in explain_turn(session, "m1", "t2").alternatives}
    assert {alternatives[level].reason for level in ("summary", "delete")} == {"unchanged"}
    told = "'m1' cannot be kept at summary: it is in the leading part that stays as it was sent."
    assert alternatives["summary"].sentence == told
