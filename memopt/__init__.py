"""Exact, priced allocation of an agent's memories under a hard token budget."""

from memopt.allocation import Allocation
from memopt.columns import Columns
from memopt.compile import Compiled, compile
from memopt.errors import Fault, InvalidInstance, MemoptError, SolverFailed, SolverLimit, SolverMissing
from memopt.instance import Instance, Item, Option, Window
from memopt.program import Audit, Program
from memopt.solve import solve
from memopt.solvers.jit import prepare
from memopt.verdict import Verdict
from memopt.verify import verify

__version__ = "0.1.0"

__all__ = [
    "Allocation",
    "Audit",
    "Columns",
    "Compiled",
    "Fault",
    "Instance",
    "InvalidInstance",
    "Item",
    "MemoptError",
    "Option",
    "Program",
    "SolverFailed",
    "SolverLimit",
    "SolverMissing",
    "Verdict",
    "Window",
    "compile",
    "prepare",
    "solve",
    "verify",
]
