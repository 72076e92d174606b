"""The programs behind PuLP: CBC and HiGHS, each made exact, silent and single-threaded."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from memopt.errors import SolverFailed, SolverMissing
from memopt.signals import held_back

Name = Literal["cbc", "highs"]

_TOLERANCE = 1e-9
"""How far a sum or an integer may be off; the defaults, 1e-6 and 1e-7, let a million tokens hide one."""


@dataclass(frozen=True)
class Report:
    """What a backend says after a run; the problem's variables hold the solution.

    Attributes
    ----------
    status
        ``optimal`` (with gap 0), ``feasible``, ``infeasible`` or ``unknown``.
    bound
        Proven lower bound on the minimised objective, as a double; None when there is none.
    version
        Name and version of the backend.
    parameters
        Every parameter that was set, as read back.
    """

    status: str
    bound: float | None
    version: str
    parameters: dict[str, Any]


class Backend(Protocol):
    """A way to minimise a PuLP problem exactly."""

    @property
    def name(self) -> Name:
        """The word it is asked for by."""
        ...

    @property
    def most_tokens(self) -> int:
        """Largest capacity, in units of the tokens' common divisor, that it is trusted with."""
        ...

    @property
    def largest_cost(self) -> int:
        """Size from which on it wants the objective's coefficients divided by a power of two."""
        ...

    def run(self, problem: Any, seconds: float | None) -> Report:
        """Minimise a problem, within a time limit if one is given."""
        ...


def find(name: Name | None) -> Backend:
    """Return a backend that is installed: the named one, or CBC, or else HiGHS.

    Raises
    ------
    SolverMissing
        When PuLP, or the named backend, or both backends are not installed.
    """
    try:
        with held_back():
            pulp: Any = import_module("pulp")
    except ImportError as error:
        raise SolverMissing("milp", "pulp", "solvers") from error
    if name != "highs":
        path = _cbc(pulp)
        if path is not None:
            return _Cbc(pulp, path)
        if name == "cbc":
            raise SolverMissing("milp", "CBC", "solvers")
    try:
        with held_back():
            highspy: Any = import_module("highspy")
    except ImportError as error:
        raise SolverMissing("milp", "highspy" if name else "CBC or highspy", "solvers") from error
    return _Highs(pulp, highspy)


def silent_highs(highspy: Any) -> Any:
    """Return HiGHS' class, but silent: its own prints a banner before it can be told not to."""

    class Silent(highspy.Highs):  # type: ignore[misc]  # highspy is loaded on demand
        def enableCallbacks(self) -> None:  # noqa: N802  # HiGHS' name; called while it is made
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    return Silent


def _cbc(pulp: Any) -> str | None:
    """Return the path of CBC: the machine's own, else the one in PuLP's wheel (gone in PuLP 4)."""
    bundled = getattr(getattr(pulp, "PULP_CBC_CMD", None), "pulp_cbc_path", None)
    paths = [None] if bundled is None else [None, bundled]
    found = (pulp.COIN_CMD(path=path).available() for path in paths)
    return next((str(path) for path in found if path), None)


def _status(problem: Any, pulp: Any) -> str:
    """Return what is known; PuLP's own status says Optimal for a time limit as well."""
    words = {
        pulp.LpSolutionOptimal: "optimal",
        pulp.LpSolutionIntegerFeasible: "feasible",
        pulp.LpSolutionInfeasible: "infeasible",
    }
    return words.get(problem.sol_status, "unknown")


@dataclass(frozen=True)
class _Cbc:
    pulp: Any
    path: str
    name: ClassVar[Literal["cbc"]] = "cbc"
    most_tokens: ClassVar[int] = 2_000_000
    largest_cost: ClassVar[int] = 2**53

    def run(self, problem: Any, seconds: float | None) -> Report:
        # No `threads`: CBC is serial without it; with 1, some runs stood still for ten seconds.
        options = [f"primalT {_TOLERANCE}", f"integerT {_TOLERANCE}", "randomCbcSeed 1"]
        with tempfile.TemporaryDirectory(prefix="memopt-") as folder:
            log = Path(folder, "cbc.log")
            solver = self.pulp.COIN_CMD(
                path=self.path, msg=False, timeLimit=seconds, gapRel=0, gapAbs=0, options=options,
                logPath=os.fspath(log),
            )  # fmt: skip
            solver.tmpDir = folder
            try:
                problem.solve(solver)
            except self.pulp.PulpSolverError as error:
                raise SolverFailed("milp", f"CBC: {error}") from error
            said = log.read_text(errors="replace")
        read = dict(re.findall(r"^(\w+) was changed from \S+ to (\S+)", said, re.MULTILINE))
        read.pop("seconds", None)  # what was left on the clock, not a setting
        bound = re.search(r"^Lower bound: +(\S+)", said, re.MULTILINE)
        version = re.search(r"^Version: (\S+)", said, re.MULTILINE)
        status = _status(problem, self.pulp)
        return Report(
            status,
            float(bound[1]) if bound and status == "feasible" else None,
            f"CBC {version[1] if version else 'of unknown version'}",
            read,
        )


@dataclass(frozen=True)
class _Highs:
    pulp: Any
    highspy: Any
    name: ClassVar[Literal["highs"]] = "highs"
    most_tokens: ClassVar[int] = 100_000_000
    # Its dual tolerance is absolute: far smaller costs lose units of value, far larger ones stall it.
    largest_cost: ClassVar[int] = 2**20

    def run(self, problem: Any, seconds: float | None) -> Report:
        parameters: dict[str, Any] = {
            "output_flag": False,
            "parallel": "off",  # not `threads`: HiGHS fails if the process once used another number
            "random_seed": 0,
            "mip_rel_gap": 0.0,
            "mip_abs_gap": 0.0,
            "mip_feasibility_tolerance": _TOLERANCE,
            "primal_feasibility_tolerance": _TOLERANCE,
        }
        limit = {} if seconds is None else {"time_limit": seconds}
        solver = self.pulp.HiGHS(msg=False)
        solver.createAndConfigureSolver = self._configured(parameters | limit)
        problem.solve(solver)
        model = problem.solverModel
        status, bound = _status(problem, self.pulp), float(model.getInfo().mip_dual_bound)
        return Report(
            status,
            bound if status == "feasible" and abs(bound) < self.highspy.kHighsInf else None,
            f"HiGHS {model.version()}",
            {name: model.getOptionValue(name)[1] for name in parameters},
        )

    def _configured(self, parameters: dict[str, Any]) -> Callable[[Any], None]:
        """Return what gives a problem its model; PuLP's own lets HiGHS print a banner first."""
        silent = silent_highs(self.highspy)

        def configure(problem: Any) -> None:
            problem.solverModel = silent()
            for name, value in parameters.items():
                problem.solverModel.setOptionValue(name, value)

        return configure


MOST_TOKENS: dict[Name, int] = {kind.name: kind.most_tokens for kind in (_Cbc, _Highs)}
"""Largest capacity of every backend, installed or not; see `Backend`."""
