from __future__ import annotations

from itertools import product

import numpy as np
from foreign import CONFLICT, TEN
from hypothesis import given, settings
from strategies import Declared, declarations

from memopt import Instance, Program, compile
from memopt.export.linear import Linear, linear_model


def _holds(model: Linear, held: set[int]) -> bool:
    for row in model.rows:
        total = sum(factor for option, factor in row.terms.items() if option in held)
        if (row.lower is not None and total < row.lower) or (row.upper is not None and total > row.upper):
            return False
    return True


def _program(declared: Declared) -> Program:
    return compile(Instance.model_validate(declared)).program


@settings(max_examples=60)
@given(declarations())
def test_the_rows_allow_exactly_the_feasible_selections(declared: Declared):
    program = _program(declared)
    model = linear_model(program)
    for chosen in product(*(program.options(item) for item in range(len(program)))):
        audit = program.audit(np.array(chosen, dtype=np.int64))
        assert _holds(model, set(chosen)) == audit.feasible
        assert sum(model.values[option] for option in chosen) == audit.value


def test_an_item_takes_one_option_not_two_or_none():
    program = _program(TEN["spaces"])
    model = linear_model(program)
    cheapest = {program.options(item)[-1] for item in range(len(program))}
    assert _holds(model, cheapest)
    assert not _holds(model, cheapest - {program.options(0)[-1]})
    assert not _holds(model, cheapest | {program.options(0)[-2]})


def test_rows_are_named_after_what_they_say():
    names = [row.name for row in linear_model(_program(TEN["links"])).rows]
    assert names[0] == "budget"
    assert names[1:10] == [f"item_m_{n}" for n in range(9)]
    assert names[10:] == ["group_m_1", "group_m_2", "group_m_7", "exclusive_m_3"]


def test_pinned_alternatives_leave_a_row_that_nothing_fulfils():
    row = linear_model(_program(CONFLICT)).rows[-1]
    assert (row.terms, row.lower, row.upper) == ({}, 1, None)
