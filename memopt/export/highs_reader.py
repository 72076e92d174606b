"""LP and MPS files read by HiGHS."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from memopt.errors import SolverMissing
from memopt.export.lp import NOTHING
from memopt.export.reading import Constraint, Read, RereadDiffers, canonical
from memopt.signals import held_back
from memopt.solvers.backends import silent_highs


def read_with_highs(kind: Literal["lp", "mps"], content: bytes) -> Read:
    """Return what HiGHS reads in a file.

    Raises
    ------
    SolverMissing
        When HiGHS is not installed.
    RereadDiffers
        When HiGHS cannot read it, or finds other variables than binaries.
    """
    try:
        with held_back():
            highspy: Any = import_module("highspy")
    except ImportError as error:
        raise SolverMissing("HiGHS", "highspy", "solvers") from error
    highs = silent_highs(highspy)()
    highs.setOptionValue("large_matrix_value", 1e20)  # tokens may be larger than its default, 1e15
    with tempfile.TemporaryDirectory(prefix="memopt-") as folder:
        path = Path(folder, f"model.{kind}")
        path.write_bytes(content)
        if highs.readModel(str(path)) == highspy.HighsStatus.kError:
            raise RereadDiffers(kind, "HiGHS cannot read it")
    found = highs.getLp()
    names, lower, upper = list(found.col_names_), list(found.col_lower_), list(found.col_upper_)
    if names == [NOTHING] and lower == upper == [0]:
        names, lower, upper = [], [], []
    if any(lower) or any(side != 1 for side in upper) or found.offset_:
        raise RereadDiffers(kind, "a variable is not between 0 and 1, or the objective has a constant")
    if any(mark != highspy.HighsVarType.kInteger for mark in list(found.integrality_)[: len(names)]):
        raise RereadDiffers(kind, "a variable is no integer")
    sign = 1 if found.sense_ == highspy.ObjSense.kMaximize else -1
    return Read(names, [sign * cost for cost in list(found.col_cost_)[: len(names)]], list(_rows(found)))


def _rows(found: Any) -> Iterator[tuple[str, Constraint]]:
    """Yield the rows of a HiGHS model, whose matrix comes by columns."""
    start, index = list(found.a_matrix_.start_), list(found.a_matrix_.index_)
    value = list(found.a_matrix_.value_)
    terms: list[list[tuple[int, float]]] = [[] for _ in found.row_names_]
    for column in range(len(start) - 1):
        for at in range(start[column], start[column + 1]):
            terms[index[at]].append((column, value[at]))
    sides = zip(found.row_names_, found.row_lower_, found.row_upper_, terms, strict=True)
    for name, lower, upper, row in sides:
        limits = [None if math.isinf(side) else side for side in (lower, upper)]
        yield name, canonical(limits[0], limits[1], row)
