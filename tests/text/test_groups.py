"""Calls stay with their results, whatever stands between them; what has no partner gets none."""

from __future__ import annotations

from typing import Any

from chats import chats
from hypothesis import given
from hypothesis import strategies as st

from memopt.text.groups import Groups, group
from memopt.text.messages import read_messages

USER = {"role": "user", "content": "hm?"}
THINKS = {"role": "assistant", "content": None, "reasoning_content": "Let me see."}
SAYS = {"role": "assistant", "content": "So it is."}


def call(*names: str) -> dict[str, Any]:
    calls = [{"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}} for name in names]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(name: str | None) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": "done"}


def grouped(*chat: dict[str, Any]) -> Groups:
    return group(read_messages(list(chat)))


def told(groups: Groups) -> list[tuple[int | tuple[int, ...] | None, str]]:
    return [(fault.index, fault.code) for fault in groups.diagnostics]


def test_interleaved_calls_and_results_find_one_another() -> None:
    groups = grouped(call("a", "b"), USER, call("c"), result("b"), result("c"), USER, result("a"))
    assert groups.groups == ((0, 3, 6), (1,), (2, 4), (5,))
    assert told(groups) == []


def test_reasoning_goes_with_what_follows_it() -> None:
    assert grouped(THINKS, THINKS, call("a"), USER, result("a")).groups == ((0, 1, 2, 4), (3,))
    assert grouped(THINKS, SAYS, SAYS).groups == ((0, 1), (2,))
    assert grouped(THINKS, USER, SAYS, THINKS).groups == ((0,), (1,), (2,), (3,))


def test_a_call_with_some_results_is_pending_and_keeps_them() -> None:
    groups = grouped(call("a", "b"), result("a"), USER)
    assert groups.groups == ((0, 1), (2,))
    assert groups.pending == {0}
    assert told(groups) == [(0, "pending_call")]
    assert "'b'" in groups.diagnostics[0].message


def test_a_result_before_its_call_or_without_an_id_has_no_call() -> None:
    groups = grouped(result("a"), call("a"), result(None))
    assert groups.groups == ((0,), (1,), (2,))
    assert (groups.orphans, groups.pending) == ({0, 2}, {1})
    assert told(groups) == [(0, "orphan_result"), (1, "pending_call"), (2, "orphan_result")]


def test_an_id_used_again_after_its_result_names_the_new_call() -> None:
    groups = grouped(call("a"), result("a"), call("a"), result("a"))
    assert groups.groups == ((0, 1), (2, 3))
    assert told(groups) == [(2, "duplicate_call_id")]


def test_calls_that_one_id_names_at_once_are_one_group() -> None:
    groups = grouped(call("a"), call("a"), result("a"), result("a"))
    assert groups.groups == ((0, 1, 2, 3),)
    assert told(groups) == [(1, "duplicate_call_id")]
    assert grouped(call("a", "a"), result("a")).pending == {0}


def test_one_more_result_of_a_call_goes_with_it() -> None:
    groups = grouped(call("a"), result("a"), USER, result("a"))
    assert groups.groups == ((0, 1, 3), (2,))
    assert told(groups) == [(3, "duplicate_result")]


def test_calls_of_the_form_before_tool_calls_are_known_by_name() -> None:
    asks = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    answers = {"role": "function", "name": "f", "content": "done"}
    groups = grouped(asks, answers, asks, answers, {**answers, "name": "g"})
    assert groups.groups == ((0, 1), (2, 3), (4,))
    assert told(groups) == [(4, "orphan_result")]


def test_a_diagnostic_names_the_message_and_its_id() -> None:
    groups = grouped({**result("gone"), "id": "r7"})
    assert groups.diagnostics[0].item == "r7"
    assert (
        groups.diagnostics[0].message
        == "message 0 is a result but has no call 'gone' before it; it is left out"
    )


@given(chats())
def test_every_message_is_in_one_group_and_no_call_is_apart_from_a_result(chat: list[dict[str, Any]]) -> None:
    groups = group(read_messages(chat))
    assert sorted(index for members in groups.groups for index in members) == list(range(len(chat)))
    assert groups.groups == tuple(sorted(groups.groups))
    home = {index: members for members in groups.groups for index in members}
    caller = {each["id"]: at for at, message in enumerate(chat) for each in message.get("tool_calls", ())}
    answers = {message["tool_call_id"]: at for at, message in enumerate(chat) if message["role"] == "tool"}
    assert all(home[at] is home[caller[name]] for name, at in answers.items())
    assert groups.pending == {at for name, at in caller.items() if name not in answers}
    assert not groups.orphans


@given(st.permutations([call("a", "b"), call("c"), result("a"), result("b"), result("c"), USER, SAYS]))
def test_any_order_ends_with_every_result_in_its_calls_group_or_diagnosed(chat: list[dict[str, Any]]) -> None:
    groups = grouped(*chat)
    where = {message.get("tool_call_id"): at for at, message in enumerate(chat)}
    for at, message in enumerate(chat):
        for each in message.get("tool_calls", ()):
            answer = where[each["id"]]
            together = any({at, answer} <= set(members) for members in groups.groups)
            assert together == (answer > at) == (answer not in groups.orphans)
            assert answer > at or at in groups.pending


def test_a_result_answers_the_first_of_the_calls_under_its_id() -> None:
    assert grouped(call("a"), call("a"), result("a")).pending == {1}


def test_a_pending_call_names_what_is_missing_alone() -> None:
    (fault,) = grouped(call("a", "b"), result("a")).diagnostics
    assert fault.message == "message 0 waits for the result of 'b'; it is pinned"
