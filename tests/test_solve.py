from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import declarations

from memopt import Instance, SolverFailed, solve, verify
from memopt.compile import compile as compiled
from memopt.errors import UnknownSolver
from memopt.families import generate
from memopt.solve import judge, solve_compiled
from memopt.solvers import SOLVERS, Answer, get
from memopt.solvers.dp import DynamicProgram

DECLARED = {
    "budget": 10,
    "items": [
        {
            "id": "a",
            "levels": {"raw": {"tokens": 6, "utility": 5}, "summary": {"tokens": 3, "utility": 3}},
            "group": "g",
        },
        {"id": "b", "levels": {"raw": {"tokens": 5, "utility": 4}}, "group": "g", "exclusive": "x"},
        {"id": "c", "levels": {"raw": {"tokens": 9, "utility": 6}}, "exclusive": "x"},
    ],
}
DELETE_ALL = (2, 4, 6)
BEST = (1, 3, 6)


@pytest.fixture
def example():
    return compiled(Instance.model_validate(DECLARED))


def answer(selection, **claims):
    return Answer(None if selection is None else np.array(selection), **claims)


def test_solve_asks_for_an_instance_a_solver_and_a_time_limit_and_nothing_else():
    parameters = inspect.signature(solve).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        "instance": inspect.Parameter.empty, "solver": "dp", "time_limit": None,
    }  # fmt: skip
    assert all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in parameters.values())


@pytest.mark.parametrize("word", ["query", "answer", "gold"])
def test_solve_takes_no_query_and_no_gold_answer(word):
    with pytest.raises(TypeError):
        solve(Instance.model_validate(DECLARED), **{word: "what was said?"})
    assert word not in Instance.model_fields


def test_the_best_selection_is_found_and_proved():
    allocation = solve(Instance.model_validate(DECLARED))
    assert allocation.choices == {"a": "summary", "b": "raw", "c": "delete"}
    assert (allocation.status, allocation.value, allocation.tokens) == ("optimal", "7.000000000", 8)
    assert allocation.solver == "dp"
    assert allocation.proof
    assert allocation.seconds >= 0


def test_a_solver_may_be_given_as_an_object():
    allocation = solve(Instance.model_validate(DECLARED), DynamicProgram())
    assert allocation.choices == solve(Instance.model_validate(DECLARED), "dp").choices


def test_an_unknown_solver_is_named_with_the_known_ones():
    with pytest.raises(
        UnknownSolver, match="no solver 'magic'; known are dp, cpsat, milp, exhaustive, greedy"
    ):
        solve(Instance.model_validate(DECLARED), "magic")


def test_the_registry_finds_the_dp():
    assert SOLVERS == ("dp", "cpsat", "milp", "exhaustive", "greedy")
    assert get("dp").name == "dp"


def test_an_answer_with_its_bound_reached_is_optimal(example):
    allocation = judge(example, "s", answer(BEST, bound=7 * 10**9), 0.0)
    assert (allocation.status, allocation.gap) == ("optimal", "0")


def test_an_answer_without_a_proof_or_below_its_bound_is_feasible(example):
    assert judge(example, "s", answer(BEST), 0.0).status == "feasible"
    assert judge(example, "s", answer(BEST, bound=7 * 10**9 + 1), 0.0).status == "feasible"
    assert (
        judge(example, "s", answer(DELETE_ALL, bound=7 * 10**9, claimed="OPTIMAL"), 0.0).status == "feasible"
    )


@pytest.mark.parametrize(
    ("selection", "reason"),
    [
        ((0, 3, 6), "budget: 11 tokens are 1 over 10"),
        ((1, 4, 6), "group: of ['a', 'b'] only ['a'] are present"),
        ((1, 3, 5), "budget: 17 tokens are 7 over 10; exclusive: ['a', 'c'] are present together"),
        ((1, 3), "shape: the selection is not one option index an item"),
        ((1.0, 3.0, 6.0), "shape: the selection is not one option index an item"),
        ((3, 3, 6), "one option an item: 1 items have none of theirs ('a')"),
        ((1, 3, 7), "one option an item: 1 items have none of theirs ('c')"),
    ],
)
def test_a_selection_that_breaks_a_constraint_is_never_an_allocation(example, selection, reason):
    with pytest.raises(SolverFailed) as error:
        judge(example, "liar", answer(selection, bound=10**12, claimed="OPTIMAL"), 0.0)
    assert (error.value.solver, error.value.reason) == ("liar", reason)


def test_a_bound_below_the_selected_value_is_refused(example):
    with pytest.raises(SolverFailed, match="its bound 6999999999 lies below the value 7000000000"):
        judge(example, "liar", answer(BEST, bound=7 * 10**9 - 1), 0.0)


