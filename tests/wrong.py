"""Solvers that are wrong, each in one way: what a cross-check has to catch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from memopt.program import Program, Selection
from memopt.solvers import Answer, Solver, cpsat
from memopt.solvers.dp import DynamicProgram
from memopt.solvers.greedy import Greedy


def claims_optimal(program: Program, selection: Selection | None, version: str = "") -> Answer:
    """Return an answer that calls its selection optimal, whatever it is."""
    if selection is None:
        return Answer(None, infeasible=True, version=version)
    return Answer(selection, bound=program.audit(selection).value, claimed="OPTIMAL", version=version)


@dataclass(frozen=True)
class Posing:
    """Another solver's selection, called optimal."""

    of: Solver
    name: str = "posing"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        return claims_optimal(program, self.of.solve(program, time_limit).selection)


class PosingGreedy(Posing):
    """Greedy called optimal, made without arguments: what a registry can hold."""

    def __init__(self) -> None:
        super().__init__(Greedy())


@dataclass(frozen=True)
class Corrupted:
    """The right answer, but for what happened to its selection on the way."""

    corrupt: Callable[[Program, Selection], Selection]
    name: str = "corrupted"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        answer = DynamicProgram().solve(program, time_limit)
        assert answer.selection is not None
        return replace(answer, selection=self.corrupt(program, answer.selection.copy()))


@dataclass(frozen=True)
class FalseBound:
    """Everything deleted and nothing lost, it says: optimal with a bound that was never proved."""

    name: str = "false-bound"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        return claims_optimal(program, program.start[1:] - 1)


@dataclass(frozen=True)
class Fixed:
    """One answer to everything."""

    answer: Answer
    name: str = "fixed"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        return self.answer


@dataclass(frozen=True)
class DefaultGaps:
    """HiGHS as it comes, with a relative gap of 1e-4; programs without links."""

    name: str = "highs-default-gaps"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        import pulp

        problem = pulp.LpProblem("plain", pulp.LpMaximize)
        chosen = [problem.add_variable(f"x{o}", 0, 1, pulp.LpInteger) for o in range(len(program.value))]
        step = int(np.gcd.reduce(program.value)) or 1
        problem.setObjective(pulp.lpDot((program.value // step).tolist(), chosen))
        problem.addConstraint(pulp.lpDot(program.tokens.tolist(), chosen) <= program.budget)
        for item in range(len(program)):
            problem.addConstraint(pulp.lpSum(chosen[o] for o in program.options(item)) == 1)
        problem.solve(pulp.HiGHS(msg=False))
        assert problem.sol_status == pulp.LpSolutionOptimal
        selection = np.flatnonzero([round(variable.varValue or 0) == 1 for variable in chosen])
        return claims_optimal(program, selection)


@dataclass(frozen=True)
class FloatObjective:
    """CP-SAT given utilities instead of integers: it then stops within 1e-4 of what it scales them to."""

    name: str = "cpsat-float-objective"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        model, chosen = cpsat.build(program)
        model.clear_objective()
        model.maximize(
            sum(
                value * 10.0**-program.scale * x
                for value, x in zip(program.value.tolist(), chosen, strict=True)
            )
        )
        assert model.proto.has_floating_point_objective()
        return _plain_cpsat(program, model, chosen)


@dataclass(frozen=True)
class Unguarded:
    """CP-SAT without the limit on the tokens and without the parameter that avoids the fault."""

    name: str = "cpsat-unguarded"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        chosen = [model.new_bool_var(f"x{o}") for o in range(len(program.value))]
        for item in range(len(program)):
            model.add_exactly_one(chosen[o] for o in program.options(item))
        model.add(cp_model.LinearExpr.weighted_sum(chosen, program.tokens.tolist()) <= program.budget)
        model.maximize(cp_model.LinearExpr.weighted_sum(chosen, program.value.tolist()))
        return _plain_cpsat(program, model, chosen)


def _plain_cpsat(program: Program, model: object, chosen: list[object]) -> Answer:
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.status_name(solver.solve(model))
    assert status == "OPTIMAL"
    return claims_optimal(program, np.flatnonzero([solver.boolean_value(x) for x in chosen]))
