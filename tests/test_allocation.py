from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from memopt import Instance, solve
from memopt.allocation import decimal_text
from memopt.compile import compile as compiled
from memopt.solve import judge
from memopt.solvers import Answer

KEYS = [
    *("status", "choices", "tokens", "budget", "value", "scale", "objective", "bound", "gap", "error_bound"),
    *("price", "solver", "proof", "digest", "seconds", "dominated", "repaired", "warnings", "errors"),
]
DECLARED = {
    "budget": 100,
    "price": "0.5",
    "items": [
        {
            "id": "m2",
            "levels": {"raw": {"tokens": 40, "utility": 0.5}, "summary": {"tokens": 20, "utility": 0.9}},
        },
        {"id": "é", "levels": {"raw": {"tokens": 500, "utility": 7}}},
        {
            "id": "m1",
            "levels": {"raw": {"tokens": 60, "utility": 1.2}, "summary": {"tokens": 70, "utility": 1.1}},
        },
    ],
}


@pytest.fixture
def allocation():
    return solve(Instance.model_validate(DECLARED))


def test_levels_are_told_in_the_order_of_the_input(allocation):
    assert allocation.choices == {"m2": "summary", "é": "delete", "m1": "raw"}
    assert list(allocation.choices) == ["m2", "é", "m1"]
    assert allocation.levels.tolist() == [1, 4, 0]


def test_the_numbers_are_those_of_the_choices(allocation):
    assert (allocation.status, allocation.tokens, allocation.budget) == ("optimal", 80, 100)
    assert (allocation.value, allocation.scale, allocation.bound, allocation.gap) == (
        "1.700000000", 9, "1.700000000", "0",
    )  # fmt: skip
    assert allocation.objective == pytest.approx(1.7, rel=1e-15)
    assert allocation.error_bound == pytest.approx(1.5e-9)
    assert allocation.price == "0.5"


def test_what_compiling_did_is_told_by_item_and_level(allocation):
    assert allocation.dominated == [("m1", "summary")]
    assert allocation.repaired == [("m2", "raw", 0.5, 0.9)]
    assert [(warning.code, warning.item) for warning in allocation.warnings] == [("never_fits", "é")]


def test_the_result_object_has_the_keys_of_the_contract(allocation):
    result = allocation.to_dict()
    assert list(result) == KEYS
    assert result == json.loads(allocation.to_json())
    assert "\n" not in allocation.to_json()
    assert "é" in allocation.to_json()
    assert result["dominated"] == [["m1", "summary"]]
    assert result["repaired"] == [["m2", "raw", 0.5, 0.9]]
    assert result["digest"] == compiled(Instance.model_validate(DECLARED)).program.digest
    assert result["errors"] == []
    for name in set(KEYS) - {"choices", "dominated", "repaired", "warnings", "errors", "seconds"}:
        assert result[name] == getattr(allocation, name)


def test_an_infeasible_result_says_why_and_has_no_choices():
    items = [{"id": "a", "levels": {"raw": {"tokens": 9, "utility": 1}}, "pinned": True}]
    result = solve(Instance.model_validate({"budget": 5, "items": items})).to_dict()
    assert list(result) == ["status", "code", "message", "minimum_tokens", "shortfall", "pinned", *KEYS[1:]]
    assert (result["status"], result["code"]) == ("infeasible", "pinned_exceeds_budget")
    assert (result["minimum_tokens"], result["shortfall"], result["pinned"]) == (9, 4, ["a"])
    assert result["choices"] == {}
    for name in ("tokens", "value", "objective", "bound", "gap"):
        assert result[name] is None


def test_a_gap_is_told_exactly():
    result = compiled(Instance.model_validate(DECLARED))
    selection = result.program.start[1:] - 1
    allocation = judge(result, "some", Answer(selection, bound=1_800_000_001), 0.25)
    assert (allocation.status, allocation.value, allocation.bound) == (
        "feasible",
        "0.000000000",
        "1.800000001",
    )
    assert allocation.gap == "1.800000001"
    unproved = judge(result, "some", Answer(selection), 0.25)
    assert (unproved.status, unproved.bound, unproved.gap) == ("feasible", None, None)
    assert json.loads(unproved.to_json())["seconds"] == 0.25


def test_only_what_solve_made_can_be_explained():
    result = compiled(Instance.model_validate(DECLARED))
    allocation = judge(result, "some", Answer(result.program.start[1:] - 1), 0.0)
    bare = replace(allocation, explainer=None)
    with pytest.raises(RuntimeError, match="not made by solve"):
        bare.explain("m1")


def test_items_without_ids_are_named_by_position():
    columns = Instance.from_arrays(np.array([[3, 2], [5, 6]]), np.array([[1.0, 0.5], [2.0, 1.0]]), budget=4)
    allocation = solve(columns)
    assert allocation.choices == {"0": "L0", "1": "delete"}
    assert allocation.dominated == [("1", "L1")]


def test_no_items_are_an_optimal_allocation_of_nothing():
    allocation = solve(Instance.model_validate({"budget": 0, "items": []}))
    assert (allocation.status, allocation.tokens, allocation.value) == ("optimal", 0, "0.000000000")
    assert (allocation.choices, allocation.objective, allocation.gap) == ({}, 0.0, "0")


@pytest.mark.parametrize(
    ("units", "scale", "text"),
    [
        (0, 9, "0.000000000"),
        (-1, 9, "-0.000000001"),
        (41203500000, 9, "41.203500000"),
        (7, 0, "7"),
        (7, -3, "7000"),
        (-12, -259, "-12" + "0" * 259),
        (2**53 - 1, 9, "9007199.254740991"),
    ],
)
def test_values_are_exact_decimals_without_an_exponent(units, scale, text):
    assert decimal_text(units, scale) == text
    assert Decimal(text) * Decimal(10) ** scale == units
