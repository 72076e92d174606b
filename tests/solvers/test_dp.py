"""The exact algorithm against trying everything, in both forms of its kernels."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from operator import or_
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import declarations, family_declarations

from memopt import Allocation, Instance, solve
from memopt.compile import compile as compiled
from memopt.experiments.reference import Reference
from memopt.families import FAMILIES, generate, generate_columns
from memopt.solve import solve_compiled
from memopt.solvers import blocks, jit
from memopt.solvers.dp import DynamicProgram

FORMS = ("plain", "compiled")


@contextmanager
def running(form: str) -> Iterator[None]:
    """Run the kernels in one form, whatever the size of the program."""
    if form == "plain":
        with patch.object(jit, "select", lambda *asked: jit._plain):
            yield
    else:
        jit.prepare()
        yield


def solved(declared, form="plain", solver=None, time_limit=None):
    with running(form):
        return solve(Instance.model_validate(declared), solver or DynamicProgram(), time_limit)


def check(declared, allocation: Allocation) -> None:
    """Compare an allocation with the reference in every number it has."""
    reference = Reference(declared, allocation.scale)
    if not reference.feasible:
        assert allocation.status == "infeasible"
        assert allocation.minimum_tokens == reference.minimum_tokens
        return
    rounded, exact = reference.optimum_on_grid(), reference.optimum()
    step = Fraction(10) ** -allocation.scale
    error_bound = Fraction(len(declared["items"]), 2) * step
    assert allocation.status == "optimal"
    assert Fraction(allocation.value) == rounded.objective * step
    assert allocation.tokens == rounded.tokens
    assert abs(Fraction(allocation.value) - exact.objective) <= error_bound
    objective = reference.objective_of(allocation.choices)
    assert objective is not None, "a constraint is broken"
    assert exact.objective - 2 * error_bound <= objective <= exact.objective
    assert allocation.objective == pytest.approx(float(objective), rel=1e-9, abs=1e-9)


def reordered(declared):
    """Return the instance with its items in another order."""
    items = declared["items"]
    return declared | {"items": [*items[1::2], *items[::2][::-1]]}


@settings(max_examples=1200)
@given(declarations())
def test_the_optimum_is_that_of_trying_everything_in_any_order_and_form(declared):
    allocation = solved(declared)
    check(declared, allocation)
    other = solved(reordered(declared), form="compiled")
    assert other.choices == allocation.choices
    assert (other.status, other.value, other.digest) == (
        allocation.status,
        allocation.value,
        allocation.digest,
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_the_optimum_of_trying_everything(family):
    @settings(max_examples=80)
    @given(family_declarations(family))
    def in_either_form(declared):
        allocation = solved(declared, form="compiled")
        check(declared, allocation)
        assert solved(reordered(declared)).choices == allocation.choices

    in_either_form()


def table_optimum(program):
    """Return value and tokens of the optimum of a program without links, by a table over the tokens."""
    reached = np.full(program.budget + 1, -(2**62))
    reached[0] = 0
    for item in range(len(program)):
        best = np.full_like(reached, -(2**62))
        for option in program.options(item):
            cost = int(program.tokens[option])
            if cost <= program.budget:
                shifted = reached[: len(reached) - cost] + program.value[option]
                np.maximum(best[cost:], shifted, out=best[cost:])
        reached = best
    return int(reached.max()), int(reached.argmax())


@pytest.mark.parametrize("items", [8, 25, 60])
@pytest.mark.parametrize(
    "family", [name for name in FAMILIES if name not in ("linked", "tight", "huge-weights")]
)
def test_larger_programs_have_the_optimum_of_a_table_over_the_tokens(family, items):
    for seed in range(3):
        result = compiled(generate_columns(family, items, seed))
        with running("compiled"):
            allocation = solve_compiled(result)
        assert allocation.status == "optimal"
        assert (allocation.units, allocation.tokens) == table_optimum(result.program)


def item(name, *options, **changes):
    """Return an item whose levels, richest first, are given as (tokens, utility)."""
    levels = {f"L{j}": {"tokens": tokens, "utility": utility} for j, (tokens, utility) in enumerate(options)}
    return {"id": name, "levels": levels} | changes


def declare(*items, budget, levels=4, **changes):
    ladder = [f"L{j}" for j in range(levels)]
    return {"budget": budget, "ladder": ladder, "repair": "none", "items": list(items)} | changes


@pytest.mark.parametrize("form", FORMS)
def test_no_item(form):
    check(declare(budget=0), solved(declare(budget=0), form))
    check(declare(budget=9), solved(declare(budget=9), form))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("budget", range(12))
def test_one_item(form, budget):
    declared = declare(item("a", (10, 7), (6, 5), (5, 5), (1, -1)), budget=budget)
    check(declared, solved(declared, form))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("levels", [1, 2, 3, 4, 5, 6])
def test_two_to_seven_levels_delete_included(form, levels):
    for seed in range(5):
        declared = generate("zig-zag", 4, seed, levels).model_dump(mode="json")
        declared["items"] = [
            {key: value for key, value in entry.items() if value is not None} for entry in declared["items"]
        ]
        check(declared, solved(declared, form))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("budget", [0, 1, 6, 7, 13, 14, 27, 28, 29, 100])
def test_equal_items(form, budget):
    declared = declare(*(item(name, (7, 5), (3, 2)) for name in "abcd"), budget=budget)
    allocation = solved(declared, form)
    check(declared, allocation)
    tokens = [{"L0": 7, "L1": 3, "delete": 0}[allocation.choices[name]] for name in "abcd"]
    assert tokens == sorted(tokens, reverse=True), "of equal items the earlier ids are kept richer"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("copies", [50, 1000])
def test_duplicated_items_neither_loop_nor_lose_the_optimum(form, copies):
    names = [f"{index:04d}" for index in range(copies)]
    declared = declare(*(item(name, (7, 5), (3, 2.5)) for name in names), budget=3 * copies + 8)
    allocation = solved(declared, form)
    assert allocation.status == "optimal"
    assert (allocation.units, allocation.tokens) == table_optimum(allocation.compiled.program)
    assert list(allocation.choices.values()) == ["L0"] * 2 + ["L1"] * (copies - 2)


@pytest.mark.parametrize("form", FORMS)
def test_zero_tokens(form):
    declared = declare(
        item("a", (0, 1)), item("b", (0, -1), (0, -2)), item("c", (0, 0)), item("d", (3, 1)), budget=2
    )
    check(declared, solved(declared, form))


@pytest.mark.parametrize("form", FORMS)
def test_zero_budget(form):
    declared = declare(
        item("a", (3, 9), (0, 1)), item("b", (1, 1)), item("c", (0, 2), pinned=True), budget=0, price=5
    )
    allocation = solved(declared, form)
    check(declared, allocation)
    assert allocation.choices == {"a": "L1", "b": "delete", "c": "L0"}


@pytest.mark.parametrize("form", FORMS)
def test_budgets_just_below_at_and_just_above_the_minimum(form):
    pinned = [item("a", (9, 3), (5, 2), pinned=True, min_level="L1"), item("b", (4, 1), pinned=True)]
    free = item("c", (1, 1))
    for budget, status in ((8, "infeasible"), (9, "optimal"), (10, "optimal")):
        declared = declare(*pinned, free, budget=budget)
        allocation = solved(declared, form)
        check(declared, allocation)
        assert allocation.status == status
    assert solved(declare(*pinned, free, budget=8), form).shortfall == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("common", [2, 30, 10**9])
def test_tokens_with_a_common_divisor(form, common):
    items = [item(name, (5 * common, 8), (3 * common, 5), (common, 2)) for name in "abcd"]
    for spare in (0, 1, common - 1):
        declared = declare(*items, budget=11 * common + spare)
        check(declared, solved(declared, form))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "value", [999.9999999994, 999.9999999996, 10**12 - 1, 10**12, 2**53 / 4, 1e15, 1e250]
)
def test_values_near_the_limits_of_the_grid(form, value):
    items = [item(name, (5, value), (3, value * 0.61), (2, -value)) for name in "abcd"]
    declared = declare(*items, budget=11)
    check(declared, solved(declared, form))


@pytest.mark.parametrize("form", FORMS)
def test_a_sum_of_values_just_below_2_to_the_53(form):
    columns = Instance.from_arrays(
        np.tile([[3, 2]], (9007, 1)), np.tile([[999.9, 700.1]], (9007, 1)), budget=20_000
    )
    result = compiled(columns)
    assert result.program.scale == 9
    with running(form):
        allocation = solve_compiled(result)
    assert (allocation.units, allocation.tokens) == table_optimum(result.program)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [2**31, 10**12, 2**52 - 7])
def test_huge_tokens(form, size):
    items = [
        item(name, (size + odd, 7), (size // 2 + odd, 4), (size // 3, 3)) for odd, name in enumerate("abcd")
    ]
    for budget in (size - 1, size + 1, 2 * size - 5):
        declared = declare(*items, budget=budget)
        check(declared, solved(declared, form))


@pytest.mark.parametrize("form", FORMS)
def test_huge_tokens_and_huge_values_together(form):
    size = 2**53 - 1
    items = [
        item(name, (size - odd, 10**12 - odd), (size // 2, 6 * 10**11)) for odd, name in enumerate("abcd")
    ]
    for price in (0, "1e12", 3.7e11):
        declared = declare(*items, budget=size, price=price)
        check(declared, solved(declared, form))


@pytest.mark.parametrize("form", FORMS)
def test_all_items_linked_in_one_block(form):
    group = [item(name, (5, 3), (2, 2), group="g", exclusive="x") for name in "abc"]
    rest = [item("d", (9, 6), (4, 5), exclusive="x"), item("e", (1, 1), exclusive="x")]
    for budget in range(18):
        declared = declare(*group, *rest, budget=budget)
        check(declared, solved(declared, form))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("family", ["strongly-correlated", "subset-sum", "linked", "priced"])
def test_a_limit_on_states_costs_the_proof_never_the_answer(form, family):
    for most_states in (1, 2, 10):
        for seed in range(3):
            result = compiled(generate_columns(family, 40, seed))
            with running(form):
                allocation = solve_compiled(result, DynamicProgram(most_states=most_states))
            with running("compiled"):
                best = solve_compiled(result)
            assert allocation.status in ("optimal", "feasible")
            assert allocation.tokens <= result.program.budget
            assert allocation.units <= best.units <= allocation.bound_units
            assert (allocation.gap == "0") == (allocation.status == "optimal")


@settings(max_examples=300)
@given(st.one_of(declarations(), family_declarations("linked")))
def test_blocks_too_large_to_enumerate_cost_the_proof_never_the_answer(declared):
    with patch.object(blocks, "MOST_COMBINATIONS", 4):
        allocation = solved(declared)
    reference = Reference(declared, allocation.scale)
    assert (allocation.status == "infeasible") == (not reference.feasible)
    if reference.feasible:
        best = reference.optimum_on_grid()
        assert allocation.units <= best.objective <= allocation.bound_units
        assert reference.objective_of(allocation.choices) is not None
        if allocation.status == "optimal":
            assert allocation.units == best.objective


def reachable_most(items, budget):
    """Return the most tokens of the budget that one option of every item can make up, all present."""
    sums = 1
    for entry in items:
        sums = reduce(or_, (sums << option["tokens"] for option in entry["levels"].values()))
    return (sums & ((1 << (budget + 1)) - 1)).bit_length() - 1


@pytest.mark.parametrize(("members", "most"), [(8, 50), (8, 1000), (13, None)])
def test_the_bound_holds_where_a_group_has_too_many_combinations_to_list(members, most):
    dice = random.Random(members)
    for _ in range(3):
        tokens = [sorted(dice.sample(range(1, 10**6), 4), reverse=True) for _ in range(members)]
        group = [
            item(f"m{index:02d}", *((count, count / 1000) for count in counts), group="g")
            for index, counts in enumerate(tokens)
        ]
        budget = 500_000 * members
        with patch.object(blocks, "MOST_COMBINATIONS", most or blocks.MOST_COMBINATIONS):
            allocation = solved(declare(*group, budget=budget), form="compiled")
        best = reachable_most(group, budget) * 10 ** (allocation.scale - 3)
        assert allocation.units <= best <= allocation.bound_units
        assert allocation.status == (
            "optimal" if allocation.units == best == allocation.bound_units else "feasible"
        )


def test_a_limit_on_states_leaves_a_gap_where_it_is_hit():
    result = compiled(generate_columns("strongly-correlated", 300, 1))
    with running("compiled"):
        allocation = solve_compiled(result, DynamicProgram(most_states=1))
    assert allocation.status == "feasible"
    assert allocation.units < allocation.bound_units
    assert "state limit" in allocation.proof


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("family", FAMILIES)
def test_no_time_at_all_still_gives_an_allocation(form, family):
    result = compiled(generate_columns(family, 30, 2))
    with running(form):
        allocation = solve_compiled(result, time_limit=0)
    with running("compiled"):
        best = solve_compiled(result)
    assert (allocation.status == "infeasible") == (best.status == "infeasible")
    if best.status != "infeasible":
        assert allocation.status in ("optimal", "feasible")
        assert allocation.tokens <= result.program.budget
        assert allocation.units <= best.units <= allocation.bound_units


@pytest.mark.parametrize("family", FAMILIES)
def test_both_forms_give_the_same_selection(family):
    hard = family in ("priced", "strongly-correlated")
    result = compiled(generate_columns(family, 20 if hard else 150, 3))
    selections = []
    for form in FORMS:
        with running(form):
            selections.append(solve_compiled(result).selection)
    assert (selections[0] is None) == (selections[1] is None)
    if selections[0] is not None:
        assert np.array_equal(*selections)


def test_two_runs_give_the_same_answer():
    instance = generate("priced", 60, 1)
    one, two = (DynamicProgram().solve(compiled(instance).program) for _ in range(2))
    assert np.array_equal(one.selection, two.selection)
    assert (one.bound, one.proof, one.parameters) == (two.bound, two.proof, two.parameters)


@pytest.mark.parametrize("form", FORMS)
def test_of_interchangeable_items_the_earlier_id_stands_at_the_richer_level(form):
    levels = {"raw": {"tokens": 10, "utility": 3}, "summary": {"tokens": 5, "utility": "1.5"}}
    last = {"raw": {"tokens": 10, "utility": 3}, "summary": {"tokens": 5, "utility": "1.51"}}
    ids = ["b", "c", "a"]
    declared = {"budget": 35, "items": [{"id": name, "levels": levels} for name in ids]}
    declared["items"].append({"id": "x", "levels": last})
    assert solved(declared, form).choices == dict.fromkeys(ids, "raw") | {"x": "summary"}
    for budget in range(5, 36, 5):
        declared["budget"] = budget
        choices = solved(declared, form).choices
        richness = [("raw", "summary", "delete").index(choices[name]) for name in sorted(ids)]
        assert richness == sorted(richness)


def test_a_large_exclusive_set_takes_memory_in_proportion():
    items = [
        {"id": f"{n:05}", "exclusive": "x", "levels": {"raw": {"tokens": n % 97 + 1, "utility": n % 89}}}
        for n in range(5_000)
    ]
    program = compiled(Instance.model_validate({"budget": 50, "items": items})).program
    tracemalloc.start()
    try:
        answer = DynamicProgram().solve(program)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert program.audit(answer.selection).value == answer.bound
    assert peak < 10_000 * len(program.value)  # a row an option would take 40,000


def test_a_search_without_end_stops_with_its_gap():
    columns = Instance.from_arrays(
        np.tile([100, 30], (4_000, 1)), np.tile([1.0, 0.7], (4_000, 1)), budget=50 * 4_000 + 1
    )
    allocation = solve(columns, DynamicProgram(most_states=4_000))
    assert allocation.status == "feasible"
    assert "state limit" in allocation.proof
    assert float(allocation.gap) < 0.3


def test_groups_with_more_combinations_than_time_still_get_an_allocation():
    draw = random.Random(3)
    items = []
    for n in range(60):
        sizes = [draw.randint(1, 10**6) for _ in range(4)]
        levels = {f"L{k}": {"tokens": size, "utility": size / 1000} for k, size in enumerate(sizes)}
        items.append({"id": f"{n:02}", "group": f"g{n // 10}", "levels": levels})
    declared = {"budget": 12_345_678, "ladder": ["L0", "L1", "L2", "L3"], "items": items}
    allocation = solved(declared, "compiled", time_limit=0)
    assert allocation.status in ("optimal", "feasible")
    assert allocation.tokens <= allocation.budget
