"""Every model file is read back by a reader that did not write it, and compared with the program."""

from __future__ import annotations

from typing import Any, Literal

from memopt.export import model_json
from memopt.export.cpsat_reader import read_cpsat
from memopt.export.highs_reader import read_with_highs
from memopt.export.linear import BUDGET, Linear
from memopt.export.reading import Read, RereadDiffers, canonical
from memopt.program import Program
from memopt.solvers.cpsat import token_step


def check_linear(kind: Literal["lp", "mps"], content: bytes, model: Linear) -> None:
    """Read an LP or MPS file with HiGHS and compare.

    Raises
    ------
    SolverMissing
        When HiGHS is not installed.
    RereadDiffers
        When anything differs.
    """
    _compare(kind, read_with_highs(kind, content), _expected(model, 1))


def check_cpsat(kind: str, content: bytes, program: Program, model: Linear) -> None:
    """Read a CP-SAT model with protobuf's classes (JSON: as plain JSON) and compare.

    Raises
    ------
    RereadDiffers
        When anything differs.
    """
    _compare(kind, read_cpsat(kind, content), _expected(model, token_step(program)))


def check_json(content: bytes, program: Program) -> None:
    """Read memopt's own model file and compare digests, which cover the whole program.

    Raises
    ------
    RereadDiffers
        When anything differs.
    """
    digest = model_json.read(content).digest
    if digest != program.digest:
        raise RereadDiffers("json", f"its digest is {digest}, not {program.digest}")


def _expected(model: Linear, token_step: int) -> Read:
    """Return what a file must say; CP-SAT counts tokens in units of their common divisor."""
    rows = []
    for row in model.rows:
        step = token_step if row.name == BUDGET else 1
        upper = None if row.upper is None else row.upper // step
        terms = [(option, factor // step) for option, factor in row.terms.items()]
        rows.append((row.name, canonical(row.lower, upper, terms)))
    return Read(list(model.names.options), list(model.values), rows)


def _compare(kind: str, read: Read, expected: Read) -> None:
    _same(kind, "variable", read.variables, expected.variables)
    _same(kind, "objective coefficient", read.values, expected.values)
    _same(kind, "row", sorted(read.rows, key=_name), sorted(expected.rows, key=_name))


def _name(row: tuple[str, Any]) -> str:
    return row[0]


def _same(kind: str, what: str, read: list[Any], expected: list[Any]) -> None:
    if read == expected:
        return
    for one, other in zip(read, expected, strict=False):
        if one != other:
            raise RereadDiffers(kind, f"a {what} is {one!r}, not {other!r}")
    raise RereadDiffers(kind, f"it has {len(read)} of {what}, not {len(expected)}")
