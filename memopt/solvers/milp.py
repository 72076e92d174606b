"""CBC and HiGHS through PuLP: the program as a mixed-integer linear one, within measured limits.

Both solvers compute in doubles and accept what is right within a tolerance, so they can be believed
only while one token and one unit of value stand far above it. The limits were found on programs
whose optimum overruns a budget that is one token short, at gaps 0 and tolerances 1e-9: with CBC
2.10.3 the first wrong answer came at a budget of 24 million tokens, with HiGHS 1.16.0 at 18 billion
(tests/regressions/milp-cbc-large-tokens.json, milp-highs-large-tokens.json).

Values may have their full range in the objective: selections that differ by one unit of value were
told apart at nearly 10^12 a coefficient. As coefficients of a constraint they may not (CBC fails from
10^8, HiGHS from 10^10 on), so the fewest tokens are not found by fixing the value; see `_Search`.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np

from memopt.errors import SolverFailed
from memopt.program import Ints, Program, Selection
from memopt.solvers import backends
from memopt.solvers.backends import Backend, Report
from memopt.solvers.protocol import Answer, Limit

_MOST_VALUE = 10**12
_INTEGRAL = 1e-5
"""How far a variable may be off an integer; more is no answer."""
_SPARE = 1e-6
"""Share of a bound by which it is raised: a bound of doubles may be a little too low."""


@dataclass(frozen=True)
class Milp:
    """Mixed-integer linear programming by CBC or HiGHS: an independent cross-check.

    Attributes
    ----------
    backend
        ``cbc`` or ``highs``; None = the first that is installed.
    fewest_tokens
        Whether to go on for the fewest tokens once the value is proved. Without it the selection has
        the largest value, but maybe more tokens than needed.
    """

    backend: backends.Name | None = None
    fewest_tokens: bool = True
    name: ClassVar[str] = "milp"

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        """Solve a program; see `Solver`.

        Raises
        ------
        SolverMissing
            When PuLP or the backend is not installed.
        SolverLimit
            ``capacity``: the budget (or what the items need at most, if that is less), divided by
            the common divisor of all tokens, is more than the backend was found exact with.
            ``value``: a value is more than 10^12 times the common divisor of all values.
        SolverFailed
            When the backend breaks down or contradicts its own proof.
        """
        backend = backends.find(self.backend)
        settings = {"backend": backend.name, "fewest_tokens": self.fewest_tokens, "time_limit": time_limit}
        if len(program) == 0:
            nothing = np.zeros(0, np.int64)
            return Answer(nothing, bound=0, proof="nothing to decide", version=_pulp(), parameters=settings)
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        search = _Search(program, backend, deadline)
        report, selection = search.run(search.capacity)
        about: dict[str, Any] = {
            "claimed": report.status,
            "version": f"{report.version}, {_pulp()}",
            "parameters": report.parameters | settings,
        }
        proof = f"{report.version}: {report.status}, gap 0"
        if report.status == "infeasible":
            return Answer(None, infeasible=True, proof=proof, **about)
        if selection is None:
            return Answer(None, **about)
        if report.status != "optimal":
            proof = f"{report.version}: {report.status}, bound in doubles raised by a millionth"
            return Answer(selection, bound=search.bound(report), proof=proof, **about)
        value = int(program.value[selection].sum())
        proved = False
        if self.fewest_tokens:
            selection, proved = search.lighten(selection)
            proof += f"; fewest tokens {'' if proved else 'not '}proved by lower budgets"
        return Answer(selection, bound=value, fewest=proved, proof=proof, **about)


def limits(program: Program, most_tokens: int) -> tuple[Limit, Limit]:
    """Return where a program stands against the limits of `Milp.solve`.

    Parameters
    ----------
    most_tokens
        The backend's; see `memopt.solvers.backends.MOST_TOKENS`.
    """
    step, weights = _in_steps(program.tokens)
    capacity = min(program.budget // step, _most(program, weights))
    largest = int(np.abs(_in_steps(program.value)[1]).max(initial=0))
    return (
        Limit(Milp.name, "capacity", max(capacity, int(weights.max(initial=0))), most_tokens),
        Limit(Milp.name, "value", largest, _MOST_VALUE),
    )


def _in_steps(numbers: Ints) -> tuple[int, Ints]:
    """Return the common divisor of numbers, and the numbers in units of it."""
    step = int(np.gcd.reduce(numbers)) or 1
    return step, numbers // step


def _most(program: Program, weights: Ints) -> int:
    """Return what the heaviest options of the items weigh together."""
    return int(np.maximum.reduceat(weights, program.start[:-1]).sum()) if len(program) else 0


@dataclass
class _Search:
    """A program as a PuLP problem, and the runs on it.

    The second pass asks what the optimum is at a lower budget: the fewest tokens are the lowest budget
    at which the value is still reached. Mostly one run is enough, one token below the first selection.
    """

    program: Program
    backend: Backend
    deadline: float | None
    capacity: int = field(init=False)

    def __post_init__(self) -> None:
        program = self.program
        for limit in limits(program, self.backend.most_tokens):
            limit.check()
        self.value_step, self.worths = _in_steps(program.value)
        token_step, self.weights = _in_steps(program.tokens)
        self.capacity = min(program.budget // token_step, _most(program, self.weights))
        largest = int(np.abs(self.worths).max())
        # Dividing doubles by a power of two loses nothing.
        self.unit = 1 << (largest // self.backend.largest_cost).bit_length()
        costs = (-self.worths / self.unit).tolist()
        self.problem, self.chosen, self.limit = _build(program, self.weights.tolist(), costs, self.capacity)

    def run(self, capacity: int) -> tuple[Report, Selection | None]:
        """Return what the backend says at a budget of so many units, and the selection it found."""
        self.limit.changeRHS(capacity)
        left = None if self.deadline is None else max(self.deadline - time.perf_counter(), 0.0)
        report = self.backend.run(self.problem, left)
        selection = self._selection() if report.status in ("optimal", "feasible") else None
        if selection is None and report.status == "optimal":
            raise SolverFailed(Milp.name, f"{report.version} calls optimal what is no selection")
        return report, selection

    def bound(self, report: Report) -> int | None:
        """Return the backend's bound in grid units, raised until it is safe and no proof of optimality."""
        if report.bound is None:
            return None
        bound = -report.bound * self.unit
        return (math.ceil(bound + _SPARE * abs(bound)) + 1) * self.value_step

    def lighten(self, selection: Selection) -> tuple[Selection, bool]:
        """Return the selection of the same value with the fewest tokens, and whether that is proved."""
        value = int(self.worths[selection].sum())
        lowest = int(np.minimum.reduceat(self.weights, self.program.start[:-1]).sum())
        held, step = int(self.weights[selection].sum()), 1
        while lowest < held:
            if self.deadline is not None and time.perf_counter() >= self.deadline:
                return selection, False
            capacity = max(lowest, held - step)
            report, found = self.run(capacity)
            reached = None if found is None else int(self.worths[found].sum())
            if reached is not None and reached > value:
                raise SolverFailed(Milp.name, f"{report.version} found more value than it proved possible")
            if found is not None and reached == value:
                selection, held, step = found, int(self.weights[found].sum()), 2 * step
            elif report.status in ("optimal", "infeasible"):
                lowest, step = capacity + 1, 1
            else:
                return selection, False
        return selection, True

    def _selection(self) -> Selection | None:
        """Read the variables, which are None when unused and integers only within a tolerance."""
        values = np.array([variable.varValue or 0.0 for variable in self.chosen])
        near = np.rint(values)
        options = np.flatnonzero(near == 1)
        whole = bool((np.abs(values - near) <= _INTEGRAL).all())
        one_an_item = len(options) == np.count_nonzero(near) == len(self.program)
        return options if whole and one_an_item else None


