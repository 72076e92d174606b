"""A session: turns, outcomes, refreshes and originals, one after the other, in memory or stored."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from memopt.errors import Fault, InvalidInstance, MemoptError, as_read, is_name
from memopt.instance import Budget, Item
from memopt.jsontext import RepeatedKeys
from memopt.session import offer
from memopt.session.config import Config
from memopt.session.errors import InvalidEvent, InvalidOutcome, InvalidPut, StoreFailed
from memopt.session.events import (
    OWN,
    AnyEvent,
    ConfigEvent,
    OutcomeEvent,
    PutEvent,
    Record,
    RefreshEvent,
    TurnEvent,
    canonical,
    record,
)
from memopt.session.log import Log, MemoryLog, Transaction
from memopt.session.refresh import Archive, Compressor, reextract
from memopt.session.state import Exposure, Key, State, apply, credited, touched
from memopt.session.turn import decide, declare, judged
from memopt.session.worth import MemoryWorth

MOST_EXPOSURES = 1_000
"""Turns whose exposure is remembered for the outcomes to come."""


@dataclass(frozen=True)
class Outcome:
    """What is told of an episode.

    Attributes
    ----------
    id
        Unique: recording it twice counts once. None = the session makes one, so telling it again
        counts it again.
    success
        Whether the episode succeeded.
    retrieved
        Memories that were retrieved for it; none = nothing is counted.
    scores
        Retrieval scores beside `retrieved`.
    turn
        Id of the turn whose context the episode had: what was retrieved but not in that context is not
        credited. None = the last turn; before the first, all that was retrieved counts.
    """

    success: bool
    retrieved: Sequence[str]
    id: str | None = None
    scores: Sequence[float] | None = None
    turn: str | None = None


@dataclass(frozen=True)
class Recorded:
    """An event that stands in the log.

    Attributes
    ----------
    event
        The event; the one recorded first when its id was taken.
    new
        Whether this call recorded it; False = nothing was changed.
    same
        Whether the event holds what this call told it; False only where the id was taken by another.
    certificate
        Of a turn: ``price * (alpha - tokens / budget)``, its regret certificate without slack, in utility.
        See `pressure.PressureQueue`.
    """

    event: AnyEvent
    new: bool
    same: bool = True
    certificate: float | None = None


@dataclass(frozen=True)
class RefreshedItems:
    """Items opened by a refresh, and the levels made for them.

    Attributes
    ----------
    recorded
        Its event.
    texts
        Item to its texts by level, richest first; empty when the event had been recorded before.
    missing
        Items asked for that have no original.
    """

    recorded: Recorded
    texts: dict[str, dict[str, str]]
    missing: tuple[str, ...]


@dataclass
class _Batch:
    """What a transaction is about to add."""

    transaction: Transaction
    state: State
    records: list[Record] = field(default_factory=list)
    changed: dict[Key, None] = field(default_factory=dict)

    def add(self, event: AnyEvent, exposure: Exposure | None = None, counted: bool = False) -> Recorded:
        """Add an event to the log and to the state."""
        made = record(event, self.state.digest)
        before, self.state = self.state, apply(self.state, event, made.digest, exposure, counted)
        self.records.append(made)
        self.changed.update(dict.fromkeys(touched(before, event, self.state, exposure)))
        return Recorded(event, True)

    def configure(self, config: Config) -> Recorded | None:
        """Add the configuration of a new session, or a change of it; None where there is none.

        Raises
        ------
        InvalidConfig
            When what must stand from the first turn on would change.
        """
        if self.state.number and not self.state.config.changed(config):
            return None
        number = self.state.number + 1
        return self.add(ConfigEvent(id=self.next_id(None), number=number, config=config.to_dict()))

    def certified(self, turn: Recorded) -> Recorded:
        """Return a turn with its regret certificate; alpha has been the same in all of them."""
        event = turn.event
        assert isinstance(event, TurnEvent)
        certificate = self.state.queue.certificate_of(event.price, event.tokens, event.budget)
        return replace(turn, certificate=certificate)

    def next_id(self, wanted: str | None) -> str:
        """Return the id of the next event."""
        return f"{OWN}{self.state.number + 1}" if wanted is None else wanted


class Session:
    """Successive turns around one state.

    Whatever goes wrong in a call (invalid input, an infeasible turn, a full disk) leaves the session
    as it was. Several threads may use one session at a time, and several processes a stored one.

    Parameters
    ----------
    config
        Of a new session; a session that exists keeps its own, unless `configure` changes it.
    log
        Where it is kept, in memory by default; `store.Store.session` gives one in a database.

    Notes
    -----
    Beside what each call says, any may raise `InvalidEvent` (an id that is none, or of another kind of
    event), `InvalidConfig` (one wanted by `configure`), `StoreFailed` and `InvalidState` (a database
    that fails, or holds what cannot be read).
    """

    def __init__(self, config: Config | None = None, log: Log | None = None) -> None:
        self._config = Config() if config is None else config
        self._wanted: Config | None = None
        self._log: Log = MemoryLog() if log is None else log
        self._state: State | None = None
        self._exposures: dict[str, Exposure] = {}
        self._lock, self._writing = threading.RLock(), False

    @property
    def state(self) -> State:
        """The state after all events there are now; its counters go on counting, see `worth` for a view."""
        with self._lock, self._log.reading() as transaction:
            return self._current(transaction)

    def events(self) -> list[Record]:
        """Return all events with their digests, in order."""
        with self._log.reading() as transaction:
            return list(transaction.since(0))

    def originals(self, items: Iterable[str] | None = None) -> dict[str, str]:
        """Return the archive, or of it the items wanted that it has: item id to its original."""
        with self._lock, self._log.reading() as transaction:
            state = self._current(transaction)
            wanted = state.originals if items is None else [item for item in items if item in state.originals]
            archive = StoredArchive(transaction, state, wanted)
            return {item: archive.original(item) or "" for item in sorted(wanted)}

    def configure(self, config: Config, with_next: bool = False) -> Recorded | None:
        """Change the configuration; None when it is as wanted already.

        Parameters
        ----------
        config
            The configuration wanted.
        with_next
            Change it not now but together with the next event: where that cannot be recorded,
            neither is this. What is wrong with it is raised there.

        Raises
        ------
        InvalidConfig
            When what must stand from the first turn on (`config.FIXED`) would change.
        """
        if with_next:
            self._wanted = config
            return None
        with self._batch(configured=False) as batch:
            return batch.configure(config) if batch.state.config.changed(config) else None

    def turn(
        self,
        candidates: Iterable[Item | Mapping[str, Any]],
        budget: Budget,
        event_id: str | None = None,
        tighten: Callable[[TurnEvent], Budget | None] | None = None,
        texts: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> Recorded:
        """Take a turn: which level every candidate holds now.

        Parameters
        ----------
        candidates
            Items as in a problem file; they may come and go from turn to turn.
        budget
            Hard capacity in tokens, or a window.
        event_id
            Unique; a turn taken with it before is returned and not taken again.
        tighten
            Looks at the turn as decided and returns None to take it, or a budget to decide it by
            once more: what is kept may be larger together than in parts. Only the last one is recorded.
        texts
            Item to what its text at each level is called, a digest of it: where one that was sent is another
            one now, the unchanged leading part ends before it. For callers that send what they offer and
            keep no old text: its size does not bind the new one.

        Returns
        -------
        Recorded
            Its event is a `TurnEvent`: ``choices``, ``tokens``, ``price``, ``result`` and the rest.
            Beside it the turn's regret certificate.

        Raises
        ------
        InvalidInstance, InfeasibleTurn
            See `turn.decide`.
        """
        offered = list(candidates)
        with self._batch() as batch:
            known = _known(batch.transaction, event_id, TurnEvent)
            if known is not None:
                wanted = budget if tighten is None else _budget(known.event)
                same = _offered_again(known.event, batch.state, offered, wanted, texts)
                return batch.certified(replace(known, same=same))
            name, again = batch.next_id(event_id), None
            rewritten = frozenset(_rewritten(batch.state, texts))
            event = decide(batch.state, declare(batch.state, offered, budget), name, texts, rewritten)
            while tighten is not None and (again := tighten(event)) is not None:
                event = decide(batch.state, declare(batch.state, offered, again), name, texts, rewritten)
            return batch.certified(batch.add(event))

    def outcome(
        self,
        event_id: str | None,
        success: bool,
        retrieved: Sequence[str],
        scores: Sequence[float] | None = None,
        turn: str | None = None,
    ) -> Recorded:
        """Record how an episode ended; see `Outcome` for the parameters.

        Raises
        ------
        InvalidOutcome
            With every fault; nothing is recorded then.
        """
        (told,) = self.outcomes([Outcome(success, retrieved, event_id, scores, turn)])
        if isinstance(told, MemoptError):
            raise told
        return told

    def outcomes(self, outcomes: Iterable[Outcome]) -> list[Recorded | MemoptError]:
        """Record many outcomes in one transaction, in order.

        Returns
        -------
        list
            Beside each outcome its event, or the error that kept it alone from being recorded.
        """
        told = list(outcomes)
        with self._batch() as batch, _uncollected():
            found = batch.transaction.find([each.id for each in told if each.id is not None])
            seen: dict[str, AnyEvent] = {name: made.event for name, made in found.items()}
            answers: list[Recorded | MemoptError] = []
            for each in told:
                try:
                    answer = self._outcome(batch, each, seen)
                except (InvalidOutcome, InvalidEvent) as error:
                    answers.append(error)
                    continue
                seen[answer.event.id] = answer.event
                answers.append(answer)
        return answers

    def put(self, texts: Mapping[str, str], event_id: str | None = None) -> Recorded:
        """Put originals into the archive, from where nothing is ever deleted.

        Parameters
        ----------
        texts
            Item id to its original. The same text again is fine.

        Raises
        ------
        InvalidPut
            When an item has another original already or two here, or an id or a text is no string.
        """
        wrong = [key for key, text in texts.items() if not (is_name(key) and isinstance(text, str))]
        if wrong:
            raise InvalidPut(f"originals are texts by readable ids; not so {as_read(wrong[0])!r}")
        if isinstance(texts, RepeatedKeys):
            raise InvalidPut(f"item {texts.repeated[0]!r} has more than one original here")
        with self._batch() as batch:
            known = _known(batch.transaction, event_id, PutEvent)
            archive = StoredArchive(batch.transaction, batch.state, list(texts))
            if known is not None:
                kept = all(archive.original(key) == text for key, text in texts.items())
                return replace(known, same=kept and _texts(known.event).keys() <= texts.keys())
            other = [key for key, text in texts.items() if archive.original(key) not in (None, text)]
            if other:
                raise InvalidPut(
                    f"item {other[0]!r} has another original already; give the new text a new id"
                )
            fresh = {key: text for key, text in texts.items() if archive.original(key) is None}
            return batch.add(PutEvent(id=batch.next_id(event_id), number=batch.state.number + 1, texts=fresh))

    def refresh(
        self,
        compressors: Mapping[str, Compressor],
        items: Iterable[str] | None = None,
        event_id: str | None = None,
        archive: Archive | None = None,
    ) -> RefreshedItems:
        """Make levels anew from the originals; their items are open from the next turn on.

        Parameters
        ----------
        compressors
            Level name to what makes it; the richest level is the original itself.
        items
            Ids wanted, None = all of the archive. Those without an original stay capped.
        archive
            Where the originals are; None = those put into this session.

        Raises
        ------
        ValueError
            When a compressor makes a level that is not a poorer one of the ladder.
        TypeError
            When a compressor returns no text.
        """
        with self._batch() as batch:
            if isinstance(items, str):
                raise TypeError(f"the items to refresh are a list of ids, read the text {items!r}")
            wanted = None if items is None else list(items)
            known = _known(batch.transaction, event_id, RefreshEvent)
            if known is not None:
                same = wanted is None or set(wanted) == _asked_for(known.event)
                return RefreshedItems(replace(known, same=same), {}, ())
            source = archive or StoredArchive(
                batch.transaction, batch.state, batch.state.originals if wanted is None else wanted
            )
            made = reextract(source, compressors, batch.state.ledger.ladder, wanted)
            event = RefreshEvent(
                id=batch.next_id(event_id),
                number=batch.state.number + 1,
                turn=batch.state.queue.turns,
                opened=list(made.texts),
                missing=list(made.missing),
            )
            return RefreshedItems(batch.add(event), made.texts, made.missing)

    def last_turn(self) -> Recorded | None:
        """Return the last turn as `turn` returns it again, None before the first."""
        with self._lock, self._log.reading() as transaction:
            state = self._current(transaction)
            if state.turn_id is None:
                return None
            event = transaction.find([state.turn_id])[state.turn_id].event
            return _Batch(transaction, state).certified(Recorded(event, False))

    def worth(self) -> list[MemoryWorth]:
        """Return what is known of every memory ever offered or put, sorted by id."""
        with self._lock:
            state = self.state
            return state.worth.reports(state.known)

    def verdicts(self) -> dict[str, tuple[str, str]]:
        """Return the standing of every memory that is not normal, and why, by the evidence there is now.

        A normal memory of low worth is among them, with why it is normal all the same. In mode
        ``govern`` this applies from the next turn on that offers the memory, unless it is pinned there;
        until then the state in `State.governor` does. In mode ``observe`` it is what ``govern`` would do.
        """
        with self._lock:
            state = self.state
            governor, transitions = judged(state, state.known)
            moved = {each.memory: each.reason for each in transitions if each.after != "normal"}
            found = {
                report.memory: moved.get(report.memory) or governor.reason(report, state.worth.base_rate)
                for report in state.worth.reports(state.known)
            }
        standings = ((memory, governor.state(memory), reason) for memory, reason in found.items())
        return {memory: (held, reason) for memory, held, reason in standings if held != "normal" or reason}

    def _outcome(self, batch: _Batch, told: Outcome, seen: Mapping[str, AnyEvent]) -> Recorded:
        if told.id is not None and told.id in seen:
            event = _of_kind(seen[told.id], OutcomeEvent)
            return Recorded(event, False, _told_again(event, told))
        _checked_id(told.id)
        turn = batch.state.turn_id if told.turn is None else told.turn
        exposure = None if turn is None else self._exposure(batch.transaction, turn)
        made = credited(
            batch.state, batch.next_id(told.id), told.retrieved, told.success, told.scores, exposure, turn
        )
        return batch.add(made, exposure, counted=True)

    def _exposure(self, transaction: Transaction, turn: str) -> Exposure:
        if turn not in self._exposures:
            made = transaction.find([turn]).get(turn)
            if made is None or not isinstance(made.event, TurnEvent):
                message = f"there is no turn {turn!r}"
                raise InvalidOutcome([Fault("unknown_turn", message, field="turn", read=as_read(turn))])
            if len(self._exposures) >= MOST_EXPOSURES:
                self._exposures.pop(next(iter(self._exposures)))
            self._exposures[turn] = Exposure.of(made.event)
        return self._exposures[turn]

    @contextmanager
    def _batch(self, configured: bool = True) -> Iterator[_Batch]:
        """Add events in one transaction, the configuration wanted before them and never alone.

        The state is forgotten where something was added to it that is not stored.
        """
        batch = None
        with self._lock:  # outcomes are counted in place: what is stored and what is held change together
            if self._writing:
                raise RuntimeError("a session cannot be written to from within one of its own calls")
            self._writing, wanted = True, self._wanted
            try:
                with self._log.writing() as transaction:
                    batch = _Batch(transaction, self._current(transaction))
                    if configured:
                        batch.configure(batch.state.config if wanted is None else wanted)
                    before = len(batch.records)
                    yield batch
                    stored = len(batch.records) > before
                    if stored:
                        transaction.append(batch.records, batch.changed, batch.state)
            except MemoptError as error:
                if isinstance(error, StoreFailed) or (batch is not None and batch.records):
                    self._state = None
                raise
            except BaseException:
                self._state = None
                raise
            finally:
                self._writing = False
            if stored:
                self._state = batch.state
                self._wanted = None if self._wanted is wanted else self._wanted
            elif batch.records:
                self._state = None

    def _current(self, transaction: Transaction) -> State:
        """Return the state after all events of a transaction, those of other writers included."""
        state = self._state
        if state is None or not _follows(transaction, state):
            self._exposures.clear()
            state = transaction.load() or State.new(self._config)
        if state.number != transaction.length():
            self._state = None  # outcomes are counted in place: what is interrupted here must be read anew
            for made in transaction.since(state.number):
                exposure = None
                if isinstance(made.event, OutcomeEvent) and made.event.turn is not None:
                    exposure = self._exposure(transaction, made.event.turn)
                state = apply(state, made.event, made.digest, exposure)
        self._state = state
        return state


def _follows(transaction: Transaction, state: State) -> bool:
    """Whether the log goes on from a state: a file may have been put back to an earlier one, or another."""
    return state.number <= transaction.length() and state.digest == transaction.digest(state.number)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the collector from looking through a batch: it makes many objects that live on, and no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class StoredArchive:
    """Originals of a session; all that are wanted are read at once."""

    def __init__(self, transaction: Transaction, state: State, items: Iterable[str]) -> None:
        known = state.originals
        numbers = sorted({known[item] for item in items if item in known})
        self._texts: dict[str, str] = {}
        for made in transaction.at(numbers):
            if isinstance(made.event, PutEvent):
                self._texts.update(made.event.texts)

    def ids(self) -> Iterable[str]:
        """Return the ids of the items read."""
        return self._texts.keys()

    def original(self, item: str) -> str | None:
        """Return the original of an item, None when there is none."""
        return self._texts.get(item)


def _known(transaction: Transaction, event_id: str | None, kind: type[AnyEvent]) -> Recorded | None:
    _checked_id(event_id)
    found = transaction.find([event_id]) if event_id is not None else {}
    if event_id is None or event_id not in found:
        return None
    return Recorded(_of_kind(found[event_id].event, kind), False)


def _rewritten(state: State, texts: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the items of the last context whose text at the level they had there is another one now."""
    for item, sent in state.context.items():
        if sent.text is not None and item in texts and texts[item].get(sent.level) != sent.text:
            yield item


