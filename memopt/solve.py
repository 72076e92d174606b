"""One turn, solved: compile, ask a solver for a selection, audit it, say what is proved."""

from __future__ import annotations

import time
from dataclasses import replace

from memopt import tracing
from memopt.allocation import Allocation, Status
from memopt.columns import Columns
from memopt.compile import Compiled, compile
from memopt.errors import SolverFailed
from memopt.explain import explain
from memopt.instance import Instance
from memopt.shortage import find_shortage
from memopt.solvers import Answer, Solver, check_time_limit, get


def solve(
    instance: Instance | Columns, solver: str | Solver = "dp", time_limit: float | None = None
) -> Allocation:
    """Choose one level per item so that the priced utility is largest within the token budget.

    Parameters
    ----------
    instance
        The declared problem.
    solver
        ``dp`` (exact, ours), ``cpsat``, ``milp``, ``exhaustive``, ``greedy``, or a `Solver`.
    time_limit
        Seconds; None = until proved. Hitting it costs the proof, never the answer. Loading a solver is
        not counted: of ``dp`` a second, some ten where it was never compiled; see `prepare`.

    Returns
    -------
    Allocation
        Audited: within the budget, every link kept, value and tokens recomputed in integers.

    Raises
    ------
    ValueError
        When the time limit is negative or no number.
    TypeError, InvalidInstance
        When the instance is none, or sums of it are too large to compile.
    UnknownSolver
        When there is no solver of that name.
    SolverMissing, SolverLimit, SolverFailed
        When the asked solver is not installed, refuses the program, or gives no usable selection.
    """
    with tracing.span() as tell:
        allocation = solve_compiled(compile(instance), solver, time_limit)
        tell(lambda: tracing.of_allocation(allocation))
    return allocation


def solve_compiled(
    compiled: Compiled, solver: str | Solver = "dp", time_limit: float | None = None
) -> Allocation:
    """Solve what is compiled already; see `solve`."""
    check_time_limit(time_limit)
    chosen = get(solver) if isinstance(solver, str) else solver
    began = time.perf_counter()
    answer = chosen.solve(compiled.program, time_limit)
    if answer.selection is None and not answer.infeasible and time_limit is not None:
        answer = _stand_in(compiled, answer)
    return judge(compiled, chosen.name, answer, time.perf_counter() - began)


def _stand_in(compiled: Compiled, answer: Answer) -> Answer:
    """Give the greedy selection where the time was too short for any; the solver's bound stays."""
    greedy = get("greedy").solve(compiled.program)
    note = "no selection within the time limit: the greedy one stands in"
    proof = f"{answer.proof}; {note}" if answer.proof else note
    return replace(answer, selection=greedy.selection, infeasible=greedy.infeasible, proof=proof)


def judge(compiled: Compiled, name: str, answer: Answer, seconds: float) -> Allocation:
    """Turn a solver's answer into an allocation, believing only what the audit confirms.

    Raises
    ------
    SolverFailed
        When the selection breaks a constraint, or a claim contradicts it.
    """
    program = compiled.program
    shortage = find_shortage(program)
    if shortage is not None:
        if answer.selection is not None:
            raise SolverFailed(name, f"it selects where nothing is feasible: {shortage.message}")
        return Allocation(
            compiled, "infeasible", None, None, None, None, name, answer.version, answer.proof, seconds,
            answer.parameters, shortage.code, shortage.message, shortage.minimum_tokens,
            shortage.shortfall, shortage.pinned, explain,
        )  # fmt: skip
    if answer.selection is None:
        claim = "it claims that nothing is feasible" if answer.infeasible else "it found no selection"
        raise SolverFailed(name, f"{claim}, but a selection exists ({answer.claimed or 'no status'})")
    audit = program.audit(answer.selection)
    if not audit.feasible:
        raise SolverFailed(name, "; ".join(audit.broken))
    if answer.bound is not None and answer.bound < audit.value:
        raise SolverFailed(name, f"its bound {answer.bound} lies below the value {audit.value} it selects")
    status: Status = "optimal" if answer.bound == audit.value and answer.fewest else "feasible"
    return Allocation(
        compiled, status, answer.selection, audit.tokens, audit.value, answer.bound, name, answer.version,
        answer.proof, seconds, answer.parameters, explainer=explain,
    )  # fmt: skip