def test_no_selection_where_one_exists_is_refused(example):
    with pytest.raises(SolverFailed, match="claims that nothing is feasible, but a selection exists"):
        judge(example, "liar", answer(None, infeasible=True), 0.0)
    with pytest.raises(SolverFailed, match=r"found no selection, but a selection exists \(UNKNOWN\)"):
        judge(example, "slow", answer(None, claimed="UNKNOWN"), 0.0)


def test_a_selection_where_none_exists_is_refused():
    items = [{"id": "a", "levels": {"raw": {"tokens": 9, "utility": 1}}, "pinned": True}]
    impossible = compiled(Instance.model_validate({"budget": 5, "items": items}))
    with pytest.raises(SolverFailed, match="selects where nothing is feasible"):
        judge(impossible, "liar", answer((0,), bound=10**9), 0.0)
    assert judge(impossible, "honest", answer(None), 0.0).status == "infeasible"


@given(declarations(), st.data())
def test_whatever_a_solver_answers_an_allocation_keeps_every_constraint(declared, data):
    result = compiled(Instance.model_validate(declared))
    program = result.program
    selection = [data.draw(st.integers(-1, len(program.value))) for _ in range(len(program))]
    try:
        allocation = judge(result, "random", answer(np.array(selection, dtype=np.int64)), 0.0)
    except SolverFailed:
        return
    assert program.audit(allocation.selection).feasible
    assert allocation.tokens <= program.budget


@pytest.mark.parametrize("price", [1e3, 1e6])
def test_a_high_price_deletes_all_that_is_not_pinned(price):
    items = [
        {
            "id": f"m{index}",
            "levels": {
                "raw": {"tokens": 40 + index, "utility": 5.0},
                "keywords": {"tokens": 0 if index == 9 else 3, "utility": 0.5},
            },
            "pinned": index in (3, 7),
            "min_level": "keywords" if index == 7 else None,
        }
        for index in range(10)
    ]
    choices = solve(Instance.model_validate({"budget": 1000, "price": price, "items": items})).choices
    kept = {name: level for name, level in choices.items() if level != "delete"}
    assert kept == {"m3": "raw", "m7": "keywords", "m9": "keywords"}


def test_a_harmful_item_is_deleted_though_there_is_room():
    items = [
        {
            "id": "a",
            "levels": {"raw": {"tokens": 0, "utility": -0.1}, "summary": {"tokens": 0, "utility": -1}},
        }
    ]
    assert solve(Instance.model_validate({"budget": 9, "items": items})).choices == {"a": "delete"}


def test_of_equal_values_the_fewest_tokens_are_kept():
    items = [
        {"id": "a", "levels": {"raw": {"tokens": 5, "utility": 1}, "keywords": {"tokens": 2, "utility": 1}}}
    ]
    allocation = solve(Instance.model_validate({"budget": 9, "items": items}))
    assert (allocation.choices, allocation.tokens) == ({"a": "keywords"}, 2)
    worthless = [{"id": "a", "levels": {"raw": {"tokens": 1, "utility": 0}}}]
    assert solve(Instance.model_validate({"budget": 9, "items": worthless})).choices == {"a": "delete"}


def test_an_instance_may_be_compiled_once_and_solved_often():
    result = compiled(Instance.model_validate(DECLARED))
    again = [solve_compiled(result) for _ in range(2)]
    assert again[0].choices == again[1].choices == solve(Instance.model_validate(DECLARED)).choices


def test_two_runs_print_the_same_but_for_the_time():
    one, two = (solve(Instance.model_validate(DECLARED)).to_dict() for _ in range(2))
    assert one | {"seconds": 0} == two | {"seconds": 0}


def test_the_objective_of_the_choices_is_within_the_error_bound_of_the_value():
    items = [
        {"id": str(index), "levels": {"raw": {"tokens": 7 + index % 5, "utility": math.sqrt(index) / 3}}}
        for index in range(40)
    ]
    allocation = solve(Instance.model_validate({"budget": 111, "price": 1 / 3, "items": items}))
    assert allocation.objective == pytest.approx(float(allocation.value), abs=allocation.error_bound)


@pytest.mark.parametrize("solver", ["cpsat", "milp"])
def test_a_limit_too_short_for_any_selection_still_gives_one(solver: str) -> None:
    pytest.importorskip("ortools" if solver == "cpsat" else "pulp")
    allocation = solve(generate("memory-like", 200, 1), solver, time_limit=1e-6)
    assert allocation.status == "feasible"
    assert allocation.tokens is not None
    assert allocation.tokens <= allocation.budget


@pytest.mark.parametrize("limit", [-1, -0.001, math.nan])
def test_a_time_limit_is_a_number_of_seconds(limit: float) -> None:
    for ask in (solve, verify):
        with pytest.raises(ValueError, match="time_limit"):
            ask(Instance.model_validate(DECLARED), time_limit=limit)


def test_what_is_no_instance_is_refused_in_words() -> None:
    with pytest.raises(TypeError, match="model_validate"):
        solve(DECLARED)  # type: ignore[arg-type]  # the mistake under test