def _offered_again(
    event: AnyEvent,
    state: State,
    candidates: list[Any],
    budget: Budget,
    texts: Mapping[str, Mapping[str, str]],
) -> bool:
    """Whether a turn had these candidates, with these texts, and this budget."""
    try:
        offered = offer.written(declare(state, candidates, budget))
    except InvalidInstance:
        return False
    if not isinstance(event, TurnEvent) or canonical(offered) != canonical(event.candidates):
        return False
    named = {item: texts[item].get(event.choices[item]) for item in event.texts if item in texts}
    return named == event.texts


def _told_again(event: AnyEvent, told: Outcome) -> bool:
    """Whether an event holds an outcome; the turn that it leaves open may be any."""
    if not isinstance(event, OutcomeEvent):
        return False
    scores = None if told.scores is None else list(told.scores)
    as_told = (told.success, list(told.retrieved), scores)
    return as_told == (event.success, event.retrieved, event.scores) and told.turn in (None, event.turn)


def _budget(event: AnyEvent) -> Budget:
    return event.candidates["budget"] if isinstance(event, TurnEvent) else 0


def _texts(event: AnyEvent) -> Mapping[str, str]:
    return event.texts if isinstance(event, PutEvent) else {}


def _asked_for(event: AnyEvent) -> set[str]:
    return {*event.opened, *event.missing} if isinstance(event, RefreshEvent) else set()


def _of_kind(event: AnyEvent, kind: type[AnyEvent]) -> AnyEvent:
    if not isinstance(event, kind):
        raise InvalidEvent(f"the id {event.id!r} is taken by an event of kind {event.kind}, not {kind.kind}")
    return event


def _checked_id(event_id: str | None) -> None:
    if event_id is None:
        return
    if not is_name(event_id) or event_id.startswith(OWN):
        message = f"an id is readable text; it may not be empty or begin with {OWN!r}"
        raise InvalidEvent(f"{message}, read {as_read(event_id)!r}")
