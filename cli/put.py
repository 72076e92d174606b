"""`memopt put`: originals into the archive."""

from __future__ import annotations

from typing import Annotated

import typer

from memopt.errors import InvalidInstance, as_read, counted
from memopt.jsontext import parse
from memopt.session.errors import InvalidPut
from memopt.session.events import PutEvent

from . import files
from .options import AsJson
from .output import emit, emit_text, json_bytes, say
from .sessions import (
    DEFAULT,
    ConfigFile,
    Database,
    EventId,
    SessionName,
    asked,
    head,
    tell,
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
    recorded = tell(db, session, lambda running: running.put(texts, event), asked(config))
    added = list(recorded.event.texts) if isinstance(recorded.event, PutEvent) else []
    if as_json:
        emit(json_bytes(head(recorded) | {"added": added}))
    elif recorded.new:
        emit_text(f"{counted(len(added), 'original')} added, {len(texts) - len(added):,} there before\n")
    else:
        say(told_twice(recorded.event.id, recorded.same))
