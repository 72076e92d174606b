"""`memopt worth`: what is known of every memory."""

from __future__ import annotations

from typing import Any

from memopt.session.session import Session

from .output import emit, emit_text, json_bytes
from .sessions import DEFAULT, AsJson, Database, SessionName, opened
from .tables import table

_HEADINGS = ("memory", "class", "won", "lost", "ratio", "interval", "lift", "state", "confounded")


def worth(db: Database, session: SessionName = DEFAULT, as_json: AsJson = False) -> None:
    """Print what is known of every memory: counters, ratio, interval, class, lift, confounded with.

    All of it is association, not cause.
    """
    with opened(db, session, create=False) as running:
        found = worth_of(running)
    if as_json:
        emit(json_bytes(found))
    else:
        emit_text(table(_HEADINGS, map(_row, found["memories"]), left=2))


def worth_of(session: Session) -> dict[str, Any]:
    """Return what is known of every memory, ready for JSON.

    ``state`` is what governance makes of the evidence there is now; in mode ``observe`` it is only told.
    """
    verdicts = session.verdicts()
    state = session.state
    return {
        "base_rate": state.worth.base_rate,
        "episodes": state.worth.episodes,
        "mode": state.config.governance.mode,
        "memories": [
            report.to_dict()
            | dict(zip(("state", "reason"), verdicts.get(report.memory, ("normal", "")), strict=True))
            for report in session.worth()
        ],
    }


def _row(memory: dict[str, Any]) -> list[object]:
    return [
        memory["memory"],
        memory["label"],
        f"{memory['plus']:.4g}",
        f"{memory['minus']:.4g}",
        f"{memory['ratio']:.3f}",
        f"{memory['low']:.2f}-{memory['high']:.2f}",
        "-" if memory["lift"] is None else f"{memory['lift']:.2f}",
        memory["state"],
        ", ".join(memory["confounded"]),
    ]