def _pulp() -> str:
    return f"PuLP {version('pulp')}"


def _build(
    program: Program, weights: list[int], costs: list[float], capacity: int
) -> tuple[Any, list[Any], Any]:
    """Return the problem (minimise the costs), one binary per option, and the budget's constraint."""
    pulp: Any = import_module("pulp")
    problem = pulp.LpProblem("memopt", pulp.LpMinimize)
    chosen = [problem.add_variable(f"x{o:08d}", 0, 1, pulp.LpInteger) for o in range(len(weights))]

    def total(factors: list[Any]) -> Any:
        pairs = zip(chosen, factors, strict=True)
        return pulp.LpAffineExpression({variable: factor for variable, factor in pairs if factor})

    def deleted(item: int) -> Any:
        option = program.delete_option(item)
        return 0 if option is None else chosen[option]

    problem.setObjective(total(costs))
    for item in range(len(program)):
        problem.addConstraint(pulp.lpSum(chosen[option] for option in program.options(item)) == 1)
    for first, *others in program.groups:
        for other in others:
            if deleted(first) is not deleted(other):  # both may be the constant 0
                problem.addConstraint(deleted(first) - deleted(other) == 0)
    for units in program.exclusives:
        # Any member stands for its unit: the group makes the others agree.
        problem.addConstraint(pulp.lpSum(deleted(unit[0]) for unit in units) >= len(units) - 1)
    limit = total(weights) <= capacity
    problem.addConstraint(limit)
    return problem, chosen, limit
