"""A recorded turn solved again as it was, so that the levels of its items can be explained."""

from __future__ import annotations

from memopt.errors import Fault, InvalidInstance, as_read
from memopt.explanation import Explanation
from memopt.session import offer
from memopt.session.config import Config
from memopt.session.events import OutcomeEvent, TurnEvent
from memopt.session.session import Session
from memopt.session.state import Exposure, State, apply
from memopt.session.turn import declare, solved


def explain_turn(session: Session, item: str, turn: str | None = None) -> Explanation:
    """Explain the level that an item was given in a turn.

    With a cache price, alternatives leave the same leading part unchanged as the turn did.

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
    offered = declare(state, offer.read(event.candidates), event.candidates["budget"])
    return solved(state, offered, event.rewritten).allocation.explain(item)


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
