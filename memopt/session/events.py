"""The events of a session: append-only, each with an id, JSON in and out to the last bit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cache
from json.encoder import encode_basestring
from math import isfinite
from types import NoneType
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import ConfigDict, Strict, TypeAdapter, ValidationError

from memopt.errors import as_read, reason
from memopt.session.errors import InvalidEvent

Int = Annotated[int, Strict()]
Float = Annotated[float, Strict()]
Bool = Annotated[bool, Strict()]

OWN = "#"
"""Begins the ids that a session gives by itself: ``#`` and the event's number."""
START = ""
"""Digest before the first event."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """What happened to a session.

    Attributes
    ----------
    id
        Unique in the session.
    number
        Position in the session's log, from 1.
    """

    kind: ClassVar[str]
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: str
    number: Int

    def to_dict(self) -> dict[str, Any]:
        """Return the event for JSON; what is inside is shared, not copied."""
        return {name: getattr(self, name) for name in _names(self.kind)}


@dataclass(frozen=True, kw_only=True)
class ConfigEvent(Event):
    """The session was configured: its first event, or a later change."""

    kind = "config"
    config: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class PutEvent(Event):
    """Originals were put into the archive; ``texts`` maps item ids to them."""

    kind = "put"
    texts: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class RefreshEvent(Event):
    """Items were opened for the turns after ``turn``, the last one taken.

    Attributes
    ----------
    turn
        Turns taken so far.
    opened, missing
        Items opened, and items asked for that have no original.
    """

    kind = "refresh"
    turn: Int
    opened: list[str]
    missing: list[str]


@dataclass(frozen=True, kw_only=True)
class OutcomeEvent(Event):
    """An episode ended.

    Attributes
    ----------
    turn
        Id of the turn whose context the episode had; None = before the first turn.
    retrieved, success, scores
        As recorded.
    weights
        Memory to the weight it was credited with.
    unexposed
        Memories retrieved that were not in the context: not credited.
    """

    kind = "outcome"
    turn: str | None
    retrieved: list[str]
    success: Bool
    scores: list[Float] | None
    weights: dict[str, Float]
    unexposed: list[str]


@dataclass(frozen=True, kw_only=True)
class TurnEvent(Event):
    """A turn was taken.

    Attributes
    ----------
    turn
        Number t of the turn.
    pressure, next_pressure
        Q before and after, exact decimal strings.
    candidates
        Budget and candidates as offered; see `offer.written`.
    assignments
        Item to ``[arm, propensity shown, propensity withheld]``, where governance had a choice.
    transitions
        Changes of governed states: ``[memory, before, after, reason, causal]``.
    refused
        Candidates longer than what is held: ``[item, level, tokens]``.
    stands
        Items whose held text stays in place of a longer candidate.
    sizes
        Tokens of every item kept.
    texts
        What the caller calls the text of every item kept, of those that it names.
    rewritten
        Items of the last context whose text at the level they had there is another one now.
    flags
        What takes the turn out of the theory; see `pressure.FLAGS`.
    pinned_tokens
        Least tokens of what may not be deleted.
    prefix_tokens_kept
        Tokens of the leading items that are the same, at the same level and size, as in the last turn.
    items_changed
        Items whose level in the context is not that of the last turn, absent ones counted as deleted.
    result
        The result object of `Allocation.to_dict` without the seconds.
    """

    kind = "turn"
    turn: Int
    pressure: str
    next_pressure: str
    candidates: dict[str, Any]
    assignments: dict[str, list[Any]] = field(default_factory=dict)
    transitions: list[list[Any]] = field(default_factory=list)
    refused: list[list[Any]] = field(default_factory=list)
    stands: list[str] = field(default_factory=list)
    sizes: dict[str, Int]
    flags: list[str] = field(default_factory=list)
    pinned_tokens: Int
    prefix_tokens_kept: Int
    items_changed: Int
    result: dict[str, Any]
    texts: dict[str, str] = field(default_factory=dict)
    rewritten: list[str] = field(default_factory=list)

    @property
    def choices(self) -> dict[str, str]:
        """Level of every item offered."""
        found: dict[str, str] = self.result["choices"]
        return found

    @property
    def tokens(self) -> int:
        """Tokens kept, G."""
        return int(self.result["tokens"])

    @property
    def budget(self) -> int:
        """Hard capacity, B."""
        return int(self.result["budget"])

    @property
    def price(self) -> float:
        """Price of the turn."""
        return float(self.result["price"])

    @property
    def price_per_token(self) -> float:
        """What one token cost, in utility; 0 where there was no budget."""
        return self.price / self.budget if self.budget else 0.0


AnyEvent = ConfigEvent | PutEvent | RefreshEvent | OutcomeEvent | TurnEvent
KINDS: dict[str, type[AnyEvent]] = {
    made.kind: made for made in (ConfigEvent, PutEvent, RefreshEvent, OutcomeEvent, TurnEvent)
}
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_SHORT = 4
_SCALARS: Mapping[type, Callable[[Any], str]] = {
    int: int.__repr__,
    str: encode_basestring,
    float: lambda number: repr(number) if isfinite(number) else _ENCODER.encode(number),
    NoneType: lambda _: "null",
}
"""Most rows are a name, a count or a short list of those, and calling the encoder costs more than they do."""


@cache
def _names(kind: str) -> tuple[str, ...]:
    return "kind", *(each.name for each in fields(KINDS[kind]))


class Record(NamedTuple):
    """An event as it is stored: its text, and the digest of all events up to it."""

    event: AnyEvent
    text: str
    digest: str

    def line(self) -> dict[str, Any]:
        """Return the line of an exported log."""
        return self.event.to_dict() | {"digest": self.digest}


def record(event: AnyEvent, before: str) -> Record:
    """Return an event with its text and the digest it has after another one."""
    text = canonical(event.to_dict())
    return Record(event, text, chained(before, text))


def canonical(data: Any) -> str:
    """Return data as one line of JSON that every database can hold; equal data, equal text."""
    if type(data) is int:
        return repr(data)
    text = _encoded(data)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:  # two halves of a pair are one character to whoever reads them as JSON
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


def _encoded(data: Any) -> str:
    if type(data) is list and len(data) <= _SHORT:
        with suppress(KeyError):  # a part that is no scalar
            return f"[{','.join([_SCALARS[type(part)](part) for part in data])}]"
    return _SCALARS.get(type(data), _ENCODER.encode)(data)


def chained(before: str, text: str) -> str:
    """Return the SHA-256 of a digest and the text that follows it."""
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


def from_dict(data: object) -> AnyEvent:
    """Return the event of a JSON object.

    Raises
    ------
    InvalidEvent
        When the kind is unknown, a key is missing or unknown, or a value is of the wrong type.
    """
    if not isinstance(data, Mapping):
        raise InvalidEvent(f"an event is an object, read {as_read(data)!r}")
    parts = dict(data)
    kind = parts.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidEvent(f"kind is one of {', '.join(KINDS)}, read {as_read(kind)!r}")
    try:
        return _reader(kind).validate_python(parts)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InvalidEvent(f"{'.'.join(map(str, first['loc']))}: {reason(first)}") from None


def from_text(text: str) -> AnyEvent:
    """Return the event of a stored text."""
    return from_dict(json.loads(text))


@cache
def _reader(kind: str) -> TypeAdapter[AnyEvent]:
    return TypeAdapter(KINDS[kind])
