"""Enumeration against the reference that reads the declaration, and against the program's own audit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from peers import item, program, program_of
from strategies import declarations

from memopt import SolverLimit
from memopt.experiments.reference import Reference
from memopt.solvers import get
from memopt.solvers.exhaustive import Exhaustive

LINKED = (
    item("a", (5, 3), (2, 1), group="call"),
    item("b", (4, 2), group="call", exclusive="fact"),
    item("c", (3, 2), (1, 1), exclusive="fact"),
    item("d", (2, 1)),
)


@settings(max_examples=150)
@given(declarations())
def test_finds_what_the_reference_finds(declared):
    given_program = program_of(declared)
    answer = Exhaustive().solve(given_program)
    reference = Reference(declared, given_program.scale)
    assert answer.infeasible == (not reference.feasible)
    if answer.selection is not None:
        audit, best = given_program.audit(answer.selection), reference.optimum_on_grid()
        assert audit.broken == ()
        assert (audit.value, audit.tokens) == (best.objective, best.tokens)
        assert answer.bound == audit.value


@pytest.mark.parametrize("budget", [0, 3, 6, 9, 14])
def test_takes_the_first_of_the_best_selections_that_the_audit_passes(budget):
    linked = program(budget, *LINKED)
    best = None
    for selection in product(*(linked.options(index) for index in range(len(linked)))):
        audit = linked.audit(np.array(selection))
        if audit.feasible and (best is None or (audit.value, -audit.tokens) > best[0]):
            best = ((audit.value, -audit.tokens), selection)
    assert best is not None
    assert Exhaustive().solve(linked).selection.tolist() == list(best[1])


def test_ties_go_to_fewest_tokens_and_then_to_the_earlier_id_at_the_richer_level():
    answer = Exhaustive().solve(program(7, item("a", (5, 1)), item("b", (4, 1)), item("c", (4, 1))))
    assert [answer.selection.tolist()[i] % 2 for i in range(3)] == [1, 0, 1]


def test_refuses_too_many_selections_by_name():
    many = program(9, *(item(f"m{i:03d}", (1, 1), (1, 2)) for i in range(500)))
    with pytest.raises(SolverLimit) as caught:
        Exhaustive().solve(many)
    assert caught.value.limit == "selections"
    assert caught.value.most == 2_000_000
    assert "selections is " in str(caught.value)


def test_the_number_of_selections_is_a_setting():
    two = program(9, item("a", (1, 1)), item("b", (1, 1)))
    assert Exhaustive(most_selections=4).solve(two).proof == "tried all 4 selections"
    with pytest.raises(SolverLimit):
        Exhaustive(most_selections=3).solve(two)


def test_more_selections_than_are_tried_at_once():
    answer = Exhaustive().solve(program(40, *(item(f"m{i:02d}", (3, i + 1)) for i in range(16))))
    assert answer.proof == "tried all 65536 selections"
    assert answer.selection.tolist() == [2 * i + (i < 3) for i in range(16)]


def test_without_time_it_claims_nothing():
    answer = Exhaustive().solve(program(9, item("a", (1, 1))), time_limit=0)
    assert answer.selection is None
    assert not answer.infeasible
    assert answer.bound is None
    assert answer.claimed == "time limit after 0 of 2 selections"


def test_no_items():
    answer = Exhaustive().solve(program(9))
    assert answer.selection.tolist() == []
    assert answer.bound == 0


def test_infeasible_is_proved_by_trying_everything():
    answer = Exhaustive().solve(program(1, item("a", (2, 1), pinned=True)))
    assert answer.infeasible
    assert answer.selection is None
    assert answer.proof == "tried all 1 selections"


def test_is_asked_for_by_name():
    assert get("exhaustive") == Exhaustive()
