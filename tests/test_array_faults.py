from __future__ import annotations

import math

import numpy as np
import pytest

from memopt import Instance, InvalidInstance
from memopt.array_faults import MOST_PLACES

TOKENS = np.array([[5, 2], [7, -1], [3, 1]])
UTILITY = np.array([[1.0, 0.5], [2.0, math.nan], [0.5, 0.1]])


def faults_of(tokens=TOKENS, utility=UTILITY, budget=10, price=0.5, ids=None):
    with pytest.raises(InvalidInstance) as error:
        Instance.from_arrays(tokens, utility, budget=budget, price=price, ids=ids)
    return [(fault.code, fault.item, fault.level, fault.field, fault.index) for fault in error.value.faults]


@pytest.mark.parametrize(
    ("code", "budget"),
    [
        *[("budget_not_integer", bad) for bad in (1.0, "3", None, True, math.nan, np.float64(2))],
        *[("budget_negative", bad) for bad in (-1, np.int64(-3))],
        *[("budget_too_large", bad) for bad in (2**53, 10**400, np.uint64(2**63))],
    ],
)
def test_a_budget_that_is_none(code, budget):
    assert faults_of(budget=budget) == [(code, None, None, "budget", None)]


@pytest.mark.parametrize(
    ("code", "price"),
    [
        *[("price_not_number", bad) for bad in ("dear", None, True, [1.0], "1_0")],
        *[("price_not_finite", bad) for bad in (math.nan, math.inf, "nan", 10**400)],
        *[("price_negative", bad) for bad in (-0.1, "-1", "-1e-400", np.float32(-2))],
    ],
)
def test_a_price_that_is_none(code, price):
    assert faults_of(price=price) == [(code, None, None, "price", None)]


@pytest.mark.parametrize(
    ("tokens", "utility", "field"),
    [
        ([1, 2], [1.0, 2.0], "tokens"),
        (3, 0.5, "tokens"),
        ([[1, 2], [3]], UTILITY, "tokens"),
        (TOKENS, [[1.0], [2.0, 3.0]], "tokens"),
        (np.zeros((3, 0), dtype=int), np.zeros((3, 0)), "tokens"),
        (TOKENS, UTILITY[:, :1], "utility"),
    ],
)
def test_arrays_of_other_shapes(tokens, utility, field):
    assert faults_of(tokens, utility) == [("shape", None, None, field, None)]


@pytest.mark.parametrize("kind", [float, bool, str, object])
def test_tokens_of_another_type(kind):
    assert faults_of(tokens=TOKENS.astype(kind)) == [("tokens_not_integer", None, None, "tokens", None)]


@pytest.mark.parametrize("kind", [bool, str, object, complex])
def test_utility_of_another_type(kind):
    assert faults_of(utility=UTILITY.astype(kind)) == [("utility_not_number", None, None, "utility", None)]


def test_a_token_count_beyond_the_limit_is_placed():
    tokens = TOKENS.copy()
    tokens[2, 1] = 2**53
    assert faults_of(tokens=tokens) == [("tokens_too_large", "2", "1", "tokens", 2)]
    unsigned = np.where(TOKENS < 0, 2**63, TOKENS).astype(np.uint64)
    assert faults_of(tokens=unsigned, ids=["a", "b", "c"]) == [
        ("tokens_too_large", "b", "1", "tokens", 1),
        ("utility_not_finite", "b", "1", "utility", 1),
    ]


def test_a_utility_counts_only_where_the_level_is_present():
    utility = UTILITY.copy()
    utility[0] = [math.inf, -math.inf]
    assert faults_of(utility=utility) == [
        ("utility_not_finite", "0", "0", "utility", 0),
        ("utility_not_finite", "0", "1", "utility", 0),
    ]


def test_many_places_of_one_kind_are_counted_not_listed():
    found = faults_of(np.full((100, 3), 2**60), np.zeros((100, 3)))
    assert len(found) == MOST_PLACES + 1
    assert found[-1] == ("tokens_too_large", None, None, "tokens", None)


@pytest.mark.parametrize("bad", [3, None, "", "\ud800", b"a"])
def test_an_id_that_is_no_readable_text_is_placed(bad):
    assert faults_of(ids=["a", bad, "c"]) == [("id_not_text", None, None, "id", 1)]


def test_ids_of_another_number_and_repeated_ids():
    assert faults_of(ids=["a", "b"]) == [("shape", None, None, "ids", None)]
    assert faults_of(ids=["a", "b", "a"]) == [("duplicate_id", "a", None, "id", (0, 2))]


def test_many_faulty_ids_are_counted_not_listed():
    tokens = np.ones((60, 1), dtype=int)
    assert len(faults_of(tokens, tokens, ids=[0] * 60)) == MOST_PLACES + 1
    twice = [str(index // 2) for index in range(60)]
    assert len(faults_of(tokens, tokens, ids=twice)) == MOST_PLACES + 1


def test_every_kind_of_fault_is_in_one_report():
    utility = np.where(TOKENS == 7, math.inf, UTILITY)
    tokens = np.where(TOKENS == 3, 2**53, TOKENS)
    codes = [fault[0] for fault in faults_of(tokens, utility, budget=-1, price="x", ids=["a", "a", "b"])]
    assert codes == [
        "budget_negative",
        "price_not_number",
        "tokens_too_large",
        "utility_not_finite",
        "duplicate_id",
    ]
