"""A recorded turn solved again as it was, so that the levels of its items can be explained."""

from __future__ import annotations

from memopt.allocation import Allocation
from memopt.columns import DELETE
from memopt.compile import compile
from memopt.errors import Fault, InvalidInstance, as_read
from memopt.explanation import Explanation
from memopt.session import offer
from memopt.session.config import Config
from memopt.session.events import OutcomeEvent, TurnEvent
from memopt.session.session import Session
from memopt.session.state import Exposure, State, apply
from memopt.session.turn import _admitted, _capped, _governed, _in_order, _solved, declare


def explain_turn(session: Session, item: str, turn: str | None = None) -> Explanation:
    """Explain the level that an item was given in a turn.

    Parameters
    ----------
    item
        Id of a candidate of the turn.
    turn
        Id of the turn; None = the last one.

    Raises
    ------
    InvalidInstance
        With ``unknown_turn`` where there is no such turn.
    UnknownItem
        When the item was no candidate.
    """
    state, event = _before(session, turn)
    return _allocation(state, event).explain(item)


def _before(session: Session, turn: str | None) -> tuple[State, TurnEvent]:
    """Return a turn, and the state it was decided in: every event before it is applied again."""
    records = session.events()
    turns = [record.event for record in records if isinstance(record.event, TurnEvent)]
    wanted = next((event for event in reversed(turns) if turn in (None, event.id)), None)
    if wanted is None:
        message = "the session has no turn yet" if turn is None else f"there is no turn {turn!r}"
        raise InvalidInstance([Fault("unknown_turn", message, field="turn", read=as_read(turn))])
    exposures = {event.id: Exposure.of(event) for event in turns}
    state = State.new(Config())
    for event, _, digest in records[: wanted.number - 1]:
        named = event.turn if isinstance(event, OutcomeEvent) else None
        state = apply(state, event, digest, None if named is None else exposures[named])
    return state, wanted


def _allocation(state: State, event: TurnEvent) -> Allocation:
    offered = declare(state, offer.read(event.candidates), event.candidates["budget"])
    rank = {level: index for index, level in enumerate((*state.config.ladder, DELETE))}
    pinned = {item.id for item in offered.items if item.pinned}
    governor, _, assigned = _governed(state, offered.items, pinned)
    caps = {item: governor.cap(assignment) for item, assignment in assigned.items()}
    items = tuple(_capped(item, _admitted(state, item), caps.get(item.id), rank) for item in offered.items)
    compiled = compile(offered.model_copy(update={"items": items}))
    return _solved(state, compiled, [item.id for item in _in_order(items)])
