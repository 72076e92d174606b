"""What one solver answers to a program, with nothing believed that can be recomputed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from memopt.errors import SolverFailed, SolverLimit
from memopt.program import Program, Selection
from memopt.solvers import Solver, get

Status = Literal["optimal", "feasible", "infeasible", "unknown", "invalid", "refused", "failed"]


@dataclass(frozen=True, eq=False)
class Checked:
    """What one solver answered, recomputed.

    Attributes
    ----------
    solver, version, parameters
        Who answered, and with what parameters, as read back.
    status
        ``optimal``: the selection reaches the claimed bound; ``feasible``: it does not, or there is no
        bound; ``infeasible``: claimed; ``unknown``: no selection and no claim; ``invalid``: the
        selection breaks a constraint; ``refused``: the program is beyond a limit; ``failed``.
    selection
        Option index per item; None when there is none, or what was given is not one option per item.
    value, tokens
        Recomputed, in grid units and in tokens; None without a selection.
    bound, fewest, proof
        Claimed: the bound in grid units, whether no selection of that value has fewer tokens, and how
        that is proved.
    limit
        Name of the limit for which the program was refused.
    reason
        Why the status is ``unknown``, ``invalid``, ``refused`` or ``failed``.
    seconds
        Wall time.
    """

    solver: str
    status: Status
    seconds: float
    version: str = ""
    selection: Selection | None = None
    value: int | None = None
    tokens: int | None = None
    bound: int | None = None
    fewest: bool = False
    proof: str = ""
    limit: str | None = None
    reason: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def proved(self) -> bool:
        """Whether a proof is claimed: of the optimum and its fewest tokens, or of infeasibility."""
        return self.status == "infeasible" or (self.status == "optimal" and self.fewest)


def ask(program: Program, asked: str | Solver, time_limit: float | None = None) -> Checked:
    """Return a solver's answer with its selection recomputed; a refusal is an answer, too.

    Raises
    ------
    UnknownSolver, SolverMissing
        When there is no solver of that name, or its package is not installed.
    """
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
