"""Chats replayed: the messages of one talk, and where in it something is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Messages = list[dict[str, Any]]


@dataclass(frozen=True)
class Talk:
    """A talk from its first message to its last.

    Attributes
    ----------
    name
        Unique in its data set.
    messages
        OpenAI chat dicts.
    cuts
        Increasing numbers of messages: how many had been said each time something was sent.
    """

    name: str
    messages: Messages
    cuts: tuple[int, ...]

    def chats(self) -> Iterator[Messages]:
        """Yield what had been said at every cut."""
        return (self.messages[:cut] for cut in self.cuts)
