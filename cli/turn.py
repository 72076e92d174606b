"""`memopt turn`: of the candidates of one turn, the level that each holds from now on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from memopt.columns import DELETE
from memopt.errors import counted
from memopt.jsontext import parse
from memopt.session.events import TurnEvent

from .faults import reporting
from .files import read
from .options import AsJson
from .output import emit, emit_text, json_bytes, say
from .sessions import (
    DEFAULT,
    Alpha,
    ConfigFile,
    Database,
    EventId,
    Gain,
    SessionName,
    asked,
    read_turn,
    tell,
    told_twice,
    turn_result,
)
from .tables import figures, printed


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
    with reporting(file, as_json):
        told = read_turn(parse(read(file)))
        if event is not None:
            told["event_id"] = event
        recorded = tell(db, session, lambda running: running.turn(**told), asked(config, gain, alpha))
    if as_json:
        emit(json_bytes(turn_result(recorded)))
        return
    if not recorded.new:
        say(told_twice(recorded.event.id, recorded.same))
    if isinstance(recorded.event, TurnEvent):
        emit_text(_rendered(recorded.event, recorded.certificate or 0.0))


def _rendered(event: TurnEvent, certificate: float) -> str:
    """Return a turn for a person."""
    from .render import choices, lines, notes  # tables are not loaded where nobody sees one

    share = f" ({event.tokens / event.budget:.1%})" if event.budget else ""
    found: list[tuple[str, object]] = [
        ("turn", f"{event.turn}, event {event.id!r}"),
        ("tokens", f"{event.tokens:,} of {event.budget:,}{share}"),
        ("price", f"{event.price:.6g} ({event.price_per_token:.3g} a token)"),
        ("regret certificate", f"{certificate:.6g}"),
        ("pressure", f"{float(event.pressure):.6g}, then {float(event.next_pressure):.6g}"),
        ("value", f"{event.result['value']}, {event.result['status']}"),
        (
            "unchanged",
            f"{counted(event.prefix_tokens_kept, 'leading token')}; "
            f"{counted(event.items_changed, 'item')} changed",
        ),
    ]
    if event.flags:
        found.append(("flags", ", ".join(event.flags)))
    refused = [
        f"refused: {item!r} at {level}: {counted(tokens, 'token')} are more than it holds"
        + ("; the text held stays" if item in event.stands and level == event.choices[item] else "")
        for item, level, tokens in event.refused
    ]
    governed = [
        f"governed: {memory!r} {before} -> {after}: {reason}"
        for memory, before, after, reason, _ in event.transitions
    ]
    noted = lines((refused, governed, *notes(event.result)))
    return f"{printed(choices(list(_rows(event))))}\n{figures(found)}" + (noted and f"\n{noted}")


def _rows(event: TurnEvent) -> Iterator[tuple[str, str, int, float]]:
    """Yield every item with its level, tokens and utility (after repair)."""
    raised = {(item, level): after for item, level, _, after in event.result["repaired"]}
    declared = event.candidates["utility"]
    for row, item in enumerate(event.candidates["ids"]):
        level = event.choices[item]
        worth = 0 if level == DELETE else raised.get((item, level), declared[level][row])
        yield item, level, event.sizes.get(item, 0), float(worth)
