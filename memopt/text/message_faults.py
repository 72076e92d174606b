"""Every fault of a chat, each with the index of its message."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memopt.errors import Fault, as_read, writable
from memopt.jsontext import RepeatedKeys
from memopt.text.content import TEXTS, cost_of

ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def message_faults(messages: Sequence[Any], costs: Mapping[str, int]) -> list[Fault]:
    """Return every fault of the messages, in their order."""
    found: list[Fault] = []
    places: defaultdict[str, list[int]] = defaultdict(list)
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            hint = "; model_dump() makes one of an SDK's object" if hasattr(message, "model_dump") else ""
            found.append(_fault("not_an_object", index, f"is no object{hint}", None, message))
            continue
        name = message.get("id")
        if isinstance(name, str) and name and writable(name) == name:
            places[name].append(index)
        elif name is not None:
            found.append(_fault("id_type", index, "has an id that is no text, or an empty one", "id", name))
        found += [*_role(index, message), *_content(index, message.get("content"), costs)]
        found += [*_calls(index, message), *_repeats(index, message)]
    for name, indices in places.items():
        if len(indices) > 1:
            message = f"messages {indices} have the same id {name!r}"
            found.append(Fault("duplicate_id", message, name, None, "id", tuple(indices), as_read(name)))
    return sorted(
        found, key=lambda fault: fault.index[0] if isinstance(fault.index, tuple) else fault.index or 0
    )


def _fault(code: str, index: int, reason: str, field: str | None, read: Any) -> Fault:
    return Fault(code, f"message {index} {reason}", None, None, field, index, as_read(read))


def _role(index: int, message: Mapping[str, Any]) -> Iterator[Fault]:
    role = message.get("role")
    if role is None:
        yield _fault("role_missing", index, "has no role", "role", None)
    elif role not in ROLES:
        reason = f"has the role {as_read(role)!r}; known are {', '.join(ROLES)}"
        yield _fault("unknown_role", index, reason, "role", role)


def _content(index: int, content: Any, costs: Mapping[str, int]) -> Iterator[Fault]:
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, Sequence) or isinstance(content, bytes):
        reason = "has content that is neither null, nor text, nor a list of parts"
        yield _fault("content_type", index, reason, "content", content)
        return
    for number, part in enumerate(content):
        field = f"content[{number}]"
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(kind, str):
            yield _fault("part_type", index, f"has a part {number} without a type", field, part)
        elif kind in TEXTS and not isinstance(part.get(TEXTS[kind]), str):
            reason = f"has a part {number} of type {kind!r} without text under {TEXTS[kind]!r}"
            yield _fault("part_type", index, reason, field, part)
        elif kind not in TEXTS and cost_of(part) not in costs:
            known = ", ".join([*TEXTS, *costs])
            reason = (
                f"has a part {number} of unknown type {kind!r}, which may cost anything; known are {known}"
            )
            yield _fault("unknown_part", index, reason, field, kind)


def _calls(index: int, message: Mapping[str, Any]) -> Iterator[Fault]:
    calls, legacy = message.get("tool_calls"), message.get("function_call")
    if calls is not None and (not isinstance(calls, Sequence) or isinstance(calls, (str, bytes))):
        yield _fault("calls_type", index, "has tool_calls that are no list", "tool_calls", calls)
        calls = None
    if legacy is not None and not isinstance(legacy, Mapping):
        yield _fault("calls_type", index, "has a function_call that is no object", "function_call", legacy)
    for number, call in enumerate(calls or ()):
        field = f"tool_calls[{number}]"
        if not isinstance(call, Mapping):
            yield _fault("calls_type", index, f"has a tool call {number} that is no object", field, call)
        elif not isinstance(call.get("id"), str) or not call["id"]:
            reason = f"has a tool call {number} without an id: nothing can be its result"
            yield _fault("call_id_missing", index, reason, f"{field}.id", call.get("id"))


def _repeats(index: int, part: Any, path: str = "") -> Iterator[Fault]:
    if isinstance(part, RepeatedKeys):
        for key in part.repeated:
            reason = f"has the key {key!r} more than once" + (f" in {path}" if path else "")
            yield _fault("duplicate_key", index, reason, key, key)
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _repeats(index, value, f"{path}.{key}" if path else key)
    elif isinstance(part, list):
        for number, value in enumerate(part):
            yield from _repeats(index, value, f"{path}[{number}]")
