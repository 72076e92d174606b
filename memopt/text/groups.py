"""Which messages belong together: reasoning, the assistant's call, and all its results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memopt.errors import Fault
from memopt.text.messages import Message


@dataclass(frozen=True, slots=True)
class Groups:
    """The messages of a chat, sorted into what must be sent together.

    Attributes
    ----------
    groups
        Indices of the messages of every group, a message alone being one; by their first message.
    pending
        Indices of messages with a tool call that has no result yet: they are pinned.
    orphans
        Indices of results without a call: they cannot be sent, since providers refuse the whole
        request for one. They are left out, not given a partner, and the rest goes on.
    diagnostics
        What is odd, by index: ``orphan_result``, ``pending_call``, ``duplicate_call_id`` (a call under
        an id used before), ``duplicate_result`` (one more result of a call). None stops anything.
    """

    groups: tuple[tuple[int, ...], ...]
    pending: frozenset[int]
    orphans: frozenset[int]
    diagnostics: tuple[Fault, ...]

    def of_several(self) -> Iterator[tuple[int, ...]]:
        """Yield the groups that have more than one message."""
        return (group for group in self.groups if len(group) > 1)


def group(messages: Sequence[Message]) -> Groups:
    """Sort messages into groups.

    A result belongs to the earlier call whose id it names, wherever between the two other messages
    stand. Reasoning belongs to the assistant's message right after it. Where one id names several
    calls at once, nobody can tell whose result is whose: their messages are one group.
    """
    joined = _Sets(len(messages))
    waiting: defaultdict[str, list[int]] = defaultdict(list)  # calls without a result, by id
    answered: dict[str, int] = {}
    orphans = set()
    found: list[Fault] = []
    for message in messages:
        index = message.index
        if index and message.role == "assistant" and messages[index - 1].reasons:
            joined.join(index - 1, index)
        for call in message.calls:
            found += _used_before(message, call, waiting, answered)
            if waiting[call]:
                joined.join(waiting[call][0], index)
            waiting[call].append(index)
        if message.answers is None:
            continue
        if waiting[message.answers]:
            answered[message.answers] = waiting[message.answers].pop(0)
        elif message.answers in answered:
            reason = f"is one more result of the call {message.answers!r}"
            found.append(_odd("duplicate_result", message, reason))
        else:
            orphans.add(index)
            reason = "names no call" if not message.answers else f"has no call {message.answers!r} before it"
            found.append(_odd("orphan_result", message, f"is a result but {reason}; it is left out"))
            continue
        joined.join(answered[message.answers], index)
    pending = {index for calls in waiting.values() for index in calls}
    for index in pending:
        missing = [call for call in messages[index].calls if index in waiting[call]]
        reason = f"waits for the result of {', '.join(map(repr, missing))}; it is pinned"
        found.append(_odd("pending_call", messages[index], reason))
    found.sort(key=lambda fault: (fault.index, fault.code))
    return Groups(joined.sets(), frozenset(pending), frozenset(orphans), tuple(found))


def _used_before(
    message: Message, call: str, waiting: dict[str, list[int]], answered: dict[str, int]
) -> Iterator[Fault]:
    if message.raw.get("function_call"):  # known by the function's name, not by an id
        return
    if waiting[call] or call in answered:
        before = waiting[call][-1] if waiting[call] else answered[call]
        reason = f"makes a call under the id {call!r}, which message {before} used"
        yield _odd("duplicate_call_id", message, reason)


def _odd(code: str, message: Message, reason: str) -> Fault:
    return Fault(code, f"message {message.index} {reason}", message.id, None, None, message.index)


class _Sets:
    """Disjoint sets of indices; a set is known by its first."""

    def __init__(self, size: int) -> None:
        self._first = list(range(size))

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self._find(one), self._find(other)))
        self._first[high] = low

    def sets(self) -> tuple[tuple[int, ...], ...]:
        members: defaultdict[int, list[int]] = defaultdict(list)
        for index in range(len(self._first)):
            members[self._find(index)].append(index)
        return tuple(map(tuple, members.values()))

    def _find(self, index: int) -> int:
        while self._first[index] != index:
            self._first[index] = index = self._first[self._first[index]]
        return index
