"""The state of a session, how an event changes it, and the rows it is stored in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from memopt.columns import DELETE
from memopt.session.config import FIXED, Config
from memopt.session.errors import InvalidConfig, InvalidState
from memopt.session.events import (
    START,
    AnyEvent,
    ConfigEvent,
    OutcomeEvent,
    PutEvent,
    RefreshEvent,
    TurnEvent,
)
from memopt.session.fidelity import FidelityLedger, Held
from memopt.session.governance import Assignment, Governor
from memopt.session.pressure import PressureQueue
from memopt.session.worth import Pair, Worth

Key = tuple[str, str | Pair]
"""Names a row of the stored state: one of the parts, and whose it is (empty: the session's)."""

QUEUE, OVERALL, CONTEXT, CONTRASTED = ("queue", ""), ("overall", ""), ("context", ""), ("contrasted", "")
_PARTS = ("held", "worth", "pair", "governed", "contrasted", "original", "queue", "overall", "context")


class Sent(NamedTuple):
    """What a turn sent of an item: level, tokens, and what the caller calls its text (None: nothing)."""

    level: str
    tokens: int
    text: str | None = None


@dataclass(frozen=True)
class Exposure:
    """What a turn had in its context, and what chance decided there.

    Attributes
    ----------
    turn
        Number of the turn.
    shown
        Items in the context.
    assignments
        See `Governor.assign`.
    """

    turn: int
    shown: frozenset[str]
    assignments: Mapping[str, Assignment]

    @classmethod
    def of(cls, turn: TurnEvent) -> Exposure:
        """Return the exposure of a turn."""
        drawn = {item: Assignment(arm, shown, held) for item, (arm, shown, held) in turn.assignments.items()}
        return cls(turn.turn, frozenset(turn.sizes), drawn)


@dataclass(frozen=True)
class State:
    """All that a session knows besides its events.

    Attributes
    ----------
    config
        The configuration.
    number, digest
        Events so far, and the digest of them all.
    queue, ledger, governor
        The machines of these names.
    worth
        Counters. Unlike everything else here they are written in place; whoever could not store an
        event forgets the whole state and reads it anew.
    turn_id
        Id of the last turn; None before the first.
    context
        Items kept in the last turn, in the order of the conversation, each as it was sent. Not
        always what the ledger holds: an item that governance capped holds more.
    originals
        Item to the number of the event that put its original.
    """

    config: Config
    number: int = 0
    digest: str = START
    queue: PressureQueue = field(default_factory=lambda: PressureQueue(0.0))
    ledger: FidelityLedger = field(default_factory=FidelityLedger)
    governor: Governor = field(default_factory=Governor)
    worth: Worth = field(default_factory=Worth)
    turn_id: str | None = None
    context: Mapping[str, Sent] = field(default_factory=dict)
    originals: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def new(cls, config: Config) -> State:
        """Return the state before the first event."""
        return cls(config).configured(config)

    def configured(self, config: Config) -> State:
        """Return the state with another configuration.

        Raises
        ------
        InvalidConfig
            When what must stand from the first turn on (`config.FIXED`) would change.
        """
        stuck = [name for name in self.config.changed(config) if name in FIXED]
        if stuck and self.queue.turns:
            raise InvalidConfig(f"{', '.join(stuck)} cannot change after the first turn")
        self.worth.rule = config.worth
        return replace(
            self,
            config=config,
            queue=replace(self.queue, gain=config.gain, alpha=config.alpha),
            ledger=replace(self.ledger, ladder=config.ladder),
            governor=replace(self.governor, rule=config.governance),
        )

    def __contains__(self, memory: object) -> bool:
        """Whether a memory was ever offered or put."""
        return memory in self.ledger.held or memory in self.originals

    @property
    def known(self) -> list[str]:
        """All memories ever offered or put, sorted."""
        return sorted(self.ledger.held.keys() | self.originals.keys())


def apply(
    state: State, event: AnyEvent, digest: str, exposure: Exposure | None = None, counted: bool = False
) -> State:
    """Return the state after an event.

    Parameters
    ----------
    state, event
        The state before it, and the event.
    digest
        Of all events up to this one.
    exposure
        Of the turn that an outcome names.
    counted
        Whether `credited` has counted the outcome already.

    Raises
    ------
    MemoptError
        When the event contradicts the state.
    """
    if event.number != state.number + 1:
        raise InvalidState("session", f"event {event.number} comes after {state.number} events")
    match event:
        case TurnEvent():
            after = _after_turn(state, event)
        case OutcomeEvent():
            after = _after_outcome(state, event, exposure, counted)
        case RefreshEvent():
            after = replace(state, ledger=state.ledger.refresh(event.turn, event.opened))
        case PutEvent():
            after = replace(state, originals={**state.originals, **dict.fromkeys(event.texts, event.number)})
        case ConfigEvent():
            after = state.configured(Config.from_dict(event.config))
    return _numbered(after, event.number, digest)


def _numbered(state: State, number: int, digest: str) -> State:
    """Do what `replace` does, without running the checks of ten fields once for each of 10^5 outcomes."""
    made = object.__new__(State)
    made.__dict__.update(state.__dict__, number=number, digest=digest)
    return made


def credited(
    state: State,
    event_id: str,
    retrieved: Sequence[str],
    success: bool,
    scores: Sequence[float] | None,
    exposure: Exposure | None,
    turn: str | None,
) -> OutcomeEvent:
    """Credit an outcome to the counters of a state, in place, and return its event.

    Raises
    ------
    InvalidOutcome
        With every fault; nothing is counted then.
    """
    shown = None if exposure is None else exposure.shown
    counted = state.worth.record(retrieved, success, scores, shown, known=state)
    return OutcomeEvent(
        id=event_id,
        number=state.number + 1,
        turn=turn,
        retrieved=list(retrieved),
        success=bool(success),
        scores=None if scores is None else [float(score) for score in scores],
        weights=counted.weights,
        unexposed=list(counted.unexposed),
    )


def next_queue(
    state: State, result: Mapping[str, Any], pinned_tokens: int, prefix_tokens: int
) -> PressureQueue:
    """Return the queue after a turn.

    Parameters
    ----------
    result
        The turn's result object.
    pinned_tokens, prefix_tokens
        See `TurnEvent.pinned_tokens` and `TurnEvent.prefix_tokens_kept`.
    """
    config, tokens, budget = state.config, result["tokens"], result["budget"]
    # Where changes cost something, the optimum may send everything anew, the choice all but its prefix.
    spared = config.cache_price * (1 - (tokens - prefix_tokens) / budget) if budget else 0.0
    return state.queue.after(
        tokens,
        budget,
        pinned=pinned_tokens,
        optimal=result["status"] == "optimal",
        slack=float(result["gap"] or 0) + 2 * float(result["error_bound"]) + spared,
    )


def _after_turn(state: State, event: TurnEvent) -> State:
    chosen = {item: Held(level, event.sizes.get(item, 0)) for item, level in event.choices.items()}
    states = dict(state.governor.states)
    for memory, _, after, _, _ in event.transitions:
        states[memory] = after
        if after == "normal":
            del states[memory]
    return replace(
        state,
        queue=next_queue(state, event.result, event.pinned_tokens, event.prefix_tokens_kept),
        ledger=state.ledger.rewritten(event.rewritten).after(event.turn, chosen, _governed(event)),
        governor=replace(state.governor, states=states) if event.transitions else state.governor,
        turn_id=event.id,
        context={item: Sent(*chosen[item], event.texts.get(item)) for item in event.sizes},
    )


def _governed(event: TurnEvent) -> list[str]:
    """Return the items that governance capped or withheld, and those deleted together with one of them."""
    acted_on = {item: None for item, (arm, *_) in event.assignments.items() if arm != "shown"}
    groups = event.candidates.get("group", ()) if acted_on else ()
    group = {
        item: name for item, name in zip(event.candidates["ids"], groups, strict=False) if name is not None
    }
    hit = {group[item] for item in acted_on if item in group}
    gone = [item for item, name in group.items() if name in hit and event.choices[item] == DELETE]
    return [*acted_on, *(item for item in gone if item not in acted_on)]


def _after_outcome(state: State, event: OutcomeEvent, exposure: Exposure | None, counted: bool) -> State:
    if not counted:
        credited(state, event.id, event.retrieved, event.success, event.scores, exposure, event.turn)
    if exposure is None or not exposure.assignments:
        return state
    return replace(state, governor=state.governor.record(exposure.turn, exposure.assignments, event.success))


def touched(before: State, event: AnyEvent, after: State, exposure: Exposure | None = None) -> Iterator[Key]:
    """Yield the rows that an event changed, or may have: outcomes are counted in place."""
    match event:
        case TurnEvent():
            yield from (QUEUE, CONTEXT)
            yield from (("held", item) for item in _decided_anew(before.ledger, event.choices, after.ledger))
            yield from (("governed", memory) for memory, *_ in event.transitions)
        case OutcomeEvent():
            yield OVERALL
            yield from (("worth", memory) for memory in event.weights)
            yield from (("pair", pair) for pair in after.worth.pairs_of(event.weights))
            if exposure is not None and after.governor is not before.governor:
                yield CONTRASTED
                yield from (("governed", memory) for memory in exposure.assignments)
        case RefreshEvent():
            yield from (("held", item) for item in event.opened)
        case PutEvent():
            yield from (("original", item) for item in event.texts)
        case ConfigEvent():
            yield QUEUE


def _decided_anew(before: FidelityLedger, items: Iterable[str], after: FidelityLedger) -> list[str]:
    """Return the items that hold something else now: from turn to turn, few do."""
    return [
        item
        for item in items
        if before.held.get(item) != after.held[item] or before.opens.get(item) != after.opens.get(item)
    ]


def value(state: State, key: Key) -> Any:
    """Return what a row holds, ready for JSON; None where there is nothing."""
    part = key[0]
    whose: Any = key[1]
    if part == "held":
        held = state.ledger.held.get(whose)
        return held and [*held, state.ledger.opens.get(whose)]
    if part == "worth":
        row = state.worth.row(whose)
        return row and [state.worth.number(whose), *row]
    if part == "pair":
        return state.worth.pairs.get(whose)
    if part == "governed":
        contrast = state.governor.contrasts.get(whose)
        return [state.governor.states.get(whose), contrast and list(contrast)]
    if part == "contrasted":
        return sorted(state.governor.contrasted)
    if part == "original":
        return state.originals[whose]
    if part == "queue":
        return state.queue.to_dict()
    if part == "overall":
        return state.worth.overall[0].tolist()
    return [state.turn_id, state.context]


def from_rows(config: Config, number: int, digest: str, rows: Iterable[tuple[Key, Any]]) -> State:
    """Return the state whose rows are given.

    Raises
    ------
    InvalidState
        When a row is broken.
    """
    parts: dict[str, dict[Any, Any]] = {part: {} for part in _PARTS}
    for key, stored in rows:
        if stored is not None:
            parts[key[0]][key[1]] = stored
    new = State.new(config)
    try:
        turn_id, context = parts["context"].get("", [None, {}])
        held, governed = parts["held"], parts["governed"]
        return replace(
            new,
            number=number,
            digest=digest,
            queue=PressureQueue.from_dict(parts["queue"][""]) if parts["queue"] else new.queue,
            ledger=FidelityLedger.from_dict(
                {
                    "ladder": config.ladder,
                    "held": {item: entry[:2] for item, entry in held.items()},
                    "opens": {item: entry[2] for item, entry in held.items() if entry[2] is not None},
                }
            ),
            governor=Governor.from_dict(
                {
                    "rule": asdict(config.governance),
                    "states": {
                        memory: entry[0] for memory, entry in governed.items() if entry[0] is not None
                    },
                    "contrasts": {m: entry[1] for m, entry in governed.items() if entry[1] is not None},
                    "contrasted": parts["contrasted"].get("", []),
                }
            ),
            worth=Worth.from_dict(
                {
                    "rule": asdict(config.worth),
                    "memories": _by_number(parts["worth"]),
                    "overall": parts["overall"].get("", [0.0] * 4),
                    "pairs": ((*pair, times) for pair, times in parts["pair"].items()),
                }
            ),
            turn_id=turn_id,
            context={
                item: Sent(level, int(tokens), *text) for item, (level, tokens, *text) in context.items()
            },
            originals=parts["original"],
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise InvalidState("session", f"{type(error).__name__}: {error}") from None


def _by_number(counted: Mapping[str, list[float]]) -> dict[str, list[float]]:
    """Return the counters of memories in the order of their numbers."""
    ordered = sorted(counted.items(), key=lambda entry: entry[1][0])
    if any(row[0] != number for number, (_, row) in enumerate(ordered, 1)):
        raise ValueError("the memories are not numbered from 1 on")
    return {memory: row[1:] for memory, row in ordered}
