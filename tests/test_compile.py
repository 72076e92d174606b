from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import declarations

from memopt import Instance, InvalidInstance
from memopt.compile import MOST_WARNINGS_A_KIND
from memopt.compile import compile as compiled
from memopt.experiments.reference import Reference

LADDER = ("raw", "summary", "abstraction", "keywords")


def made(*items, budget=100, **changes):
    return compiled(Instance.model_validate({"budget": budget, "items": list(items)} | changes))


def item(name, *options, **changes):
    """Return an item whose levels, richest first, are given as (tokens, utility) or None."""
    levels = {
        level: option and {"tokens": option[0], "utility": option[1]}
        for level, option in zip(LADDER, options, strict=False)
    }
    return {"id": name, "levels": levels} | changes


def options_of(result, name):
    """Return level name, tokens and value in utility of each option of an item."""
    program = result.program
    index = list(program.ids).index(name)
    return [
        (
            program.ladder[program.level[o]],
            int(program.tokens[o]),
            Fraction(int(program.value[o]), 10**program.scale),
        )
        for o in program.options(index)
    ]


def levels_of(result, name):
    return [level for level, _, _ in options_of(result, name)]


FULL = ((9, 4), (5, 3), (3, 2), (1, 1))


def test_every_level_and_delete_is_an_option_richest_first():
    assert options_of(made(item("a", *FULL)), "a") == [
        ("raw", 9, 4), ("summary", 5, 3), ("abstraction", 3, 2), ("keywords", 1, 1), ("delete", 0, 0),
    ]  # fmt: skip


def test_absent_levels_are_no_options():
    result = made(item("a", None, (5, 3), None, (1, 1)), {"id": "b", "levels": {"raw": {"utility": 1}}})
    assert levels_of(result, "a") == ["summary", "keywords", "delete"]
    assert levels_of(result, "b") == ["delete"]


@pytest.mark.parametrize(("current", "left"), [("raw", 4), ("abstraction", 2), ("delete", 0)])
def test_levels_richer_than_the_current_one_are_no_options(current, left):
    assert levels_of(made(item("a", *FULL, current=current)), "a") == [*LADDER[4 - left :], "delete"]


def test_a_pinned_item_stays_at_its_richest_allowed_level():
    assert levels_of(made(item("a", *FULL, pinned=True)), "a") == ["raw"]
    assert levels_of(made(item("a", None, *FULL[1:], pinned=True)), "a") == ["summary"]
    assert levels_of(made(item("a", *FULL, pinned=True, current="keywords")), "a") == ["keywords"]


def test_a_pinned_item_may_shrink_to_its_min_level_and_no_further():
    assert levels_of(made(item("a", *FULL, pinned=True, min_level="abstraction")), "a") == list(LADDER[:3])
    capped = item("a", *FULL, pinned=True, min_level="abstraction", current="summary")
    assert levels_of(made(capped), "a") == ["summary", "abstraction"]


def test_the_price_is_charged_by_the_token():
    result = made(item("a", (40, 1)), price=0.5)
    assert options_of(result, "a") == [("raw", 40, Fraction(8, 10)), ("delete", 0, 0)]
    assert options_of(made(item("a", (40, 1)), price="0.1"), "a")[0][2] == Fraction(96, 100)


def test_the_price_is_charged_by_the_budget_that_the_window_leaves():
    result = made(item("a", (40, 1)), price=0.5, budget={"window": 300, "reserved": {"x": 150, "y": 50}})
    assert result.program.budget == 100
    assert options_of(result, "a")[0][2] == Fraction(8, 10)


def test_without_a_budget_only_free_levels_remain_and_nothing_is_charged():
    result = made(item("a", (3, 4), (0, 1)), budget=0, price=7)
    assert options_of(result, "a") == [("summary", 0, 1), ("delete", 0, 0)]


def test_a_richer_level_is_worth_at_least_what_a_poorer_one_is():
    result = made(item("a", (80, 0.5), (30, 0.9), (20, 0.7), (5, 0.8)))
    assert result.worth.tolist() == [0.9, 0.9, 0.8, 0.8, 0.0]
    assert [part.tolist() for part in result.raised] == [[0, 0], [0, 2], [0.5, 0.7], [0.9, 0.8]]


def test_repair_can_be_turned_off():
    result = made(item("a", (80, 0.5), (30, 0.9)), repair="none")
    assert result.worth.tolist() == [0.5, 0.9, 0.0]
    assert result.raised[0].tolist() == []


def test_delete_takes_no_part_in_the_repair():
    assert options_of(made(item("a", (5, -2), (3, -1))), "a") == [
        ("raw", 5, -1),
        ("summary", 3, -1),
        ("delete", 0, 0),
    ]


def test_levels_that_are_no_candidates_take_no_part_in_the_repair():
    assert made(item("a", (9, 1), (5, 3), pinned=True)).worth.tolist() == [1.0]
    assert made(item("a", (9, 1), (5, 3), pinned=True, min_level="summary")).worth.tolist() == [3.0, 3.0]
    assert made(item("a", (9, 1), (5, 3), current="summary")).worth.tolist() == [3.0, 0.0]


