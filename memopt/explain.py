"""What every other level of an item would cost: the exact optimum with that level forced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memopt.allocation import Allocation


@dataclass(frozen=True)
class Explanation:
    """Placeholder."""


def explain(allocation: Allocation, item: str) -> Explanation:
    """Placeholder."""
    raise NotImplementedError
