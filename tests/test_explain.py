from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from memopt import Instance, Program, SolverFailed, solve
from memopt.errors import UnknownItem
from memopt.experiments.reference import Reference
from memopt.explain import Alternative, Explanation
from memopt.solvers import Answer
from memopt.solvers.dp import DynamicProgram

LADDER = ("raw", "summary", "abstraction", "keywords")


def _level(tokens: int, utility: float) -> dict[str, Any]:
    return {"tokens": tokens, "utility": utility}


def _explained(declared: dict[str, Any], item: str) -> dict[str, Alternative]:
    explanation = solve(Instance.model_validate(declared)).explain(item)
    return {alternative.level: alternative for alternative in explanation.alternatives}


def _random_instance(seed: int) -> dict[str, Any]:
    """Return a small instance with every kind of constraint, most of them feasible."""
    draw = random.Random(seed)
    items = []
    for number in range(draw.randint(1, 5)):
        names = sorted(draw.sample(LADDER, draw.randint(1, 4)), key=LADDER.index)
        item: dict[str, Any] = {
            "id": f"m{number}",
            "levels": {name: _level(draw.randint(0, 12), draw.randint(-4, 20) / 10) for name in names},
        }
        if draw.random() < 0.2:
            item |= {"pinned": True, "min_level": names[-1]} if draw.random() < 0.7 else {"pinned": True}
        elif draw.random() < 0.2:
            item["current"] = draw.choice([*names, "delete"])
        if draw.random() < 0.35:
            item["group"] = "g"
        elif draw.random() < 0.4:
            item["exclusive"] = "e"
        items.append(item)
    return {
        "budget": draw.randint(0, 40),
        "price": draw.choice([0, 0.5, 2]),
        "repair": draw.choice(["monotone", "none"]),
        "items": items,
    }


def test_every_alternative_is_the_optimum_with_that_level_forced() -> None:
    seen: set[str | None] = set()
    checked = 0
    for seed in range(300):
        declared = _random_instance(seed)
        allocation = solve(Instance.model_validate(declared))
        if allocation.status == "infeasible":
            continue
        reference = Reference(declared, allocation.scale)
        for item, held in allocation.choices.items():
            explanation = allocation.explain(item)
            others = [alternative.level for alternative in explanation.alternatives]
            assert [*others, held] == sorted(
                [*others, held], key=lambda name: (name == held, [*LADDER, "delete"].index(name))
            )
            assert len(others) == len(LADDER)
            for alternative in explanation.alternatives:
                _check_alternative(alternative, item, allocation, reference)
                seen.add(alternative.reason)
                checked += 1
    assert checked > 2000
    assert seen == {
        None, "absent", "richer_than_current", "pinned", "below_min_level", "dominated", "over_budget",
        "no_room", "links",
    }  # fmt: skip


def _check_alternative(alternative: Alternative, item: str, allocation: Any, reference: Reference) -> None:
    having = [choice for choice in reference.selections if (item, alternative.level) in choice.levels]
    if alternative.reason == "dominated":  # the reference allows such levels; they never are better
        best = max((choice.rounded for choice in having), default=None)
        assert best is None or best <= allocation.units
        return
    assert alternative.possible == bool(having), alternative.sentence
    if not having:
        assert alternative.value is alternative.lost is alternative.tokens is None
        return
    best = max(having, key=lambda choice: (choice.rounded, -choice.tokens))
    unit = Fraction(10) ** -allocation.scale
    assert Fraction(alternative.value) == best.rounded * unit
    assert Fraction(alternative.lost) == (allocation.units - best.rounded) * unit >= 0
    assert alternative.tokens == best.tokens
    assert alternative.proved
    choices = allocation.choices | {item: alternative.level}
    for change in alternative.changes:
        assert choices[change.item] == change.before != change.after
        assert change.item != item
        choices[change.item] = change.after
    same = [choice for choice in having if dict(choice.levels) == choices]
    assert [(choice.rounded, choice.tokens) for choice in same] == [(best.rounded, best.tokens)]


