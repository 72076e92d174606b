"""`memopt refresh`: levels made anew from the originals, open from the next turn on."""

from __future__ import annotations

from typing import Annotated

import typer

from memopt.text.compress import compressors
from memopt.text.idf import StreamingIdf

from .output import emit, emit_text, json_bytes, say
from .sessions import DEFAULT, AsJson, Database, EventId, SessionName, opened, told_twice
from .tables import table


def refresh(
    db: Database,
    session: SessionName = DEFAULT,
    item: Annotated[
        list[str] | None,
        typer.Option("--item", metavar="ID", help="Only this item; may be given again. Else all originals."),
    ] = None,
    event: EventId = None,
    as_json: AsJson = False,
) -> None:
    """Make levels anew from the originals and open their items, from the next turn on.

    Neither the pressure nor the turn count is reset. The levels are made without a language model:
    sentences that cover most idf mass, and keywords of highest tf-idf.
    """
    with opened(db, session, create=False) as running:
        idf = StreamingIdf()
        for text in running.originals().values():
            idf.observe(text)
        done = running.refresh(compressors(idf), item or None, event)
    if as_json:
        found = {"event": done.recorded.event.id, "recorded": done.recorded.new}
        emit(json_bytes(found | {"levels": done.texts, "missing": list(done.missing)}))
        return
    if not done.recorded.new:
        say(told_twice(done.recorded))
        return
    rows = [
        (name, level, f"{len(text):,}")
        for name, levels in done.texts.items()
        for level, text in levels.items()
    ]
    emit_text(table(("item", "level", "characters"), rows, left=2))
    if done.missing:
        say("without an original, still capped:", *(f"  {name!r}" for name in done.missing))
