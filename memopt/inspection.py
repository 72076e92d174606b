"""What a compiled instance is like: sizes, ranges, what compiling did, and which solvers take it."""

from __future__ import annotations

from typing import Any

import numpy as np

from memopt.allocation import decimal_text
from memopt.compile import Compiled
from memopt.program import Program
from memopt.shortage import find_shortage
from memopt.solvers import SOLVERS, cpsat, exhaustive, milp
from memopt.solvers.backends import MOST_TOKENS
from memopt.solvers.protocol import Limit
from memopt.token_range import token_range


def inspect(compiled: Compiled) -> dict[str, Any]:
    """Return all there is to know of an instance without solving it, as JSON data.

    Returns
    -------
    dict
        ``items``, ``options``, ``pinned`` (counts); ``levels``: how many items have each level as a
        candidate; ``blocks``: what has to be decided together; ``tokens`` and ``value`` (grid units):
        least and most coefficient and their common divisor; ``budget``, ``scale``; ``minimum_tokens``
        and ``maximum_tokens`` of the selections that keep the links, null when there is none;
        ``infeasible``: why there is no selection within the budget, or null; ``dominated`` and
        ``repaired`` levels; ``solvers``: each one's limits; ``digest``, ``warnings``.
    """
    program, columns = compiled.program, compiled.columns
    ladder = program.ladder
    spread = token_range(program)
    shortage = find_shortage(program)
    present = np.bincount(program.level, minlength=len(ladder)).tolist()

    def named(row: int) -> str:
        return str(row) if columns.ids is None else columns.ids[row]

    dropped = zip(*(part.tolist() for part in compiled.dropped), strict=True)
    raised = zip(*(part.tolist() for part in compiled.raised), strict=True)
    return {
        "items": len(program),
        "options": len(program.value),
        "pinned": len(program) - present[program.deleted],
        "levels": dict(zip(ladder, present, strict=True)),
        "blocks": _blocks(program),
        "tokens": _coefficients(program.tokens),
        "value": _coefficients(program.value),
        "scale": program.scale,
        "utility_step": decimal_text(1, program.scale),
        "budget": program.budget,
        "minimum_tokens": None if spread is None else spread[0],
        "maximum_tokens": None if spread is None else spread[1],
        "infeasible": None if shortage is None else {"code": shortage.code, "message": shortage.message},
        "dominated": [[named(row), ladder[level]] for row, level in dropped],
        "repaired": [[named(row), ladder[level], before, after] for row, level, before, after in raised],
        "solvers": _solvers(program),
        "digest": program.digest,
        "warnings": [warning.to_dict() for warning in compiled.warnings],
    }


def _coefficients(numbers: Any) -> dict[str, int | None]:
    if not len(numbers):
        return {"least": None, "most": None, "divisor": None}
    return {
        "least": int(numbers.min()),
        "most": int(numbers.max()),
        "divisor": int(np.gcd.reduce(numbers)),
    }


def _blocks(program: Program) -> dict[str, int]:
    """Return how many blocks the links make of the items, and how large the largest is."""
    sizes = [sum(map(len, units)) for units in program.alternatives()]
    return {
        "count": len(sizes),
        "linked": sum(size > 1 for size in sizes),
        "largest": max(sizes, default=0),
        "groups": len(program.groups),
        "exclusives": len(program.exclusives),
    }


def _solvers(program: Program) -> list[dict[str, Any]]:
    """Return a row for each limit of each solver, and one for a solver without limits."""
    found: dict[str, list[tuple[str | None, Limit]]] = {
        "cpsat": [(None, cpsat.limit(program))],
        "milp": [
            (backend, limit) for backend, most in MOST_TOKENS.items() for limit in milp.limits(program, most)
        ],
        "exhaustive": [(None, exhaustive.Exhaustive().limit(program))],
    }
    rows = []
    for solver in SOLVERS:
        for backend, limit in found.get(solver, [(None, None)]):
            row: dict[str, Any] = {"solver": solver, "backend": backend}
            if limit is None:
                rows.append(row | {"limit": None, "read": None, "most": None, "within": True})
            else:
                told = {"limit": limit.name, "read": limit.read, "most": limit.most}
                rows.append(row | told | {"within": limit.within})
    return rows