def test_a_sentence_names_loss_tokens_and_changes() -> None:
    declared = {
        "budget": 10,
        "items": [
            {"id": "a", "levels": {"raw": _level(10, 3), "keywords": _level(2, 1)}},
            {"id": "b", "levels": {"raw": _level(8, 1.5), "keywords": _level(3, 0.25)}},
        ],
    }
    found = _explained(declared, "a")
    assert found["keywords"].sentence == (
        "'a' at keywords would lose 0.5 of value and use as many tokens (10 in all); "
        "'b' would come in at raw."
    )
    assert found["delete"].sentence == (
        "Deleting 'a' would lose 1.5 of value and use 2 tokens fewer (8 in all); 'b' would come in at raw."
    )
    other = _explained(declared, "b")
    assert other["raw"].sentence == (
        "'b' at raw would lose 0.5 of value and use as many tokens (10 in all); "
        "'a' would go from raw to keywords."
    )


def test_the_first_sentence_names_the_nearest_alternative() -> None:
    declared = {
        "budget": 9,
        "items": [
            {"id": "a", "levels": {"raw": _level(8, 3), "summary": _level(4, 2.5), "keywords": _level(1, 1)}}
        ],
    }
    explanation = solve(Instance.model_validate(declared)).explain("a")
    assert explanation.level == "raw"
    assert explanation.sentence == (
        "'a' is kept at raw with 8 tokens; the nearest alternative, summary, would lose 0.5 of value."
    )


@pytest.mark.parametrize(
    ("level", "reason", "words"),
    [
        ("raw", "richer_than_current", "is kept at summary now, and a level never rises by itself"),
        ("abstraction", "absent", "the item has no such level"),
        ("keywords", "below_min_level", "is pinned and may not shrink below abstraction"),
        ("delete", "pinned", "cannot be deleted: it is pinned."),
    ],
)
def test_levels_that_a_declaration_rules_out(level: str, reason: str, words: str) -> None:
    levels = {"raw": _level(9, 4), "summary": _level(5, 3), "keywords": _level(1, 1)}
    item = {"id": "a", "levels": levels, "current": "summary", "pinned": True, "min_level": "abstraction"}
    found = _explained({"budget": 20, "items": [item]}, "a")[level]
    assert found.reason == reason
    assert words in found.sentence


def test_a_deleted_item_never_comes_back_by_itself() -> None:
    item = {"id": "a", "levels": {"raw": _level(9, 4)}, "current": "delete"}
    found = _explained({"budget": 20, "items": [item]}, "a")["raw"]
    assert found.reason == "richer_than_current"
    assert "is deleted now" in found.sentence


def test_a_dominated_level_names_the_level_that_dominates() -> None:
    levels = {"raw": _level(5, 4), "summary": _level(6, 3), "keywords": _level(9, 1)}
    found = _explained({"budget": 20, "items": [{"id": "a", "levels": levels}]}, "a")
    assert found["summary"].reason == found["keywords"].reason == "dominated"
    assert "raw is worth no less and has no more tokens" in found["keywords"].sentence


def test_domination_is_judged_after_the_repair() -> None:
    """As declared raw is worth less than summary; repaired it is worth as much, and it is smaller."""
    levels = {"raw": _level(5, 1), "summary": _level(6, 3)}
    found = _explained({"budget": 20, "items": [{"id": "a", "levels": levels}]}, "a")
    assert found["summary"].reason == "dominated"
    assert "raw is worth no less" in found["summary"].sentence


def test_a_level_larger_than_the_budget_says_by_how_much() -> None:
    levels = {"raw": _level(25, 4), "keywords": _level(1, 1)}
    found = _explained({"budget": 20, "items": [{"id": "a", "levels": levels}]}, "a")["raw"]
    assert (found.reason, found.shortfall) == ("over_budget", 5)
    assert "its 25 tokens alone are 5 over the budget of 20" in found.sentence


def test_a_level_with_no_room_beside_pinned_items_says_by_how_much() -> None:
    items = [
        {"id": "a", "levels": {"raw": _level(15, 4), "keywords": _level(1, 1)}},
        {"id": "rule", "levels": {"raw": _level(8, 1)}, "pinned": True},
    ]
    found = _explained({"budget": 20, "items": items}, "a")["raw"]
    assert (found.reason, found.shortfall) == ("no_room", 3)
    assert "needs 23 tokens, 3 over the budget of 20" in found.sentence


def test_a_level_that_links_forbid_says_so() -> None:
    items = [
        {"id": "a", "levels": {"raw": _level(1, 4)}, "group": "g"},
        {"id": "rule", "levels": {"raw": _level(8, 1)}, "pinned": True, "group": "g"},
    ]
    found = _explained({"budget": 20, "items": items}, "a")["delete"]
    assert found.reason == "links"
    assert "the group of item 'a' must be present" in found.sentence


