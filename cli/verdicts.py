"""Verdicts for a person: the answers to one instance side by side, the counts of many by family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from memopt import Verdict
from memopt.errors import visible
from memopt.report import OUTCOMES, Outcome, Report

from .tables import table


def side_by_side(verdict: Verdict) -> str:
    """Return what every solver answered, and the verdict in words."""
    told = verdict.to_dict()["answers"]
    columns = ("solver", "status", "value", "tokens", "bound", "seconds")
    made = table(columns, [[_cell(said[name]) for name in columns] for said in told], left=2)
    lines = [
        f"{said['solver']} {said['version']}".rstrip() + f": {said['proof'] or said['reason'] or 'no proof'}"
        for said in told
    ]
    return made + "".join(f"{visible(line)}\n" for line in (*lines, f"{verdict.kind}: {verdict.reason}"))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6f}"
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def counted(report: Report) -> str:
    """Return the counts by group as a table, and what was not proved, refuted or accepted, in words."""
    shown = [outcome for outcome in OUTCOMES if outcome != "rejected" or report.totals()[outcome]]
    rows = [_row(group, found, shown) for group, found in report.counts().items()]
    if len(rows) > 1:
        rows.append(_row("total", report.totals(), shown))
    made = table(["family" if report.asked.random is not None else "input", "all", *shown], rows)
    return made + "".join(f"{visible(line)}\n" for line in _notes(report))


def _row(group: str, found: Counter[Outcome], shown: list[Outcome]) -> list[str]:
    return [group, f"{found.total():,}", *(f"{found[outcome]:,}" for outcome in shown)]


_MOST_NOTES = 10


def _notes(report: Report) -> Iterator[str]:
    for cause, times in sorted(report.unproven().items()):
        yield f"unproven, {cause}: {times:,}"
    told = [row for row in report.rows if row.verdict in ("differ", "invalid", "rejected")]
    for row in told[:_MOST_NOTES]:
        where = f"{row.group}, seed {row.seed}, {row.items} items" if row.path is None else row.path
        if row.line is not None:
            where += f", line {row.line}"
        why = row.reason or "; ".join(str(error["message"]) for error in row.errors or [])
        yield f"{row.verdict}, {where}: {why}"
    if len(told) > _MOST_NOTES:
        yield f"and {len(told) - _MOST_NOTES:,} more; the report has them all"
