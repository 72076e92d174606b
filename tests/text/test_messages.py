"""Chats are read whole, in every shape they come in, with all that is wrong said at once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chats import chats
from hypothesis import given
from hypothesis import strategies as st

from memopt import InvalidInstance
from memopt.text.content import COSTS
from memopt.text.errors import InvalidMessages
from memopt.text.messages import read_messages

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q":"train"}'}}
ASK = {"role": "user", "content": "Plan my trip."}
LOOK = {"role": "assistant", "content": None, "tool_calls": [CALL]}


def faults_of(chat: Any) -> list[tuple[str, Any, str | None]]:
    with pytest.raises(InvalidMessages) as caught:
        read_messages(chat)
    return [(fault.code, fault.index, fault.field) for fault in caught.value.faults]


@given(chats())
def test_every_message_is_returned_as_it_was_given(chat: list[dict[str, Any]]) -> None:
    before = json.dumps(chat)
    read = read_messages(chat)
    assert json.dumps([message.to_dict() for message in read]) == json.dumps(chat) == before
    assert len({message.id for message in read}) == len(chat)


@given(chats())
def test_texts_of_messages_begin_with_a_letter_and_end_with_a_line_break(chat: list[dict[str, Any]]) -> None:
    for message in read_messages(chat):
        assert message.text()[0].isalpha()
        assert message.text().endswith("\n")


@given(st.lists(st.sampled_from([ASK, LOOK, {"role": "user", "content": "a\u2028b\x85c"}]), min_size=1))
def test_a_chat_is_the_same_as_a_list_an_object_json_or_json_lines(chat: list[dict[str, Any]]) -> None:
    lines = "\n\n".join(json.dumps(message, ensure_ascii=False) for message in chat) + "\r\n"
    for shape in (
        chat, tuple(chat), {"model": "any", "messages": chat}, json.dumps(chat),
        json.dumps({"messages": chat}).encode(),
        lines, lines.encode(), b"\xef\xbb\xbf" + lines.encode(),
    ):  # fmt: skip
        assert [message.to_dict() for message in read_messages(shape)] == chat
    assert read_messages([]) == read_messages("[]") == ()


def test_ids_that_are_given_are_kept_and_made_ones_avoid_them() -> None:
    chat = [ASK, {**ASK, "id": "m0"}, {**ASK, "id": "x"}, ASK, {**ASK, "id": None}]
    assert [message.id for message in read_messages(chat)] == ["m0'", "m0", "x", "m3", "m4"]


def test_all_that_is_sent_is_said() -> None:
    [message] = read_messages([{
        "role": "assistant", "name": "Ann", "reasoning_content": "Think.", "content": "Hi.", "id": "mine",
        "tool_calls": [CALL, {"id": "c2", "type": "custom", "custom": {"name": "f", "input": "x"}}],
        "refusal": None, "annotations": [{"a": "龙"}],
    }])  # fmt: skip
    assert message.text() == (
        'assistant\nAnn\nThink.\nHi.\nc1 look {"q":"train"}\n'
        '{"id":"c2","type":"custom","custom":{"name":"f","input":"x"}}\n[{"a":"龙"}]\n'
    )
    assert message.text("Ho.") == message.text().replace("Hi.", "Ho.")
    assert message.calls == ("c1", "c2")


def test_arguments_that_are_an_object_are_counted() -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": {"q": "train"}}}
    [message] = read_messages([{"role": "assistant", "tool_calls": [call]}])
    assert message.text() == 'assistant\nc1 look {"q":"train"}\n'


def test_content_is_none_empty_text_or_parts() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:", "detail": "high"}}
    low = {"type": "image_url", "image_url": {"url": "data:", "detail": "low"}}
    audio = {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}
    words = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    contents: list[Any] = [
        None,
        "",
        "hi",
        [],
        words,
        [*words, image, low, audio],
        [{"type": "refusal", "refusal": "no"}],
    ]
    read = [
        message.content for message in read_messages([{"role": "user", "content": each} for each in contents])
    ]
    assert [content.text for content in read] == ["", "", "hi", "", "one\ntwo", "one\ntwo", "no"]
    assert [content.fixed for content in read] == [0, 0, 0, 0, 0, sum(COSTS.values()), 0]
    assert [content.may_shrink for content in read] == [False, False, True, False, True, False, False]
    assert read[2].replaced_by("h") == "h"
    assert read[4].replaced_by("o") == [{"type": "text", "text": "o"}]
    with pytest.raises(ValueError, match="more than text"):
        read[5].replaced_by("one")


def test_a_cost_of_the_users_makes_a_part_known() -> None:
    chat = [{"role": "user", "content": [{"type": "file", "file": {}}]}]
    assert faults_of(chat) == [("unknown_part", 0, "content[0]")]
    [message] = read_messages(chat, {**COSTS, "file": 3000})
    assert message.content.fixed == 3000


@pytest.mark.parametrize(
    ("extra", "reasons"),
    [
        ({"content": None, "reasoning_content": "Hm."}, True),
        ({"content": "", "reasoning": "Hm."}, True),
        ({"content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]}, True),
        ({"content": "So.", "reasoning_content": "Hm."}, False),
        ({"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "So."}]}, False),
        ({"content": None, "reasoning_content": "Hm.", "tool_calls": [CALL]}, False),
        ({"content": None}, False),
    ],
)
def test_a_message_that_only_reasons_is_told_from_one_that_speaks(
    extra: dict[str, Any], reasons: bool
) -> None:
    [message] = read_messages([{"role": "assistant", **extra}])
    assert message.reasons is reasons


def test_every_fault_is_reported_at_once_with_its_place() -> None:
    chat = [
        {"content": "no role"}, {"role": "human", "content": "x"}, "text", {"role": "user", "content": 3},
        {"role": "user", "content": [{"type": "text"}, {"text": "x"}, "x", {"type": "video"}]},
        {"role": "assistant", "tool_calls": "c"}, {"role": "assistant", "tool_calls": [{"function": {}}, 1]},
        {"role": "assistant", "function_call": "f"}, {**ASK, "id": ""}, {**ASK, "id": 5},
        {**ASK, "id": "a"}, {**ASK, "id": "a"},
        {**ASK, "id": "\ud800"},
    ]  # fmt: skip
    assert faults_of(chat) == [
        ("role_missing", 0, "role"), ("unknown_role", 1, "role"), ("not_an_object", 2, None),
        ("content_type", 3, "content"),
        ("part_type", 4, "content[0]"), ("part_type", 4, "content[1]"), ("part_type", 4, "content[2]"),
        ("unknown_part", 4, "content[3]"), ("calls_type", 5, "tool_calls"),
        ("call_id_missing", 6, "tool_calls[0].id"),
        ("calls_type", 6, "tool_calls[1]"), ("calls_type", 7, "function_call"), ("id_type", 8, "id"),
        ("id_type", 9, "id"),
        ("duplicate_id", (10, 11), "id"), ("id_type", 12, "id"),
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [3, None, '"text"', "7", {"messages": "x"}, {"messages": {"role": "user"}}])
def test_what_is_no_chat_is_said_so(wrong: Any) -> None:
    assert faults_of(wrong)[0][0] == "not_messages"


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "empty"), ("{", "not_json"), (b"\xff", "not_utf8"), ('{"role": "user"}\n{', "not_json")],
)
def test_what_is_no_json_is_said_so(text: str | bytes, code: str) -> None:
    assert faults_of(text)[0][0] == code


def test_every_broken_line_is_named() -> None:
    text = '{"role": "user", "content": "a"}\n{\n\n[1,\n{"role": "user"}'
    with pytest.raises(InvalidInstance, match=r"2 faults in the chat\n.*line 2: .*\n.*line 4: "):
        read_messages(text)


def test_a_key_that_stands_there_twice_is_a_fault() -> None:
    text = '[{"role": "user", "role": "system", "content": [{"type": "text", "text": "a", "text": "b"}]}]'
    assert faults_of(text) == [
        ("duplicate_key", 0, "role"), ("duplicate_key", 0, "text"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"role": "user", "content": "x", "a": {"b": [float("nan")]}}, "not_finite"),
        ({"role": "user", "content": "x", "a": float("inf")}, "not_finite"),
        ({"role": "tool", "content": "x", "tool_call_id": {}}, "call_id_type"),
        ({"role": "tool", "content": "x", "tool_call_id": 5}, "call_id_type"),
    ],
)
def test_what_cannot_be_sent_on_is_a_fault(message: dict[str, Any], code: str) -> None:
    assert [found[0] for found in faults_of([message])] == [code]


@pytest.mark.parametrize("levels", [201, 900])
def test_a_message_that_is_nested_too_deeply_is_a_fault(levels: int) -> None:
    deep: Any = []
    for _ in range(levels):
        deep = [deep]
    assert faults_of([{"role": "user", "content": "x", "a": deep}]) == [("too_deep", 0, None)]


def test_messages_named_twice_are_a_fault() -> None:
    assert faults_of('{"messages": [], "messages": []}') == [("duplicate_key", None, "messages")]


def test_a_broken_line_is_known_by_its_place_too() -> None:
    found = faults_of('{"role": "user", "content": "a"}\n{')
    assert [(code, index) for code, index, _ in found] == [("not_json", 1)]


def test_low_detail_is_of_images_alone() -> None:
    part = {"type": "input_audio", "input_audio": {"data": "", "detail": "low"}}
    [message] = read_messages([{"role": "user", "content": [part]}])
    assert message.content.fixed == COSTS["input_audio"]
