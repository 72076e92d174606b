"""`memopt simulate`: a whole trace of turns and outcomes, in memory."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memopt.errors import InvalidInstance, MemoptError, as_read
from memopt.session.errors import InfeasibleTurn, InvalidEvent
from memopt.session.session import Session

from . import files
from .exits import Exit
from .log import write_log
from .options import AsJson, Force
from .output import emit, emit_text, json_bytes, say, writing_to
from .progress import progress
from .refresh import refreshed
from .sessions import (
    Alpha,
    ConfigFile,
    Gain,
    asked,
    checked,
    configure,
    objects,
    read_outcome,
    read_turn,
)
from .status import status_lines, status_of
from .tables import figures

KINDS = ("turn", "outcome", "refresh", "put")


def simulate(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="JSON Lines, each with its kind: turn, outcome, refresh or put; - for standard input.",
        ),
    ],
    config: ConfigFile = None,
    gain: Gain = None,
    alpha: Alpha = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write the trace here, for `replay`.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Drive a whole trace without a database and write what happened.

    Without `--out` the trace goes to standard output; with it, the status of the session does. The
    first line that is wrong, or infeasible, ends the run; nothing is written then.
    """
    session = Session()
    configure(session, asked(config, gain, alpha))
    with writing_to(out, force) as write, files.reading(file) as lines:
        with progress("simulating", file, out or files.STANDARD) as advance:
            for number, data in objects(_counted(lines, advance)):
                _tell(session, number, data)
        write_log(session.events(), write)
    if out in (None, files.STANDARD):
        return
    found = status_of(session)
    if as_json:
        emit(json_bytes(found))
    else:
        emit_text(figures(status_lines(found)))


def _counted(lines: Any, advance: Any) -> Any:
    for line in lines:
        yield line
        advance(len(line))


def _tell(session: Session, number: int, data: Any) -> None:
    """Do what a line says."""
    try:
        if isinstance(data, MemoptError):
            raise data
        _dispatch(session, data)
    except InfeasibleTurn as error:
        say(f"line {number}: {error}")
        raise typer.Exit(Exit.INFEASIBLE) from None
    except MemoptError as error:
        what = error.faults[0].message if isinstance(error, InvalidInstance) else str(error)
        say(f"line {number}: {what}")
        raise typer.Exit(Exit.INVALID) from None


def _dispatch(session: Session, data: Any) -> None:
    kind = data.get("kind", "turn") if isinstance(data, dict) else None
    if kind == "turn":
        session.turn(**read_turn(data))
    elif kind == "outcome":
        (answer,) = session.outcomes([read_outcome(data)])
        if isinstance(answer, MemoptError):
            raise answer
    elif kind == "put":
        told = checked(data, ("id", "texts"), "a put")
        if not isinstance(told.get("texts"), dict):
            raise InvalidEvent(f"texts is an object, read {as_read(told.get('texts'))!r}")
        session.put(told["texts"], told.get("id"))
    elif kind == "refresh":
        told = checked(data, ("id", "items"), "a refresh")
        wanted = told.get("items")
        if wanted is not None and not (
            isinstance(wanted, list) and all(isinstance(name, str) for name in wanted)
        ):
            raise InvalidEvent(f"items is a list of ids, read {as_read(wanted)!r}")
        refreshed(session, wanted, told.get("id"))
    else:
        raise InvalidEvent(f"kind is one of {', '.join(KINDS)}, read {kind!r}")
