"""What the commands on sessions share: their options, opening a session, reading what it is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer

from memopt.errors import InvalidInstance, as_read
from memopt.jsontext import RepeatedKeys, parse, repeated_key
from memopt.session.config import Config
from memopt.session.errors import InvalidConfig, InvalidEvent, StoreFailed
from memopt.session.events import TurnEvent
from memopt.session.pressure import PressureQueue
from memopt.session.session import Outcome, Recorded, Session

from . import files
from .output import say

T = TypeVar("T")


def _gain(value: float | None) -> float | None:
    with _as_usage():
        PressureQueue(gain=0.0 if value is None else value)
    return value


def _alpha(value: float | None) -> float | None:
    with _as_usage():
        PressureQueue(gain=0.0, alpha=1.0 if value is None else value)
    return value


@contextmanager
def _as_usage() -> Iterator[None]:
    """Turn a value out of range into a usage error, which names its option."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


Database = Annotated[
    str,
    typer.Option("--db", metavar="PATH|URL", help="SQLite file (made when missing), or a PostgreSQL URL."),
]
KnownDatabase = Annotated[
    str,
    typer.Option("--db", metavar="PATH|URL", help="SQLite file (it must exist), or a PostgreSQL URL."),
]
SessionName = Annotated[str, typer.Option("--session", metavar="NAME", help="Name of the session.")]
ConfigFile = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help=f"JSON of {', '.join(Config.__dataclass_fields__)}."),
]
Gain = Annotated[
    float | None,
    typer.Option(
        "--gain",
        metavar="NUMBER",
        callback=_gain,
        help="c of the price c * Q / sqrt(t); 0 = no price.",
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option("--alpha", metavar="SHARE", callback=_alpha, help="Target of the average occupancy."),
]
EventId = Annotated[
    str | None,
    typer.Option("--id", metavar="ID", help="Id of the event: recording it twice changes nothing."),
]
DEFAULT = "default"


@contextmanager
def opened(db: str, name: str, create: bool) -> Iterator[Session]:
    """Open a session in a database.

    Raises
    ------
    StoreFailed
        When the session does not exist and is not to be made, or ``db`` names no file.
    FileNotFoundError
        When the database does not exist and is not to be made.
    """
    from memopt.session.store import Store  # SQLAlchemy is loaded where a database is asked for

    path = _file(db)
    if path in ("", ":memory:"):
        raise StoreFailed(f"--db {db!r} names no file: what is told to it would be lost")
    if not create and path is not None and not os.path.exists(path):
        raise FileNotFoundError(2, os.strerror(2), path)
    with Store(db, create) as store:
        known = [] if create else store.sessions()
        if not create and name not in known:
            there = ", ".join(map(repr, known)) or "none"
            raise StoreFailed(f"there is no session {name!r} in {_shown(db)}; there are {there}")
        yield Session(log=store.session(name))


def tell(db: str, name: str, act: Callable[[Session], T], config: Mapping[str, Any]) -> T:
    """Tell a session something; the session and its database are made where they are missing.

    What is wrong with it is found in memory before a database is made, so that none is left behind.

    Parameters
    ----------
    act
        Tells the session and returns what became of it.
    config
        Keys of the configuration that the command line asks for; see `asked`.
    """
    path = _file(db)
    if path is not None and not os.path.exists(path):
        rehearsal = Session()
        configure(rehearsal, config)
        act(rehearsal)
    with opened(db, name, create=True) as running:
        new = not running.state.number
        configure(running, config)
        done = act(running)
    if new:
        say(f"new session {name!r} in {_shown(db)}")
    return done


def _file(db: str) -> str | None:
    """Return the path of the SQLite file that a database is, None for a server."""
    if db.startswith("sqlite://"):
        return db.removeprefix("sqlite://").removeprefix("/").partition("?")[0]
    return None if "://" in db else db


def is_file_of(db: str, path: str) -> bool:
    """Whether a path is the SQLite file of a database, or one of those beside it."""
    file = _file(db)
    both = [(f"{file}{end}", path) for end in ("", "-wal", "-shm")]
    return file is not None and any(os.path.realpath(one) == os.path.realpath(other) for one, other in both)


def _shown(db: str) -> str:
    """Return what is said of a database: a URL may hold a password."""
    return "the database" if "://" in db else repr(db)


def asked(
    file: str | None, gain: float | None = None, alpha: float | None = None, cache_price: float | None = None
) -> dict[str, Any]:
    """Return the keys of the configuration that the command line asks for; options override the file."""
    declared = {} if file is None else _declared(file)
    if not isinstance(declared, Mapping):
        raise InvalidConfig(f"a configuration is an object, read {as_read(declared)!r}")
    options = {"gain": gain, "alpha": alpha, "cache_price": cache_price}
    return dict(declared) | {key: part for key, part in options.items() if part is not None}


def _declared(file: str) -> Any:
    """Return what a configuration's file declares; errors name that file, not the input."""
    try:
        declared = parse(files.read(file))
    except InvalidInstance as error:
        raise InvalidConfig(f"{file!r}: {error.faults[0].message}") from None
    key = repeated_key(declared)
    if key is not None:
        raise InvalidConfig(f"{file!r} names the key {key!r} more than once")
    return declared


def configure(session: Session, config: Mapping[str, Any]) -> None:
    """Give a session the configuration asked for, if any; it is recorded together with the next event."""
    if not config:
        return
    before = session.state.config.to_dict()
    parts = {
        part: before[part] | dict(config[part])
        for part in ("worth", "governance")
        if isinstance(config.get(part), Mapping)
    }
    session.configure(Config.from_dict(before | dict(config) | parts), with_next=True)


def objects(lines: Iterator[bytes]) -> Iterator[tuple[int, Any]]:
    """Yield what each line of JSON Lines holds, with its number; blank lines are skipped.

    A line that is no JSON yields the `InvalidInstance` that says so.
    """
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
    if isinstance(data, RepeatedKeys):
        raise InvalidEvent(f"{what} names the key {data.repeated[0]!r} more than once")
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
    turn = recorded.event
    assert isinstance(turn, TurnEvent)
    event = turn.to_dict()
    result: dict[str, Any] = event.pop("result")
    del event["candidates"], event["kind"], event["id"]
    derived = {"price_per_token": turn.price_per_token, "certificate": recorded.certificate}
    return head(recorded) | event | derived | result


def head(recorded: Recorded) -> dict[str, Any]:
    """Return the first keys of an event's result object; ``same``: see `Recorded`."""
    return {"event": recorded.event.id, "recorded": recorded.new, "same": recorded.same}


def told_twice(event_id: str, same: bool) -> str:
    """Return what is said of an event whose id was taken."""
    other = "" if same else " with other content"
    return f"event {event_id!r} was recorded before{other}: nothing is changed"
