"""The leading part that stays is chosen exactly: against every selection, and against CP-SAT."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import declarations

from memopt import Instance, solve
from memopt.allocation import Allocation
from memopt.compile import compile as compiled
from memopt.experiments.reference import Reference
from memopt.families import generate
from memopt.prompt_cache import MOST_CACHE_PRICE, Sent, solve_cached

PRICES = st.sampled_from([1e-9, 0.01, 0.35, 1.0, 3.0, 100.0])


def item(name: str, utility: float = 1.0, **more: Any) -> dict[str, Any]:
    sizes = {"raw": (60, 1.0), "summary": (24, 0.7), "abstraction": (10, 0.4), "keywords": (4, 0.15)}
    levels = {level: {"tokens": n, "utility": u * utility} for level, (n, u) in sizes.items()}
    return {"id": name, "levels": levels, **more}


def kept(choices: dict[str, str], tokens: dict[tuple[str, str], int], ids: list[str]) -> dict[str, Any]:
    """Return what a selection sends, in the order of the conversation."""
    return {name: (choices[name], tokens[name, choices[name]]) for name in ids if choices[name] != "delete"}


class Everything:
    """Every selection with its value when tokens behind the first change cost more."""

    def __init__(self, declared: dict[str, Any], sent: Sent, cache_price: float, scale: int) -> None:
        dear_price = Fraction(declared.get("price", 0)) + Fraction(cache_price)
        self.cheap = Reference(declared, scale)
        dear = Reference(declared | {"price": dear_price}, scale)
        items = declared["items"]
        self.ids = [each["id"] for each in items]
        self.low = {choice.levels[0]: choice for each in items for choice in self.cheap.levels(each)}
        self.high = {choice.levels[0]: choice for each in items for choice in dear.levels(each)}
        self.tokens = {place: choice.tokens for place, choice in self.low.items()}
        self.sent = list(sent.items())

    def value(self, choices: dict[str, str]) -> int:
        """Return the value in grid units."""
        sends = list(kept(choices, self.tokens, self.ids).items())
        same = 0
        while same < min(len(sends), len(self.sent)) and sends[same] == self.sent[same]:
            same += 1
        value = sum(self.low[name, level].rounded for name, (level, _) in sends[:same])
        return value + sum(self.high[name, level].rounded for name, (level, _) in sends[same:])

    def best(self, never: set[tuple[str, str]]) -> tuple[int, int]:
        """Return the largest value and the fewest tokens that reach it, without dominated levels."""
        found = [
            (self.value(dict(choice.levels)), -choice.tokens)
            for choice in self.cheap.selections
            if not never.intersection(choice.levels)
        ]
        value, tokens = max(found)
        return value, -tokens


@st.composite
def turns(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, tuple[str, int]]]:
    """Return an instance and what was sent before it: a selection of it, or something like one."""
    declared = draw(declarations())
    seen = Everything(declared, {}, 0, 0)
    if not seen.cheap.selections:
        return declared, {}
    choices = dict(draw(st.sampled_from(seen.cheap.selections)).levels)
    sent = kept(choices, seen.tokens, seen.ids)
    for name in list(sent):
        match draw(st.sampled_from(["same"] * 6 + ["gone", "other", "longer"])):
            case "gone":
                del sent[name]
            case "other":
                sent[f"{name} before"] = sent.pop(name)
            case "longer":
                sent[name] = (sent[name][0], sent[name][1] + 1)
    return declared, sent


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(turns(), PRICES)
def test_the_best_leading_part_is_found_exactly(
    turn: tuple[dict[str, Any], dict[str, tuple[str, int]]], cache_price: float
) -> None:
    declared, sent = turn
    instance = Instance.model_validate(declared)
    allocation = solve_cached(compiled(instance), sent, cache_price)
    everything = Everything(declared, sent, cache_price, allocation.scale)
    if not everything.cheap.feasible:
        assert allocation.status == "infeasible"
        return
    assert allocation.status == "optimal"
    never = {(name, level) for name, level in allocation.dominated}
    assert (allocation.units, allocation.tokens) == everything.best(never)
    assert everything.value(dict(allocation.choices)) == allocation.units


def conversation(seed: int, size: int) -> tuple[Instance, dict[str, tuple[str, int]]]:
    """Return a turn with new messages at its end, and what the turn before it sent."""
    rng = random.Random(seed)
    items = [item(f"m{k:03d}", round(rng.uniform(0.2, 2), 3)) for k in range(size)]
    budget = 25 * size
    before = solve(Instance.model_validate({"budget": budget, "price": 0.5, "items": items[:-2]}))
    sizes = {(each["id"], level): o["tokens"] for each in items for level, o in each["levels"].items()}
    sent = kept(dict(before.choices), sizes, [each["id"] for each in items[:-2]])
    for each in items[:-2]:
        each["current"] = before.choices[each["id"]]
    return Instance.model_validate({"budget": budget, "price": 0.5, "items": items}), sent


@pytest.mark.parametrize("seed", range(6))
def test_cp_sat_finds_the_same_value(seed: int) -> None:
    instance, sent = conversation(seed, 24)
    price = [0.05, 0.5, 2.0][seed % 3]
    allocation = solve_cached(compiled(instance), sent, price)
    assert allocation.status == "optimal"
    assert by_cp_sat(allocation, instance, list(sent.items()), price) == allocation.units


def by_cp_sat(allocation: Allocation, instance: Instance, sent: list[Any], cache_price: float) -> int:
    """Return the optimum of a model that has every cut in it."""
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    model, grid = cp_model.CpModel(), Fraction(10) ** allocation.scale
    ids = [each.id for each in instance.items]
    cuts = [model.new_bool_var(f"cut {k}") for k in range(len(sent) + 1)]
    model.add_exactly_one(cuts)
    first = [0, *(ids.index(name) + 1 for name, _ in sent)]
    terms, used = [], []
    for place, each in enumerate(instance.items):
        before = sum(cut for cut, begins in zip(cuts, first, strict=True) if begins > place)
        names = [level for level in each.levels if _rank(level) >= _rank(each.current or "raw")]
        chosen = {level: model.new_bool_var(f"{each.id} {level}") for level in [*names, "delete"]}
        model.add_exactly_one(chosen.values())
        keeps = dict(sent).get(each.id, ("delete", 0))[0]
        model.add(chosen[keeps] >= before)
        for level in names:
            option = each.levels[level]
            assert option is not None
            rate = Fraction(instance.price) / instance.capacity
            more = Fraction(cache_price) / instance.capacity
            low = round((Fraction(option.utility) - rate * option.tokens) * grid)
            high = round((Fraction(option.utility) - (rate + more) * option.tokens) * grid)
            spared = model.new_bool_var("")
            model.add(spared <= chosen[level])
            model.add(spared <= before)
            terms += [high * chosen[level], (low - high) * spared]
            used.append(option.tokens * chosen[level])
    model.add(sum(used) <= instance.capacity)
    model.maximize(sum(terms))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = 60
    assert solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value)


def _rank(level: str) -> int:
    return ["raw", "summary", "abstraction", "keywords", "delete"].index(level)


def test_a_high_cache_price_keeps_everything_and_none_is_the_plain_optimum() -> None:
    instance, sent = conversation(1, 24)
    high, none = solve_cached(compiled(instance), sent, 1e6), solve_cached(compiled(instance), sent, 0)
    assert {name: level for name, level in high.choices.items() if level != "delete"} == {
        name: level for name, (level, _) in sent.items()
    }
    assert none.choices == solve(instance).choices
    assert "leading parts" not in none.proof


def test_the_higher_the_cache_price_the_less_is_sent_behind_the_first_change() -> None:
    instance, sent = conversation(2, 60)
    sizes = {(each.id, level): o.tokens for each in instance.items for level, o in each.levels.items() if o}
    charged = []
    for price in (0.0, 0.01, 0.1, 1.0, 10.0):
        sends = kept(
            dict(solve_cached(compiled(instance), sent, price).choices), sizes, [i.id for i in instance.items]
        )
        same = 0
        for one, other in zip(sends.items(), sent.items(), strict=False):
            if one != other:
                break
            same += one[1][1]
        charged.append(sum(tokens for _, tokens in sends.values()) - same)
    assert charged == sorted(charged, reverse=True)
    assert charged[0] > charged[-1]


def test_hardly_any_cut_is_solved() -> None:
    instance = generate("memory-like", 1_000, 1).model_copy(update={"price": 0.5})
    first = solve(instance)
    sizes = {(each.id, level): o.tokens for each in instance.items for level, o in each.levels.items() if o}
    ids = [each.id for each in instance.items]
    sent = kept(dict(first.choices), sizes, ids)
    tighter = instance.model_copy(update={"budget": instance.capacity * 99 // 100})
    allocation = solve_cached(compiled(tighter), sent, 0.05)
    assert allocation.status == "optimal"
    solved = int(allocation.proof.rpartition("that may stay, ")[2].split()[0])
    assert solved <= 150


def test_what_cannot_stay_ends_the_leading_part() -> None:
    items = [item("a"), item("b", pinned=True), item("c")]
    instance = Instance.model_validate({"budget": 200, "items": items})
    sent = {"a": ("raw", 60), "c": ("raw", 60)}  # b was not there, and now it must be
    allocation = solve_cached(compiled(instance), sent, 1.0)
    assert allocation.choices["b"] == "raw"
    assert "best of 2 leading parts" in allocation.proof


def test_numbers_too_large_for_64_bits_overflow_nothing() -> None:
    tokens = 2**52
    levels = {"raw": {"tokens": tokens, "utility": 1e6}, "summary": {"tokens": tokens - 7, "utility": 9e5}}
    items = [{"id": name, "levels": levels} for name in "abc"]
    instance = Instance.model_validate({"budget": 2**53 - 1, "items": items})
    sent = {"a": ("raw", tokens), "b": ("summary", tokens - 7)}
    allocation = solve_cached(compiled(instance), sent, 1.0)
    assert (allocation.status, allocation.choices) == (
        "optimal",
        {"a": "raw", "b": "summary", "c": "delete"},
    )


@pytest.mark.parametrize("price", [-1, float("nan"), float("inf"), MOST_CACHE_PRICE * 2])
def test_a_cache_price_out_of_range_is_refused(price: float) -> None:
    with pytest.raises(ValueError, match="cache price"):
        solve_cached(compiled(Instance.model_validate({"budget": 1, "items": []})), {}, price)


def test_a_solver_that_proves_nothing_proves_no_leading_part() -> None:
    for seed in range(6):
        instance, sent = conversation(seed, 24)
        best = solve_cached(compiled(instance), sent, 0.5)
        greedy = solve_cached(compiled(instance), sent, 0.5, solver="greedy")
        assert greedy.status == "feasible"
        assert greedy.bound_units is not None
        assert (greedy.units or 0) <= (best.units or 0) <= greedy.bound_units


def test_what_was_sent_in_another_order_is_no_leading_part() -> None:
    instance = Instance.model_validate({"budget": 200, "items": [item("a", 9), item("b", 9)]})
    turned = solve_cached(compiled(instance), {"b": ("raw", 60), "a": ("raw", 60)}, 1.0)
    unknown = solve_cached(compiled(instance), {}, 1.0)
    assert turned.choices == unknown.choices == {"a": "raw", "b": "raw"}
    assert turned.units == unknown.units
