"""The tools of `memopt mcp`; they answer with the result objects of the commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from memopt import Allocation, Instance, solve
from memopt.adapters.mcp import Answer, Tool
from memopt.errors import Fault, Faulty, InvalidInstance, MemoptError, UnknownItem
from memopt.session.errors import InfeasibleTurn
from memopt.session.explaining import explain_turn
from memopt.text.fit import fit

from .faults import invalid_result
from .mcp_arguments import Allocate, Arguments, Explain, RecordOutcome, Status, read, schema_of
from .mcp_sessions import Sessions
from .outcome import outcome_result
from .output import json_bytes
from .sessions import read_outcome, read_turn, turn_result
from .status import status_of

Result = dict[str, Any]


def tools(sessions: Sessions) -> list[Tool]:
    """Return the tools of a server with these sessions."""
    told: list[tuple[str, type[Arguments], Callable[[Sessions, Any], Result], bool, str]] = [
        (
            "allocate", Allocate, allocate, True,
            "Choose the level at which every memory, or every message of a chat, stays in a context: raw, "
            "summary, abstraction, keywords or deleted. Exact, and never over the budget.",
        ),
        (
            "record_outcome", RecordOutcome, record_outcome, True,
            "Tell how an episode ended: it is credited to the retrieved memories that were in the context.",
        ),
        (
            "explain", Explain, explain, False,
            "Say why an item holds its level: what every other level would cost, and what would change.",
        ),
        (
            "status", Status, status, False,
            "Say where a session stands: pressure, price, occupancy and bounds, levels held, worth.",
        ),
    ]  # fmt: skip
    return [
        Tool(name, text, schema_of(model), partial(_answer, sessions, model, act), changes)
        for name, model, act, changes, text in told
    ]


def allocate(sessions: Sessions, asked: Allocate) -> Result:
    """Allocate an instance or a chat, as a turn of a session if one is named."""
    _refuse(_mixed(asked))
    session = None if asked.session is None else sessions.made(asked.session)
    if asked.messages is not None:
        done = fit(asked.messages, asked.budget, asked.tokenizer or "bytes", session, event_id=asked.event)
        return {
            "messages": done.messages,
            "report": done.report.to_dict(),
            "allocation": dict(done.allocation),
        }
    if session is None:
        return _solved(asked.instance).to_dict()
    told = read_turn(asked.instance)
    return turn_result(session.turn(told["candidates"], told["budget"], asked.event or told["event_id"]))


def record_outcome(sessions: Sessions, asked: RecordOutcome) -> Result:
    """Record how an episode ended."""
    told = read_outcome(asked.model_dump(exclude={"session"}))
    (answer,) = sessions.made(asked.session).outcomes([told])
    if isinstance(answer, MemoptError):
        raise answer
    return outcome_result(answer, told.id)


def explain(sessions: Sessions, asked: Explain) -> Result:
    """Explain the level of an item of an instance, or of a turn."""
    if (asked.instance is None) == (asked.session is None):
        _refuse([Fault("one_of", "give an instance, or a session whose turn it was", field="instance")])
    if asked.session is not None:
        try:
            return explain_turn(sessions.there(asked.session), asked.item, asked.turn).to_dict()
        except UnknownItem as error:
            which = "last turn" if asked.turn is None else f"turn {asked.turn!r}"
            message = f"there was no item {error.item!r} in the {which} of session {asked.session!r}"
            raise InvalidInstance([Fault("unknown_item", message)]) from None
    return _solved(asked.instance).explain(asked.item).to_dict()


def status(sessions: Sessions, asked: Status) -> Result:
    """Say where a session stands."""
    return {"session": asked.session} | status_of(sessions.there(asked.session))


def _answer(
    sessions: Sessions,
    model: type[Arguments],
    act: Callable[[Sessions, Any], Result],
    given: Mapping[str, Any],
) -> Answer:
    """Answer a call; what is wrong with it is an answer, too, with every fault and its code."""
    try:
        return Answer(_text(act(sessions, read(model, given))))
    except InfeasibleTurn as error:
        return Answer(_text(error.allocation.to_dict()), failed=True)
    except Faulty as error:
        return Answer(_text(invalid_result(error)), failed=True)
    except MemoptError as error:
        fault = Fault(_code(error), str(error))
        return Answer(_text(invalid_result(InvalidInstance([fault]))), failed=True)


def _solved(instance: Any) -> Allocation:
    allocation = solve(Instance.model_validate(instance))
    if allocation.status == "infeasible":
        raise InfeasibleTurn(allocation)
    return allocation


def _mixed(asked: Allocate) -> list[Fault]:
    """Return what does not go together."""
    if (asked.instance is None) == (asked.messages is None):
        return [Fault("one_of", "give either an instance or messages", field="instance")]
    found = []
    if asked.instance is not None:
        needless = [name for name in ("budget", "tokenizer") if getattr(asked, name) is not None]
        found += [Fault("needless", f"{name}: it belongs to messages", field=name) for name in needless]
    if asked.session is None and asked.event is not None:
        found.append(Fault("needless", "event: it belongs to a session", field="event"))
    return found


def _refuse(faults: list[Fault]) -> None:
    if faults:
        raise InvalidInstance(faults)


def _code(error: MemoptError) -> str:
    name: str = getattr(error, "code", None) or re.sub(r"(?<=.)(?=[A-Z])", "_", type(error).__name__).lower()
    return name


def _text(result: Result) -> str:
    return json_bytes(result).decode()
