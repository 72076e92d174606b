from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memopt.session.errors import InvalidEvent
from memopt.session.events import (
    KINDS,
    START,
    ConfigEvent,
    OutcomeEvent,
    PutEvent,
    RefreshEvent,
    TurnEvent,
    canonical,
    chained,
    from_dict,
    from_text,
    record,
)

text = st.text(max_size=8)
number = st.integers(1, 2**53)
rate = st.floats(allow_nan=False, allow_infinity=False)
json_data = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | rate | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
head = {"id": text, "number": number}
events = st.one_of(
    st.builds(ConfigEvent, **head, config=st.dictionaries(text, json_data)),
    st.builds(PutEvent, **head, texts=st.dictionaries(text, text)),
    st.builds(RefreshEvent, **head, turn=number, opened=st.lists(text), missing=st.lists(text)),
    st.builds(
        OutcomeEvent,
        **head,
        turn=st.none() | text,
        retrieved=st.lists(text),
        success=st.booleans(),
        scores=st.none() | st.lists(rate),
        weights=st.dictionaries(text, rate),
        unexposed=st.lists(text),
    ),
    st.builds(
        TurnEvent,
        **head,
        turn=number,
        pressure=text,
        next_pressure=text,
        candidates=st.dictionaries(text, json_data),
        assignments=st.dictionaries(text, st.lists(json_data)),
        refused=st.lists(st.lists(json_data)),
        sizes=st.dictionaries(text, number),
        pinned_tokens=number,
        prefix_tokens_kept=number,
        items_changed=number,
        result=st.dictionaries(text, json_data),
    ),
)


@given(events)
def test_an_event_survives_json_to_the_last_bit(event):
    made = canonical(event.to_dict())
    again = from_text(made)
    assert again == event
    assert type(again) is type(event)
    assert canonical(again.to_dict()) == made


def test_floats_and_large_integers_survive():
    event = PutEvent(id="a", number=1, texts={})
    config = ConfigEvent(id="a", number=1, config={"x": 0.1 + 0.2, "y": 2**70, "z": 5e-324, "w": 1e16})
    assert from_text(canonical(config.to_dict())) == config
    assert from_text(canonical(event.to_dict())) == event


@pytest.mark.parametrize("name", ["客户", "\ud800", "a\x00b", "e\u0301", "\U0001f600", '"\\'])
def test_any_id_becomes_text_that_every_database_holds(name):
    made = canonical(PutEvent(id=name, number=1, texts={name: name}).to_dict())
    assert "\x00" not in made
    made.encode("utf-8")
    assert from_text(made).id == name


def test_digests_chain():
    one = record(PutEvent(id="a", number=1, texts={}), START)
    two = record(PutEvent(id="b", number=2, texts={}), one.digest)
    assert two.digest == chained(one.digest, two.text)
    assert record(two.event, START).digest != two.digest
    assert json.loads(canonical(two.line())) == two.event.to_dict() | {"digest": two.digest}


OUTCOME = {
    "kind": "outcome",
    "id": "e",
    "number": 3,
    "turn": None,
    "retrieved": ["a"],
    "success": True,
    "scores": None,
    "weights": {"a": 1.0},
    "unexposed": [],
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "turnip"}, "kind is one of"),
        ({"kind": ["turn"]}, "kind is one of"),
        ({"number": "3"}, "number"),
        ({"number": True}, "number"),
        ({"success": 1}, "success"),
        ({"retrieved": "a"}, "retrieved"),
        ({"retrieved": [1]}, "retrieved.0"),
        ({"weights": {"a": "1"}}, "weights.a"),
        ({"extra": 1}, "extra"),
    ],
)
def test_what_is_no_event_is_named(change, said):
    with pytest.raises(InvalidEvent, match=said):
        from_dict(OUTCOME | change)


def test_a_missing_key_is_named():
    for key in OUTCOME:
        with pytest.raises(InvalidEvent, match=key):
            from_dict({name: part for name, part in OUTCOME.items() if name != key})
    with pytest.raises(InvalidEvent, match="an event is an object"):
        from_dict([])


def test_every_kind_has_a_name():
    assert list(KINDS) == ["config", "put", "refresh", "outcome", "turn"]
    assert all(made.kind == kind for kind, made in KINDS.items())


@given(json_data)
def test_short_rows_are_written_as_the_encoder_writes_them(data) -> None:
    assert canonical(data) == json.dumps(data, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("text", ["\ud83d\ude00", "\ud83d", "\ud83d\ude00\ude00", "é"])
def test_what_is_read_back_has_the_same_text(text):
    written = canonical({"a": text})
    assert canonical(json.loads(json.dumps({"a": text}))) == written
    assert canonical(json.loads(written)) == written
