"""A history of pydantic-ai as a chat, and what was chosen of the chat as a history again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from pydantic_ai.messages import ModelMessage, TextPart

from memopt.adapters.objects import kept, named
from memopt.adapters.pydantic_ai_parts import dicts


class Piece(NamedTuple):
    """What a message holds: the response itself, or a part of a request."""

    number: int
    held: Any


class History:
    """A history as a chat.

    Parameters
    ----------
    messages
        The messages, which nobody changes.

    Attributes
    ----------
    chat
        Chat dicts with ids: a response is one, every part of a request another.
    pinned
        Ids of the newest question, of a response that is to be gone on with or done again, of compactions,
        and of results that the framework reads itself: they loaded tools.
    """

    def __init__(self, messages: Sequence[ModelMessage]) -> None:
        self._messages = messages
        told = [
            (Piece(index, held), given) for index, each in enumerate(messages) for held, given in dicts(each)
        ]
        self._pieces = [piece for piece, _ in told]
        self.chat = named([given for _, given in told])
        question = max(
            (n for n, piece in enumerate(self._pieces) if _kind(piece) == "user-prompt"), default=-1
        )
        self.pinned = [
            given["id"]
            for number, (piece, given) in enumerate(zip(self._pieces, self.chat, strict=True))
            if number == question or self._stays(piece)
        ]

    def left(self, sent: Sequence[Mapping[str, Any]]) -> list[ModelMessage]:
        """Return what is left of the messages: the very objects, and copies of those that changed."""
        pieces = kept(self._pieces, self.chat, sent, _with_text)
        held = {
            index: [piece.held for piece in some]
            for index, some in groupby(pieces, lambda piece: piece.number)
        }
        return list(self._left(held))

    def _left(self, held: Mapping[int, list[Any]]) -> Iterator[ModelMessage]:
        for index, message in enumerate(self._messages):
            parts = held.get(index, [])
            if message.kind == "response":
                yield from parts
            elif len(parts) == len(message.parts) and all(
                a is b for a, b in zip(parts, message.parts, strict=True)
            ):
                yield message
            elif parts:
                yield replace(message, parts=parts)

    def _stays(self, piece: Piece) -> bool:
        if piece.number == len(self._messages) - 1 and _kind(piece) in (None, "retry-feedback"):
            return True
        parts = piece.held.parts if _kind(piece) is None else [piece.held]
        return any(part.part_kind == "compaction" or getattr(part, "tool_kind", None) for part in parts)


def _kind(piece: Piece) -> str | None:
    """Return the kind of a part of a request; None for a response."""
    kind: str | None = getattr(piece.held, "part_kind", None)
    return kind


def _with_text(piece: Piece, text: str) -> Piece:
    """Return a copy with another text; in a response a new part, for a provider's id names the old text."""
    if _kind(piece) is not None:
        return piece._replace(held=replace(piece.held, content=text))
    parts = piece.held.parts
    first = next(part for part in parts if isinstance(part, TextPart))
    others = [part for part in parts if part is first or not isinstance(part, TextPart)]
    return piece._replace(
        held=replace(piece.held, parts=[TextPart(text) if part is first else part for part in others])
    )
