"""`memopt log`: the events of a session, for a person or for a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

from .options import AsJson, Force
from .output import emit_text, json_bytes, writing_to
from .sessions import DEFAULT, Database, SessionName, opened
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
    if out is None and not as_json:
        rows = [(made.event.number, made.event.id, made.event.kind, told(made.event)) for made in records]
        emit_text(table(("number", "id", "kind", "what"), rows, left=4))
        return
    with writing_to(out, force) as write:
        write_log(records, write)


def write_log(records: Iterable[Record], write: Callable[[bytes], object]) -> None:
    """Write events as JSON Lines."""
    for made in records:
        write(json_bytes(made.line()))


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
