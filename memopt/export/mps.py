"""The free MPS format, as GLPK, CBC, HiGHS and all commercial solvers read it.

Written here, because PuLP keeps 13 digits and puts the objective's sense into a comment. GLPK stops at
a section OBJSENSE and CBC skips it, so the one form that all read alike is to minimise: the objective
is minus the value, and its row is called so.
"""

from __future__ import annotations

from collections.abc import Iterator

from memopt.export.linear import Linear, Row

OBJECTIVE = "minus_value"


def write(model: Linear) -> bytes:
    """Return the file's content, columns in the order of the options."""
    return "".join(f"{line}\n" for line in _lines(model)).encode("ascii")


def _lines(model: Linear) -> Iterator[str]:
    yield f"* memopt program {model.digest}"
    yield f"* Minimise minus the value, in units of 10^{-model.scale} utility: MPS has no sense of the"
    yield "* objective that all solvers read. A variable is 1 if its item is kept at its level."
    yield "* Only gaps of 0 give the optimum."
    yield "NAME memopt FREE"
    yield "ROWS"
    yield f" N {OBJECTIVE}"
    for row in model.rows:
        yield f" {_kind(row)} {row.name}"
    yield "COLUMNS"
    yield from _columns(model)
    yield "RHS"
    for row in model.rows:
        side = row.lower if row.upper is None else row.upper
        if side:
            yield f" RHS {row.name} {side}"
    yield "BOUNDS"
    for name in model.names.options:
        yield f" BV BOUND {name}"
    yield "ENDATA"


def _kind(row: Row) -> str:
    if row.lower is None:
        return "L"
    return "G" if row.upper is None else "E"


def _columns(model: Linear) -> Iterator[str]:
    entries: list[list[str]] = [[f"{OBJECTIVE} {-value}"] if value else [] for value in model.values]
    for row in model.rows:
        for option, factor in row.terms.items():
            entries[option].append(f"{row.name} {factor}")
    yield " MARKER 'MARKER' 'INTORG'"
    for name, pairs in zip(model.names.options, entries, strict=True):
        for at in range(0, len(pairs), 2):
            yield f" {name} {' '.join(pairs[at : at + 2])}"
    yield " MARKER 'MARKER' 'INTEND'"
