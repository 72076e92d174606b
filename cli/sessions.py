"""What the commands on sessions share: their options, opening a session, reading what it is told."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from memopt.errors import as_read
from memopt.jsontext import parse
from memopt.session.config import Config
from memopt.session.errors import InvalidConfig, InvalidEvent, StoreFailed
from memopt.session.session import Outcome, Recorded, Session

from . import files

Database = Annotated[
    str,
    typer.Option("--db", metavar="PATH|URL", help="SQLite file (made when missing), or a PostgreSQL URL."),
]
SessionName = Annotated[str, typer.Option("--session", metavar="NAME", help="Name of the session.")]
ConfigFile = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="JSON: gain, alpha, ladder, solver, worth, governance."),
]
Gain = Annotated[
    float | None,
    typer.Option("--gain", metavar="NUMBER", help="c of the price c * Q / sqrt(t); 0 = no price."),
]
Alpha = Annotated[
    float | None, typer.Option("--alpha", metavar="SHARE", help="Target of the average occupancy.")
]
EventId = Annotated[
    str | None,
    typer.Option("--id", metavar="ID", help="Id of the event: recording it twice changes nothing."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone.")]
DEFAULT = "default"


@contextmanager
def opened(db: str, name: str, create: bool) -> Iterator[Session]:
    """Open a session in a database.

    Raises
    ------
    StoreFailed
        When it does not exist and is not to be made.
    """
    from memopt.session.store import Store  # SQLAlchemy is loaded where a database is asked for

    if not create and "://" not in db and not os.path.exists(db):
        raise FileNotFoundError(2, os.strerror(2), db)
    with Store(db) as store:
        if not create and name not in store.sessions():
            raise StoreFailed(f"there is no session {name!r} in {db!r}")
        yield Session(log=store.session(name))


def configure(session: Session, file: str | None, gain: float | None, alpha: float | None) -> None:
    """Give a session the configuration that the command line asks for, if it asks for any."""
    asked = {} if file is None else parse(files.read(file))
    if not isinstance(asked, Mapping):
        raise InvalidConfig(f"a configuration is an object, read {as_read(asked)!r}")
    asked = dict(asked) | {
        key: part for key, part in {"gain": gain, "alpha": alpha}.items() if part is not None
    }
    if not asked:
        return
    before = session.state.config.to_dict()
    for part in ("worth", "governance"):
        if isinstance(asked.get(part), Mapping):
            asked[part] = before[part] | dict(asked[part])
    session.configure(Config.from_dict(before | asked))


def objects(lines: Iterator[bytes]) -> Iterator[tuple[int, Any]]:
    """Yield what each line of JSON Lines holds, with its number; blank lines are skipped.

    A line that is no JSON yields the `InvalidInstance` that says so.
    """
    from memopt.errors import InvalidInstance

    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield number, parse(line)
            except InvalidInstance as error:
                yield number, error


def checked(data: Any, known: tuple[str, ...], what: str) -> dict[str, Any]:
    """Return an object that has no unknown keys, without its ``kind``.

    Raises
    ------
    InvalidEvent
        When it is no object or has another key.
    """
    if not isinstance(data, dict):
        raise InvalidEvent(f"{what} is an object, read {as_read(data)!r}")
    unknown = [key for key in data if key not in (*known, "kind")]
    if unknown:
        raise InvalidEvent(f"{what} has no key {unknown[0]!r}; it has {', '.join(known)}")
    if not isinstance(data.get("id"), str | None):
        raise InvalidEvent(f"the id of {what} is text, read {as_read(data['id'])!r}")
    return {key: part for key, part in data.items() if key != "kind"}


def read_turn(data: Any) -> dict[str, Any]:
    """Return items, budget and id of a turn as a file tells it."""
    if isinstance(data, dict) and "price" in data:
        raise InvalidEvent("a turn has no price of its own: the session's pressure sets it")
    told = checked(data, ("memopt", "id", "budget", "items"), "a turn")
    if not isinstance(told.get("items"), list):
        raise InvalidEvent(f"items is a list, read {as_read(told.get('items'))!r}")
    return {
        "candidates": told.get("items"),
        "budget": told.get("budget"),
        "event_id": told.get("id"),
    }


def read_outcome(data: Any) -> Outcome:
    """Return an outcome as a line tells it."""
    told = checked(data, ("id", "success", "retrieved", "scores", "turn"), "an outcome")
    retrieved, scores = told.get("retrieved"), told.get("scores")
    if not isinstance(retrieved, list) or not all(isinstance(name, str) for name in retrieved):
        raise InvalidEvent(f"retrieved is a list of ids, read {as_read(retrieved)!r}")
    if not isinstance(scores, list | None):
        raise InvalidEvent(f"scores is a list, read {as_read(scores)!r}")
    if not isinstance(told.get("turn"), str | None):
        raise InvalidEvent(f"turn is the id of a turn, read {as_read(told['turn'])!r}")
    return Outcome(
        success=told.get("success"),  # type: ignore[arg-type]  # what is no boolean is a named fault
        retrieved=retrieved,
        id=told.get("id"),
        scores=scores,
        turn=told.get("turn"),
    )


def turn_result(recorded: Recorded) -> dict[str, Any]:
    """Return the result object of a turn: that of `solve`, and what the session adds."""
    event = recorded.event.to_dict()
    result: dict[str, Any] = event.pop("result")
    del event["candidates"], event["kind"]
    return {"event": event.pop("id"), "recorded": recorded.new} | event | result


def told_twice(recorded: Recorded) -> str:
    """Return what is said of an event whose id was taken."""
    return f"event {recorded.event.id!r} was recorded before: nothing is changed"
