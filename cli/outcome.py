"""`memopt outcome`: how episodes ended, one per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated, Any

import typer

from memopt.errors import Fault, Faulty, MemoptError
from memopt.session.errors import InvalidOutcome
from memopt.session.events import OutcomeEvent
from memopt.session.session import Outcome, Recorded, Session

from . import files
from .exits import Exit
from .options import AsJson
from .output import emit, emit_text, json_bytes, say
from .sessions import (
    DEFAULT,
    ConfigFile,
    Database,
    SessionName,
    asked,
    configure,
    objects,
    opened,
    read_outcome,
    told_twice,
)

MOST_BATCH = 1_000_000
Line = tuple[int, Outcome | MemoptError]


def outcome(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="JSON Lines: id, success, retrieved, optionally scores and turn; - for standard input.",
        ),
    ],
    db: Database,
    session: SessionName = DEFAULT,
    config: ConfigFile = None,
    batch: Annotated[
        int, typer.Option("--batch", min=1, max=MOST_BATCH, metavar="N", help="Outcomes per transaction.")
    ] = 1_000,
    as_json: AsJson = False,
) -> None:
    """Record how episodes ended; a line that is wrong counts nothing and does not stop the others.

    The session must exist: before its first turn or original there is nothing to credit.
    """
    counts = dict.fromkeys(("recorded", "known", "invalid"), 0)
    with files.reading(file) as lines, opened(db, session, create=False) as running:
        configure(running, asked(config))
        for result in _results(running, _read(lines), batch):
            counts[result["status"]] += 1
            if as_json:
                emit(json_bytes(result))
            elif result["status"] == "invalid":
                say(*(f"line {result['line']}: {fault['message']}" for fault in result["errors"]))
            elif not result["same"]:
                say(f"line {result['line']}: {told_twice(result['event'], result['same'])}")
    if not as_json:
        emit_text(
            f"{counts['recorded']:,} recorded, {counts['known']:,} recorded before, "
            f"{counts['invalid']:,} invalid\n"
        )
    if counts["invalid"]:
        raise typer.Exit(Exit.INVALID)


def outcome_result(told: Recorded | MemoptError, event_id: str | None) -> dict[str, Any]:
    """Return the result object of one outcome."""
    if isinstance(told, Recorded) and isinstance(told.event, OutcomeEvent):
        event = told.event
        status = "recorded" if told.new else "known"
        found = {"event": event.id, "status": status, "same": told.same, "turn": event.turn}
        return found | {"weights": event.weights, "unexposed": event.unexposed, "errors": []}
    faults = told.faults if isinstance(told, Faulty) else (Fault("not_an_outcome", str(told)),)
    return {"event": event_id, "status": "invalid", "errors": [fault.to_dict() for fault in faults]}


def _read(lines: Iterable[bytes]) -> Iterator[Line]:
    for number, data in objects(iter(lines)):
        if isinstance(data, MemoptError):
            yield number, data
            continue
        try:
            yield number, _identified(read_outcome(data))
        except MemoptError as error:
            yield number, error


def _identified(told: Outcome) -> Outcome:
    """Return an outcome that has an id; one without would count again when told again."""
    if told.id is None:
        message = "an outcome needs an id of its own, so that one told again is not counted again"
        raise InvalidOutcome([Fault("id_missing", message, field="id")])
    return told


def _results(session: Session, lines: Iterator[Line], batch: int) -> Iterator[dict[str, Any]]:
    """Record lines, ``batch`` per transaction, and yield what became of each."""
    while some := list(islice(lines, batch)):
        answers = iter(session.outcomes([told for _, told in some if isinstance(told, Outcome)]))
        for number, told in some:
            answer = next(answers) if isinstance(told, Outcome) else told
            event_id = told.id if isinstance(told, Outcome) else None
            yield {"line": number} | outcome_result(answer, event_id)
