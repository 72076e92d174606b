"""The cross-check: ask several solvers about one program, and recompute every selection they give."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from memopt.columns import Columns
from memopt.compile import compile
from memopt.errors import SolverFailed, SolverLimit
from memopt.instance import Instance
from memopt.program import Program
from memopt.solvers import Solver, get
from memopt.verdict import Checked, Status, Verdict, judge

SUBJECT = "dp"
"""The solver whose answers are verified."""


def verify(
    instance: Instance | Columns,
    against: Sequence[str | Solver] = ("cpsat",),
    time_limit: float | None = None,
) -> Verdict:
    """Solve an instance with ``dp`` and with others, and say what their answers amount to.

    Parameters
    ----------
    instance
        The declared problem.
    against
        Solvers by name, or `Solver` objects.
    time_limit
        Seconds for each solver; None = until proved.

    Raises
    ------
    InvalidInstance
        When sums of the instance are too large to compile.
    UnknownSolver, SolverMissing
        When there is no such solver, or its package is not installed.
    ValueError
        When ``against`` names nobody, or ``dp`` itself.
    """
    if not against or SUBJECT in against:
        raise ValueError(f"{SUBJECT} is verified against others: name at least one, and not {SUBJECT}")
    return verify_program(compile(instance).program, (SUBJECT, *against), time_limit)


def verify_program(
    program: Program, solvers: Iterable[str | Solver], time_limit: float | None = None
) -> Verdict:
    """Ask every solver about a program and judge their answers; see `verify`."""
    return judge(program, [_ask(program, solver, time_limit) for solver in solvers])


def _ask(program: Program, asked: str | Solver, time_limit: float | None) -> Checked:
    """Return a solver's answer, its selection recomputed; only what is missing is an error."""
    solver = get(asked) if isinstance(asked, str) else asked
    began = time.perf_counter()
    try:
        answer = solver.solve(program, time_limit)
    except SolverLimit as error:
        seconds = time.perf_counter() - began
        return Checked(solver.name, "refused", seconds, limit=error.limit, reason=str(error))
    except SolverFailed as error:
        return Checked(solver.name, "failed", time.perf_counter() - began, reason=str(error))
    seconds = time.perf_counter() - began
    claims: dict[str, Any] = {
        "version": answer.version or (_own_version() if isinstance(asked, str) else ""),
        "bound": answer.bound,
        "fewest": answer.fewest,
        "proof": answer.proof,
        "parameters": answer.parameters,
    }
    if answer.selection is None:
        status: Status = "infeasible" if answer.infeasible else "unknown"
        reason = "" if answer.infeasible else f"{solver.name} found no selection"
        return Checked(solver.name, status, seconds, reason=reason, **claims)
    audit = program.audit(answer.selection)
    if not _one_option_an_item(program, answer.selection):
        return Checked(solver.name, "invalid", seconds, reason="; ".join(audit.broken), **claims)
    if audit.broken:
        status = "invalid"
    elif answer.infeasible:
        status = "infeasible"  # and refuted by its own selection
    else:
        status = "optimal" if answer.bound == audit.value else "feasible"
    return Checked(
        solver.name, status, seconds, selection=np.asarray(answer.selection), value=audit.value,
        tokens=audit.tokens, reason="; ".join(audit.broken), **claims,
    )  # fmt: skip


def _one_option_an_item(program: Program, selection: Any) -> bool:
    chosen = np.asarray(selection)
    if chosen.shape != (len(program),) or chosen.dtype.kind not in "iu":
        return False
    return bool(((program.start[:-1] <= chosen) & (chosen < program.start[1:])).all())


def _own_version() -> str:
    from memopt import __version__  # known once the package is loaded

    return __version__
