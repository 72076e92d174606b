"""`memopt solve`: one instance in, its allocation out."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

import memopt
from memopt import Allocation, Instance
from memopt.errors import UnknownItem
from memopt.explain import Explanation
from memopt.jsontext import parse

from . import files
from .faults import report_infeasible, reporting
from .options import SolverName, TimeLimit, make_solver
from .output import emit, emit_text, json_bytes


def solve(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Problem file, or - for standard input.")],
    solver: SolverName = "dp",
    backend: Annotated[
        str | None, typer.Option("--backend", metavar="NAME", help="With --solver milp: cbc or highs.")
    ] = None,
    price: Annotated[
        str | None, typer.Option("--price", metavar="NUMBER", help="Price in place of the declared one.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="TOKENS", help="Budget in place of the declared one.")
    ] = None,
    time_limit: TimeLimit = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result object alone, as one line of JSON.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="ITEM", help="Say what every other level of an item would cost."),
    ] = None,
) -> None:
    """Solve one instance and print its allocation."""
    chosen = make_solver(solver, backend)
    with reporting(file, as_json):
        instance = Instance.model_validate(_overridden(parse(files.read(file)), price=price, budget=budget))
        if explain is not None and all(item.id != explain for item in instance.items):
            raise UnknownItem(explain)
        allocation = memopt.solve(instance, chosen, time_limit)
    if allocation.status == "infeasible":
        report_infeasible(allocation, as_json)
    explanation = None if explain is None else allocation.explain(explain)
    if as_json:
        emit(json_bytes(_result(allocation, explanation)))
        return
    from .render import rendered  # tables are not loaded where nobody sees one

    emit_text(rendered(instance, allocation, explanation))


def _overridden(declared: Any, **given: str | None) -> Any:
    """Put what the command line gives in place of what the file declares, before anything is judged."""
    if isinstance(declared, dict):
        declared.update({key: _value(text) for key, text in given.items() if text is not None})
    return declared


def _value(text: str) -> Any:
    """Read an option as the file would hold it; what is no JSON stays text, for the validation to report."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _result(allocation: Allocation, explanation: Explanation | None) -> dict[str, Any]:
    explained = {} if explanation is None else {"explain": explanation.to_dict()}
    return allocation.to_dict() | explained
