"""Chats replayed: the messages of one talk, and where in it something is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "shared" / "data"
"""Where the data lies beside the repository."""

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
        Numbers of messages, increasing: so many had been said whenever something was sent.
    """

    name: str
    messages: Messages
    cuts: tuple[int, ...]

    def chats(self) -> Iterator[Messages]:
        """Yield what had been said at every cut."""
        return (self.messages[:cut] for cut in self.cuts)
