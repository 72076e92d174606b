from __future__ import annotations

import pytest
from hypothesis import given
from strategies import declarations

from memopt import Instance
from memopt.compile import compile as compiled
from memopt.experiments.reference import Reference
from memopt.shortage import find_shortage


def shortage(items, budget=10, **changes):
    declared = {"budget": budget, "ladder": ["raw", "summary"], "items": items} | changes
    return find_shortage(compiled(Instance.model_validate(declared)).program)


def item(name, *tokens, **changes):
    levels = {
        level: {"tokens": count, "utility": 1}
        for level, count in zip(("raw", "summary"), tokens, strict=False)
    }
    return {"id": name, "levels": levels} | changes


def test_without_pins_there_is_always_a_selection():
    assert shortage([]) is None
    assert shortage([item("a", 11)], budget=0) is None
    assert shortage([item("a", 4, 6, group="g"), item("b", 9, group="g")]) is None


def test_pins_that_just_fit_are_no_shortage():
    pinned = [item("b", 7, pinned=True), item("a", 3, pinned=True)]
    assert shortage(pinned, budget=10) is None
    found = shortage(pinned, budget=9)
    assert found is not None
    assert (found.code, found.minimum_tokens, found.shortfall) == ("pinned_exceeds_budget", 10, 1)
    assert found.pinned == ("a", "b")
    assert found.message == ("what must stay needs at least 10 tokens, 1 over the budget of 9; pinned: a, b")


def test_a_pinned_item_counts_at_the_poorest_level_it_may_shrink_to():
    found = shortage([item("a", 30, 12, pinned=True, min_level="summary")])
    assert found is not None
    assert (found.minimum_tokens, found.shortfall) == (12, 2)
    stiff = shortage([item("a", 30, 12, pinned=True)])
    assert stiff is not None
    assert (stiff.minimum_tokens, stiff.shortfall) == (30, 20)
    capped = shortage([item("a", 30, 12, pinned=True, current="summary")])
    assert capped is not None
    assert capped.minimum_tokens == 12


def test_the_cheaper_level_counts_even_where_it_is_the_richer_one():
    found = shortage([item("a", 11, 15, pinned=True, min_level="summary")], repair="none")
    assert found is not None
    assert found.minimum_tokens == 11


def test_the_group_of_a_pinned_item_must_stay_with_it():
    found = shortage([item("a", 6, pinned=True, group="g"), item("b", 9, 5, group="g"), item("c", 1)])
    assert found is not None
    assert (found.minimum_tokens, found.pinned) == (11, ("a",))


def test_a_group_member_without_a_level_contradicts_the_pin():
    pinned = item("a", 1, pinned=True, group="g")
    for gone in (item("b", group="g"), item("b", 1, group="g", current="delete")):
        found = shortage([pinned, gone])
        assert found is not None
        assert (found.code, found.minimum_tokens, found.shortfall) == ("pinned_conflict", None, None)
        assert "the group of item 'b' must be present" in found.message


def test_two_pins_in_one_exclusive_set_contradict_each_other():
    found = shortage([item(name, 1, pinned=True, exclusive="x") for name in "abc"])
    assert found is not None
    assert (found.code, found.pinned) == ("pinned_conflict", ("a", "b", "c"))
    assert "at most one of 'a', 'b', 'c'" in found.message
    one = [item("a", 1, pinned=True, exclusive="x"), item("b", 1, exclusive="x")]
    assert shortage(one) is None


def test_two_pins_in_one_group_of_an_exclusive_set_do_not():
    group = [item(name, 1, pinned=True, group="g", exclusive="x") for name in "ab"]
    assert shortage([*group, item("c", 1, exclusive="x")]) is None


@pytest.mark.parametrize("budget", [0, 5, 6])
def test_free_levels_fit_any_budget(budget):
    free = item("a", 7, 0, pinned=True, min_level="summary")
    assert shortage([free], budget=budget) is None


@given(declarations())
def test_the_shortage_is_the_reference_s_minimum(declared):
    found = find_shortage(compiled(Instance.model_validate(declared)).program)
    reference = Reference(declared)
    assert (found is None) == reference.feasible
    if found is not None:
        assert found.minimum_tokens == reference.minimum_tokens
        assert found.code == ("pinned_conflict" if found.minimum_tokens is None else "pinned_exceeds_budget")
        if found.minimum_tokens is not None:
            assert found.shortfall == found.minimum_tokens - reference.budget > 0
        assert found.pinned == tuple(sorted(item["id"] for item in declared["items"] if item.get("pinned")))
