"""The programs behind PuLP: CBC and HiGHS, each made exact, silent and single-threaded."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from memopt.errors import SolverFailed, SolverMissing
from memopt.signals import held_back
from memopt.solvers.beside import beside

Name = Literal["cbc", "highs"]

_TOLERANCE = 1e-9
"""How far a sum or an integer may be off; the defaults, 1e-6 and 1e-7, let a million tokens hide one."""

# No `threads`: CBC is serial without it; with 1, some runs stood still for ten seconds.
_CBC_OPTIONS = (
    *("-primalT", str(_TOLERANCE), "-integerT", str(_TOLERANCE), "-randomCbcSeed", "1"),
    *("-ratio", "0", "-allow", "0", "-timeMode", "elapsed", "-solve", "-printingOptions", "all"),
)


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
        with tempfile.TemporaryDirectory(prefix="memopt-") as folder:
            process = _CbcProcess(self.pulp, self.path, Path(folder), seconds)
            try:
                problem.solve(process)
            except self.pulp.PulpSolverError as error:
                raise SolverFailed("milp", f"CBC: {error}") from error
            said = process.log.read_text(errors="replace")
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
class _CbcProcess:
    """What PuLP calls a solver; its own does not end CBC when this process is interrupted."""

    pulp: Any
    path: str
    folder: Path
    seconds: float | None

    @property
    def log(self) -> Path:
        """What CBC printed."""
        return self.folder / "cbc.log"

    def actualSolve(self, problem: Any) -> None:  # noqa: N802  # PuLP's name
        """Give a problem its status and its variables their values."""
        model, solution = os.fspath(self.folder / "problem.mps"), os.fspath(self.folder / "solution.txt")
        variables, names, rows, _ = problem.writeMPS(model, rename=1)
        limit = [] if self.seconds is None else ["-sec", str(self.seconds)]
        status = self._call(model, *limit, *_CBC_OPTIONS, "-solution", solution)
        if status != 0 or not os.path.exists(solution):
            raise self.pulp.PulpSolverError(f"{self.path!r} ended with status {status} and no solution file")
        read = self.pulp.COIN_CMD(path=self.path).readsol_MPS(solution, problem, variables, names, rows)
        problem.assignVarsVals(read[1])
        problem.assignStatus(read[0], read[-1])

    def _call(self, *arguments: str) -> int:
        hidden = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # or Windows flashes a console
        with ExitStack() as ended, self.log.open("wb") as log:
            with held_back():
                process = subprocess.Popen(
                    [self.path, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    creationflags=hidden,
                )  # fmt: skip
                ended.enter_context(process)  # waits for it
                ended.callback(process.kill)  # if it still runs
            return process.wait()


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
        model = silent_highs(self.highspy)()
        model.HandleUserInterrupt = True  # or `cancelSolve` is not heard
        for name, value in (parameters | limit).items():
            model.setOptionValue(name, value)
        solver = self.pulp.HiGHS(msg=False)
        # PuLP's own makes a model that prints a banner before it can be told not to.
        solver.createAndConfigureSolver = lambda problem: setattr(problem, "solverModel", model)
        beside(lambda: problem.solve(solver), model.cancelSolve)
        status, bound = _status(problem, self.pulp), float(model.getInfo().mip_dual_bound)
        return Report(
            status,
            bound if status == "feasible" and abs(bound) < self.highspy.kHighsInf else None,
            f"HiGHS {model.version()}",
            {name: model.getOptionValue(name)[1] for name in parameters},
        )


MOST_TOKENS: dict[Name, int] = {kind.name: kind.most_tokens for kind in (_Cbc, _Highs)}
"""Largest capacity of every backend, installed or not; see `Backend`."""
