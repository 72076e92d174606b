"""The candidates of a turn by columns: how an event keeps them, and how a replay gets them back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memopt.instance import Instance

_MORE = {"order": None, "current": None, "pinned": False, "min_level": None, "group": None, "exclusive": None}
"""Fields of an item beside its levels, and what they are when they say nothing."""


def written(offered: Instance) -> dict[str, Any]:
    """Return the budget and the candidates by columns, without texts; absent levels and fields are null.

    A thousand items are some lists in place of thousands of small objects: half the text, and less
    for the garbage collector to walk.
    """
    budget, items = offered.budget, offered.items
    columns: dict[str, Any] = {
        "budget": budget if isinstance(budget, int) else budget.model_dump(),
        "ids": [item.id for item in items],
        "tokens": {level: [] for level in offered.ladder},
        "utility": {level: [] for level in offered.ladder},
    }
    for level in offered.ladder:
        tokens, utility = columns["tokens"][level], columns["utility"][level]
        for item in items:
            option = item.levels.get(level)
            absent = option is None or option.tokens is None
            tokens.append(None if absent or option is None else option.tokens)
            utility.append(None if absent or option is None else option.utility)
    for name, silent in _MORE.items():
        column = [getattr(item, name) for item in items]
        if any(entry != silent or type(entry) is not type(silent) for entry in column):
            columns[name] = column
    return columns


def read(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the candidates that `written` wrote, as items of a problem file.

    Raises
    ------
    LookupError, TypeError, ValueError
        When the columns are broken.
    """
    tokens, utility = columns["tokens"], columns["utility"]
    more = [name for name in _MORE if name in columns]
    items = [
        {"id": name, "levels": {}} | {field: columns[field][row] for field in more}
        for row, name in enumerate(columns["ids"])
    ]
    for level in tokens:
        for item, size, worth in zip(items, tokens[level], utility[level], strict=True):
            if size is not None:
                item["levels"][level] = {"tokens": size, "utility": worth}
    return items
