"""Verdicts for a person: the answers to one instance side by side, those to many counted by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from memopt import Verdict
from memopt.errors import counted as number_of
from memopt.errors import visible
from memopt.report import MOST_NAMED, OUTCOMES, Outcome, Report, Row

from .tables import table


def side_by_side(verdict: Verdict) -> str:
    """Return what every solver answered, and the verdict in words."""
    told = verdict.to_dict()["answers"]
    columns = ("solver", "status", "value", "tokens", "bound", "seconds")
    made = table(columns, [[_cell(said[name]) for name in columns] for said in told], left=2, whole=True)
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
    first = "family" if report.asked.random is not None else "input"
    made = table([first, "all", *shown], rows, whole=True)
    return made + "".join(f"{visible(line)}\n" for line in _notes(report))


def _row(group: str, found: Counter[Outcome], shown: list[Outcome]) -> list[str]:
    return [group, f"{found.total():,}", *(f"{found[outcome]:,}" for outcome in shown)]


def _notes(report: Report) -> Iterator[str]:
    for why, rows in report.unproven().items():
        yield f"unproven, {why}: {len(rows):,}"
        yield from (f"  {_where(row)}" for row in rows[:MOST_NAMED])
        if len(rows) > MOST_NAMED:
            yield f"  and {len(rows) - MOST_NAMED:,} more"
    told = [row for row in report.rows if row.verdict in ("differ", "invalid", "rejected")]
    for row in told[:MOST_NAMED]:
        faults = row.errors or []
        yield f"{row.verdict}, {_where(row)}: {row.reason or number_of(len(faults), 'fault')}"
        yield from (f"  {fault['code']}: {fault['message']}" for fault in faults)
    if len(told) > MOST_NAMED:
        yield f"and {len(told) - MOST_NAMED:,} more; the report has them all"


def _where(row: Row) -> str:
    if row.path is None:
        return f"{row.group}, seed {row.seed}, {number_of(row.items or 0, 'item')}"
    return row.path if row.line is None else f"{row.path}, line {row.line}"
