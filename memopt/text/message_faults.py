"""Every fault of a chat, each with the index of its message."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from memopt.errors import Fault, as_read, writable
from memopt.jsontext import RepeatedKeys
from memopt.text.content import TEXTS, cost_of
from memopt.text.errors import InvalidMessages

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_SPEAKERS = frozenset(ROLES)
DEEPEST = 200
"""Levels of lists and objects in one another that a message may have; what writes it has a limit, too."""


def message_faults(messages: Sequence[Any], costs: Mapping[str, int]) -> list[Fault]:
    """Return every fault of the messages, in their order."""
    found: list[Fault] = []
    places: defaultdict[str, list[int]] = defaultdict(list)
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            hint = "; model_dump() makes one of an SDK's object" if hasattr(message, "model_dump") else ""
            found.append(_fault("not_an_object", index, f"is no object{hint}", None, message))
            continue
        if type(message) is dict and message.keys() <= _PLAIN and _is_plain(message):
            continue
        name = message.get("id")
        if isinstance(name, str) and name and writable(name) == name:
            places[name].append(index)
        elif name is not None:
            found.append(_fault("id_type", index, "has an id that is no text, or an empty one", "id", name))
        found += [*_role(index, message), *_content(index, message.get("content"), costs)]
        found += [*_calls(index, message), *_values(index, message)]
    for name, indices in places.items():
        if len(indices) > 1:
            message = f"messages {indices} have the same id {name!r}"
            found.append(Fault("duplicate_id", message, name, None, "id", tuple(indices), as_read(name)))
    return sorted(
        found, key=lambda fault: fault.index[0] if isinstance(fault.index, tuple) else fault.index or 0
    )


_PLAIN = frozenset({"role", "content", "name", "tool_call_id"})


def _is_plain(message: dict[str, Any]) -> bool:
    """Whether a look is enough: most messages are a known role and texts, and a turn has milliseconds."""
    return all(type(value) is str for value in message.values()) and message.get("role") in _SPEAKERS


def named_once(given: object) -> None:
    """Refuse an object around messages or texts that names a key twice: one of them would be lost.

    Raises
    ------
    InvalidMessages
        With code ``duplicate_key``.
    """
    repeated = given.repeated if isinstance(given, RepeatedKeys) else ()
    if repeated:
        raise InvalidMessages(
            [
                Fault("duplicate_key", f"the key {key!r} is there more than once", field=key)
                for key in repeated
            ]
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
    answers = message.get("tool_call_id")
    if not isinstance(answers, str | None):
        yield _fault("call_id_type", index, "has a tool_call_id that is no text", "tool_call_id", answers)
    for number, call in enumerate(calls or ()):
        field = f"tool_calls[{number}]"
        if not isinstance(call, Mapping):
            yield _fault("calls_type", index, f"has a tool call {number} that is no object", field, call)
        elif not isinstance(call.get("id"), str) or not call["id"]:
            reason = f"has a tool call {number} without an id: nothing can be its result"
            yield _fault("call_id_missing", index, reason, f"{field}.id", call.get("id"))


def _values(index: int, message: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what JSON cannot hold, or should hold once, wherever it stands in a message."""
    found: list[tuple[Any, str, int]] = [(message, "", 1)]
    while found:
        part, path, depth = found.pop()
        if isinstance(part, float):
            yield _fault("not_finite", index, f"holds {part} in {path}, which no JSON can hold", path, part)
            continue
        if depth > DEEPEST:
            yield _fault("too_deep", index, f"is nested in more than {DEEPEST} levels", None, None)
            return
        for key in part.repeated if isinstance(part, RepeatedKeys) else ():
            reason = f"has the key {key!r} more than once" + (f" in {path}" if path else "")
            yield _fault("duplicate_key", index, reason, key, key)
        found += [
            (value, _below(path, key), depth + 1)
            for key, value in (part.items() if isinstance(part, Mapping) else enumerate(part))
            if isinstance(value, (dict, list, tuple)) or (isinstance(value, float) and not isfinite(value))
        ]


def _below(path: str, key: object) -> str:
    return f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}" if path else str(key)
