"""Rules by age: what they keep of small lists of items, newest first."""

from __future__ import annotations

import pytest

from benchmarks.recency import Rule, cascade, cascade_by_shares, fifo, uniform

ITEM = {"raw": 100, "summary": 40, "abstraction": 20, "keywords": 10}


@pytest.mark.parametrize(
    ("rule", "budget", "kept"),
    [
        (fifo, 250, ["raw", "raw"]),
        (fifo, 99, []),
        (uniform, 119, ["summary", "summary"]),
        (cascade, 200, ["raw", "summary", "abstraction", *["keywords"] * 4]),
        (cascade, 100, ["summary", "abstraction", *["keywords"] * 4]),
        (cascade_by_shares, 200, ["raw", "summary", "abstraction", *["keywords"] * 4]),
        (cascade_by_shares, 100, ["summary", *["abstraction"] * 2, *["keywords"] * 2]),
        (cascade, 9, []),
    ],
)
def test_the_newest_are_kept_richest(rule: Rule, budget: int, kept: list[str]) -> None:
    assert rule([ITEM] * 9, budget) == kept


@pytest.mark.parametrize("rule", [fifo, uniform, cascade, cascade_by_shares])
def test_all_is_kept_where_there_is_room_and_nothing_of_nothing(rule: Rule) -> None:
    assert len(rule([ITEM] * 3, 10_000)) == 3
    assert rule([], 100) == []


@pytest.mark.parametrize("rule", [fifo, uniform])
def test_an_item_that_cannot_have_the_level_ends_the_window(rule: Rule) -> None:
    assert len(rule([ITEM, {"keywords": 10}, ITEM], 10_000)) == 1


@pytest.mark.parametrize("rule", [cascade, cascade_by_shares])
def test_a_cascade_gives_an_item_the_next_level_that_it_may_hold(rule: Rule) -> None:
    assert rule([ITEM, {"keywords": 10}, ITEM, {}, ITEM], 10_000) == ["raw", "keywords", "raw"]
