"""`memopt solve-batch`: JSON Lines in, one result per line out."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import Annotated

import typer

from memopt.solvers import get

from . import files
from .batch import solve_lines
from .exits import Exit
from .options import Force, SolverName, TimeLimit
from .output import writing_to
from .progress import progress


def solve_batch(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="JSON Lines, one instance per line, or - for standard input."),
    ],
    solver: SolverName = "dp",
    time_limit: TimeLimit = None,
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, metavar="N", help="Processes to solve in, 61 at most.")
    ] = 1,
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="Write here instead of standard output.")
    ] = files.STANDARD,
    force: Force = False,
) -> None:
    """Solve many instances, one per line, and print one result per line in the same order.

    A line that declares no valid instance gives a result of status `invalid` with its line number and
    does not stop the others; blank lines are skipped. Exit status: 0 all solved, 2 any line invalid, 3 any
    infeasible and none invalid.
    """
    get(solver)  # an unknown solver is said before anything is read or written
    statuses: Counter[str] = Counter()
    with (
        files.reading(file) as lines,
        writing_to(out, force) as write,
        progress("solving", file, out) as advance,
        closing(solve_lines(lines, solver, time_limit, jobs)) as results,
    ):
        for solved in results:
            write(solved.text)
            statuses += solved.statuses
            advance(solved.read)
    if statuses["invalid"]:
        raise typer.Exit(Exit.INVALID)
    if statuses["infeasible"]:
        raise typer.Exit(Exit.INFEASIBLE)
