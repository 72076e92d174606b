"""Seeded random instances by family: for tests, for cross-checks and for benchmarks.

Every number comes from the raw stream of PCG64 by integer arithmetic, so a family, a size and a seed
name the same instance on every platform and with every version of numpy.

The first five families are those of Pisinger, "A minimal algorithm for the multiple-choice knapsack
problem", European Journal of Operational Research 83 (1995) 394-410, with its data range of 1,000 and
half the largest tokens as budget; here every item may be deleted as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from memopt.candidates import Ints
from memopt.columns import DEFAULT_LADDER, Columns
from memopt.errors import UnknownFamily
from memopt.instance import Instance

_RANGE = 1000
_FIDELITY, _SIZE = (100, 65, 40, 15), (100, 35, 15, 5)
"""Worth and tokens of raw, summary, abstraction and keywords, in percent."""
_MEDIAN_TOKENS = 120
_QUANTILES = 64
_LOG_NORMAL = np.array(
    [
        round(_MEDIAN_TOKENS * math.exp(NormalDist().inv_cdf((k + 0.5) / _QUANTILES)))
        for k in range(_QUANTILES)
    ],
    dtype=np.int64,
)


def generate(family: str, items: int, seed: int, levels: int = 4) -> Instance:
    """Return a random instance of a family.

    Parameters
    ----------
    family
        One of `FAMILIES`.
    items
        Number of items.
    seed
        Integer >= 0; the same seed gives the same instance everywhere.
    levels
        Ladder levels an item has, ``delete`` not counted.

    Raises
    ------
    UnknownFamily
        When there is none of that name.
    """
    return _declared(generate_columns(family, items, seed, levels))


def generate_columns(family: str, items: int, seed: int, levels: int = 4) -> Columns:
    """Return the instance that `generate` returns, in columns, its items known by position."""
    if family not in _FAMILIES:
        raise UnknownFamily(family, FAMILIES)
    return _FAMILIES[family](_Draws(family, seed), items, levels)


class _Draws:
    """Uniform integers, drawn from the raw bits of PCG64."""

    def __init__(self, family: str, seed: int) -> None:
        self._bits = np.random.PCG64([seed, *family.encode()])

    def __call__(self, low: int, high: int, *shape: int) -> Ints:
        """Return integers of ``low..high``, both included; at most 2^32 of them to choose from."""
        raw = self._bits.random_raw(math.prod(shape)).astype(np.uint64)
        half = np.uint64(32)
        picked = ((raw >> half) * np.uint64(high - low + 1)) >> half
        return picked.astype(np.int64).reshape(shape) + low


def _columns(tokens: Ints, units: Ints, places: int, budget: int, **rest: Any) -> Columns:
    """Return columns of tokens and of utilities given in units of 10^-places, richest level first."""
    levels = tokens.shape[1]
    ladder = DEFAULT_LADDER if levels == 4 else tuple(f"L{level}" for level in range(levels))
    plain: dict[str, Any] = {"price": 0.0, "repair": False, "ids": None}
    return Columns(budget=budget, ladder=ladder, tokens=tokens, utility=units / 10**places, **(plain | rest))


def _half(tokens: Ints) -> int:
    return int(tokens.max(axis=1, initial=0).sum()) // 2


def _richest_first(values: Ints) -> Ints:
    return np.sort(values, axis=1)[:, ::-1].copy()


def _uncorrelated(draws: _Draws, items: int, levels: int) -> Columns:
    """Tokens and utility drawn apart (Pisinger 1995)."""
    tokens = _richest_first(draws(1, _RANGE, items, levels))
    return _columns(tokens, draws(1, _RANGE, items, levels), 0, _half(tokens))


def _weakly_correlated(draws: _Draws, items: int, levels: int) -> Columns:
    """Utility within 10 of the tokens (Pisinger 1995)."""
    tokens = _richest_first(draws(1, _RANGE, items, levels))
    utility = np.maximum(tokens + draws(-10, 10, items, levels), 1)
    return _columns(tokens, utility, 0, _half(tokens))


def _strongly_correlated(draws: _Draws, items: int, levels: int) -> Columns:
    """Sums of ever larger steps, each worth its tokens and 10 more (Pisinger 1995)."""
    steps = np.sort(draws(1, _RANGE, items, levels), axis=1)
    tokens = np.cumsum(steps, axis=1)[:, ::-1].copy()
    return _columns(tokens, tokens + 10 * np.arange(levels, 0, -1), 0, _half(tokens))


def _subset_sum(draws: _Draws, items: int, levels: int) -> Columns:
    """Utility equal to the tokens (Pisinger 1995): every full budget is optimal."""
    tokens = _richest_first(draws(1, _RANGE, items, levels))
    return _columns(tokens, tokens, 0, _half(tokens))


def _zig_zag(draws: _Draws, items: int, levels: int) -> Columns:
    """Tokens and utility drawn apart and both sorted (Sinha and Zoltners 1979): nothing is dominated."""
    tokens = _richest_first(draws(1, _RANGE, items, levels))
    return _columns(tokens, _richest_first(draws(1, _RANGE, items, levels)), 0, _half(tokens))


def _priced(draws: _Draws, items: int, levels: int) -> Columns:
    """Utility of twice the price of the tokens and a step: priced, strongly correlated."""
    tokens = np.cumsum(np.sort(draws(1, _RANGE, items, levels), axis=1), axis=1)[:, ::-1].copy()
    budget = max(_half(tokens), 1)
    step = 10 * np.arange(levels, 0, -1)
    return _columns(tokens, (2 * tokens + step) * 10**9 // budget, 9, budget, price=1.0)


def _memory_like(draws: _Draws, items: int, levels: int) -> Columns:
    """Log-normal sizes, utility by fidelity times an importance with a heavy (Pareto) tail."""
    tokens, units = _memories(draws, items, levels)
    return _columns(tokens, units, 4, _quarter(tokens), price=_price(items), repair=True)


def _linked(draws: _Draws, items: int, levels: int) -> Columns:
    """Memory-like, with groups of two to four, exclusive sets, pins and caps."""
    tokens, units = _memories(draws, items, levels)
    unit = np.searchsorted(np.cumsum(draws(1, 4, items)), np.arange(items), side="right")
    grouped = draws(0, 1, items)[unit] == 1
    alternative = unit // 3
    exclusive = draws(0, 2, items)[alternative] == 0
    pinned = (draws(0, 15, items) == 0) & ~exclusive
    capped = (draws(0, 3, items) == 0) & ~pinned
    deepest = np.where(grouped, levels - 1, levels)
    return _columns(
        tokens, units, 4, _quarter(tokens), price=_price(items), repair=True,
        richest=np.where(capped, np.minimum(draws(0, levels, items), deepest), 0),
        poorest=np.where(pinned, levels - 1, levels),
        group=np.where(grouped, unit, -1),
        exclusive=np.where(exclusive, alternative, -1),
    )  # fmt: skip


def _tight(draws: _Draws, items: int, levels: int) -> Columns:
    """Memory-like, a third of it pinned: the budget is what that needs, one token more or one less."""
    tokens, units = _memories(draws, items, levels)
    pinned = draws(0, 2, items) == 0
    pinned[:1] = True
    least = int(tokens[pinned].min(axis=1).sum())
    budget = max(least + int(draws(-1, 1, 1)[0]), 0)
    poorest = np.where(pinned, levels - 1, levels)
    return _columns(tokens, units, 4, budget, price=_price(items), repair=True, poorest=poorest)


def _zero_budget(draws: _Draws, items: int, levels: int) -> Columns:
    """Memory-like without any budget; the poorest level of every other item costs nothing."""
    tokens, units = _memories(draws, items, levels)
    tokens[::2, -1] = 0
    return _columns(tokens, units, 4, 0, price=_price(items), repair=True)


def _duplicates(draws: _Draws, items: int, levels: int) -> Columns:
    """Memory-like, but only three different memories: most items are equal."""
    tokens, units = _memories(draws, 3, levels)
    which = draws(0, 2, items)
    return _columns(tokens[which], units[which], 4, _quarter(tokens[which]), price=_price(items), repair=True)


def _huge_weights(draws: _Draws, items: int, levels: int) -> Columns:
    """Tokens near multiples of 10^9 (google/or-tools#5293): sums far beyond 32 bits.

    About every other instance has multiples of one large number instead: divided by it, its tokens are
    within the limit of CP-SAT.
    """
    units, beside = draws(1, 60, items, levels), draws(0, 5, items, levels)
    utility = draws(1, 100, items, levels)
    divisible, step = draws(0, 1, 1)[0] == 1, draws(10**8, 10**9, 1)[0]
    tokens = _richest_first(units * step if divisible else units * 10**9 + beside)
    return _columns(tokens, utility, 0, _half(tokens))


def _memories(draws: _Draws, items: int, levels: int) -> tuple[Ints, Ints]:
    """Return tokens, and utilities in units of 10^-4, both shape ``[items, levels]``."""
    quantile, between = draws(0, _QUANTILES - 2, items), draws(0, 1023, items)
    size = (_LOG_NORMAL[quantile] * (1024 - between) + _LOG_NORMAL[quantile + 1] * between) >> 10
    importance = 10**12 // draws(10**6, 10**9, items)
    tokens = size[:, None] * _spread(_SIZE, levels) * draws(80, 120, items, levels) // 10**4 + 1
    units = importance[:, None] * _spread(_FIDELITY, levels) * draws(90, 110, items, levels) // 1000
    return tokens, units


def _spread(percent: Sequence[int], levels: int) -> Ints:
    """Return percentages for any number of levels, in a straight line between those of four."""
    reach = max(levels - 1, 1)
    place = np.arange(levels) * (len(percent) - 1)
    known = np.array([*percent, percent[-1]], dtype=np.int64)
    before, past = place // reach, place % reach
    return (known[before] * (reach - past) + known[before + 1] * past) // reach


def _price(items: int) -> float:
    return 35 * items / 100


def _quarter(tokens: Ints) -> int:
    return int(tokens[:, 0].sum()) // 4


def _declared(columns: Columns) -> Instance:
    ladder, width = columns.ladder, len(str(max(len(columns) - 1, 0)))

    def name(prefix: str, number: int) -> str:
        return f"{prefix}{number:0{width}d}"

    items = []
    for row, (tokens, utility) in enumerate(
        zip(columns.tokens.tolist(), columns.utility.tolist(), strict=True)
    ):
        levels = {
            level: {"tokens": count, "utility": worth}
            for level, count, worth in zip(ladder, tokens, utility, strict=True)
        }
        item: dict[str, Any] = {"id": name("m", row), "order": row, "levels": levels}
        if columns.richest is not None and columns.richest[row] > 0:
            item["current"] = (*ladder, "delete")[columns.richest[row]]
        if columns.poorest is not None and columns.poorest[row] < len(ladder):
            item |= {"pinned": True, "min_level": ladder[columns.poorest[row]]}
        if columns.group is not None and columns.group[row] >= 0:
            item["group"] = name("g", columns.group[row])
        if columns.exclusive is not None and columns.exclusive[row] >= 0:
            item["exclusive"] = name("x", columns.exclusive[row])
        items.append(item)
    return Instance.model_validate(
        {
            "budget": columns.budget,
            "price": columns.price,
            "ladder": list(ladder),
            "repair": "monotone" if columns.repair else "none",
            "items": items,
        }
    )


_FAMILIES: dict[str, Callable[[_Draws, int, int], Columns]] = {
    "uncorrelated": _uncorrelated,
    "weakly-correlated": _weakly_correlated,
    "strongly-correlated": _strongly_correlated,
    "subset-sum": _subset_sum,
    "zig-zag": _zig_zag,
    "priced": _priced,
    "memory-like": _memory_like,
    "linked": _linked,
    "tight": _tight,
    "zero-budget": _zero_budget,
    "duplicates": _duplicates,
    "huge-weights": _huge_weights,
}
FAMILIES = tuple(_FAMILIES)
"""Names of the families."""
