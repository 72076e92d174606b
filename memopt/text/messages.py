"""OpenAI chat dicts as messages: read once, every fault at once, the original kept as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memopt.errors import Fault
from memopt.text.chat_json import parse
from memopt.text.content import COSTS, Content, read_content
from memopt.text.errors import InvalidMessages
from memopt.text.message_faults import message_faults, named_once

_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking", "thinking_blocks")


@dataclass(frozen=True, eq=False, slots=True)
class Message:
    """One chat message.

    Attributes
    ----------
    id
        Unique: the ``id`` it has, else ``m`` and its index.
    index
        Position in the chat.
    role
        ``system``, ``developer``, ``user``, ``assistant``, ``tool`` or ``function``.
    raw
        The message as it was given; nobody changes it.
    content
        What its content says and costs.
    head, tail
        All else that is sent with it, as text, before and after its content: role, name, reasoning,
        tool calls with their names and arguments, and any further key as JSON.
    calls
        Ids of the tool calls it makes.
    answers
        Id of the tool call that it is the result of; None = it is no result. Empty = it names none.
    reasons
        Whether reasoning is all it holds.
    """

    id: str
    index: int
    role: str
    raw: Mapping[str, Any]
    content: Content
    head: str
    tail: str
    calls: tuple[str, ...]
    answers: str | None
    reasons: bool

    def text(self, content: str | None = None) -> str:
        """Return the message as text, with other content if it is given; ends with a line break."""
        said = self.content.text if content is None else content
        return f"{self.head}{said}\n{self.tail}" if said else self.head + self.tail

    def to_dict(self, content: str | None = None) -> dict[str, Any]:
        """Return the message as it was given, or the same with other text for its content."""
        made = dict(self.raw)
        if content is not None:
            made["content"] = self.content.replaced_by(content)
        return made


def read_messages(
    chat: str | bytes | Sequence[Any] | Mapping[str, Any], costs: Mapping[str, int] = COSTS
) -> tuple[Message, ...]:
    """Read a chat.

    Parameters
    ----------
    chat
        A list of chat dicts, an object that has one under ``messages``, or the JSON text of either;
        or JSON Lines, one message a line.
    costs
        Tokens of a content part that is no text, by type; a part of any other type is a fault.

    Returns
    -------
    tuple of Message
        One a chat dict, in order. Ids are told apart by position, never by text: equal texts are
        different messages. A message that others are removed in front of keeps its id only if it
        has an ``id`` of its own.

    Raises
    ------
    InvalidMessages
        With every fault found: those of `memopt.jsontext.parse`, ``not_messages``, ``not_an_object``,
        ``role_missing``, ``unknown_role``, ``content_type``, ``part_type``, ``unknown_part``,
        ``calls_type``, ``call_id_missing``, ``call_id_type``, ``id_type``, ``duplicate_id``,
        ``duplicate_key``, ``not_finite``, ``too_deep``.
    """
    given: Any = parse(chat) if isinstance(chat, (str, bytes)) else chat
    if isinstance(given, Mapping) and "messages" in given and "role" not in given:
        named_once(given)
        given = given["messages"]
    elif isinstance(given, Mapping):
        given = [given]
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise InvalidMessages([Fault("not_messages", "a chat is a list of messages", field="messages")])
    faults = message_faults(given, costs)
    if faults:
        raise InvalidMessages(faults)
    taken = {message["id"] for message in given if message.get("id") is not None}
    return tuple(_message(index, message, taken, costs) for index, message in enumerate(given))


def _message(index: int, raw: Mapping[str, Any], taken: set[str], costs: Mapping[str, int]) -> Message:
    content = read_content(raw.get("content"), costs)
    asked = tuple(str(call["id"]) for call in raw.get("tool_calls") or ())
    if raw.get("function_call"):
        asked += (_legacy(raw["function_call"].get("name")),)
    role = raw["role"]
    answers = None
    if role == "tool":
        answers = raw.get("tool_call_id") or ""
    elif role == "function":
        answers = _legacy(raw.get("name"))
    thinks = content.reasoning or any(raw.get(key) for key in _REASONING)
    says = content.text != content.reasoning or content.fixed or asked or raw.get("refusal")
    head, tail = _around(raw)
    return Message(
        id=raw.get("id") or _free(index, taken), index=index, role=role, raw=raw, content=content,
        head=head, tail=tail, calls=asked, answers=answers,
        reasons=bool(role == "assistant" and thinks and not says),
    )  # fmt: skip


def _free(index: int, taken: set[str]) -> str:
    name = f"m{index}"
    while name in taken:
        name += "'"
    return name


def _legacy(name: Any) -> str:
    """Return the id of a call in the form before tool calls, which was known by its function's name."""
    return f"function_call {name}"


def _around(raw: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a message says before and after its content, each line ended."""
    sides = [[raw["role"]], []]
    side = 0
    for key, value in raw.items():
        if key == "content":
            side = 1
        elif key == "tool_calls":
            sides[side] += [_call(call) for call in value or ()]
        elif key not in ("role", "id") and value is not None:
            sides[side].append(_plain(value))
    head, tail = sides
    return "\n".join([*head, ""]), "\n".join([*tail, ""])


def _call(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    if not isinstance(function, Mapping):
        return _plain(call)
    return " ".join(
        _plain(part) for part in (call["id"], function.get("name"), function.get("arguments")) if part
    )


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
