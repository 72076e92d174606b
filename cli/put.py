"""`memopt put`: originals into the archive."""

from __future__ import annotations

from typing import Annotated

import typer

from memopt.errors import InvalidInstance, as_read
from memopt.jsontext import parse
from memopt.session.errors import InvalidPut
from memopt.session.events import PutEvent

from . import files
from .output import emit, emit_text, json_bytes
from .sessions import (
    DEFAULT,
    AsJson,
    ConfigFile,
    Database,
    EventId,
    SessionName,
    configure,
    opened,
    told_twice,
)


def put(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="JSON object of texts by item id, or - for standard input.")
    ],
    db: Database,
    session: SessionName = DEFAULT,
    event: EventId = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Put originals into the archive, from where nothing is ever deleted."""
    try:
        texts = parse(files.read(file))
    except InvalidInstance as error:
        raise InvalidPut(error.faults[0].message) from None
    if not isinstance(texts, dict):
        raise InvalidPut(f"originals are an object of texts by item id, read {as_read(texts)!r}")
    with opened(db, session, create=True) as running:
        configure(running, config, None, None)
        recorded = running.put(texts, event)
    added = list(recorded.event.texts) if isinstance(recorded.event, PutEvent) else []
    if as_json:
        emit(json_bytes({"event": recorded.event.id, "recorded": recorded.new, "added": added}))
    elif recorded.new:
        emit_text(f"{len(added):,} originals added, {len(texts) - len(added):,} were there\n")
    else:
        emit_text(f"{told_twice(recorded)}\n")
