"""The figures of a replay beside the published ones: how a table shows them, and how far apart they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.published import Scores
from benchmarks.report import Column, Row

NEAR = 0.02

_LINES = ("published", "ours", "difference")


def figures(ours: Scores, known: Scores | None) -> dict[str, Any]:
    """Return what a row tells of one budget; without a published figure, that and the difference are null."""
    difference = None if known is None else Scores(ours.ec - known.ec, ours.atr - known.atr)
    return {
        name: scores and scores._asdict()
        for name, scores in zip(_LINES, (known, ours, difference), strict=True)
    }


def columns(budgets: Sequence[int], refresh_every: int) -> list[Column]:
    """Return the columns of the table: what a row is about, then one column per budget."""
    return [
        Column("ladder", lambda row: str(row["ladder"]), right=False),
        Column("policy", lambda row: str(row["policy"]), right=False),
        Column("refresh", lambda row: f"every {refresh_every}" if row["refreshes"] else "-", right=False),
        Column("EC/ATR", lambda row: "\n".join(_lines(row, budgets[0])), right=False),
        *(Column(f"{budget:,}", _cell(budget)) for budget in budgets),
    ]


def distance(rows: Sequence[Row]) -> str:
    """Return how many published figures are met, and which are missed most, as a note."""
    apart = [
        (abs(found["difference"][measure]), measure, f"{row['ladder']}, {row['policy']}, {budget}")
        for row in rows
        for budget, found in row["figures"].items()
        if found["difference"]
        for measure in Scores._fields
    ]
    near = sum(by <= NEAR for by, *_ in apart)
    furthest = "; ".join(
        f"{measure.upper()} by {decimal(by)} ({where})"
        for by, measure, where in (max(a for a in apart if a[1] == measure) for measure in Scores._fields)
    )
    return f"{near} of {len(apart)} published figures are met to within {NEAR:g}; furthest {furthest}."


def decimal(value: float, sign: str = "") -> str:
    """Show a share with three digits."""
    return f"{value:{sign}.3f}".replace("0.", ".", 1)


def _cell(budget: int) -> Callable[[Row], str]:
    return lambda row: "\n".join(_lines(row, budget).values())


def _lines(row: Row, budget: int) -> dict[str, str]:
    found = row["figures"][str(budget)]
    return {
        name: "/".join(decimal(value, "+" if name == "difference" else "") for value in found[name].values())
        for name in _LINES
        if found[name]
    }
