from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from peers import item, regression, unless_measured
from strategies import declarations
from wrong import Corrupted, Posing, Unguarded

from memopt import Instance, verify
from memopt.compile import compile as compiled
from memopt.errors import Fault, InvalidInstance
from memopt.families import FAMILIES, generate
from memopt.shrink import shrink
from memopt.solvers.greedy import Greedy

SIZE = ("items", "levels", "digits", "constraints")


def size(instance: Instance) -> dict[str, int]:
    """Return how much there is of everything that is to be dropped."""
    options = [option for item in instance.items for option in item.levels.values() if option is not None]
    numbers = [instance.capacity, *(option.tokens for option in options)]
    return {
        "items": len(instance.items),
        "levels": len(options),
        "digits": sum(len(str(number)) for number in numbers if number is not None),
        "constraints": sum(
            sum(
                value not in (None, False)
                for value in (i.current, i.pinned, i.min_level, i.group, i.exclusive)
            )
            for i in instance.items
        ),
    }


@pytest.mark.parametrize("family", ["memory-like", "linked", "priced", "weakly-correlated"])
def test_greedy_that_claims_to_be_exact_is_refuted_by_two_or_three_items(family: str) -> None:
    posing = Posing(Greedy())

    def differs(instance: Instance) -> bool:
        return verify(instance, [posing]).kind == "differ"

    instance = next(found for seed in range(50) if differs(found := generate(family, 20, seed)))
    small = shrink(instance, differs)
    assert differs(small)
    assert all(size(small)[part] <= size(instance)[part] for part in SIZE)
    assert len(small.items) <= 4
    assert size(small)["constraints"] == 0
    assert size(small)["digits"] <= 20


@unless_measured("ortools", "9.15")
def test_the_fault_of_huge_weights_keeps_its_size_and_loses_its_digits() -> None:
    instance = Instance.model_validate(regression("cpsat-huge-weights")["input"])

    def wrong(smaller: Instance) -> bool:
        return ("cpsat-unguarded", "bound") in verify(smaller, [Unguarded()]).refuted

    small = shrink(instance, wrong)
    assert wrong(small)
    assert size(small)["levels"] < size(instance)["levels"]
    assert small.capacity >= 2**31

    def significant(found: Instance) -> int:
        tokens = [option.tokens for i in found.items for option in i.levels.values() if option]
        return sum(len(str(count).rstrip("0")) for count in tokens)

    assert significant(small) < significant(instance) / 2


def test_an_invalid_selection_is_shrunk_to_one_item() -> None:
    over = Corrupted(lambda program, selection: program.start[:-1].copy())
    small = shrink(generate("linked", 12, 2), lambda smaller: verify(smaller, [over]).kind == "invalid")
    assert len(small.items) <= 2
    assert verify(small, [over]).kind == "invalid"


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_always_true_leaves_nothing(family: str) -> None:
    small = shrink(generate(family, 10, 1), lambda smaller: True)
    assert small.model_dump(exclude_defaults=True) == {"budget": 0, "items": ()}


def test_only_what_matters_stays() -> None:
    declared = {
        "budget": {"window": 900, "reserved": {"reply": 100}},
        "price": "0.351",
        "ladder": ["full", "half", "short"],
        "repair": "none",
        "items": [
            {
                "id": "a", "order": 3, "current": "half", "pinned": True, "min_level": "short", "group": "g",
                "levels": {
                    "full": {"tokens": 700, "utility": 0.123456, "text": "all of it"},
                    "half": {"tokens": 345, "utility": "0.0000000000000000001"},
                    "short": None,
                },
            },
            {"id": "b", "group": "g", "levels": {"full": {"tokens": 10, "utility": -12.75}}},
            {"id": "c", "exclusive": "x", "levels": {"full": {"tokens": 10, "utility": 1}}},
        ],
    }  # fmt: skip

    def grouped(instance: Instance) -> bool:
        return bool(compiled(instance).program.groups)

    small = shrink(Instance.model_validate(declared), grouped)
    assert small.model_dump(mode="json", exclude_defaults=True) == {
        "budget": 0,
        "ladder": ["short"],
        "items": [{"id": "a", "levels": {}, "group": "g"}, {"id": "b", "levels": {}, "group": "g"}],
    }

    def harmful(instance: Instance) -> bool:
        worth = [option.utility for i in instance.items for option in i.levels.values() if option]
        return any(utility is not None and float(utility) < -3 for utility in worth)

    assert shrink(Instance.model_validate(declared), harmful).model_dump(
        mode="json", exclude_defaults=True
    ) == {
        "budget": 0,
        "ladder": ["full"],
        "items": [{"id": "b", "levels": {"full": {"tokens": 0, "utility": -6.0}}}],
    }


def test_it_is_the_same_every_time() -> None:
    def heavy(instance: Instance) -> bool:
        return sum(option.tokens or 0 for i in instance.items for option in i.levels.values() if option) > 777

    first, second = (shrink(generate("linked", 15, 4), heavy) for _ in range(2))
    assert first == second


def test_it_stops_after_so_many_questions_with_what_it_has() -> None:
    asked = []

    def large(instance: Instance) -> bool:
        asked.append(len(instance.items))
        return len(instance.items) >= 3

    small = shrink(generate("zig-zag", 20, 1), large, most_tries=5)
    assert len(asked) == 6
    assert len(small.items) == min(count for count in asked if count >= 3)


def test_what_is_not_true_to_begin_with_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to keep"):
        shrink(generate("zig-zag", 3, 1), lambda smaller: False)


def test_an_instance_that_cannot_be_compiled_does_not_count() -> None:
    instance = Instance.model_validate({"budget": 5, "price": 7, "items": [item("a", (4, 2), (3, 1))]})

    def stays(smaller: Instance) -> bool:
        if not smaller.items:
            raise InvalidInstance([Fault("too_small", "there is nothing left")])
        return True

    assert len(shrink(instance, stays).items) == 1


@settings(max_examples=60)
@given(declarations())
def test_every_instance_on_the_way_is_valid_and_the_result_is_never_larger(declared: Any) -> None:
    instance = Instance.model_validate(declared)
    tokens = sum(compiled(instance).program.tokens.tolist())

    def stays(smaller: Instance) -> bool:
        assert Instance.model_validate_json(smaller.model_dump_json(exclude_defaults=True)) == smaller
        return 2 * sum(compiled(smaller).program.tokens.tolist()) >= tokens

    small = shrink(instance, stays, most_tries=200)
    assert stays(small)
    assert all(size(small)[part] <= size(instance)[part] for part in SIZE)
