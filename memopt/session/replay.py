"""Replay: every turn of an exported log decided again, compared with what was recorded to the last bit."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from memopt.errors import MemoptError, SolverMissing, as_read
from memopt.session import offer
from memopt.session.config import Config
from memopt.session.errors import InvalidEvent, InvalidLog
from memopt.session.events import (
    START,
    AnyEvent,
    ConfigEvent,
    OutcomeEvent,
    PutEvent,
    RefreshEvent,
    TurnEvent,
    canonical,
    chained,
    from_dict,
)
from memopt.session.state import Exposure, State, apply, credited
from memopt.session.turn import decide, declare

_UNDECIDED = ("proof",)
"""Keys of a result that say how, not what."""
_NAMED = {"digest": "program digest"}
"""Keys of a result that a finding calls otherwise: ``digest`` alone is that of a line."""


@dataclass(frozen=True)
class Finding:
    """One place where a log is not what its rules give.

    Attributes
    ----------
    line
        Number of the line, from 1.
    event
        Id of its event, None where it cannot be read.
    what
        ``unreadable``, ``digest`` (the line, or one before it that is gone, was changed), ``order``,
        or the name of the key that differs.
    recorded, recomputed
        Both values, shortened.
    """

    line: int
    event: str | None
    what: str
    recorded: Any
    recomputed: Any

    def to_dict(self) -> dict[str, Any]:
        """Return the finding for JSON."""
        return asdict(self)

    def told(self) -> str:
        """Return the finding as a sentence."""
        where = f"line {self.line}" + (f", event {self.event!r}" if self.event is not None else "")
        if self.what == "digest":
            return f"{where}: it was changed, or what stood before it: its digest is not that of its text"
        if self.what in ("unreadable", "order"):
            return f"{where}: {self.recorded}"
        return f"{where}: {self.what} is {self.recorded!r}, recomputed {self.recomputed!r}"


@dataclass
class Replay:
    """What a replay found.

    Attributes
    ----------
    events, turns
        How many were recomputed.
    findings
        Everything that differs, in the order of lines; empty = identical.
    read_to_end
        Whether every line there is could be replayed. Lines that are missing at the end cannot be
        seen from within: compare `events` and the digest with those of the session.
    state
        After the last event replayed.
    """

    events: int = 0
    turns: int = 0
    findings: list[Finding] = field(default_factory=list)
    read_to_end: bool = True
    state: State | None = None

    @property
    def identical(self) -> bool:
        """Whether nothing differs."""
        return not self.findings

    @property
    def digest(self) -> str | None:
        """Digest of all events up to the last one replayed, None where there is none."""
        return None if self.state is None else self.state.digest

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome for JSON."""
        return {
            "identical": self.identical,
            "read_to_end": self.read_to_end,
            "events": self.events,
            "turns": self.turns,
            "digest": self.digest,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def replay(lines: Iterable[str | bytes]) -> Replay:
    """Decide every turn of a log again.

    The rules are followed, not the record: after a turn whose record differs the replay goes on
    with what it computed itself. It ends at a line that it cannot read or apply.

    Parameters
    ----------
    lines
        One event per line with its digest, as `Record.line` gives them; blank lines are skipped.

    Raises
    ------
    InvalidLog
        When the first line is no event.
    SolverMissing
        When the solver of the session is not installed.
    """
    done = Replay()
    digest, exposures, ids = START, dict[str, Exposure](), set[str]()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            event, recorded, text = _read(line)
        except (ValueError, RecursionError, InvalidEvent) as error:
            if not done.events:
                raise InvalidLog(f"this is no log of a session: line {number}: {error}") from None
            return _stopped(done, Finding(number, None, "unreadable", str(error), None))
        recomputed = chained(digest, text)
        if recorded != recomputed:
            done.findings.append(Finding(number, event.id, "digest", as_read(recorded), recomputed))
        digest = as_read(str(recorded))
        try:
            if event.id in ids:
                raise InvalidEvent("an event of that id stands there already")
            ids.add(event.id)
            done.state, again = _again(done.state, event, digest, exposures)
        except SolverMissing:
            raise
        except (MemoptError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
            return _stopped(done, Finding(number, event.id, "order", str(error), None))
        done.findings += _differences(number, event, again)
        done.events += 1
        if isinstance(again, TurnEvent):
            exposures[again.id] = Exposure.of(again)
            done.turns += 1
    return done


def _read(line: str | bytes) -> tuple[AnyEvent, Any, str]:
    """Return the event of a line, the digest it has there, and the text that it must be the digest of.

    Raises
    ------
    ValueError, RecursionError, InvalidEvent
        When it holds no event, or what no log holds: NaN, infinities, a key that is there twice.
    """
    data = json.loads(line, object_pairs_hook=_once)
    recorded = data.pop("digest", None) if isinstance(data, dict) else None
    event = from_dict(data)
    return event, recorded, canonical({name: data[name] for name in event.to_dict() if name in data})


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise InvalidEvent("a key is there more than once")
    return read


def _stopped(done: Replay, finding: Finding) -> Replay:
    done.findings.append(finding)
    done.read_to_end = False
    return done


def _again(
    state: State | None, event: AnyEvent, digest: str, exposures: dict[str, Exposure]
) -> tuple[State, AnyEvent]:
    """Return the state after an event, and the event as the rules give it."""
    if state is None:
        if not isinstance(event, ConfigEvent):
            raise InvalidEvent("a log begins with the configuration of its session")
        state = State.new(Config.from_dict(event.config))
    if event.number != state.number + 1:
        raise InvalidEvent(f"event {event.number} comes after {state.number} events")
    again, exposure = event, None
    if isinstance(event, TurnEvent):
        instance = declare(state, offer.read(event.candidates), event.candidates["budget"])
        texts = {item: {event.choices.get(item, ""): text} for item, text in event.texts.items()}
        again = decide(state, instance, event.id, texts, event.rewritten)
    elif isinstance(event, OutcomeEvent):
        if event.turn is None and state.turn_id is not None:
            raise InvalidEvent("an outcome after a turn names its turn")
        if event.turn is not None and event.turn not in exposures:
            raise InvalidEvent(f"there is no turn {event.turn!r} before it")
        exposure = None if event.turn is None else exposures[event.turn]
        again = credited(state, event.id, event.retrieved, event.success, event.scores, exposure, event.turn)
    elif isinstance(event, PutEvent):
        if known := sorted(event.texts.keys() & state.originals.keys()):
            raise InvalidEvent(f"item {known[0]!r} has an original already")
    elif isinstance(event, RefreshEvent):
        again = RefreshEvent(
            id=event.id,
            number=event.number,
            turn=state.queue.turns,
            opened=event.opened,
            missing=event.missing,
        )
    return apply(state, again, digest, exposure, counted=True), again


def _differences(line: int, event: AnyEvent, again: AnyEvent) -> list[Finding]:
    recorded, recomputed = _flat(event), _flat(again)
    return [
        Finding(line, event.id, name, *_shown(recorded.get(name), recomputed.get(name)))
        for name in {**recorded, **recomputed}
        if canonical(recorded.get(name)) != canonical(recomputed.get(name))
    ]


def _flat(event: AnyEvent) -> dict[str, Any]:
    data = event.to_dict()
    result = data.pop("result", {})
    named = {_NAMED.get(name, name): part for name, part in result.items()}
    return data | {name: part for name, part in named.items() if name not in _UNDECIDED}


def _shown(recorded: Any, recomputed: Any) -> tuple[Any, Any]:
    """Return two values that differ, reduced to the entries that do."""
    if isinstance(recorded, dict) and isinstance(recomputed, dict):
        keys = [key for key in {**recorded, **recomputed} if recorded.get(key) != recomputed.get(key)]
        return {key: recorded.get(key) for key in keys[:5]}, {key: recomputed.get(key) for key in keys[:5]}
    return as_read(recorded), as_read(recomputed)
