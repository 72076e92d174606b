"""Why there is no allocation, in words and as the result object: an invalid or an infeasible instance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import typer

from memopt import Allocation
from memopt.errors import InvalidInstance, InvalidSolution, counted
from memopt.text.errors import InvalidMessages

from . import files
from .output import emit, json_bytes, say
from .status import Exit


def invalid_result(error: InvalidInstance | InvalidSolution) -> dict[str, Any]:
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


def invalid_lines(source: str, error: InvalidInstance | InvalidSolution) -> Iterator[str]:
    """Yield every fault with its code and place, a line each."""
    yield f"{source} {_missing(error)}: {counted(len(error.faults), 'fault')}"
    for fault in error.faults:
        yield f"  {fault.code}: {fault.message}"
    for warning in error.warnings:
        yield f"  warning, {warning.code}: {warning.message}"


def _missing(error: InvalidInstance | InvalidSolution) -> str:
    if isinstance(error, InvalidMessages):
        return "holds no chat that can be read"
    return "declares no valid instance" if isinstance(error, InvalidInstance) else "gives no selection"


def report_invalid(file: str, error: InvalidInstance | InvalidSolution, as_json: bool) -> NoReturn:
    """Say every fault of a file, as sentences or as the result object, and end with that status."""
    if as_json:
        emit(json_bytes(invalid_result(error)))
    else:
        say(*invalid_lines(_named(file), error))
    raise typer.Exit(Exit.INVALID) from None


def infeasible_lines(allocation: Allocation) -> Iterator[str]:
    """Yield why there is no allocation: minimum tokens, pinned ids, shortfall."""
    yield f"infeasible ({allocation.code}): {allocation.message}"
    if allocation.minimum_tokens is not None:
        yield f"  minimum tokens: {allocation.minimum_tokens:,}"
        yield f"  budget: {allocation.budget:,}"
        yield f"  shortfall: {allocation.shortfall:,}"
    yield f"  pinned: {', '.join(map(repr, allocation.pinned))}"


def _named(file: str) -> str:
    """Return what is called at fault: a file, standard input, or options by their names."""
    if file == files.STANDARD:
        return "standard input"
    return file if file.startswith("--") else repr(file)


def report_infeasible(allocation: Allocation, as_json: bool) -> NoReturn:
    """Say why there is no allocation, as sentences or as the result object, and end with that status."""
    if as_json:
        emit(json_bytes(allocation.to_dict()))
    else:
        say(*infeasible_lines(allocation))
    raise typer.Exit(Exit.INFEASIBLE) from None