def test_the_repair_and_dominance_tell_decimal_strings_apart_where_doubles_cannot():
    less, more = "0.5", "0.500000000000000000001"
    assert float(less) == float(more)
    raised = made(item("a", (3, less), (2, more)))
    assert raised.raised[1].tolist() == [0]
    assert raised.program.value.tolist() == [500_000_000, 500_000_000, 0]
    tie = made(item("a", (3, "5e-10"), (2, "0.00000000050000000000000000000000001")))
    assert tie.program.value.tolist() == [1, 1, 0]
    assert len(made(item("a", (3, less), (3, more)), repair="none").dropped[0]) == 0
    assert made(item("a", (3, more), (3, less)), repair="none").dropped[1].tolist() == [1]


def test_a_level_that_costs_no_less_and_is_worth_no_more_than_a_richer_one_is_dropped():
    result = made(
        item("b", (150, 1.2), (160, 1.2), (40, 0.6)),
        item("a", (93, 1), (383, 0.9), None, (9, 0.2)),
        budget=400,
    )
    assert levels_of(result, "a") == ["raw", "keywords", "delete"]
    assert levels_of(result, "b") == ["raw", "abstraction", "delete"]
    assert sorted(zip(*(part.tolist() for part in result.dropped), strict=True)) == [(0, 1), (1, 1)]


def test_of_equal_levels_the_richest_is_kept():
    assert levels_of(made(item("a", (5, 1), (5, 1), (5, 1))), "a") == ["raw", "delete"]


def test_a_level_is_not_dominated_by_a_richer_one_that_is_no_candidate():
    assert levels_of(made(item("a", (3, 4), (5, 3), current="summary")), "a") == ["summary", "delete"]
    assert levels_of(made(item("a", (3, 4), (5, 3))), "a") == ["raw", "delete"]


def test_repair_makes_a_longer_summary_of_higher_utility_dominated():
    result = made(item("a", (3, 1), (5, 3)))
    assert levels_of(result, "a") == ["raw", "delete"]
    assert levels_of(made(item("a", (3, 1), (5, 3)), repair="none"), "a") == ["raw", "summary", "delete"]


def test_a_level_over_the_budget_is_no_option():
    assert levels_of(made(item("a", (101, 4), (100, 3))), "a") == ["summary", "delete"]


def test_an_item_that_fits_at_no_level_is_warned_of():
    result = made(item("b", (300, 4), (200, 3)), item("a", (101, 1)), item("c", (100, 1)), item("d"))
    assert [(warning.code, warning.item, warning.index, warning.read) for warning in result.warnings] == [
        ("no_level", "d", 3, None),
        ("never_fits", "a", 1, 101),
        ("never_fits", "b", 0, 200),
    ]
    assert "smallest has 200 tokens, the budget is 100" in result.warnings[2].message


def test_many_items_that_never_fit_are_counted_not_listed():
    columns = Instance.from_arrays(np.full((50, 1), 9), np.ones((50, 1)), budget=8)
    warnings = compiled(columns).warnings
    assert len(warnings) == MOST_WARNINGS_A_KIND + 1
    assert warnings[3].item == "3"
    assert warnings[-1].message == f"and {50 - MOST_WARNINGS_A_KIND} more items fit at no level"


def test_an_item_that_must_stay_keeps_its_cheapest_level_even_over_the_budget():
    pinned = made(item("a", (300, 4), (200, 3), pinned=True, min_level="summary"))
    assert options_of(pinned, "a") == [("summary", 200, 3)]
    assert pinned.warnings == ()
    grouped = made(item("a", (1, 1), pinned=True, group="g"), item("b", (300, 4), (200, 3), group="g"))
    assert levels_of(grouped, "b") == ["summary", "delete"]
    assert grouped.warnings == ()


def test_groups_are_the_items_of_one_name_in_canonical_order():
    result = made(
        item("d", group="h"), item("c", group="g"), item("b"), item("a", group="g"), item("e", group="alone")
    )
    assert result.program.ids == ("a", "b", "c", "d", "e")
    assert result.program.groups == ((0, 2),)


def test_an_exclusive_set_lists_units_and_counts_a_group_once():
    result = made(
        item("a", group="g", exclusive="x"),
        item("b", exclusive="x"),
        item("c", group="g", exclusive="x"),
        item("d", group="h", exclusive="x"),
        item("e", group="h"),
    )
    assert result.program.groups == ((0, 2), (3, 4))
    assert result.program.exclusives == (((0, 2), (1,), (3, 4)),)


def test_an_exclusive_set_of_one_unit_is_none():
    alone = made(
        item("a", exclusive="x"), item("b", group="g", exclusive="y"), item("c", group="g", exclusive="y")
    )
    assert alone.program.exclusives == ()


def test_items_stand_in_the_order_of_their_ids():
    result = made(*(item(name, (1, 1)) for name in ("b10", "b9", "B", "", "ä")[:3]), item("ä", (1, 1)))
    assert result.program.ids == ("B", "b10", "b9", "ä")
    assert result.rows.tolist() == [2, 0, 1, 3]


