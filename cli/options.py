"""Options that several commands share, and the solver they ask for."""

from __future__ import annotations

import math
from typing import Annotated, cast, get_args

import typer

from memopt.solvers import SOLVERS, Solver, get
from memopt.text.tokens import KNOWN


def _seconds(value: float | None) -> float | None:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise typer.BadParameter("it must be a finite number of seconds above 0")
    return value


SolverName = Annotated[
    str, typer.Option("--solver", metavar="NAME", help=f"Who solves: {', '.join(SOLVERS)}.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        callback=_seconds,
        help="Stop after this many seconds with the best allocation found and the proven gap.",
    ),
]
Tokenizer = Annotated[
    str,
    typer.Option("--tokenizer", metavar="NAME", help=f"One of {', '.join(KNOWN)}; bytes bound them all."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite FILE of --out if it exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone.")]


def make_solver(name: str, backend: str | None) -> Solver:
    """Return the solver of a name, with the backend asked for.

    Raises
    ------
    UnknownSolver
        When there is none of that name.
    """
    if backend is None:
        return get(name)
    if name != "milp":
        raise typer.BadParameter(f"solver {name!r} has no backends; only milp has", param_hint="--backend")
    from memopt.solvers import backends, milp

    if backend not in get_args(backends.Name):
        known = ", ".join(get_args(backends.Name))
        raise typer.BadParameter(f"it is one of {known}", param_hint="--backend")
    return milp.Milp(cast(backends.Name, backend))
