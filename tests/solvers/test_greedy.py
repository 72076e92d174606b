"""Greedy is feasible, never better than the optimum, and strictly worse on the named instances."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from peers import FOLDER, item, program, program_of
from strategies import declarations

from memopt import solve
from memopt.compile import compile as compiled
from memopt.families import generate_columns
from memopt.instance import Instance
from memopt.solvers import get
from memopt.solvers.exhaustive import Exhaustive
from memopt.solvers.greedy import Greedy

BOTH = pytest.mark.parametrize("by", ["density", "score"])


def declared(name):
    return Instance.model_validate_json((FOLDER / "data" / f"{name}.json").read_text())


@settings(max_examples=120)
@given(declarations())
def test_a_feasible_selection_wherever_there_is_one_and_never_above_the_optimum(declared):
    given_program = program_of(declared)
    best = Exhaustive().solve(given_program)
    for by in ("density", "score"):
        answer = Greedy(by).solve(given_program)
        assert answer.infeasible == best.infeasible
        assert answer.bound is None
        if answer.selection is not None:
            audit = given_program.audit(answer.selection)
            assert audit.broken == ()
            assert audit.value <= best.bound


@pytest.mark.parametrize(
    ("name", "losing", "optimum"),
    [
        ("greedy-by-score-loses", {"score": 6.0}, 9.0),
        ("greedy-by-density-loses", {"density": 4.8}, 11.8),
        ("greedy-both-ways-loses", {"score": 6.74, "density": 6.74}, 9.8),
    ],
)
def test_greedy_strictly_loses_on_the_named_instances(name, losing, optimum):
    instance = declared(name)
    assert solve(instance, "dp").objective == pytest.approx(optimum)
    assert solve(instance, Exhaustive()).objective == pytest.approx(optimum)
    for by in ("density", "score"):
        allocation = solve(instance, Greedy(by))
        assert allocation.status == "feasible"
        assert allocation.objective == pytest.approx(losing.get(by, optimum))


def levels(given_program, answer):
    return [given_program.ladder[level] for level in given_program.levels(answer.selection)]


def test_by_density_steps_up_level_by_level():
    given_program = program(20, item("a", (10, 10), (4, 8)), item("b", (12, 9), (6, 6)))
    assert levels(given_program, Greedy().solve(given_program)) == ["summary", "raw"]


def test_by_density_goes_on_to_a_smaller_upgrade_when_the_densest_no_longer_fits():
    given_program = program(9, item("a", (4, 8)), item("b", (10, 15), (6, 10), (5, 1)))
    assert levels(given_program, Greedy().solve(given_program)) == ["raw", "abstraction"]


def test_by_score_takes_the_most_valuable_level_that_fits():
    given_program = program(9, item("a", (4, 8)), item("b", (10, 15), (6, 10), (5, 1)))
    assert levels(given_program, Greedy("score").solve(given_program)) == ["delete", "summary"]


@BOTH
def test_linked_items_move_together(by):
    call = [item("call", (4, 1), group="g"), item("result", (5, 9), (2, 4), group="g")]
    given_program = program(7, *call, item("other", (3, 2)))
    assert levels(given_program, Greedy(by).solve(given_program)) == ["raw", "delete", "summary"]


@BOTH
def test_nothing_is_spent_on_what_is_worth_less_than_nothing(by):
    given_program = program(50, item("junk", (5, -1), (2, -0.5)), item("good", (5, 1)))
    assert levels(given_program, Greedy(by).solve(given_program)) == ["raw", "delete"]


@BOTH
def test_pinned_beyond_the_budget_and_links_that_contradict_are_infeasible(by):
    over = Greedy(by).solve(program(3, item("a", (4, 1), pinned=True)))
    assert over.infeasible
    assert over.selection is None
    assert over.proof == "the least tokens 4 exceed the budget"
    twins = [item(name, (1, 1), pinned=True, exclusive="fact") for name in "ab"]
    assert Greedy(by).solve(program(9, *twins)).infeasible


@BOTH
def test_no_items_and_no_budget(by):
    assert Greedy(by).solve(program(5)).selection.tolist() == []
    assert Greedy(by).solve(program(0, item("a", (0, 1)), item("b", (1, 9)))).selection.tolist() == [0, 2]


@BOTH
def test_a_thousand_items_come_close_to_the_optimum(by):
    large = compiled(generate_columns("memory-like", 1000, 0))
    best = solve(large.columns).units
    answer = Greedy(by).solve(large.program)
    audit = large.program.audit(answer.selection)
    assert audit.broken == ()
    assert 0.5 * best < audit.value <= best
    assert np.array_equal(Greedy(by).solve(large.program).selection, answer.selection)


@BOTH
def test_the_order_of_the_items_changes_nothing(by):
    instance = json.loads((FOLDER / "data" / "greedy-both-ways-loses.json").read_text())
    turned = instance | {"items": instance["items"][::-1]}
    first, second = (Greedy(by).solve(program_of(d)).selection for d in (instance, turned))
    assert np.array_equal(first, second)


def test_is_asked_for_by_name():
    assert get("greedy") == Greedy("density")
