"""`memopt import-solution`: a selection that another solver wrote, audited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from memopt.errors import visible

from . import files
from .compiled import read_compiled
from .exits import Exit
from .faults import reporting
from .output import emit, emit_text, json_bytes

if TYPE_CHECKING:
    from memopt.export.solution import Imported

_VERDICTS = {
    "optimal": "no selection is worth more",
    "suboptimal": "within all constraints, but a better selection exists",
    "unproven": "within all constraints; whether a better selection exists is not decided",
    "broken": "it breaks constraints",
    "infeasible": "there is no selection, as the solver says",
    "refuted": "the solver says that there is no selection, but there is one",
}


def import_solution(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Problem file the model was exported from.")],
    solution: Annotated[
        str, typer.Argument(metavar="SOLUTION", help="Solution file of HiGHS, CBC, GLPK or Gurobi.")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the audit alone, as one line of JSON.")
    ] = False,
) -> None:
    """Audit the solution that another solver found for an exported model.

    Value, tokens and constraints are recomputed in exact integers and compared with memopt's optimum.
    Exit status: 0 a selection within all constraints, 2 the file gives none, 3 infeasible as the solver
    says, 4 the selection breaks a constraint or a claim of the solver is false.
    """
    from memopt.export import solution as solutions  # not loaded where another command runs

    if file == solution == files.STANDARD:
        raise typer.BadParameter("standard input is one file: name the other", param_hint="SOLUTION")
    compiled = read_compiled(file, as_json)
    with reporting(solution, as_json):
        imported = solutions.import_solution(compiled, files.read(solution))
    if as_json:
        emit(json_bytes(imported.to_dict()))
    else:
        emit_text("".join(f"{visible(line)}\n" for line in _lines(imported)))
    if imported.wrong:
        raise typer.Exit(Exit.REFUTED)
    if imported.verdict == "infeasible":
        raise typer.Exit(Exit.INFEASIBLE)


def _lines(imported: Imported) -> Iterator[str]:
    told = imported.to_dict()
    yield f"verdict   {imported.verdict}: {_VERDICTS[imported.verdict]}"
    claim = told["claimed"] or "no claim"
    false = ", which is false" if imported.wrong and told["claimed"] else ""
    yield f"solver    {claim}{false} ({told['format']} file)"
    if imported.audit is not None:
        yield f"value     {told['value']}"
        yield f"tokens    {told['tokens']:,} of {told['budget']:,}"
    if told["optimum"] is not None:
        yield f"optimum   {told['optimum']} with {told['optimum_tokens']:,} tokens ({told['optimum_status']})"
    if told["distance"] is not None:
        proved = "" if told["optimum_status"] == "optimal" else "at most "
        yield f"distance  {proved}{told['distance']} of value, {told['tokens_more']:+,} tokens"
    for broken in told["broken"]:
        yield f"broken    {broken}"
    if imported.misstated:
        objective = f"{imported.file.objective:,.15g}"
        yield f"stated    an objective of {objective}, which the selection does not have here"
    if imported.wrong or imported.misstated:
        yield "perhaps   the solver is wrong, or the model was exported from another version of FILE"
