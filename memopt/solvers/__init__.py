"""The solvers, by name. Each is loaded when asked for, never before."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from memopt.errors import UnknownSolver
from memopt.solvers.protocol import Answer, Solver, check_time_limit

__all__ = ["SOLVERS", "Answer", "Solver", "check_time_limit", "get"]

_MODULES = {
    "dp": ("memopt.solvers.dp", "DynamicProgram"),
    "cpsat": ("memopt.solvers.cpsat", "CpSat"),
    "milp": ("memopt.solvers.milp", "Milp"),
    "exhaustive": ("memopt.solvers.exhaustive", "Exhaustive"),
    "greedy": ("memopt.solvers.greedy", "Greedy"),
}
SOLVERS = tuple(_MODULES)
"""Names a solver can be asked for by."""


def get(name: str) -> Solver:
    """Return the solver of a name, with its defaults.

    Raises
    ------
    UnknownSolver
        When there is none of that name.
    """
    if name not in _MODULES:
        raise UnknownSolver(name, SOLVERS)
    module, attribute = _MODULES[name]
    make: Callable[[], Solver] = getattr(import_module(module), attribute)
    return make()
