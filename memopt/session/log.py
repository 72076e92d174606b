"""Where events and state are kept: the protocol, and the one that keeps them in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from memopt.session.events import START, Record
from memopt.session.state import Key, State


class Transaction(Protocol):
    """A view of one session's log that no other writer changes while it lasts."""

    def length(self) -> int:
        """Return the number of events; 0 for a session that does not exist yet."""
        ...

    def digest(self, number: int) -> str | None:
        """Return the digest of the events up to one, None where there is no such event."""
        ...

    def load(self) -> State | None:
        """Return the stored state, None where there is none."""
        ...

    def since(self, number: int) -> Iterator[Record]:
        """Yield the events after one, in order."""
        ...

    def find(self, ids: Sequence[str]) -> dict[str, Record]:
        """Return the events of these ids, by id; absent ones are left out."""
        ...

    def at(self, numbers: Sequence[int]) -> list[Record]:
        """Return the events of these numbers, in any order."""
        ...

    def append(self, records: Sequence[Record], changed: Iterable[Key], state: State) -> None:
        """Add events, and make the rows changed those of the state."""
        ...


class Log(Protocol):
    """Keeps one session."""

    def reading(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that only reads."""
        ...

    def writing(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that excludes every other writer of the session."""
        ...


class MemoryLog:
    """Keeps events in memory; the state lives in the `Session` that uses it."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._number: dict[str, int] = {}

    @contextmanager
    def reading(self) -> Iterator[MemoryLog]:
        """Begin a transaction."""
        yield self

    writing = reading

    def length(self) -> int:
        """Return the number of events."""
        return len(self._records)

    def digest(self, number: int) -> str | None:
        """Return the digest of the events up to one."""
        return self._records[number - 1].digest if number else START

    def load(self) -> State | None:
        """Return None: the events are all there is."""
        return None

    def since(self, number: int) -> Iterator[Record]:
        """Yield the events after one, in order."""
        yield from self._records[number:]

    def find(self, ids: Sequence[str]) -> dict[str, Record]:
        """Return the events of these ids."""
        return {name: self._records[self._number[name] - 1] for name in ids if name in self._number}

    def at(self, numbers: Sequence[int]) -> list[Record]:
        """Return the events of these numbers."""
        return [self._records[number - 1] for number in numbers]

    def append(self, records: Sequence[Record], changed: Iterable[Key], state: State) -> None:
        """Add events."""
        self._records += records
        self._number.update((record.event.id, record.event.number) for record in records)
