"""`memopt refresh`: levels made anew from the originals, open from the next turn on."""

from __future__ import annotations

from typing import Annotated

import typer

from memopt.session.errors import InvalidRefresh
from memopt.session.session import RefreshedItems, Session
from memopt.text.compress import compressors
from memopt.text.idf import StreamingIdf

from .options import AsJson
from .output import emit, emit_text, json_bytes, say
from .sessions import DEFAULT, EventId, KnownDatabase, SessionName, head, opened, told_twice
from .tables import table


def refresh(
    db: KnownDatabase,
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
        done = refreshed(running, item or None, event)
    if as_json:
        emit(json_bytes(head(done.recorded) | {"levels": done.texts}))
        return
    if not done.recorded.new:
        say(told_twice(done.recorded.event.id, done.recorded.same))
        return
    rows = [
        (name, level, f"{len(text):,}")
        for name, levels in done.texts.items()
        for level, text in levels.items()
    ]
    emit_text(table(("item", "level", "characters"), rows, left=2))


def refreshed(session: Session, items: list[str] | None, event_id: str | None) -> RefreshedItems:
    """Refresh a session by the default compressors, with the idf of all its originals.

    Raises
    ------
    InvalidRefresh
        When an item asked for has no original; nothing is opened then.
    """
    originals = session.originals()
    missing = [name for name in dict.fromkeys(items or ()) if name not in originals]
    if missing:
        raise InvalidRefresh(missing)
    idf = StreamingIdf()
    for text in originals.values():
        idf.observe(text)
    poorer = session.state.config.ladder[1:]
    made = {level: make for level, make in compressors(idf).items() if level in poorer}
    return session.refresh(made, items, event_id)
