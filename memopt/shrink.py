"""From an instance that shows something to a small one that still shows it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from decimal import ROUND_DOWN, Context, Decimal
from typing import Any

from memopt.errors import InvalidInstance
from memopt.instance import Instance

Declared = dict[str, Any]
Place = tuple[Declared, str]

_CONSTRAINTS = (
    ("order", "current", "pinned", "min_level", "group", "exclusive"),
    ("order",),
    ("current",),
    ("min_level",),
    ("pinned", "min_level"),
    ("group",),
    ("exclusive",),
)
"""Keys of an item that are dropped together: all at once first, then one constraint at a time."""


def shrink(instance: Instance, stays: Callable[[Instance], bool], most_tries: int = 2_000) -> Instance:
    """Drop items, levels, links and digits while something stays true of the instance.

    Greedy, in a fixed order, until nothing more can be dropped: the result is small, not smallest.

    Parameters
    ----------
    instance
        What shows it.
    stays
        Whether an instance still shows it; asked about valid instances only.
    most_tries
        Questions after which the smallest instance found so far is returned.

    Raises
    ------
    ValueError
        When it is not true of the instance to begin with.
    """
    if not stays(instance):
        raise ValueError("there is nothing to keep: it is not true of the instance given")
    search = _Search(instance, stays, most_tries)
    while search.shrinks():
        pass
    return search.instance


class _Search:
    """The smallest instance so far, and the steps that may make it smaller."""

    def __init__(self, instance: Instance, stays: Callable[[Instance], bool], most_tries: int) -> None:
        self.instance, self._stays, self._left = instance, stays, most_tries
        self._declared: Declared = instance.model_dump(mode="json", exclude_defaults=True)
        self._asked = {json.dumps(self._declared)}

    def shrinks(self) -> bool:
        """Try every step; returns whether any made the instance smaller."""
        before = self.instance
        self._drop_items()
        self._drop_levels()
        self._drop_constraints()
        self._drop_rest()
        self._divide_tokens()
        self._shorten_numbers()
        return self.instance is not before

    def _try(self, smaller: Declared) -> bool:
        """Keep a smaller declaration if it is valid and it stays."""
        content = json.dumps(smaller)
        if content in self._asked or self._left == 0:
            return False
        self._asked.add(content)
        self._left -= 1
        try:
            instance = Instance.model_validate(smaller)
            if not self._stays(instance):
                return False
        except InvalidInstance:
            return False
        self.instance, self._declared = instance, smaller
        return True

    def _copy(self) -> Declared:
        return deepcopy(self._declared)

    def _drop_items(self) -> None:
        size = len(self._declared["items"])
        while size:
            at = 0
            while at < len(self._declared["items"]):
                smaller = self._copy()
                del smaller["items"][at : at + size]
                at += 0 if self._try(smaller) else size
            size //= 2

    def _drop_levels(self) -> None:
        for index, item in enumerate(self._declared["items"]):
            for level in item["levels"]:
                smaller = self._copy()
                del smaller["items"][index]["levels"][level]
                self._try(smaller)
        for level in self._declared.get("ladder", ()):
            smaller = self._copy()
            smaller["ladder"].remove(level)
            self._try(smaller)

    def _drop_constraints(self) -> None:
        for keys in _CONSTRAINTS:
            for which in (slice(None), *(slice(i, i + 1) for i in range(len(self._declared["items"])))):
                smaller = self._copy()
                for item in smaller["items"][which]:
                    for key in keys:
                        item.pop(key, None)
                self._try(smaller)

    def _drop_rest(self) -> None:
        for key in ("price", "repair"):
            smaller = self._copy()
            smaller.pop(key, None)
            self._try(smaller)
        self._try(self._copy() | {"budget": self.instance.capacity})
        smaller = self._copy()
        for option in _options(smaller):
            option.pop("text", None)
        self._try(smaller)

    def _divide_tokens(self) -> None:
        """Divide all token counts and the budget, which depend on each other."""
        for divisor in (1000, 10, 2):
            while True:
                smaller = self._copy()
                for part, key in _counts(smaller):
                    part[key] //= divisor
                if not self._try(smaller):
                    break

    def _shorten_numbers(self) -> None:
        for place in range(len(_numbers(self._declared))):
            while self._shortens(place):
                pass

    def _shortens(self, place: int) -> bool:
        """Try every shorter form of one number; returns whether one was kept."""
        part, key = _numbers(self._declared)[place]
        for number in _shorter(part[key]):
            smaller = self._copy()
            part, key = _numbers(smaller)[place]
            part[key] = number
            if self._try(smaller):
                return True
        return False


def _options(declared: Declared) -> Iterator[Declared]:
    for item in declared["items"]:
        yield from (option for option in item["levels"].values() if option is not None)


def _counts(declared: Declared) -> list[Place]:
    """Return where the numbers of tokens stand."""
    places = [(declared, "budget"), *((option, "tokens") for option in _options(declared))]
    return [(part, key) for part, key in places if isinstance(part.get(key), int)]


def _numbers(declared: Declared) -> list[Place]:
    """Return where any number stands."""
    places = [(declared, "price"), *((option, "utility") for option in _options(declared))]
    return _counts(declared) + [(part, key) for part, key in places if part.get(key) is not None]


def _shorter(number: int | float | str) -> Iterator[int | float]:
    """Yield numbers of fewer digits, simplest first: closer to 0, or the same and no text any more."""
    exact = Decimal(number) if isinstance(number, str) else Decimal(repr(number))
    size, sign = int(abs(exact)), -1 if exact < 0 else 1
    for whole in (0, size // 1000, size // 10, size // 2, size):
        if whole < abs(exact):
            yield sign * whole
    for digits in range(1, len(exact.normalize().as_tuple().digits)):
        cut = exact.normalize(Context(prec=digits, rounding=ROUND_DOWN))
        yield int(cut) if isinstance(number, int) else float(cut)
    if isinstance(number, str):
        yield float(number)
