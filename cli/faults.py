"""Why there is no allocation, in words and as the result object: an invalid or an infeasible instance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from memopt import Allocation
from memopt.errors import Faulty, counted
from memopt.session.errors import InfeasibleTurn

from . import files
from .exits import Exit
from .output import emit, json_bytes, say


def invalid_result(error: Faulty) -> dict[str, Any]:
    """Return the result object of an invalid input.

    A negative budget adds ``code`` and ``shortfall`` (the tokens missing) at the top.
    """
    result: dict[str, Any] = {"status": "invalid"}
    for fault in error.faults:
        if fault.code == "budget_negative" and isinstance(fault.read, int):
            result |= {"code": fault.code, "shortfall": -fault.read}
    return result | {
        "errors": [fault.to_dict() for fault in error.faults],
        "warnings": [warning.to_dict() for warning in error.warnings],
    }


def invalid_lines(source: str, error: Faulty) -> Iterator[str]:
    """Yield every fault with its code and place, one per line."""
    yield f"{source} {error.lacking}: {counted(len(error.faults), 'fault')}"
    for fault in error.faults:
        yield f"  {fault.code}: {fault.message}"
    for warning in error.warnings:
        yield f"  warning, {warning.code}: {warning.message}"


@contextmanager
def reporting(file: str, as_json: bool) -> Iterator[None]:
    """Report what is wrong with a file, or why a turn is infeasible, and end the command with that status.

    Parameters
    ----------
    file
        What is at fault: a file, or options by their names.
    as_json
        Whether the report is the result object, or sentences.
    """
    try:
        yield
    except Faulty as error:
        _report_invalid(file, error, as_json)
    except InfeasibleTurn as error:
        report_infeasible(error.allocation, as_json)


def _report_invalid(file: str, error: Faulty, as_json: bool) -> NoReturn:
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
