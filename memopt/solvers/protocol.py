"""What every solver takes and gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from memopt.errors import SolverLimit
from memopt.program import Program, Selection


@dataclass(frozen=True)
class Answer:
    """What a solver says about a program; only ``selection`` is ever used as an answer.

    Attributes
    ----------
    selection
        One option index per item, or None when the solver found none.
    infeasible
        The solver proved that no selection exists.
    bound
        Proven upper bound on the value in grid units, or None when there is none.
    fewest
        Whether no selection of the same value has fewer tokens; read only where the selection
        reaches the bound. False when a limit was hit before that was proved.
    proof
        How the bound was proved, in words; empty when nothing was proved.
    claimed
        The solver's own status word, diagnostic only.
    version
        Version of the solver that answered.
    parameters
        Every parameter that was set, as read back.
    """

    selection: Selection | None
    infeasible: bool = False
    bound: int | None = None
    fewest: bool = True
    proof: str = ""
    claimed: str = ""
    version: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Limit:
    """A limit of what a solver decides exactly, and where a program stands against it.

    Attributes
    ----------
    solver
        Who has the limit.
    name
        The word for what is limited, such as ``tokens_sum``.
    read, most
        What the program has, and the most that is safe.
    """

    solver: str
    name: str
    read: int
    most: int

    @property
    def within(self) -> bool:
        """Whether the program is within the limit."""
        return self.read <= self.most

    def check(self) -> None:
        """Raise `SolverLimit` unless the program is within the limit."""
        if not self.within:
            raise SolverLimit(self.solver, self.name, self.read, self.most)


def check_time_limit(time_limit: float | None) -> None:
    """Raise `ValueError` unless a time limit is None or a number of seconds >= 0."""
    if time_limit is not None and not time_limit >= 0:
        raise ValueError(f"time_limit is a number of seconds >= 0, not {time_limit!r}")


class Solver(Protocol):
    """A way to solve a program."""

    @property
    def name(self) -> str:
        """The word it is asked for by, such as ``dp``."""
        ...

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        """Solve a program, within a time limit in seconds if one is given.

        Raises
        ------
        SolverMissing
            When the package behind the solver is not installed.
        SolverLimit
            When the program lies outside the range the solver decides exactly.
        """
        ...