def test_token_sums_of_62_bits_are_refused_by_name():
    tokens = np.full((1024, 1), 2**52)
    below = Instance.from_arrays(tokens[1:], np.ones((1023, 1)), budget=2**53 - 1)
    assert len(compiled(below).program) == 1023
    with pytest.raises(InvalidInstance) as error:
        compiled(Instance.from_arrays(tokens, np.ones((1024, 1)), budget=2**53 - 1))
    assert [(fault.code, fault.field) for fault in error.value.faults] == [("tokens_sum_too_large", "tokens")]


def test_a_single_huge_item_among_many_small_ones_is_no_overflow():
    tokens = np.ones((4000, 1), dtype=np.int64)
    tokens[7] = 2**53 - 1
    program = compiled(Instance.from_arrays(tokens, np.ones((4000, 1)), budget=2**53 - 1)).program
    assert int(program.tokens.max()) == 2**53 - 1


def test_utilities_and_prices_beyond_all_sense_are_refused_by_name():
    with pytest.raises(InvalidInstance) as error:
        made(item("a", (1, 1.7e308)), item("b", (1, -1.7e308)), price=1.7e308)
    assert [fault.code for fault in error.value.faults] == ["utility_sum_too_large", "price_too_large"]
    huge = made(item("a", (1, 1e270)), item("b", (1, -1e270)), price=1e270)
    assert huge.program.scale == -259
    assert huge.objective(np.array([0, 2])) == pytest.approx(-2e268)


def test_the_error_bound_is_half_a_grid_step_an_item():
    assert made(item("a", (1, 1)), item("b", (1, 1))).error_bound == pytest.approx(1e-9, rel=1e-12)
    assert made(item("a", (1, 10**12))).error_bound == pytest.approx(5.0, rel=1e-12)


def test_the_objective_is_that_of_the_declaration():
    result = made(item("b", (40, 0.1)), item("a", (10, "0.7")), price=0.35)
    both = np.array([0, 2])
    assert result.program.ids == ("a", "b")
    assert result.objective(both) == pytest.approx(0.8 - 0.35 / 100 * 50, rel=1e-15)


def test_compiling_does_not_change_the_columns():
    columns = Instance.from_arrays(np.array([[1, 9], [4, 2]]), np.array([[0.1, 0.7], [2, 3]]), budget=9)
    before = columns.utility.tolist()
    first = compiled(columns).program
    assert columns.utility.tolist() == before
    assert compiled(columns).program.digest == first.digest


def optimum_of(program):
    """Return the largest value and the fewest tokens of a program, by trying every selection."""
    tokens, value, level = program.tokens.tolist(), program.value.tolist(), program.level.tolist()
    found = None
    for chosen in itertools.product(*map(program.options, range(len(program)))):
        present = [level[option] != program.deleted for option in chosen]
        if any(len({present[i] for i in members}) > 1 for members in program.groups):
            continue
        if any(sum(any(present[i] for i in unit) for unit in units) > 1 for units in program.exclusives):
            continue
        total = sum(tokens[option] for option in chosen)
        if total <= program.budget:
            key = (sum(value[option] for option in chosen), -total)
            found = key if found is None or key > found else found
    return found


@settings(max_examples=600)
@given(declarations())
def test_the_program_s_optimum_is_that_of_the_rounded_declaration(declared):
    result = compiled(Instance.model_validate(declared))
    reference = Reference(declared, result.program.scale)
    best = optimum_of(result.program)
    assert (best is not None) == reference.feasible
    if best is not None:
        rounded, exact = reference.optimum_on_grid(), reference.optimum()
        assert best == (rounded.objective, -rounded.tokens)
        distance = abs(Fraction(best[0]) / Fraction(10) ** result.program.scale - exact.objective)
        assert distance <= Fraction(len(result.program), 2) / Fraction(10) ** result.program.scale


@given(declarations(), st.randoms(use_true_random=False))
def test_permuting_the_items_changes_nothing(declared, dice: random.Random):
    first = compiled(Instance.model_validate(declared))
    items = list(declared["items"])
    dice.shuffle(items)
    second = compiled(Instance.model_validate(declared | {"items": items}))
    assert second.program.digest == first.program.digest
    assert second.program.groups == first.program.groups
    assert second.program.exclusives == first.program.exclusives
    names = [item["id"] for item in items]
    assert [names[row] for row in second.rows] == list(second.program.ids)


@given(declarations())
def test_renaming_groups_and_exclusive_sets_changes_nothing(declared):
    other = {"g0": "z", "g1": "a", "g2": "m", "x": "9", "y": "0"}
    items = [
        item | {key: other.get(item[key], item[key]) for key in ("group", "exclusive") if item.get(key)}
        for item in declared["items"]
    ]
    digests = {
        compiled(Instance.model_validate(d)).program.digest for d in (declared, declared | {"items": items})
    }
    assert len(digests) == 1
