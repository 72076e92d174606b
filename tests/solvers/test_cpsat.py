"""CP-SAT against enumeration, its limits by name, and the fault that one of them keeps out."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from peers import check, item, near_tie, program, program_of, regression, unless_measured
from strategies import declarations

from memopt import SolverLimit, SolverMissing
from memopt.compile import compile as compiled
from memopt.families import generate_columns
from memopt.solve import solve
from memopt.solvers import cpsat, get
from memopt.solvers.cpsat import CpSat
from memopt.solvers.exhaustive import Exhaustive

cp_model = pytest.importorskip("ortools.sat.python.cp_model")

TIES = [item(f"t{i}", (9 - i, 1), (3, 0.5)) for i in range(6)]
HARD = compiled(generate_columns("priced", 200, 1))


@settings(max_examples=120)
@given(declarations())
def test_agrees_with_enumeration_on_value_tokens_and_bound(declared):
    check(CpSat(), program_of(declared))


@pytest.mark.parametrize("seed", range(20))
def test_tells_selections_apart_that_differ_by_one_unit_of_value(seed):
    assert check(CpSat(), near_tie(seed, 4 * 10**11)) is not None


@pytest.mark.parametrize("budget", range(8, 30, 3))
def test_fewest_tokens_among_the_optima(budget):
    assert "tokens with the value fixed: optimal" in check(CpSat(), program(budget, *TIES)).proof


def test_the_second_solve_can_be_left_out():
    given_program = program(20, *TIES)
    answer, best = CpSat(fewest_tokens=False).solve(given_program), Exhaustive().solve(given_program)
    assert answer.bound == best.bound
    assert "tokens" not in answer.proof
    assert answer.parameters["fewest_tokens"] is False


def test_a_common_divisor_of_the_values_and_of_the_tokens():
    items = [item(f"m{i}", (3000 + 1000 * i, 4 + 2 * i), (1000, 2)) for i in range(5)]
    answer = check(CpSat(), program(9000, *items))
    assert answer.bound % 2_000_000_000 == 0


@pytest.mark.parametrize(
    "declared",
    [
        program(9),
        program(0, item("a", (3, 1)), item("b", (0, 2))),
        program(9, item("a", (3, -1))),
        program(9, item("a", (3, 0)), item("b", (2, 0))),
        program(2, item("a", (3, 1), pinned=True)),
        program(
            9, item("a", (3, 1), pinned=True, exclusive="x"), item("b", (3, 1), pinned=True, exclusive="x")
        ),
        program(9, item("a", (3, 1), pinned=True, group="g"), item("b", (3, -5), group="g")),
        program(5, item("a", (3, 1), group="g"), item("b", (30, 5), group="g"), item("c", (4, 1))),
    ],
    ids=["no items", "no budget", "harmful", "worthless", "too large", "contradiction", "dragged", "stuck"],
)
def test_edges(declared):
    assert check(CpSat(), declared) is not None


def test_both_members_pinned_need_no_constraint_of_their_group():
    pinned = [item(name, (2, 1), (1, 0.5), pinned=True, min_level="summary", group="g") for name in "ab"]
    assert check(CpSat(), program(3, *pinned)) is not None


def test_the_links_stand_on_the_variables_of_the_options():
    linked = [item("a", (1, 1), group="g"), item("b", (1, 1), group="g", exclusive="x")]
    model, chosen = cpsat.build(program(9, *linked, item("c", (1, 1), exclusive="x")))
    assert len(chosen) == 6
    assert model.validate() == ""
    assert len(model.proto.variables) == 6
    assert not model.proto.has_floating_point_objective()


def test_two_runs_give_the_same_selection():
    given_program = compiled(generate_columns("duplicates", 40, 3)).program
    first, second = CpSat().solve(given_program), CpSat().solve(given_program)
    assert np.array_equal(first.selection, second.selection)
    assert (first.proof, first.parameters) == (second.proof, second.parameters)
    assert first.parameters["num_workers"] == 1


def test_a_time_limit_leaves_a_feasible_selection_with_a_proven_bound():
    answer = CpSat().solve(HARD.program, time_limit=1)
    audit, best = HARD.program.audit(answer.selection), solve(HARD.columns).units
    assert audit.broken == ()
    assert audit.value <= best <= answer.bound
    assert answer.claimed == "FEASIBLE"


def test_without_time_there_is_no_selection_and_no_claim():
    answer = CpSat().solve(HARD.program, time_limit=0)
    assert answer.selection is None
    assert not answer.infeasible
    assert answer.bound is None
    assert answer.claimed == "UNKNOWN"


def test_time_that_ends_before_the_second_solve_keeps_the_first_selection():
    given_program = program(20, *TIES)
    model, chosen = cpsat.build(given_program)
    first = CpSat(fewest_tokens=False).solve(given_program).selection
    kept, how = CpSat()._lighten(given_program, model, chosen, first, deadline=0.0)
    assert np.array_equal(kept, first)
    assert how == "UNKNOWN"


def test_refuses_tokens_that_add_up_to_32_bits_by_name():
    just = [item("a", (2**30, 1)), item("b", (2**30 - 1, 2))]
    assert check(CpSat(), program(2**30, *just)) is not None
    with pytest.raises(SolverLimit) as caught:
        CpSat().solve(program(2**30, *just, item("c", (1, 1))))
    assert (caught.value.limit, caught.value.read, caught.value.most) == ("tokens_sum", 2**31, 2**31 - 1)


def test_a_common_divisor_brings_large_tokens_within_the_limit():
    answer = check(CpSat(), program(3 * 10**12, *(item(f"m{i}", (10**12, 1 + i)) for i in range(4))))
    assert answer is not None


def test_huge_weights_are_refused_by_name_and_enumeration_is_right():
    case = regression("cpsat-huge-weights")
    huge = program_of(case["input"])
    with pytest.raises(SolverLimit) as caught:
        CpSat().solve(huge)
    assert caught.value.limit == case["limit"]
    assert Exhaustive().solve(huge).bound == case["right"] * 10**huge.scale


@unless_measured("ortools", "9.15")
def test_huge_weights_without_the_guards_are_certified_wrong(monkeypatch):
    case = regression("cpsat-huge-weights")
    huge = program_of(case["input"])
    monkeypatch.setattr(cpsat, "TOKENS_SUM_BELOW", 2**62)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    model, _ = cpsat.build(huge)
    assert solver.status_name(solver.solve(model)) == "OPTIMAL"
    certified = -solver.response_proto.inner_objective_lower_bound
    assert certified == case["wrong"] * 10**huge.scale
    assert CpSat().solve(huge).bound == case["right"] * 10**huge.scale  # the presolve rule is off


def test_without_ortools_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(SolverMissing, match=r"memopt\[solvers\]") as caught:
        CpSat().solve(program(9, item("a", (3, 1))))
    assert (caught.value.solver, caught.value.package) == ("cpsat", "ortools")


def test_is_asked_for_by_name():
    assert get("cpsat") == CpSat()
