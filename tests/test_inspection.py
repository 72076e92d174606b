from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from foreign import CONFLICT, EMPTY, PAIR, STUCK, TEN

from memopt import Instance, SolverLimit, compile, solve
from memopt.families import generate, generate_columns
from memopt.inspection import inspect
from memopt.solvers import SOLVERS, jit
from memopt.solvers.blocks import decompose
from memopt.solvers.milp import Milp

DOUBTFUL = {
    "budget": 90,
    "items": [
        {
            "id": "a",
            "levels": {
                "raw": {"tokens": 60, "utility": 1},
                "summary": {"tokens": 30, "utility": 3},
                "keywords": {"tokens": 30, "utility": 0.5},
            },
        },
        {"id": "far", "levels": {"raw": {"tokens": 100, "utility": 1}}},
    ],
}


def _inspected(declared: Any) -> dict[str, Any]:
    return inspect(compile(Instance.model_validate(declared)))


def test_sizes_and_ranges_are_those_of_the_program():
    found = _inspected(TEN["links"])
    program = compile(Instance.model_validate(TEN["links"])).program
    assert (found["items"], found["options"], found["pinned"]) == (9, len(program.value), 1)
    assert found["levels"] == {"raw": 8, "summary": 7, "abstraction": 0, "keywords": 8, "delete": 8}
    assert found["blocks"] == {"count": 4, "linked": 3, "largest": 3, "groups": 2, "exclusives": 1}
    assert found["tokens"] == {"least": 0, "most": int(program.tokens.max()), "divisor": 1}
    assert found["value"]["most"] == int(program.value.max())
    assert found["value"]["divisor"] == int(np.gcd.reduce(program.value))
    assert (found["budget"], found["digest"]) == (program.budget, program.digest)
    assert (found["scale"], found["utility_step"]) == (9, "0.000000001")
    assert found["infeasible"] is None


def test_a_group_in_an_exclusive_set_is_one_block_with_its_alternatives():
    items = [
        {"id": str(n), "levels": {"raw": {"tokens": 1, "utility": 1}}, "exclusive": "e"}
        | ({"group": "g"} if n < 2 else {})
        for n in range(4)
    ]
    items.append({"id": "alone", "levels": {"raw": {"tokens": 1, "utility": 1}}})
    found = _inspected({"budget": 9, "items": items})
    assert found["blocks"] == {"count": 2, "linked": 1, "largest": 4, "groups": 1, "exclusives": 1}
    assert (found["minimum_tokens"], found["maximum_tokens"]) == (0, 3)


@pytest.mark.parametrize("seed", range(5))
def test_blocks_are_those_that_the_solver_decides(seed: int):
    compiled = compile(generate("linked", 40, seed))
    blocks = decompose(compiled.program, jit.select(0))
    found = inspect(compiled)["blocks"]
    assert found["count"] == len(blocks)
    assert (found["linked"], found["largest"]) == (
        sum(len(block.items) > 1 for block in blocks.linked),
        max(len(block.items) for block in blocks.linked),
    )


def test_what_compiling_did_is_listed():
    found = _inspected(DOUBTFUL)
    assert found["dominated"] == [["a", "keywords"]]
    assert found["repaired"] == [["a", "raw", 1.0, 3.0]]
    assert [warning["code"] for warning in found["warnings"]] == ["never_fits"]
    assert found["tokens"] == {"least": 0, "most": 60, "divisor": 30}


@pytest.mark.parametrize(
    ("declared", "code", "least"),
    [(STUCK, "pinned_exceeds_budget", 5), (CONFLICT, "pinned_conflict", None)],
    ids=["stuck", "conflict"],
)
def test_an_infeasible_instance_says_why(declared: Any, code: str, least: int | None):
    found = _inspected(declared)
    assert (found["infeasible"]["code"], found["minimum_tokens"]) == (code, least)
    assert found["infeasible"]["message"] == solve(Instance.model_validate(declared)).message


def test_nothing_has_no_range():
    found = _inspected(EMPTY)
    assert found["tokens"] == found["value"] == {"least": None, "most": None, "divisor": None}
    assert found["blocks"]["count"] == found["blocks"]["largest"] == 0


def test_every_solver_is_there_in_the_order_of_its_name():
    rows = _inspected(PAIR)["solvers"]
    assert list(dict.fromkeys(row["solver"] for row in rows)) == list(SOLVERS)
    assert {row["backend"] for row in rows if row["solver"] == "milp"} == {"cbc", "highs"}
    assert all(row["within"] for row in rows)


@pytest.mark.parametrize("family", ["huge-weights", "memory-like", "priced"])
@pytest.mark.parametrize("items", [3, 15])
def test_a_solver_refuses_exactly_what_lies_beyond_its_limits(family: str, items: int):
    instance = generate(family, items, 2)
    for row in inspect(compile(instance))["solvers"]:
        if row["within"]:
            continue
        solver = Milp(row["backend"]) if row["backend"] else row["solver"]
        with pytest.raises(SolverLimit) as caught:
            solve(instance, solver)
        assert (caught.value.limit, caught.value.read, caught.value.most) == (
            row["limit"], row["read"], row["most"],
        )  # fmt: skip
    within = {row["solver"] for row in inspect(compile(instance))["solvers"]} - {
        row["solver"] for row in inspect(compile(instance))["solvers"] if not row["within"]
    }
    assert {"dp", "greedy"} <= within
    if items == 3:
        assert all(solve(instance, name).status for name in within)


def test_columns_without_ids_are_named_by_position():
    tokens, utility = np.array([[5, 9], [4, 2]]), np.array([[1.0, 0.5], [2.0, 1.0]])
    found = inspect(compile(Instance.from_arrays(tokens, utility, budget=20)))
    assert found["dominated"] == [["0", "L1"]]


def test_the_findings_are_json():
    found = inspect(compile(generate_columns("linked", 50, 1)))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
