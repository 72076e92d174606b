"""What the optimum is, found by trying everything, in exact fractions, from the declaration alone.

Reads the problem file's plain data and imports nothing of memopt: no compiling, no dominance, no bounds,
one list of all the selections. Small instances only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

LADDER = ("raw", "summary", "abstraction", "keywords")

Declared = Mapping[str, Any]


class Choice(NamedTuple):
    """A selection, or a part of one.

    `worth` is its objective times the reference's `denominator`, `rounded` the sum of its options'
    objectives, each first rounded half-even to the grid; both are integers, so both are exact.
    """

    tokens: int
    worth: int
    rounded: int
    levels: tuple[tuple[str, str], ...]


NOTHING = Choice(0, 0, 0, ())


@dataclass(frozen=True)
class Optimum:
    """The largest objective, the fewest tokens that reach it, and one selection that does."""

    objective: Fraction
    tokens: int
    choices: dict[str, str]


class Reference:
    """All the selections of a declared instance.

    Parameters
    ----------
    declared
        Plain data of a valid problem file.
    scale
        Grid exponent k: each option's priced utility is also rounded to 10^-k.
    """

    def __init__(self, declared: Declared, scale: int = 0) -> None:
        self.declared = declared
        self.ladder = tuple(declared.get("ladder", LADDER))
        self.budget = _capacity(declared)
        price = Fraction(declared.get("price", 0))
        self.rate = price / self.budget if self.budget else Fraction(0)
        self.grid = Fraction(10) ** scale
        self.denominator = lcm(self.rate.denominator, *_denominators(declared))
        self._parts = self._split()
        self.selections = _joined_all(self._parts, self.budget)

    @property
    def feasible(self) -> bool:
        """Whether any selection keeps the links and the budget."""
        return bool(self.selections)

    @property
    def minimum_tokens(self) -> int | None:
        """Fewest tokens of all the selections of any size; None when the links forbid them all."""
        return min((choice.tokens for choice in _joined_all(self._parts, None)), default=None)

    def optimum(self) -> Optimum:
        """Return the optimum of the declared problem."""
        best = max(self.selections, key=lambda choice: (choice.worth, -choice.tokens))
        return Optimum(self._objective(best), best.tokens, dict(best.levels))

    def optimum_on_grid(self) -> Optimum:
        """Return the optimum of the rounded problem, its objective in grid units."""
        best = max(self.selections, key=lambda choice: (choice.rounded, -choice.tokens))
        return Optimum(Fraction(best.rounded), best.tokens, dict(best.levels))

    def outcomes(self) -> list[tuple[Fraction, int]]:
        """Return objective and tokens of every selection within the budget."""
        return [(self._objective(choice), choice.tokens) for choice in self.selections]

    def objective_of(self, choices: Mapping[str, str]) -> Fraction | None:
        """Return the objective of given choices, or None where they are no selection."""
        wanted = sorted(choices.items())
        for choice in self.selections:
            if sorted(choice.levels) == wanted:
                return self._objective(choice)
        return None

    def _objective(self, choice: Choice) -> Fraction:
        return Fraction(choice.worth, self.denominator)

    def _split(self) -> list[list[Choice]]:
        """Return the parts of the problem that only the budget joins, each with all it can be.

        A unit is a whole group or a lone item; a part is a lone unit, or all the units of one
        exclusive set.
        """
        units: dict[tuple[str, str], list[Declared]] = {}
        for item in self.declared["items"]:
            name = ("item", item["id"]) if item.get("group") is None else ("group", item["group"])
            units.setdefault(name, []).append(item)
        parts: dict[tuple[str, str], list[list[Declared]]] = {}
        for name, members in units.items():
            sets = {item["exclusive"] for item in members if item.get("exclusive") is not None}
            parts.setdefault(("exclusive", sets.pop()) if sets else name, []).append(members)
        return [self._at_most_one_present(part) for part in parts.values()]

    def _at_most_one_present(self, units: list[list[Declared]]) -> list[Choice]:
        present = [_joined_all(map(self.levels, members), None) for members in units]
        deleted = [_joined_all(map(_deleted, members), None) for members in units]
        found = _joined_all(deleted, None)
        for index in range(len(units)):
            found += _joined_all([*deleted[:index], present[index], *deleted[index + 1 :]], None)
        return found

    def levels(self, item: Declared) -> list[Choice]:
        """Return the levels an item may be present at: capped, pinned, then repaired, then priced."""
        current, least = item.get("current"), item.get("min_level")
        names = self.ladder
        if current is not None:
            names = () if current == "delete" else names[names.index(current) :]
        names = tuple(name for name in names if (item["levels"].get(name) or {}).get("tokens") is not None)
        if item.get("pinned"):
            rank = self.ladder.index
            names = names[:1] if least is None else tuple(n for n in names if rank(n) <= rank(least))
        worth = {name: Fraction(item["levels"][name]["utility"]) for name in names}
        if self.declared.get("repair", "monotone") == "monotone":
            for index, name in enumerate(names):
                worth[name] = max(worth[poorer] for poorer in names[index:])
        found = []
        for name in names:
            tokens = item["levels"][name]["tokens"]
            priced = worth[name] - self.rate * tokens
            exact = priced * self.denominator
            assert exact.denominator == 1
            found.append(Choice(tokens, int(exact), round(priced * self.grid), ((item["id"], name),)))
        return found


def _capacity(declared: Declared) -> int:
    budget = declared["budget"]
    if isinstance(budget, Mapping):
        return int(budget["window"] - sum(budget.get("reserved", {}).values()))
    return int(budget)


def _denominators(declared: Declared) -> list[int]:
    return [
        Fraction(option["utility"]).denominator
        for item in declared["items"]
        for option in item["levels"].values()
        if option and option.get("tokens") is not None
    ]


def _deleted(item: Declared) -> list[Choice]:
    return [] if item.get("pinned") else [Choice(0, 0, 0, ((item["id"], "delete"),))]


def _joined_all(parts: Any, budget: int | None) -> list[Choice]:
    """Return every way to take one choice of each part, within a budget if one is given."""
    found = [NOTHING]
    for part in parts:
        found = [
            Choice(a.tokens + b.tokens, a.worth + b.worth, a.rounded + b.rounded, a.levels + b.levels)
            for a in found
            for b in part
            if budget is None or a.tokens + b.tokens <= budget
        ]
    return found
