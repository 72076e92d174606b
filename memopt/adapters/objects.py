"""A framework's message objects around a fit: known by ids on the way in, found again on the way out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

T = TypeVar("T")


def content_of(parts: Sequence[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Return the content of a chat dict: one text, which may shrink, where all parts are text."""
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return list(parts)


def as_it_is(shown: Any, kind: str = "output_text") -> dict[str, str]:
    """Return a part that is counted as JSON text and never shrinks: nobody can tell what it holds."""
    return {"type": kind, "text": json_text(shown)}


def plain(value: Any) -> Any:
    """Return what JSON can hold of a value: objects as texts; all of it as one where that is not enough."""
    try:
        return json.loads(json.dumps(value, default=str))
    except (TypeError, ValueError):  # keys that are no text, or a value that holds itself
        return str(value)


def json_text(value: Any) -> str:
    """Return any value as JSON text."""
    return json.dumps(plain(value), ensure_ascii=False)


def named(chat: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return chat dicts with an id each: their own, else one made of what they say.

    A position is no name: a message that others are put in front of must stay the same one for a session.
    """
    seen: set[str] = set()
    found = []
    for given in chat:
        name = given.get("id") or _digest(given)
        while name in seen:
            name += "'"
        seen.add(name)
        found.append({**given, "id": name})
    return found


def kept(
    messages: Sequence[T],
    chat: Sequence[Mapping[str, Any]],
    sent: Sequence[Mapping[str, Any]],
    with_text: Callable[[T, str], T],
) -> list[T]:
    """Return the messages to send: the very objects, or copies by `with_text` of those that shrank.

    Parameters
    ----------
    messages, chat
        The objects, and beside each its chat dict with its id.
    sent
        What was chosen of the dicts.
    with_text
        Returns a copy of an object with another text.
    """
    chosen = {given["id"]: given["content"] for given in sent}
    return [
        message if chosen[given["id"]] == given["content"] else with_text(message, chosen[given["id"]])
        for message, given in zip(messages, chat, strict=True)
        if given["id"] in chosen
    ]


def _digest(given: Mapping[str, Any]) -> str:
    return blake2b(json.dumps(plain(given)).encode(), digest_size=16).hexdigest()


def newest_question(chat: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the id of the last message of the user, alone in a list; an empty list when there is none."""
    return [given["id"] for given in chat if given["role"] == "user"][-1:]
