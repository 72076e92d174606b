"""What is done without an optimiser: rules by age, each told what every item may still become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Sizes = Mapping[str, int]
"""Tokens of the levels that an item may still hold."""
Rule = Callable[[Sequence[Sizes], int], list[str]]
"""Takes items, newest first, and a budget; returns levels of the newest ones. The others are deleted."""

STEPS = ("raw", "summary", "abstraction", "keywords")


def fifo(items: Sequence[Sizes], budget: int) -> list[str]:
    """Keep the newest items raw, as many as fit."""
    return _fill(items, "raw", budget)


def uniform(items: Sequence[Sizes], budget: int) -> list[str]:
    """Keep the newest items as summaries, as many as fit."""
    return _fill(items, "summary", budget)


def cascade(items: Sequence[Sizes], budget: int) -> list[str]:
    """Keep the newest raw in half of the budget, the next as summaries in half of what is left, and so on.

    The last level has all that is left.
    """
    last = len(STEPS) - 1
    return _steps(items, lambda step, used: budget if step == last else used + (budget - used) // 2)


def cascade_by_shares(items: Sequence[Sizes], budget: int) -> list[str]:
    """Keep the newest raw in 1/2 of the budget, the next as summaries up to 3/4 of it, then 7/8, then all.

    So a level has its own share of the budget, and what richer levels left of theirs.
    """
    eighths = (4, 6, 7, 8)
    return _steps(items, lambda step, used: budget * eighths[step] // 8)


def _steps(items: Sequence[Sizes], until: Callable[[int, int], int]) -> list[str]:
    """Go down the levels with age.

    `until` returns how many tokens may be used once a level is full, given the level's step and the tokens
    that richer levels used.

    An item that may not hold the level of a step takes the next poorer one that it may: the ledger lets
    no summary become an abstraction that is longer.
    """
    kept: list[str] = []
    used = step = 0
    limit = until(step, used)
    for sizes in items:
        while level := next((level for level in STEPS[step:] if level in sizes), None):
            if used + sizes[level] <= limit:
                kept.append(level)
                used += sizes[level]
                break
            step += 1
            if step == len(STEPS):
                return kept
            limit = until(step, used)
        else:
            return kept
    return kept


def _fill(items: Sequence[Sizes], level: str, room: int) -> list[str]:
    """Return the level for each of the first items that have it and fit together."""
    kept: list[str] = []
    for sizes in items:
        if level not in sizes or sizes[level] > room:
            break
        room -= sizes[level]
        kept.append(level)
    return kept
