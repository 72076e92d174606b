"""`memopt turn`: the candidates of one turn in, the level each of them holds now out."""

from __future__ import annotations

from typing import Annotated

import typer

from memopt import InvalidInstance
from memopt.jsontext import parse
from memopt.session.errors import InfeasibleTurn
from memopt.session.events import TurnEvent

from .faults import infeasible_lines, report_invalid
from .files import read
from .output import emit, emit_text, json_bytes, say
from .sessions import (
    DEFAULT,
    Alpha,
    AsJson,
    ConfigFile,
    Database,
    EventId,
    Gain,
    SessionName,
    configure,
    opened,
    read_turn,
    told_twice,
    turn_result,
)
from .status import Exit
from .tables import figures, table


def turn(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Budget and items, as a problem file; - for standard input.")
    ],
    db: Database,
    session: SessionName = DEFAULT,
    event: EventId = None,
    config: ConfigFile = None,
    gain: Gain = None,
    alpha: Alpha = None,
    as_json: AsJson = False,
) -> None:
    """Take a turn of a session: caps and worth, price, solve, audit, then queue, ledger and event."""
    try:
        told = read_turn(parse(read(file)))
        with opened(db, session, create=True) as running:
            configure(running, config, gain, alpha)
            if event is not None:
                told["event_id"] = event
            recorded = running.turn(**told)
    except InvalidInstance as error:
        report_invalid(file, error, as_json)
    except InfeasibleTurn as error:
        if as_json:
            emit(json_bytes(error.allocation.to_dict()))
        else:
            say(*infeasible_lines(error.allocation))
        raise typer.Exit(Exit.INFEASIBLE) from None
    if as_json:
        emit(json_bytes(turn_result(recorded)))
        return
    if not recorded.new:
        say(told_twice(recorded))
    if isinstance(recorded.event, TurnEvent):
        emit_text(_rendered(recorded.event))


def _rendered(event: TurnEvent) -> str:
    """Return a turn for a person."""
    rows = [(item, level, f"{event.sizes.get(item, 0):,}") for item, level in event.choices.items()]
    share = f" ({event.tokens / event.budget:.1%})" if event.budget else ""
    found: list[tuple[str, object]] = [
        ("turn", f"{event.turn}, event {event.id!r}"),
        ("tokens", f"{event.tokens:,} of {event.budget:,}{share}"),
        ("price", f"{event.price:.6g}"),
        ("pressure", f"{float(event.pressure):.6g}, then {float(event.next_pressure):.6g}"),
        ("value", f"{event.result['value']}, {event.result['status']}"),
        ("unchanged", f"{event.prefix_tokens_kept:,} leading tokens; {event.items_changed:,} items changed"),
    ]
    if event.flags:
        found.append(("flags", ", ".join(event.flags)))
    found += [
        ("refused", f"{item!r} at {level}: {tokens:,} tokens are more than it holds")
        for item, level, tokens in event.refused
    ]
    found += [
        ("governed", f"{memory!r} {before} -> {after}: {reason}")
        for memory, before, after, reason, _ in event.transitions
    ]
    return table(("item", "level", "tokens"), rows, left=2) + figures(found)
