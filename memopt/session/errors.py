"""What can go wrong between turns."""

from __future__ import annotations

from collections.abc import Sequence

from memopt.allocation import Allocation
from memopt.errors import Faulty, MemoptError


class InvalidState(MemoptError):
    """A stored state is broken: a key is missing, or its numbers contradict one another."""

    def __init__(self, what: str, reason: str) -> None:
        self.what, self.reason = what, reason
        super().__init__(f"the stored state of the {what} is broken: {reason}")


class InvalidOutcome(Faulty):
    """An outcome cannot be credited; nothing was counted."""

    what, lacking = "outcome", "is no outcome that can be credited"


class FidelityViolation(MemoptError):
    """A choice would give back what an item has lost; only a refresh may do that."""

    def __init__(self, item: str, reason: str) -> None:
        self.item, self.reason = item, reason
        super().__init__(f"item {item!r}: {reason}; only a refresh lifts that")


class InvalidConfig(MemoptError):
    """A session cannot be configured so."""


class InvalidEvent(MemoptError):
    """What was read is no event: a key is missing or unknown, or a value is of the wrong type."""


class InvalidLog(MemoptError):
    """What was to be replayed is no log of a session."""


class InvalidPut(MemoptError):
    """An original cannot be put into the archive; nothing was."""


class InvalidRefresh(MemoptError):
    """Items to be refreshed have no original; none was opened."""

    def __init__(self, items: Sequence[str]) -> None:
        self.items = tuple(items)
        named = ", ".join(map(repr, self.items))
        super().__init__(f"there is no original of {named}; put it first. Nothing was refreshed")


class InfeasibleTurn(MemoptError):
    """A turn has no selection; the session is as it was. ``allocation`` says why, and ``more`` what else.

    Attributes
    ----------
    allocation
        Infeasible, with what is short.
    """

    def __init__(self, allocation: Allocation, more: str = "") -> None:
        self.allocation = allocation
        super().__init__(f"infeasible ({allocation.code}): {allocation.message}{more}")


class StoreFailed(MemoptError):
    """A database could not be opened, read or written; nothing of the call was stored."""


class StoreMissing(MemoptError):
    """A package that a store needs is not installed; the message names what brings it."""
