"""`memopt status`: where a session stands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from memopt.session.counters import LABELS
from memopt.session.governance import STATES
from memopt.session.session import Session

from .options import AsJson
from .output import emit, emit_text, json_bytes
from .sessions import DEFAULT, KnownDatabase, SessionName, opened, turn_result
from .tables import figures


def status(
    db: KnownDatabase,
    session: SessionName = DEFAULT,
    largest_price: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="PRICE",
            help="Price at which every turn's optimum keeps at most alpha of the budget, as you measured it: "
            "bounds the average occupancy beforehand.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print where a session stands: pressure, price, occupancy and its bounds, levels held, worth."""
    with opened(db, session, create=False) as running:
        found = {"session": session} | status_of(running, largest_price)
    if as_json:
        emit(json_bytes(found))
    else:
        emit_text(figures(status_lines(found)))


def status_of(session: Session, largest_price: float | None = None) -> dict[str, Any]:
    """Return where a session stands, ready for JSON.

    ``price_per_token`` is that of the coming turn at the budget of the last one. ``occupancy_bound`` is null
    without a largest price, before the first turn, and without a gain; see `PressureQueue.occupancy_bound`.
    ``governed`` counts the states that apply, ``governed_next`` those that
    the evidence there is now makes of them.
    """
    state, last = session.state, _last_turn(session)
    verdicts = session.verdicts()
    following = Counter(verdicts.get(memory, ("normal", ""))[0] for memory in state.known)
    bound = math.inf if largest_price is None else state.queue.occupancy_bound(largest_price)
    classes = Counter(report.label for report in session.worth())
    governed = Counter(state.governor.state(memory) for memory in state.known)
    return {
        "events": state.number,
        "digest": state.digest,
        **state.queue.report(),
        "occupancy_bound": bound if math.isfinite(bound) else None,
        "price_per_token": last and state.queue.price_per_token(last["budget"]),
        "last_turn": last,
        "levels": state.ledger.levels(),
        "originals": len(state.originals),
        "memories": len(state.known),
        "worth": {label: classes[label] for label in LABELS},
        "governed": {name: governed[name] for name in STATES},
        "governed_next": {name: following[name] for name in STATES},
        "episodes": state.worth.episodes,
        "base_rate": state.worth.base_rate,
        "config": state.config.to_dict(),
    }


def _last_turn(session: Session) -> dict[str, Any] | None:
    recorded = session.last_turn()
    if recorded is None:
        return None
    whole = turn_result(recorded)
    return {
        key: whole[key] for key in ("event", "tokens", "budget", "price", "price_per_token", "certificate")
    }


def status_lines(found: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the same for a person."""
    if "session" in found:
        yield "session", found["session"]
    yield "events", f"{found['events']:,}"
    yield "digest", found["digest"]
    yield "turns", f"{found['turns']:,}"
    yield "pressure Q", f"{found['pressure']:.6g} (largest {found['largest_pressure']:.6g})"
    yield (
        "next price",
        f"{found['price']:.6g} (of turn {found['turns'] + 1:,}, gain {found['gain']:g}{_each(found)})",
    )
    if (last := found["last_turn"]) is not None:
        yield (
            "last turn",
            (
                f"price {last['price']:.6g}, {last['price_per_token']:.3g} a token; "
                f"regret certificate {last['certificate']:.6g}"
            ),
        )
    beforehand = found["occupancy_bound"]
    yield (
        "average occupancy",
        (
            f"{found['average_occupancy']:.6g} (target {found['alpha']:g}, bound {found['average_bound']:.6g}"
            + (")" if beforehand is None else f", known beforehand: {beforehand:.6g})")
        ),
    )
    yield (
        "regret certificate",
        (
            f"{found['certificate']:.6g} (known beforehand: {found['certificate_bound']:.6g}), "
            f"slack {found['slack']:.3g}"
        ),
    )
    yield "flags", _counts(found["flags"])
    governing = found["config"]["governance"]["mode"] == "govern"
    yield "levels held", _counts(found["levels"]) + " (before the caps of governance)" * governing
    yield "originals", f"{found['originals']:,}"
    yield "worth", _counts(found["worth"])
    yield "governed", f"{_counts(found['governed'])} ({found['config']['governance']['mode']}{_next(found)})"
    yield "episodes", f"{found['episodes']:,}, base rate {found['base_rate']:.3g}"


def _each(found: dict[str, Any]) -> str:
    if found["last_turn"] is None:
        return ""
    return f", {found['price_per_token']:.3g} a token of {found['last_turn']['budget']:,}"


def _next(found: dict[str, Any]) -> str:
    """Return what the evidence makes of the memories governed, where that is something else."""
    if found["governed_next"] == found["governed"]:
        return ""
    when = "would be" if found["config"]["governance"]["mode"] == "observe" else "from their next turns on"
    return f"; {when}: {_counts(found['governed_next'])}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())
