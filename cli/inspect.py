"""`memopt inspect`: what an instance is like, before anything is solved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from memopt.errors import visible

from .compiled import read_compiled
from .output import emit, emit_text, json_bytes

_MOST_LISTED = 10
"""Entries of one kind that are listed at most; ``--json`` has them all."""


def inspect(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Problem file, or - for standard input.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the findings alone, as one line of JSON.")
    ] = False,
) -> None:
    """Show what an instance compiles to: sizes, ranges, repairs, and which solvers take it."""
    from memopt import inspection  # not loaded where another command runs

    found = inspection.inspect(read_compiled(file, as_json))
    if as_json:
        emit(json_bytes(found))
    else:
        emit_text("".join(f"{visible(line)}\n" for line in _lines(found)))


def _lines(found: dict[str, Any]) -> Iterator[str]:
    blocks = found["blocks"]
    yield f"items      {found['items']:,} with {found['options']:,} options, {found['pinned']:,} pinned"
    yield f"levels     {', '.join(f'{name} {count:,}' for name, count in found['levels'].items())}"
    yield (
        f"blocks     {blocks['count']:,}, {blocks['linked']:,} of several items, the largest of "
        f"{blocks['largest']:,}; {blocks['groups']:,} groups, {blocks['exclusives']:,} exclusive sets"
    )
    yield f"budget     {found['budget']:,} tokens"
    if found["minimum_tokens"] is None:
        yield "needed     there is no selection at any budget"
    else:
        yield f"needed     {found['minimum_tokens']:,} tokens at least, {found['maximum_tokens']:,} at most"
    if found["infeasible"] is not None:
        yield f"infeasible ({found['infeasible']['code']}): {found['infeasible']['message']}"
    yield f"tokens     {_range(found['tokens'])}"
    yield f"values     {_range(found['value'])}, in units of {found['utility_step']} utility"
    yield from _listed("dominated", [f"{item!r} at {level}" for item, level in found["dominated"]])
    repairs = [f"{item!r} at {level}: {old:.6g} to {new:.6g}" for item, level, old, new in found["repaired"]]
    yield from _listed("repaired", repairs)
    yield from _listed("warning", [f"{fault['code']}: {fault['message']}" for fault in found["warnings"]])
    for row in found["solvers"]:
        yield f"solver     {_solver(row)}"
    yield f"program    {found['digest']}"


def _range(numbers: dict[str, int | None]) -> str:
    if numbers["least"] is None:
        return "none"
    return f"{numbers['least']:,} to {numbers['most']:,}, common divisor {numbers['divisor']:,}"


def _listed(kind: str, entries: list[str]) -> Iterator[str]:
    for entry in entries[:_MOST_LISTED]:
        yield f"{kind:10} {entry}"
    if len(entries) > _MOST_LISTED:
        yield f"{kind:10} and {len(entries) - _MOST_LISTED:,} more; --json has all of them"


def _solver(row: dict[str, Any]) -> str:
    name = row["solver"] if row["backend"] is None else f"{row['solver']} ({row['backend']})"
    if row["limit"] is None:
        return f"{name}: takes every program"
    verdict = "within" if row["within"] else "REFUSED, beyond"
    return f"{name}: {row['limit']} {row['read']:,}, {verdict} {row['most']:,}"
