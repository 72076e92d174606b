"""Who is measured against whom, each on the same compiled program.

CP-SAT and HiGHS are timed in their bare solve: their model is built beforehand, CP-SAT skips the
second pass for the fewest tokens, and HiGHS keeps its default feasibility tolerances, with which it is
several times faster than with the 1e-9 that memopt sets where it wants a proof. The DP is timed as
`memopt.solve` calls it, with everything it does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from memopt.columns import Columns
from memopt.errors import SolverMissing
from memopt.program import Program, Selection
from memopt.solvers import cpsat, dp
from memopt.solvers.backends import silent_highs

Status = Literal["optimal", "feasible", "none"]


@dataclass(frozen=True)
class Outcome:
    """What a peer found: its status, its selection, and the audited value (None = no selection)."""

    status: Status
    selection: Selection | None
    value: int | None
    bound: int | None = None


def _outcome(program: Program, status: Status, selection: Selection | None, bound: int | None) -> Outcome:
    if selection is None:
        return Outcome("none", None, None)
    audit = program.audit(selection)
    if not audit.feasible:
        raise ValueError(f"a peer broke a constraint: {', '.join(audit.broken)}")
    return Outcome(status, selection, audit.value, bound)


class Dp:
    """memopt's exact solver."""

    def __init__(self, program: Program, limit: float) -> None:
        self._program, self._limit = program, limit
        self._solver = dp.DynamicProgram()

    def prepare(self) -> None:
        """Nothing is needed."""

    def run(self) -> None:
        """Solve to the optimum with the fewest tokens."""
        self._answer = self._solver.solve(self._program, self._limit)

    def outcome(self) -> Outcome:
        """Return the last answer, audited."""
        bound, selection = self._answer.bound, self._answer.selection
        proved = selection is not None and bound == self._program.audit(selection).value
        return _outcome(self._program, "optimal" if proved else "feasible", selection, bound)


class CpSat:
    """CP-SAT, one worker: the bare solve of the model that `memopt.solvers.cpsat` builds."""

    def __init__(self, program: Program, limit: float) -> None:
        self._program, self._limit = program, limit
        self._model, self._chosen = cpsat.build(program)

    def prepare(self) -> None:
        """Set the parameters that `memopt.solvers.cpsat` sets."""
        self._solver: Any = import_module("ortools.sat.python.cp_model").CpSolver()
        self._solver.parameters.num_workers = 1
        self._solver.parameters.random_seed = 0
        self._solver.parameters.presolve_inclusion_work_limit = 0
        self._solver.parameters.max_time_in_seconds = self._limit

    def run(self) -> None:
        """Solve to the largest value."""
        self._status = self._solver.solve(self._model)

    def outcome(self) -> Outcome:
        """Return the last answer, audited."""
        status = self._solver.status_name(self._status)
        if status not in ("OPTIMAL", "FEASIBLE"):
            return _outcome(self._program, "none", None, None)
        chosen = [o for o, variable in enumerate(self._chosen) if self._solver.boolean_value(variable)]
        bound = -int(self._solver.response_proto.inner_objective_lower_bound)
        return _outcome(
            self._program, "optimal" if status == "OPTIMAL" else "feasible", np.array(chosen), bound
        )


class Highs:
    """HiGHS, gaps 0, one thread: the bare run of a model of the program without links."""

    def __init__(self, program: Program, limit: float) -> None:
        if program.groups or program.exclusives:
            raise ValueError("this model has no links")
        try:
            self._highspy: Any = import_module("highspy")
        except ImportError as error:
            raise SolverMissing("highs", "highspy", "solvers") from error
        self._program, self._limit = program, limit
        self._model = _linear_model(self._highspy, program)

    def prepare(self) -> None:
        """Pass the model to a new HiGHS: its clock and its memory of a solution start anew."""
        self._highs = silent_highs(self._highspy)()
        for name, value in {
            "output_flag": False,
            "parallel": "off",
            "random_seed": 0,
            "mip_rel_gap": 0.0,
            "mip_abs_gap": 0.0,
            "time_limit": self._limit,
        }.items():
            self._highs.setOptionValue(name, value)
        self._highs.passModel(self._model)

    def run(self) -> None:
        """Solve to the largest value."""
        self._highs.run()

    def outcome(self) -> Outcome:
        """Return the last answer, audited: within its tolerances it may overrun a large budget."""
        found = np.rint(np.array(self._highs.getSolution().col_value))
        selection = np.flatnonzero(found == 1)
        if len(selection) != len(self._program):
            return _outcome(self._program, "none", None, None)
        proved = self._highs.getModelStatus() == self._highspy.HighsModelStatus.kOptimal
        return _outcome(self._program, "optimal" if proved else "feasible", selection, None)


def _linear_model(highspy: Any, program: Program) -> Any:
    """Return the program as a model of HiGHS: one binary per option, one row per item, the budget last."""
    options, items = len(program.value), len(program)
    every = np.arange(options)
    token_step = int(np.gcd.reduce(program.tokens)) or 1
    value_step = int(np.gcd.reduce(program.value)) or 1
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = options, items + 1
    model.col_cost_ = -(program.value // value_step).astype(float)
    model.col_lower_, model.col_upper_ = np.zeros(options), np.ones(options)
    model.integrality_ = [highspy.HighsVarType.kInteger] * options
    model.row_lower_ = np.append(np.ones(items), -highspy.kHighsInf)
    model.row_upper_ = np.append(np.ones(items), float(program.budget // token_step))
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.append(program.start, 2 * options)
    model.a_matrix_.index_ = np.concatenate([every, every])
    model.a_matrix_.value_ = np.append(np.ones(options), (program.tokens // token_step).astype(float))
    return model


class ArgmaxPass:
    """One numpy pass ``(values - mu * tokens).argmax(axis=1)``: int64 arrays of the same data.

    It is what one look at every option costs in numpy; any ``mu`` costs the same.
    """

    def __init__(self, columns: Columns, program: Program) -> None:
        rate = columns.price_exact / columns.budget if columns.budget else 0
        worth = (columns.utility - float(rate) * columns.tokens) * 10.0**program.scale
        self._tokens = np.pad(columns.tokens, ((0, 0), (0, 1)))
        self._values = np.pad(np.rint(worth).astype(np.int64), ((0, 0), (0, 1)))
        self._mu = int(self._values.sum()) // max(int(self._tokens.sum()), 1)

    def prepare(self) -> None:
        """Nothing is needed."""

    def run(self) -> None:
        """Find the best level of every item at one multiplier."""
        self.best = (self._values - self._mu * self._tokens).argmax(axis=1)


Solving = Dp | CpSat | Highs

SOLVERS: dict[str, Callable[[Program, float], Solving]] = {"dp": Dp, "cpsat": CpSat, "highs": Highs}