def test_a_long_list_of_changes_is_cut_in_the_sentence_only() -> None:
    items = [{"id": "big", "levels": {"raw": _level(12, 3)}}]
    items += [{"id": f"s{n}", "levels": {"raw": _level(2, 1)}} for n in range(6)]
    found = _explained({"budget": 12, "items": items}, "big")["raw"]
    assert len(found.changes) == 6
    assert "'s3' would be deleted (raw now) and 2 others would change too." in found.sentence
    assert "s4" not in found.sentence


def test_an_allocation_that_is_not_optimal_can_gain() -> None:
    items = [
        {"id": "big", "levels": {"raw": _level(10, 10)}},
        {"id": "tiny", "levels": {"raw": _level(1, 1.5)}},
    ]
    greedy = solve(Instance.model_validate({"budget": 10, "items": items}), "greedy")
    assert greedy.choices == {"big": "delete", "tiny": "raw"}
    raw = greedy.explain("big").alternatives[0]
    assert raw.lost == "-8.500000000"
    assert "would gain 8.5 of value, for the allocation is not optimal," in raw.sentence


def test_an_unknown_item_is_named() -> None:
    with pytest.raises(UnknownItem, match="'b'"):
        solve(Instance.model_validate({"budget": 1, "items": []})).explain("b")


def test_columns_without_ids_are_explained_by_position() -> None:
    allocation = solve(Instance.from_arrays([[5, 1], [4, 2]], [[3.0, 1.0], [2.0, 1.5]], budget=6))
    assert allocation.explain("1").item == "1"
    with pytest.raises(UnknownItem):
        allocation.explain("2")


def test_the_dictionary_is_plain_data() -> None:
    declared = {
        "budget": 10,
        "items": [
            {"id": "a", "levels": {"raw": _level(10, 3)}},
            {"id": "b", "levels": {"raw": _level(8, 1.5)}},
        ],
    }
    explanation = solve(Instance.model_validate(declared)).explain("b")
    assert isinstance(explanation, Explanation)
    found = explanation.to_dict()
    assert (found["item"], found["level"]) == ("b", "delete")
    raw = found["alternatives"][0]
    assert raw == {
        "level": "raw", "possible": True, "reason": None, "value": "1.500000000", "lost": "1.500000000",
        "tokens": 8, "changes": [{"item": "a", "from": "raw", "to": "delete"}], "proved": True,
        "shortfall": None, "sentence": raw["sentence"],
    }  # fmt: skip


def test_what_is_not_proved_is_an_upper_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    sizes = [draw.randint(100, 999) for _ in range(30)]
    items = [{"id": f"m{n}", "levels": {"raw": _level(size, size + 10)}} for n, size in enumerate(sizes)]
    allocation = solve(Instance.model_validate({"budget": sum(sizes) // 2, "items": items}))
    monkeypatch.setattr("memopt.explain.get", lambda name: DynamicProgram(most_states=1))
    unproved = [
        alternative
        for item in allocation.choices
        for alternative in allocation.explain(item).alternatives
        if alternative.possible and not alternative.proved and Fraction(alternative.lost) > 0
    ]
    assert unproved
    assert all("would lose at most " in alternative.sentence for alternative in unproved)


def test_nothing_can_be_explained_where_nothing_is_feasible() -> None:
    item = {"id": "a", "pinned": True, "levels": {"raw": _level(9, 1)}}
    with pytest.raises(ValueError, match="the instance is infeasible"):
        solve(Instance.model_validate({"budget": 1, "items": [item]})).explain("a")


class _Wrong:
    """A solver that answers the same to every program."""

    name = "wrong"

    def __init__(self, selection: list[int] | None) -> None:
        self.selection = selection

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        return Answer(None if self.selection is None else np.array(self.selection))


@pytest.mark.parametrize(
    ("selection", "words"),
    [(None, "no selection with 'b' forced"), ([0, 2], "budget: 10 tokens are 4 over 6")],
)
def test_an_answer_that_fails_the_audit_is_no_explanation(
    selection: list[int] | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [{"id": name, "levels": {"raw": _level(5, 1)}} for name in "ab"]
    allocation = solve(Instance.model_validate({"budget": 6, "items": items}))
    monkeypatch.setattr("memopt.explain.get", lambda name: _Wrong(selection))
    with pytest.raises(SolverFailed, match=words):
        allocation.explain("b")
