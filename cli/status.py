"""`memopt status`: where a session stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from memopt.session.counters import LABELS
from memopt.session.governance import STATES
from memopt.session.session import Session

from .options import AsJson
from .output import emit, emit_text, json_bytes
from .sessions import DEFAULT, KnownDatabase, SessionName, opened
from .tables import figures


def status(db: KnownDatabase, session: SessionName = DEFAULT, as_json: AsJson = False) -> None:
    """Print where a session stands: pressure, price, occupancy and its bounds, levels held, worth."""
    with opened(db, session, create=False) as running:
        found = {"session": session} | status_of(running)
    if as_json:
        emit(json_bytes(found))
    else:
        emit_text(figures(status_lines(found)))


def status_of(session: Session) -> dict[str, Any]:
    """Return where a session stands, ready for JSON."""
    state = session.state
    classes = Counter(report.label for report in session.worth())
    governed = Counter(state.governor.state(memory) for memory in state.known)
    return {
        "events": state.number,
        "digest": state.digest,
        **state.queue.report(),
        "levels": state.ledger.levels(),
        "originals": len(state.originals),
        "memories": len(state.known),
        "worth": {label: classes[label] for label in LABELS},
        "governed": {name: governed[name] for name in STATES},
        "episodes": state.worth.episodes,
        "base_rate": state.worth.base_rate,
        "config": state.config.to_dict(),
    }


def status_lines(found: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the same for a person."""
    if "session" in found:
        yield "session", found["session"]
    yield "events", f"{found['events']:,}"
    yield "digest", found["digest"]
    yield "turns", f"{found['turns']:,}"
    yield "pressure Q", f"{found['pressure']:.6g} (largest {found['largest_pressure']:.6g})"
    yield "next price", f"{found['price']:.6g} (of turn {found['turns'] + 1:,}, gain {found['gain']:g})"
    yield (
        "average occupancy",
        (f"{found['average_occupancy']:.6g} (target {found['alpha']:g}, bound {found['average_bound']:.6g})"),
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
    yield "governed", f"{_counts(found['governed'])} ({found['config']['governance']['mode']})"
    yield "episodes", f"{found['episodes']:,}, base rate {found['base_rate']:.3g}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())
