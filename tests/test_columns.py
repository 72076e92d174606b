from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from memopt import Columns, Instance
from memopt.compile import compile as compiled

TOKENS = np.array([[9, 4, 2, 1], [8, -1, 3, -1], [5, 5, 5, 0]], dtype=np.int32)
UTILITY = np.array([[1.0, 0.7, 0.4, 0.2], [2.0, np.nan, 1.0, np.inf], [0.5, 0.6, 0.1, 0.0]], dtype=np.float32)


def declared(ids):
    names = ("raw", "summary", "abstraction", "keywords")
    items = [
        {
            "id": name,
            "levels": {
                level: {"tokens": tokens, "utility": utility}
                for level, tokens, utility in zip(names, row.tolist(), worth.tolist(), strict=True)
                if tokens >= 0
            },
        }
        for name, row, worth in zip(ids, TOKENS, UTILITY, strict=True)
    ]
    return {"budget": 11, "price": 0.25, "items": items}


def test_arrays_declare_what_the_same_items_declare():
    for ids in (["0", "1", "2"], ["z", "a", "m"]):
        columns = Instance.from_arrays(TOKENS, UTILITY, budget=11, price=0.25, ids=ids)
        of_arrays, of_items = compiled(columns), compiled(Instance.model_validate(declared(ids)))
        assert of_arrays.program.digest == of_items.program.digest
        assert of_arrays.rows.tolist() == of_items.rows.tolist()
        assert [part.tolist() for part in of_arrays.raised] == [part.tolist() for part in of_items.raised]


def test_without_ids_items_are_known_by_position_and_keep_their_order():
    columns = Instance.from_arrays(np.ones((12, 2), dtype=int), np.ones((12, 2)), budget=5)
    program = compiled(columns).program
    assert columns.ids is None
    assert len(columns) == 12
    assert list(program.ids) == [str(index) for index in range(12)]
    assert program.ids[10:12] == ["10", "11"]
    assert columns.ladder == ("L0", "L1")


def test_the_arrays_given_are_neither_changed_nor_kept():
    tokens, utility = TOKENS.astype(np.int64), UTILITY.astype(np.float64)
    columns = Instance.from_arrays(tokens, utility, budget=11)
    program = compiled(columns).program
    before = program.digest
    tokens[:] = 0
    utility[:] = 0.0
    assert columns.tokens.tolist() == TOKENS.tolist()
    assert compiled(columns).program.digest == before


def test_numpy_numbers_are_taken_as_budget_and_price():
    columns = Instance.from_arrays(TOKENS, UTILITY, budget=np.int16(11), price=np.float32(0.25))
    assert (columns.budget, columns.price) == (11, 0.25)
    assert type(columns.budget) is int
    assert type(columns.price) is float


def test_a_price_in_decimals_is_exact():
    columns = Instance.from_arrays(TOKENS, UTILITY, budget=11, price="0.1")
    assert columns.price_exact == Fraction(1, 10)
    assert Instance.from_arrays(TOKENS, UTILITY, budget=11, price=0.1).price_exact == Fraction(0.1)


@pytest.mark.parametrize("levels", [1, 4, 6])
def test_no_items_are_an_instance(levels):
    columns = Instance.from_arrays(np.zeros((0, levels), dtype=int), np.zeros((0, levels)), budget=0)
    assert isinstance(columns, Columns)
    assert len(compiled(columns).program) == 0


def test_lists_are_taken_as_arrays():
    columns = Instance.from_arrays([[3, 1]], [[1, 0.5]], budget=2)
    assert columns.tokens.dtype == np.int64
    assert columns.utility.dtype == np.float64
