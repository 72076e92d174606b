"""`memopt worth`: what is known of every memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memopt.session.session import Session

from .options import AsJson
from .output import emit, emit_text, json_bytes
from .sessions import DEFAULT, KnownDatabase, SessionName, opened
from .tables import table

_HEADINGS = ("memory", "class", "seen", "won", "lost", "ratio", "interval", "lift")
"""As many as fit side by side into 80 characters; what concerns few memories is told below the table."""


def worth(db: KnownDatabase, session: SessionName = DEFAULT, as_json: AsJson = False) -> None:
    """Print what is known of every memory: counters, ratio, interval, class, lift, confounded with.

    `seen` counts retrievals; `won` and `lost` add up shares of outcomes, 1/k for each of k memories in
    the context. A class is high, low or mixed, and uncertain where `seen` is below 10 (by default).
    All of it is association, not cause.
    """
    with opened(db, session, create=False) as running:
        found = worth_of(running)
    if as_json:
        emit(json_bytes(found))
    else:
        from .render import lines  # tables are not loaded where nobody sees one

        emit_text(table(_HEADINGS, map(_row, found["memories"]), left=2))
        emit_text(lines(_notes(found)))


def worth_of(session: Session) -> dict[str, Any]:
    """Return what is known of every memory, ready for JSON.

    ``state`` is what governance makes of the evidence there is now; in mode ``observe`` it is only told,
    in ``govern`` it applies from the memory's next turn on; until then ``governed`` does, as `status` counts.
    ``reason`` says why a memory is not normal, or why one of low worth is.
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
            | {"governed": state.governor.state(report.memory)}
            for report in session.worth()
        ],
    }


def _notes(found: dict[str, Any]) -> Iterator[list[str]]:
    """Yield what a row has no room for, one list per kind."""
    memories = found["memories"]
    standing = _would_be if found["mode"] == "observe" else _is
    yield [
        f"{memory['memory']!r} {standing(memory)}" + (memory["reason"] and f": {memory['reason']}")
        for memory in memories
        if {memory["state"], memory["governed"]} != {"normal"}
    ]
    yield [
        f"{memory['memory']!r} is low, not suppressed: {memory['reason']}"
        for memory in memories
        if {memory["state"], memory["governed"]} == {"normal"} and memory["reason"]
    ]
    yield [
        f"{memory['memory']!r} is retrieved with {', '.join(map(repr, memory['confounded']))}: confounded"
        for memory in memories
        if memory["confounded"]
    ]


def _would_be(memory: dict[str, Any]) -> str:
    return f"would be {memory['state']}"


def _is(memory: dict[str, Any]) -> str:
    if memory["state"] == memory["governed"]:
        return f"{memory['state']}"
    unless = "" if memory["state"] == "normal" else " unless it is pinned"
    return f"{memory['governed']}, {memory['state']} from its next turn on{unless}"


def _row(memory: dict[str, Any]) -> list[object]:
    return [
        memory["memory"],
        memory["label"],
        f"{memory['retrievals']:,}",
        _share(memory["plus"]),
        _share(memory["minus"]),
        f"{memory['ratio']:.3f}",
        f"{memory['low']:.2f}-{memory['high']:.2f}",
        "-" if memory["lift"] is None else f"{memory['lift']:.2f}",
    ]


def _share(weight: float) -> str:
    return f"{weight:.3g}" if weight < 99.95 else f"{weight:,.0f}"
