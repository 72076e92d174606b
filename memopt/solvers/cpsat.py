"""CP-SAT: one Boolean an option, integers only, links on the items' own variables."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from memopt.errors import SolverFailed, SolverMissing
from memopt.program import Program, Selection
from memopt.signals import held_back
from memopt.solvers.beside import beside
from memopt.solvers.protocol import Answer, Limit

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntVar

TOKENS_SUM_BELOW = 2**31
"""OR-Tools 9.15 adds coefficients up in 32 bits in one presolve rule, and then certifies wrong optima
(google/or-tools#5293; tests/regressions/cpsat-huge-weights.json)."""

_SOLVED = ("OPTIMAL", "FEASIBLE")


@dataclass(frozen=True)
class CpSat:
    """Google's CP-SAT with one worker and a fixed seed: exact in integers, the main cross-check.

    Attributes
    ----------
    fewest_tokens
        Whether to solve a second time, with the value fixed and the tokens minimised. Without it the
        selection has the largest value, but maybe more tokens than needed.
    """

    fewest_tokens: bool = True
    name: ClassVar[str] = "cpsat"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        """Solve a program; see `Solver`. Two runs give the same selection if no time limit is hit.

        Raises
        ------
        SolverMissing
            When OR-Tools is not installed.
        SolverLimit
            ``tokens_sum``: the largest tokens of the items, divided by the common divisor of all
            tokens, add up to 2^31 or more.
        SolverFailed
            When CP-SAT rejects the model or contradicts its own proof.
        """
        model, chosen = build(program)
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        status, selection, solver = _run(model, chosen, deadline)
        parameters = _parameters(solver, self.fewest_tokens, time_limit)
        about: dict[str, Any] = {"version": version("ortools"), "parameters": parameters}
        if status == "INFEASIBLE":
            return Answer(None, infeasible=True, proof="CP-SAT: infeasible", claimed=status, **about)
        if status not in _SOLVED:
            if status == "MODEL_INVALID":
                raise SolverFailed(self.name, model.validate())
            return Answer(None, claimed=status, **about)
        # The exact bound; `objective_value` and `best_objective_bound` are rescaled doubles.
        bound = -int(solver.response_proto.inner_objective_lower_bound)
        proof = f"CP-SAT: {status.lower()}, integer bound {bound}"
        fewest = False
        if self.fewest_tokens and status == "OPTIMAL":
            selection, least = self._lighten(program, model, chosen, selection, deadline)
            proof, fewest = f"{proof}; tokens with the value fixed: {least.lower()}", least == "OPTIMAL"
        return Answer(selection, bound=bound, fewest=fewest, proof=proof, claimed=status, **about)

    def _lighten(
        self,
        program: Program,
        model: CpModel,
        chosen: list[IntVar],
        selection: Selection,
        deadline: float | None,
    ) -> tuple[Selection, str]:
        """Return the selection of the same value with the fewest tokens, and how sure that is."""
        if deadline is not None and time.perf_counter() >= deadline:
            return selection, "UNKNOWN"
        held = np.zeros(len(chosen), dtype=bool)
        held[selection] = True
        fix_value(program, model, chosen, int(program.value[selection].sum()))
        for variable, value in zip(chosen, held.tolist(), strict=True):
            model.add_hint(variable, value)
        status, found, _ = _run(model, chosen, deadline)
        if status == "INFEASIBLE":
            raise SolverFailed(self.name, "it finds no selection of the value that it just proved")
        return (found if status in _SOLVED else selection), status


def build(program: Program) -> tuple[CpModel, list[IntVar]]:
    """Return the CP-SAT model of a program, and its Boolean of every option, shape ``[options]``.

    The model maximises the value in grid units. Tokens and budget are divided by the common divisor
    of all tokens, which changes no selection.

    Raises
    ------
    SolverMissing, SolverLimit
        As `CpSat.solve`.
    """
    try:
        with held_back():
            from ortools.sat.python import cp_model
    except ImportError as error:
        raise SolverMissing(CpSat.name, "ortools", "solvers") from error
    limit(program).check()
    step = token_step(program)
    model = cp_model.CpModel()
    chosen = [model.new_bool_var(f"x{option}") for option in range(len(program.value))]
    for item in range(len(program)):
        model.add_exactly_one(chosen[option] for option in program.options(item))
    tokens = (program.tokens // step).tolist()
    model.add(cp_model.LinearExpr.weighted_sum(chosen, tokens) <= program.budget // step)

    def deleted(item: int) -> IntVar | int:
        option = program.delete_option(item)
        return 0 if option is None else chosen[option]

    for first, *others in program.groups:
        for other in others:
            if deleted(first) is not deleted(other):  # both may be the constant 0
                model.add(deleted(first) == deleted(other))
    for units in program.exclusives:
        # Any member stands for its unit: the group makes the others agree.
        absent = [deleted(unit[0]) for unit in units]
        model.add_at_most_one(True if isinstance(off, int) else ~off for off in absent)
    model.maximize(cp_model.LinearExpr.weighted_sum(chosen, program.value.tolist()))
    return model, chosen


def fix_value(program: Program, model: CpModel, chosen: list[IntVar], value: int) -> None:
    """Turn the model of `build` into the second one: exactly this value, fewest tokens."""
    from ortools.sat.python.cp_model import LinearExpr

    model.add(LinearExpr.weighted_sum(chosen, program.value.tolist()) == value)
    model.minimize(LinearExpr.weighted_sum(chosen, (program.tokens // token_step(program)).tolist()))


def token_step(program: Program) -> int:
    """Return the common divisor of all tokens, the model's unit of tokens."""
    return int(np.gcd.reduce(program.tokens)) or 1


def limit(program: Program) -> Limit:
    """Return where a program stands against the limit of `CpSat.solve`."""
    largest = np.maximum.reduceat(program.tokens, program.start[:-1]) if len(program) else program.tokens
    total = int(largest.sum()) // token_step(program)
    return Limit(CpSat.name, "tokens_sum", total, TOKENS_SUM_BELOW - 1)


def _run(model: CpModel, chosen: list[IntVar], deadline: float | None) -> tuple[str, Selection, Any]:
    """Return the status word, the selection (empty if there is no solution) and the solver."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.catch_sigint_signal = False  # or Ctrl-C would end one search and not the process
    solver.parameters.presolve_inclusion_work_limit = 0  # skips the rule behind TOKENS_SUM_BELOW
    if deadline is not None:
        solver.parameters.max_time_in_seconds = max(deadline - time.perf_counter(), 0.0)
    status = solver.status_name(beside(lambda: solver.solve(model), solver.stop_search))
    held = [solver.boolean_value(variable) for variable in chosen] if status in _SOLVED else []
    return status, np.flatnonzero(held), solver


def _parameters(solver: Any, fewest_tokens: bool, time_limit: float | None) -> dict[str, Any]:
    names = ("num_workers", "random_seed", "presolve_inclusion_work_limit", "absolute_gap_limit")
    read = {name: getattr(solver.parameters, name) for name in (*names, "relative_gap_limit")}
    return read | {"fewest_tokens": fewest_tokens, "time_limit": time_limit}
