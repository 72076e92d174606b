"""Why there is no allocation, in words and as the result object: an invalid or an infeasible instance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memopt import Allocation
from memopt.errors import InvalidInstance


def invalid_result(error: InvalidInstance) -> dict[str, Any]:
    """Return the result object of an invalid input.

    A negative budget adds ``code`` and ``shortfall``, the tokens missing, at the top.
    """
    result: dict[str, Any] = {"status": "invalid"}
    for fault in error.faults:
        if fault.code == "budget_negative" and isinstance(fault.read, int):
            result |= {"code": fault.code, "shortfall": -fault.read}
    return result | {
        "errors": [fault.to_dict() for fault in error.faults],
        "warnings": [warning.to_dict() for warning in error.warnings],
    }


def invalid_lines(source: str, error: InvalidInstance) -> Iterator[str]:
    """Yield every fault with its code and place, a line each."""
    count = len(error.faults)
    yield f"{source} declares no valid instance: {count:,} fault{'' if count == 1 else 's'}"
    for fault in error.faults:
        yield f"  {fault.code}: {fault.message}"
    for warning in error.warnings:
        yield f"  warning, {warning.code}: {warning.message}"


def infeasible_lines(allocation: Allocation) -> Iterator[str]:
    """Yield why there is no allocation: minimum tokens, pinned ids, shortfall."""
    yield f"infeasible ({allocation.code}): {allocation.message}"
    if allocation.minimum_tokens is not None:
        yield f"  minimum tokens: {allocation.minimum_tokens:,}"
        yield f"  budget: {allocation.budget:,}"
        yield f"  shortfall: {allocation.shortfall:,}"
    yield f"  pinned: {', '.join(map(repr, allocation.pinned))}"
