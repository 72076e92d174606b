"""Programs for the peer solvers, and what makes an answer of theirs right: enumeration agrees."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memopt import Instance, Program, SolverLimit
from memopt.compile import compile as compiled
from memopt.solvers import Answer, Solver
from memopt.solvers.exhaustive import Exhaustive

FOLDER = Path(__file__).parent


def program_of(declared: Any) -> Program:
    return compiled(Instance.model_validate(declared)).program


def item(name: str, *levels: tuple[int, float], **links: Any) -> dict[str, Any]:
    """Declare an item by ``(tokens, utility)`` of its levels, richest first."""
    ladder = ("raw", "summary", "abstraction", "keywords")
    options = {
        level: {"tokens": tokens, "utility": utility}
        for level, (tokens, utility) in zip(ladder, levels, strict=False)
    }
    return {"id": name, "levels": options, **links}


def program(budget: int, *items: dict[str, Any], price: float = 0) -> Program:
    return program_of({"budget": budget, "price": price, "items": items})


def regression(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / "regressions" / f"{name}.json").read_text()))


def unless_measured(package: str, release: str) -> pytest.MarkDecorator:
    """Skip what shows the fault of one release where another is installed."""
    reason = f"the fault was seen in {package} {release}"
    return pytest.mark.skipif(not version(package).startswith(release), reason=reason)


def check(solver: Solver, program: Program) -> Answer | None:
    """Solve a program and compare with enumeration; None where the solver refuses it by a limit."""
    expected = Exhaustive().solve(program)
    try:
        answer = solver.solve(program)
    except SolverLimit:
        return None
    assert answer.infeasible == expected.infeasible
    if expected.selection is None:
        assert answer.selection is None
        return answer
    assert answer.selection is not None
    right, audit = program.audit(expected.selection), program.audit(answer.selection)
    assert audit.broken == ()
    assert (audit.value, audit.tokens) == (right.value, right.tokens)
    assert answer.bound == right.value
    assert answer.proof
    assert answer.version
    return answer


def near_tie(seed: int, largest: int) -> Program:
    """Return a program whose best selections without and with one option differ by one unit of value."""
    random = np.random.default_rng(seed)
    raw = random.integers(60, 240, 5)
    items = [
        item(f"n{k}", (int(size), 0), (int(size) // 3, 0), (int(size) // 9, 0)) for k, size in enumerate(raw)
    ]
    shape = program(int(raw.sum()) // 2, *items)
    # The items were declared worthless to have every level kept: values come here, priced like tokens.
    worth = np.sqrt(shape.tokens) * random.uniform(0.8, 1.2, len(shape.tokens)) - shape.tokens / 40
    values = np.rint(worth / np.abs(worth).max() * largest).astype(np.int64)
    values[shape.level == shape.deleted] = 0
    given = replace(shape, value=values)
    best = Exhaustive().solve(given)
    assert best.selection is not None
    assert best.bound is not None
    others = np.setdiff1d(np.arange(len(values)), best.selection)
    for option in random.permutation(others).tolist():
        member = int(np.searchsorted(given.start, option, side="right")) - 1
        forced = given.forced(member, int(given.level[option]))
        other = Exhaustive().solve(forced) if forced is not None else None
        if other is not None and other.bound is not None:
            values = values.copy()
            values[option] += best.bound - other.bound + (1 if seed % 2 else -1)
            return replace(given, value=values)
    raise AssertionError("no other option fits")
