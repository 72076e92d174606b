"""The answer in words: one level per item, with value, tokens, status, bound and proof."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from memopt.compile import Compiled
from memopt.errors import Fault
from memopt.program import Ints, Selection

if TYPE_CHECKING:
    from memopt.explain import Explanation

Status = Literal["optimal", "feasible", "infeasible"]


def decimal_text(units: int, scale: int) -> str:
    """Return ``units * 10^-scale`` as an exact decimal string without an exponent."""
    return format(Decimal(units).scaleb(-scale, Context(prec=400)), "f")


@dataclass(frozen=True, eq=False, repr=False)
class Allocation:
    """A checked selection and what is proved of it.

    Every number is recomputed from the selection in exact integers; nothing a solver says about its
    own objective is used.

    Attributes
    ----------
    status
        ``optimal`` (proved), ``feasible`` (a limit was hit; see `gap`) or ``infeasible``.
    selection
        Option index per item in canonical order, None when infeasible.
    tokens
        Tokens kept; None when infeasible.
    units, bound_units
        Value and proven upper bound in grid units of 10^-scale utility; None when there is none.
    solver, version, proof, parameters
        Who answered, and how the bound was proved.
    seconds
        Wall time of the solver alone.
    code, message, minimum_tokens, shortfall, pinned
        Why the instance is infeasible; None or empty otherwise.
    """

    compiled: Compiled
    status: Status
    selection: Selection | None
    tokens: int | None
    units: int | None
    bound_units: int | None
    solver: str
    version: str
    proof: str
    seconds: float
    parameters: dict[str, Any] = field(default_factory=dict)
    code: str | None = None
    message: str | None = None
    minimum_tokens: int | None = None
    shortfall: int | None = None
    pinned: tuple[str, ...] = ()
    explainer: Callable[[Allocation, str], Explanation] | None = field(default=None, repr=False)

    @property
    def budget(self) -> int:
        """Hard capacity in tokens."""
        return self.compiled.program.budget

    @property
    def price(self) -> float | str:
        """The price as declared."""
        return self.compiled.columns.price

    @property
    def scale(self) -> int:
        """Grid exponent k of `value`."""
        return self.compiled.program.scale

    @property
    def digest(self) -> str:
        """Content digest of the program that was solved."""
        return self.compiled.program.digest

    @property
    def value(self) -> str | None:
        """Value of the program as an exact decimal string, in utility."""
        return None if self.units is None else decimal_text(self.units, self.scale)

    @property
    def bound(self) -> str | None:
        """Proven upper bound on the value as an exact decimal string, in utility."""
        return None if self.bound_units is None else decimal_text(self.bound_units, self.scale)

    @property
    def gap(self) -> str | None:
        """``bound - value`` as an exact decimal string; ``0`` when optimal."""
        if self.units is None or self.bound_units is None:
            return None
        difference = self.bound_units - self.units
        return decimal_text(difference, self.scale) if difference else "0"

    @property
    def error_bound(self) -> float:
        """Largest distance between the program's and the declared optimum, in utility."""
        return self.compiled.error_bound

    @cached_property
    def objective(self) -> float | None:
        """Declared objective of these choices: sum of ``utility - price / budget * tokens``."""
        return None if self.selection is None else self.compiled.objective(self.selection)

    @cached_property
    def levels(self) -> Ints:
        """Level index of every item in input order, shape ``[items]``; the last index is ``delete``."""
        levels = np.empty(len(self.compiled.rows), dtype=np.int64)
        if self.selection is None:
            return levels[:0]
        levels[self.compiled.rows] = self.compiled.program.levels(self.selection)
        return levels

    @cached_property
    def choices(self) -> dict[str, str]:
        """Level name of every item, in input order; empty when infeasible."""
        ladder = self.compiled.program.ladder
        ids: Iterable[str] | None = self.compiled.columns.ids
        if ids is None:
            ids = map(str, range(len(self.levels)))
        return {
            item: ladder[level]
            for item, level in zip(ids, self.levels.tolist(), strict=self.selection is not None)
        }

    @property
    def dominated(self) -> list[tuple[str, str]]:
        """Levels dropped because a richer one costs no more and is worth no less."""
        rows, levels = self.compiled.dropped
        ladder = self.compiled.program.ladder
        return [
            (self._name(row), ladder[level])
            for row, level in zip(rows.tolist(), levels.tolist(), strict=True)
        ]

    @property
    def repaired(self) -> list[tuple[str, str, float, float]]:
        """Utilities raised by the monotone rule: item, level, before, after."""
        ladder = self.compiled.program.ladder
        return [
            (self._name(row), ladder[level], before, after)
            for row, level, before, after in zip(
                *(part.tolist() for part in self.compiled.raised), strict=True
            )
        ]

    @property
    def warnings(self) -> tuple[Fault, ...]:
        """What is allowed but looks like a mistake."""
        return self.compiled.warnings

    @property
    def errors(self) -> tuple[Fault, ...]:
        """Always empty: an instance with faults raises `InvalidInstance` and has no allocation."""
        return ()

    def __repr__(self) -> str:
        """Return a line that fits a log."""
        return (
            f"Allocation({self.status}, {self.tokens} of {self.budget} tokens, value {self.value}, "
            f"gap {self.gap}, {len(self.compiled.rows)} items, solver {self.solver!r})"
        )

    def explain(self, item: str) -> Explanation:
        """Return, for every level of an item, the optimum when that level is forced.

        Raises
        ------
        UnknownItem
            When the instance has no item of that id.
        """
        if self.explainer is None:
            raise RuntimeError("this allocation was not made by solve()")
        return self.explainer(self, item)

    def to_dict(self) -> dict[str, Any]:
        """Return the result object of ``--json``."""
        result: dict[str, Any] = {"status": self.status}
        if self.status == "infeasible":
            result |= {
                "code": self.code,
                "message": self.message,
                "minimum_tokens": self.minimum_tokens,
                "shortfall": self.shortfall,
                "pinned": list(self.pinned),
            }
        return result | {
            "choices": self.choices,
            "tokens": self.tokens,
            "budget": self.budget,
            "value": self.value,
            "scale": self.scale,
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "error_bound": self.error_bound,
            "price": self.price,
            "solver": self.solver,
            "proof": self.proof,
            "digest": self.digest,
            "seconds": round(self.seconds, 6),
            "dominated": [list(entry) for entry in self.dominated],
            "repaired": [list(entry) for entry in self.repaired],
            "warnings": [warning.to_dict() for warning in self.warnings],
            "errors": [],
        }

    def to_json(self) -> str:
        """Return the result object as JSON text on one line."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def _name(self, row: int) -> str:
        ids = self.compiled.columns.ids
        return str(row) if ids is None else ids[row]
