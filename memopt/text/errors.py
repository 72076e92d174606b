"""What can go wrong between a chat and its items."""

from __future__ import annotations

from collections.abc import Sequence

from memopt.errors import InvalidInstance, MemoptError


class InvalidMessages(InvalidInstance):
    """A chat cannot be read; each fault has the index of its message."""

    what, lacking = "chat", "holds no chat that can be read"


class UnknownTokenizer(MemoptError):
    """No tokenizer has that name."""

    code = "unknown_tokenizer"

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        super().__init__(f"there is no tokenizer {name!r}; known are {', '.join(known)}")


class TokenizerUnavailable(MemoptError):
    """A tokenizer's package or vocabulary is not on this machine; nothing is ever downloaded."""

    code = "tokenizer_unavailable"

    def __init__(self, name: str, reason: str, ways: Sequence[str]) -> None:
        self.name, self.reason, self.ways = name, reason, tuple(ways)
        super().__init__(f"tokenizer {name!r} is not available: {reason}. Ways out: {'; '.join(ways)}")


class WrongCount(MemoptError):
    """A counting function of the caller's returned something that is no token count."""

    code = "wrong_count"

    def __init__(self, name: str, read: object) -> None:
        self.name = name
        super().__init__(f"tokenizer {name!r} must return an integer >= 0, it returned {read!r}")


class OtherChat(MemoptError):
    """The turn of that id was recorded for something else; nothing was changed."""

    code = "other_chat"

    def __init__(self, event_id: str) -> None:
        self.event_id = event_id
        what = "for other messages than these, by another tokenizer, or for a larger budget"
        super().__init__(f"the turn {event_id!r} was recorded before {what}: nothing is changed")


class InvalidUsage(MemoptError):
    """A provider's usage report says nothing that can be used."""
