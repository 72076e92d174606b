"""Within a window an item only ever gets poorer and shorter; a refresh opens it one turn later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memopt import Instance, solve
from memopt.columns import DEFAULT_LADDER, DELETE
from memopt.session.errors import FidelityViolation, InvalidState
from memopt.session.fidelity import Admission, FidelityLedger, Held

SIZES = {"raw": 100, "summary": 40, "abstraction": 20, "keywords": 8}


def restored(ledger: FidelityLedger) -> FidelityLedger:
    return FidelityLedger.from_dict(json.loads(json.dumps(ledger.to_dict())))


def test_an_item_never_seen_is_open() -> None:
    assert FidelityLedger().admit(1, "a", SIZES) == Admission(None, SIZES)


def test_richer_levels_are_gone_after_a_downgrade() -> None:
    ledger = FidelityLedger().after(1, {"a": Held("abstraction", 20)})
    assert ledger.admit(2, "a", SIZES) == Admission("abstraction", {"abstraction": 20, "keywords": 8})
    with pytest.raises(FidelityViolation, match=r"'a'.*'summary' is richer than 'abstraction'"):
        ledger.after(2, {"a": Held("summary", 20)})


def test_what_was_deleted_stays_deleted() -> None:
    ledger = FidelityLedger().after(1, {"a": Held(DELETE, 0)})
    assert ledger.admit(2, "a", SIZES | {"keywords": 0}) == Admission(DELETE, {})
    with pytest.raises(FidelityViolation, match="'a'"):
        ledger.after(2, {"a": Held("keywords", 0)})


def test_an_item_that_is_not_offered_keeps_what_it_held() -> None:
    ledger = FidelityLedger().after(1, {"a": Held("summary", 40)}).after(2, {"b": Held("raw", 9)})
    assert ledger.admit(3, "a", SIZES).current == "summary"


def test_summaries_do_not_grow(shared: Path) -> None:
    told = json.loads((shared / "cases" / "53-summaries-must-not-grow.json").read_text())
    item, accepted, rejected = told["input"]["item"], [], []
    ledger = FidelityLedger()
    for turn, tokens in enumerate(told["input"]["current_tokens"], start=1):
        admission = ledger.admit(turn, item, {"summary": tokens})
        rejected += [refused for _, refused in admission.refused]
        if not admission.refused:
            accepted.append(tokens)
        ledger = ledger.after(turn, {item: Held("summary", admission.sizes["summary"])})
    assert {"accepted": accepted, "rejected": rejected} == told["expect"]
    assert ledger.held[item] == Held("summary", 1420)


def test_a_longer_text_is_refused_at_the_level_held_and_below() -> None:
    ledger = FidelityLedger().after(1, {"a": Held("summary", 40)})
    longer = {"raw": 100, "summary": 41, "abstraction": 45, "keywords": 40}
    assert ledger.admit(2, "a", longer) == Admission(
        "summary", {"summary": 40, "keywords": 40}, (("summary", 41), ("abstraction", 45)), stands="summary"
    )
    with pytest.raises(FidelityViolation, match="41 tokens are more than the 40"):
        ledger.after(2, {"a": Held("summary", 41)})


def test_a_shorter_text_at_the_same_level_binds_from_then_on() -> None:
    ledger = FidelityLedger().after(1, {"a": Held("summary", 40)}).after(2, {"a": Held("summary", 30)})
    assert ledger.admit(3, "a", {"summary": 40}).stands == "summary"


def test_a_refresh_opens_in_the_next_turn_and_not_in_the_running_one() -> None:
    ledger = FidelityLedger().after(3, {"a": Held("keywords", 8), "b": Held(DELETE, 0)}).refresh(4)
    for item in ("a", "b"):
        assert ledger.admit(4, item, SIZES).current is not None
        assert ledger.admit(5, item, SIZES) == Admission(None, SIZES)
    decided = ledger.after(4, {"a": Held(DELETE, 0)})  # the running turn is still bound, and may still shrink
    assert decided.admit(5, "a", SIZES).current is None


def test_an_opened_item_is_bound_again_by_what_it_takes() -> None:
    ledger = FidelityLedger().after(1, {"a": Held(DELETE, 0), "b": Held(DELETE, 0)}).refresh(1)
    ledger = ledger.after(2, {"a": Held("summary", 40)})
    assert ledger.admit(3, "a", SIZES).current == "summary"
    assert ledger.admit(3, "b", SIZES).current is None  # not offered in turn 2: still open
    assert ledger.after(3, {"b": Held("raw", 100)}).opens == {}


def test_a_refresh_of_some_items_leaves_the_others_bound() -> None:
    ledger = FidelityLedger().after(1, {"a": Held(DELETE, 0), "b": Held(DELETE, 0)})
    ledger = ledger.refresh(1, ["a", "never seen"])
    assert ledger.opens == {"a": 2}
    assert ledger.admit(2, "b", SIZES).current == DELETE


def test_a_second_refresh_does_not_postpone_the_first() -> None:
    ledger = FidelityLedger().after(1, {"a": Held(DELETE, 0)}).refresh(1).refresh(5)
    assert ledger.admit(2, "a", SIZES).current is None


def test_levels_are_counted_richest_first() -> None:
    ledger = FidelityLedger().after(1, {"a": Held("raw", 5), "b": Held(DELETE, 0), "c": Held("raw", 7)})
    assert list(ledger.levels().items()) == [("raw", 2), ("summary", 0), ("abstraction", 0), ("keywords", 0),
                                             (DELETE, 1)]  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"held": {"a": ["nowhere", 3]}},
        {"held": {"a": 3}},
        {"opens": {"b": 3}},
        {"opens": {"a": "soon"}},
        {"ladder": None},
    ],
)
def test_a_broken_state_is_refused(change: dict[str, Any]) -> None:
    state = FidelityLedger().after(1, {"a": Held("raw", 3)}).to_dict()
    with pytest.raises(InvalidState, match="fidelity ledger"):
        FidelityLedger.from_dict(state | change)


@settings(max_examples=40)
@given(st.data())
def test_no_run_of_turns_gives_anything_back_without_a_refresh(data: st.DataObject) -> None:
    ledger, ladder = FidelityLedger(), (*DEFAULT_LADDER, DELETE)
    before: dict[str, Held] = {}
    for turn in range(1, data.draw(st.integers(1, 12)) + 1):
        if data.draw(st.booleans()) and turn % 4 == 0:
            ledger, before = ledger.refresh(turn - 1), {}
        chosen = {}
        for item in data.draw(st.sets(st.sampled_from("abc"))):
            offered = data.draw(
                st.dictionaries(st.sampled_from(DEFAULT_LADDER), st.integers(0, 50), max_size=4)
            )
            sizes = ledger.admit(turn, item, offered).sizes | {DELETE: 0}
            level = data.draw(st.sampled_from(sorted(sizes)))
            chosen[item] = Held(level, sizes[level])
            if item in before:
                assert ladder.index(level) >= ladder.index(before[item].level)
                assert sizes[level] <= before[item].tokens
        ledger, before = ledger.after(turn, chosen), before | chosen
        assert restored(ledger) == ledger


def test_the_solver_sees_what_the_ledger_admits() -> None:
    """Two turns: a tight budget downgrades, a wide one afterwards gives nothing back until a refresh."""
    utility = {"raw": 1.0, "summary": 0.7, "abstraction": 0.4, "keywords": 0.2}

    def decide(ledger: FidelityLedger, turn: int, budget: int) -> tuple[FidelityLedger, str]:
        admission = ledger.admit(turn, "a", SIZES)
        levels = {
            level: {"tokens": size, "utility": utility[level]} for level, size in admission.sizes.items()
        }
        item = {"id": "a", "levels": levels, "current": admission.current}
        choice = solve(Instance.model_validate({"budget": budget, "items": [item]})).choices["a"]
        return ledger.after(turn, {"a": Held(choice, admission.sizes.get(choice, 0))}), choice

    ledger, first = decide(FidelityLedger(), 1, 50)
    ledger, second = decide(ledger, 2, 500)
    ledger, third = decide(ledger.refresh(2), 3, 500)
    assert (first, second, third) == ("summary", "summary", "raw")


def test_what_governance_lowers_keeps_what_it_held_and_is_open_where_it_held_nothing() -> None:
    ledger = FidelityLedger().after(1, {"old": Held("raw", 90)})
    after = ledger.after(2, {"old": Held("keywords", 5), "new": Held("delete", 0)}, ["old", "new"])
    assert after.holding("old", 3) == Held("raw", 90)
    assert after.holding("new", 3) is None
    assert after.holding("new", 2) == Held("delete", 0)
    assert FidelityLedger.from_dict(after.to_dict()) == after


def test_what_a_refresh_opened_stays_open_while_governance_lowers_it() -> None:
    ledger = FidelityLedger().after(1, {"m": Held("keywords", 5)}).refresh(1)
    after = ledger.after(2, {"m": Held("delete", 0)}, ["m"])
    assert after.holding("m", 3) is None


def test_a_level_that_the_ladder_does_not_have_is_held_by_nothing() -> None:
    with pytest.raises(ValueError, match="tuple"):
        FidelityLedger().after(1, {"new": Held("gist", 3)})


def test_a_rewritten_text_may_be_longer_at_the_level_held_but_not_richer():
    ledger = FidelityLedger().after(1, {"a": Held("summary", 40), "b": Held(DELETE, 0)})
    lifted = ledger.rewritten(["a", "b", "never seen"])
    assert lifted.admit(2, "a", {"raw": 100, "summary": 60, "keywords": 50}) == Admission(
        "summary", {"summary": 60, "keywords": 50}
    )
    assert lifted.admit(2, "b", {"raw": 100}).sizes == {}
    assert lifted.after(2, {"a": Held("summary", 60)}).held["a"] == Held("summary", 60)
    assert ledger.rewritten([]) is ledger
