"""Small declared instances (plain data of a problem file) of every family and every mix of constraints."""

from __future__ import annotations

from math import prod
from typing import Any

from hypothesis import strategies as st

from memopt.families import FAMILIES, generate

Declared = dict[str, Any]

MOST_SELECTIONS = 1500
"""The reference tries them all."""

_TOKENS = st.integers(0, 12)
_STRETCH = st.sampled_from([1, 1, 1, 2, 30, 1000, 10**9 + 7])
_PLAIN = st.integers(-2, 6)
_HALVES = st.integers(-3, 12).map(lambda n: n / 2)
_NEAR = st.sampled_from([0.1, 0.2, 0.30000000000000004, 0.3, 0.7, 1 / 3, 2 / 3, 1e-9, 5e-10, 1.5e-9])
_WIDE = st.floats(-1e6, 1e6, allow_nan=False, width=32)
_TEXT = st.sampled_from(["0.1", "0.3", "0.30000000000000001", "-1.5", "2e-10", "0.0000000005", "7", "1e3"])
_HUGE = st.sampled_from([1e11, 123456789012.5, 9.9e14, 1e18, -1e12])
_UTILITIES = st.sampled_from([_PLAIN, _PLAIN, _HALVES, _NEAR, _WIDE, _TEXT, _HUGE])
_PRICES = st.one_of(
    st.sampled_from([0, 0.0, 0.35, 1, 2.5, "0.1", 1e-9, 1e3, 1e12]), st.floats(0, 20, allow_nan=False)
)


def declarations() -> st.SearchStrategy[Declared]:
    """Return valid instances small enough for the reference."""
    plain = st.one_of(_drawn(), _generated(st.sampled_from(FAMILIES)))
    kinds = st.sampled_from([plain, _constrained(plain), _constrained(plain)])
    return kinds.flatmap(lambda kind: kind).filter(_is_small)


def family_declarations(family: str) -> st.SearchStrategy[Declared]:
    """Return valid instances of one family, small enough for the reference."""
    return _generated(st.just(family)).filter(_is_small)


def _is_small(declared: Declared) -> bool:
    return prod(1 + len(item["levels"]) for item in declared["items"]) <= MOST_SELECTIONS


def _count(levels: int) -> st.SearchStrategy[int]:
    """Return how many items there may be; drawn evenly, where integers would mostly be small."""
    return st.sampled_from(range(1 + {1: 8, 2: 6, 3: 5, 4: 4}.get(levels, 3)))


def _chance(of: int) -> st.SearchStrategy[bool]:
    return st.sampled_from([True] + [False] * (of - 1))


@st.composite
def _generated(draw: st.DrawFn, families: st.SearchStrategy[str]) -> Declared:
    levels = draw(st.sampled_from([1, 2, 3, 4, 4, 4, 5, 6]))
    instance = generate(draw(families), draw(_count(levels)), draw(st.integers(0, 10**6)), levels)
    return instance.model_dump(mode="json", exclude_defaults=True)


@st.composite
def _drawn(draw: st.DrawFn) -> Declared:
    """Draw an instance number by number: ties, zeros, absent levels, decimal strings, huge and tiny ones."""
    levels = draw(st.integers(1, 6))
    ladder = [f"L{level}" for level in range(levels)]
    stretch, utilities = draw(_STRETCH), draw(_UTILITIES)
    items = []
    for index in range(draw(_count(levels))):
        options: dict[str, Any] = {}
        for name in ladder:
            if not draw(_chance(6)):
                options[name] = {"tokens": draw(_TOKENS) * stretch, "utility": draw(utilities)}
            elif draw(st.booleans()):
                options[name] = draw(st.sampled_from([None, {"utility": 1.0}, {"tokens": None, "text": "x"}]))
        items.append({"id": f"i{index}", "levels": options})
    items = draw(st.permutations(items))
    declared: Declared = {
        "budget": _budget(draw, draw(st.integers(0, 12 * max(len(items), 1))) * stretch),
        "price": draw(_PRICES),
        "ladder": ladder,
        "items": items,
    }
    if draw(st.booleans()):
        declared["repair"] = draw(st.sampled_from(["none", "monotone"]))
    return declared


def _budget(draw: st.DrawFn, tokens: int) -> int | Declared:
    if not draw(_chance(4)):
        return tokens
    system = draw(st.integers(0, 50))
    return {"window": tokens + system + 7, "reserved": {"system": system, "reply": 7}}


@st.composite
def _constrained(draw: st.DrawFn, plain: st.SearchStrategy[Declared]) -> Declared:
    """Add caps, pins, groups and exclusive sets to an instance, and squeeze its budget."""
    declared = draw(plain)
    ladder = declared.get("ladder", ["raw", "summary", "abstraction", "keywords"])
    items = [dict(item) for item in declared["items"]]
    sets = draw(st.lists(st.sampled_from([None, "x", "y"]), min_size=3, max_size=3))
    for item in items:
        for key in ("current", "pinned", "min_level", "group", "exclusive"):
            item.pop(key, None)
        if draw(_chance(4)):
            item["current"] = draw(st.sampled_from([*ladder, "delete"]))
        if draw(_chance(4)):
            _pin(draw, item, ladder)
        place = draw(st.sampled_from([None, None, 0, 1, 2]))
        if place is not None:
            item["group"] = f"g{place}"
        exclusive = draw(st.sampled_from([None, None, "x", "y"])) if place is None else sets[place]
        if exclusive is not None and (place is None or draw(st.booleans())):
            item["exclusive"] = exclusive
    budget = declared["budget"]
    if isinstance(budget, int) and draw(st.booleans()):
        budget = draw(st.integers(0, budget))
    return declared | {"items": items, "budget": budget}


def _pin(draw: st.DrawFn, item: Declared, ladder: list[str]) -> None:
    """Pin an item that has a level it may stay at, with or without a level it may shrink to."""
    current = item.get("current")
    names = [] if current == "delete" else ladder if current is None else ladder[ladder.index(current) :]
    held = [name for name in names if (item["levels"].get(name) or {}).get("tokens") is not None]
    if held:
        item["pinned"] = True
        if draw(st.booleans()):
            richest = ladder.index(held[0])
            item["min_level"] = draw(st.sampled_from(ladder[richest:]))
