"""`memopt outcome`: how episodes ended, one per line."""

from __future__ import annotations

from collections import Counter
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
    KnownDatabase,
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
_NOBODY = "nobody"
"""Counts, beside the statuses, the outcomes that credited nobody."""


def outcome(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="JSON Lines: id, success, retrieved, optionally scores and turn; - for standard input.",
        ),
    ],
    db: KnownDatabase,
    session: SessionName = DEFAULT,
    config: ConfigFile = None,
    batch: Annotated[
        int, typer.Option("--batch", min=1, max=MOST_BATCH, metavar="N", help="Outcomes per transaction.")
    ] = 1_000,
    as_json: AsJson = False,
) -> None:
    """Record how episodes ended; a line that is wrong counts nothing and does not stop the others.

    The session must exist: before its first turn or original there is nothing to credit. What was
    recorded before a command ended in the middle stays recorded; how much that is, is said then.
    """
    counts: Counter[str] = Counter()
    with files.reading(file) as lines, opened(db, session, create=False) as running:
        configure(running, asked(config))
        try:
            for results in _batches(running, _read(lines), batch):
                counts.update(result["status"] for result in results)
                counts[_NOBODY] += sum(map(_credits_nobody, results))
                for result in results:
                    _show(result, as_json)
        except BaseException:
            if counts:
                say(*_summary(counts))  # not to standard output, which may be what failed
            raise
    if not as_json:
        emit_text("".join(f"{line}\n" for line in _summary(counts)))
    if counts["invalid"]:
        raise typer.Exit(Exit.INVALID)


def _show(result: dict[str, Any], as_json: bool) -> None:
    """Show what became of a line: all of it as JSON, what is odd about it to a person."""
    if as_json:
        emit(json_bytes(result))
    elif result["status"] == "invalid":
        say(*(f"line {result['line']}: {fault['message']}" for fault in result["errors"]))
    elif not result["same"]:
        say(f"line {result['line']}: {told_twice(result['event'], result['same'])}")


def _credits_nobody(result: dict[str, Any]) -> bool:
    """Whether an outcome was recorded that retrieved memories, none of which was in the context."""
    return result["status"] == "recorded" and bool(result["unexposed"]) and not result["weights"]


def _summary(counts: Counter[str]) -> Iterator[str]:
    yield (
        f"{counts['recorded']:,} recorded, {counts['known']:,} recorded before, {counts['invalid']:,} invalid"
    )
    if counts[_NOBODY]:
        whose = "its" if counts[_NOBODY] == 1 else "their"
        yield (
            f"{counts[_NOBODY]:,} of those recorded credited nobody: "
            f"{whose} memories were not in the context of the turn"
        )


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


def _batches(session: Session, lines: Iterator[Line], batch: int) -> Iterator[list[dict[str, Any]]]:
    """Record lines, ``batch`` per transaction, and yield what became of them."""
    while some := list(islice(lines, batch)):
        answers = iter(session.outcomes([told for _, told in some if isinstance(told, Outcome)]))
        yield [
            {"line": number}
            | (
                outcome_result(next(answers), told.id)
                if isinstance(told, Outcome)
                else outcome_result(told, None)
            )
            for number, told in some
        ]
