"""The cross-check: several solvers on one program, none of them believed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memopt.checked import ask
from memopt.columns import Columns
from memopt.compile import compile
from memopt.instance import Instance
from memopt.program import Program
from memopt.solvers import Solver, check_time_limit
from memopt.verdict import Verdict, judge

SUBJECT = "dp"
"""The solver whose answers are verified."""


def verify(
    instance: Instance | Columns,
    against: str | Sequence[str | Solver] = ("cpsat",),
    time_limit: float | None = None,
) -> Verdict:
    """Solve an instance with ``dp`` and with others, and say what their answers amount to.

    Parameters
    ----------
    instance
        The declared problem.
    against
        Solvers by name, or `Solver` objects; text is one name.
    time_limit
        Seconds for each solver; None = until proved.

    Raises
    ------
    InvalidInstance
        When sums of the instance are too large to compile.
    UnknownSolver, SolverMissing
        When there is no such solver, or its package is not installed.
    ValueError
        When ``against`` names nobody, or ``dp`` itself, or the time limit is negative or no number.
    """
    others = (against,) if isinstance(against, str) else tuple(against)
    if not others or SUBJECT in others:
        raise ValueError(f"{SUBJECT} is verified against others: name at least one, and not {SUBJECT}")
    return verify_program(compile(instance).program, (SUBJECT, *others), time_limit)


def verify_program(
    program: Program, solvers: Iterable[str | Solver], time_limit: float | None = None
) -> Verdict:
    """Ask every solver about a program and judge their answers; see `verify`."""
    check_time_limit(time_limit)
    return judge(program, [ask(program, solver, time_limit) for solver in solvers])
