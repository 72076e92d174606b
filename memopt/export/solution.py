"""A selection that another solver wrote, audited: value, tokens, constraints, distance to the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from memopt.allocation import Allocation, decimal_text
from memopt.compile import Compiled
from memopt.export.lp import NOTHING
from memopt.export.names import names_of
from memopt.export.selecting import select
from memopt.export.solution_files import SolutionFile, read_solution
from memopt.program import Audit, Selection
from memopt.solve import solve_compiled

_TOLERANCE = 1e-6
"""How far, relatively, a solver may print an objective from what its rounded selection is worth."""

Verdict = Literal["optimal", "suboptimal", "unproven", "broken", "infeasible", "refuted"]


@dataclass(frozen=True)
class Imported:
    """A foreign selection next to memopt's own optimum.

    Attributes
    ----------
    file
        What the solution file says.
    selection, audit
        The selection, and what it amounts to in exact integers; None when the file says that there
        is none.
    best
        memopt's allocation of the same instance.
    """

    file: SolutionFile
    selection: Selection | None
    audit: Audit | None
    best: Allocation

    @property
    def verdict(self) -> Verdict:
        """What the selection is.

        ``optimal``; ``suboptimal``: within all constraints, but worth less; ``unproven``: the same, but
        memopt has only a bound to compare with; ``broken``: a constraint is broken; ``infeasible``:
        none exists, as the solver says; ``refuted``: the solver says so, but one exists.
        """
        if self.audit is None:
            return "infeasible" if self.best.status == "infeasible" else "refuted"
        if not self.audit.feasible:
            return "broken"
        if self._distance == 0:
            return "optimal"
        return "suboptimal" if self.best.status == "optimal" else "unproven"

    @property
    def wrong(self) -> bool:
        """Whether the file is refuted: a broken constraint, or a claim of the solver that is false."""
        false_optimum = self.file.claims_optimal and self.verdict == "suboptimal"
        return self.verdict in ("broken", "refuted") or false_optimum

    @property
    def misstated(self) -> bool:
        """Whether the file states an objective that its selection does not have in this model."""
        if self.audit is None or self.file.objective is None:
            return False
        stated, value = abs(self.file.objective), abs(self.audit.value)  # MPS files minimise minus the value
        return abs(stated - value) > _TOLERANCE * max(1, value)

    @property
    def _distance(self) -> int | None:
        if self.audit is None or not self.audit.feasible or self.best.bound_units is None:
            return None
        return self.best.bound_units - self.audit.value

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as JSON data."""
        program, audit = self.best.compiled.program, self.audit
        distance, surplus = self._distance, None
        if audit is not None and audit.feasible and self.best.tokens is not None:
            surplus = audit.tokens - self.best.tokens
        return {
            "verdict": self.verdict,
            "wrong": self.wrong,
            "format": self.file.kind,
            "claimed": self.file.claimed or None,
            "misstated": self.misstated,
            "choices": self._choices(),
            "value": None if audit is None else decimal_text(audit.value, program.scale),
            "scale": program.scale,
            "tokens": None if audit is None else audit.tokens,
            "budget": program.budget,
            "feasible": audit is not None and audit.feasible,
            "broken": [] if audit is None else list(audit.broken),
            "optimum": self.best.value,
            "optimum_tokens": self.best.tokens,
            "optimum_status": self.best.status,
            "bound": self.best.bound,
            "distance": None if distance is None else decimal_text(distance, program.scale),
            "tokens_more": surplus,
            "digest": program.digest,
            "errors": [],
        }

    def _choices(self) -> dict[str, str]:
        return {} if self.selection is None else self.best.compiled.program.choices(self.selection)


def import_solution(compiled: Compiled, content: bytes) -> Imported:
    """Audit the solution that another solver found for an exported model of an instance.

    Parameters
    ----------
    compiled
        The instance; its names are made anew, no names file is needed.
    content
        The solution file, of any kind that `read_solution` reads.

    Raises
    ------
    InvalidSolution
        With every fault of a file that gives no selection; see `select` and `read_solution`.
    """
    program = compiled.program
    names = names_of(program)
    file = read_solution(content, names.options or (NOTHING,))
    selection = None if file.claims_infeasible else select(program, names, file)
    audit = None if selection is None else program.audit(selection)
    return Imported(file, selection, audit, solve_compiled(compiled))
