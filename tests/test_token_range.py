from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from foreign import CONFLICT, EMPTY, PAIR, STUCK, TEN
from hypothesis import given, settings
from strategies import Declared, declarations

from memopt import Instance, compile
from memopt.token_range import token_range


def _range(declared: Declared) -> tuple[int, int] | None:
    return token_range(compile(Instance.model_validate(declared)).program)


@settings(max_examples=80)
@given(declarations())
def test_it_is_the_range_of_all_selections_that_keep_the_links(declared: Declared):
    program = compile(Instance.model_validate(declared)).program
    free = replace(program, budget=2**60)
    chosen = product(*(program.options(item) for item in range(len(program))))
    audits = [free.audit(np.array(one, dtype=np.int64)) for one in chosen]
    tokens = [audit.tokens for audit in audits if audit.feasible]
    assert token_range(program) == ((min(tokens), max(tokens)) if tokens else None)


def test_pins_are_needed_and_links_bind():
    assert _range(STUCK) == (5, 6)
    assert _range(PAIR) == (0, 10)
    assert _range(CONFLICT) is None
    assert _range(EMPTY) == (0, 0)


def test_of_alternatives_only_the_largest_counts():
    items = [
        {"id": str(n), "exclusive": "e", "levels": {"raw": {"tokens": n, "utility": 1}}} for n in (3, 8, 5)
    ]
    assert _range({"budget": 9, "items": items}) == (0, 8)
    assert _range(TEN["links"] | {"items": []}) == (0, 0)
