"""`memopt log`: the events of a session, for a person or for a replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from memopt.errors import counted
from memopt.session.events import (
    AnyEvent,
    ConfigEvent,
    OutcomeEvent,
    PutEvent,
    Record,
    RefreshEvent,
    TurnEvent,
)

from . import files
from .options import Force
from .output import emit, emit_text, json_bytes
from .sessions import DEFAULT, AsJson, Database, SessionName, opened
from .tables import table


def log(
    db: Database,
    session: SessionName = DEFAULT,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write the JSON Lines here, for `replay`.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Print the events of a session; with `--json` or `--out` as JSON Lines that `replay` reads."""
    with opened(db, session, create=False) as running:
        records = running.events()
    if out is not None:
        write_log(records, out, force)
    elif as_json:
        write_log(records, files.STANDARD, force)
    else:
        rows = [(made.event.number, made.event.id, made.event.kind, told(made.event)) for made in records]
        emit_text(table(("number", "id", "kind", "what"), rows, left=4))


def write_log(records: Sequence[Record], out: str, force: bool) -> None:
    """Write events as JSON Lines, to standard output or whole to a new file."""
    if out == files.STANDARD:
        for made in records:
            emit(json_bytes(made.line()))
        return
    with files.writing(out, force) as file:
        file.writelines(json_bytes(made.line()) for made in records)


def told(event: AnyEvent) -> str:
    """Return an event in words."""
    match event:
        case TurnEvent():
            share = f"{event.tokens:,} of {event.budget:,} tokens, price {event.price:.4g}"
            return f"turn {event.turn}: {share}, {counted(len(event.choices), 'item')}"
        case OutcomeEvent():
            ended = "success" if event.success else "failure"
            return f"{ended}, {len(event.weights):,} of {len(event.retrieved):,} retrieved credited"
        case RefreshEvent():
            return f"{counted(len(event.opened), 'item')} opened after turn {event.turn}"
        case PutEvent():
            return counted(len(event.texts), "original")
        case ConfigEvent():
            return f"gain {event.config['gain']:g}, alpha {event.config['alpha']:g}"
