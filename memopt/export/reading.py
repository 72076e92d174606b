"""A model as a reader that did not write it finds it, in one form whatever the file format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memopt.errors import MemoptError

Side = float | None
Constraint = tuple[Side, Side, dict[int, float]]
"""Lower and upper side (None = unlimited), and the coefficients by variable."""


class RereadDiffers(MemoptError):
    """A model file does not say what the program says; it must not be given to anyone."""

    def __init__(self, kind: str, difference: str) -> None:
        self.kind, self.difference = kind, difference
        super().__init__(f"the {kind} file reads back differently: {difference}; nothing was written")


@dataclass(frozen=True)
class Read:
    """A model that was read, to be maximised over binaries.

    Attributes
    ----------
    variables
        Names, in the order of the file.
    values
        Objective coefficients.
    rows
        Name and constraint, in the order of the file.
    """

    variables: list[str]
    values: list[float]
    rows: list[tuple[str, Constraint]]


def canonical(lower: Side, upper: Side, terms: Iterable[tuple[int, float]]) -> Constraint:
    """Return the one form of a constraint: no zeros, an upper side, equations start positive."""
    kept = {variable: factor for variable, factor in sorted(terms) if factor}
    turned = upper is None or (lower == upper and kept and next(iter(kept.values())) < 0)
    if not turned:
        return lower, upper, kept
    flipped = {variable: -factor for variable, factor in kept.items()}
    return None if upper is None else -upper, None if lower is None else -lower, flipped
