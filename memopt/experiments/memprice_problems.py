"""Small random problems: the exact solver against every selection that is declared, and against greedy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from memopt.allocation import Allocation
from memopt.columns import DEFAULT_LADDER
from memopt.compile import compile
from memopt.errors import InvalidInstance
from memopt.experiments.reference import Reference
from memopt.families import FAMILIES, generate
from memopt.instance import MOST_TOKENS, Instance
from memopt.session.config import Config
from memopt.session.session import Session
from memopt.solve import solve_compiled

_PRICES = (0.0, 0.1, 0.3, 1.0, 3.0)
"""Prices, as shares of the utility of all items at their best."""
_COUNTER_EXAMPLES = 3
_HUGE_GAIN = 1e9


@dataclass(frozen=True)
class Compared:
    """How the solver fared on small problems.

    Attributes
    ----------
    differ, over
        Problems on which status, value on the grid or fewest tokens are not those of the enumeration, or
        the choices are none that the declaration allows; problems on which the declared tokens of the
        choices exceed the declared budget.
    infeasible
        Problems without any selection, by the enumeration.
    losses
        For each problem on which greedy is strictly worse, the share of the optimum that it loses; largest
        first.
    counter_examples
        The worst of them, each with its instance, so that ``memopt solve`` can be asked.
    """

    differ: int
    over: int
    infeasible: int
    losses: tuple[float, ...]
    counter_examples: tuple[dict[str, Any], ...]


def against_exhaustive(seed: int, problems: int, most_items: int) -> Compared:
    """Solve random problems exactly, greedily, and by a reference that reads the declaration alone."""
    differ = over = infeasible = 0
    losses: list[tuple[float, int, dict[str, Any]]] = []
    for number, instance in enumerate(_problems(seed, problems, most_items)):
        compiled, declared = compile(instance), json.loads(instance.model_dump_json(exclude_defaults=True))
        ours, greedy = (solve_compiled(compiled, name) for name in ("dp", "greedy"))
        reference = Reference(declared, ours.scale)
        infeasible += not reference.feasible
        differ += not _is_optimum(ours, reference)
        over += _declared_tokens(instance, ours) > instance.capacity
        if ours.units is not None and greedy.units is not None and greedy.units < ours.units:
            losses.append((1 - greedy.units / ours.units, number, _counter_example(declared, greedy, ours)))
    losses.sort(key=lambda entry: (-entry[0], entry[1]))
    worst = tuple(example for _, _, example in losses[:_COUNTER_EXAMPLES])
    return Compared(differ, over, infeasible, tuple(loss for loss, _, _ in losses), worst)


def _problems(seed: int, problems: int, most_items: int) -> Iterator[Instance]:
    """Yield problems of all families in turn, with few items, at prices from zero to prohibitive."""
    rng = np.random.default_rng([seed, 1])
    for number in range(problems):
        items = int(rng.integers(1, most_items + 1))
        share = _PRICES[int(rng.integers(len(_PRICES)))]
        made = generate(FAMILIES[number % len(FAMILIES)], items, int(rng.integers(2**31)))
        columns = made.columns()
        best = float(np.where(columns.tokens >= 0, columns.utility, 0.0).max(axis=1).sum())
        yield made.model_copy(update={"price": share * best})


def _is_optimum(ours: Allocation, reference: Reference) -> bool:
    if not reference.feasible:
        return ours.status == "infeasible"
    best = reference.optimum_on_grid()
    allowed = reference.objective_of(ours.choices) is not None
    proved = ours.status == "optimal" and ours.units == best.objective and ours.tokens == best.tokens
    return allowed and proved


def _declared_tokens(instance: Instance, allocation: Allocation) -> int:
    """Return the tokens of the choices as declared; the compiled program is not read."""
    chosen = 0
    for item in instance.items:
        option = item.levels.get(allocation.choices.get(item.id, ""))
        chosen += 0 if option is None or option.tokens is None else option.tokens
    return chosen


def _counter_example(declared: dict[str, Any], greedy: Allocation, best: Allocation) -> dict[str, Any]:
    return {
        "greedy": {"value": greedy.value, "tokens": greedy.tokens, "choices": greedy.choices},
        "optimum": {"value": best.value, "tokens": best.tokens, "choices": best.choices},
        "instance": declared,
    }


def accepted_faults(seed: int) -> list[str]:
    """Return the faulty turns that a session accepts or misnames, or that change its state; none is expected.

    Each fault is put into a turn of otherwise valid random items, at a random item and level.
    """
    rng = np.random.default_rng([seed, 2])
    session = Session(Config(gain=1.0))
    session.turn(_items(rng, "held"), 100)
    before = session.state.digest
    wrong = []
    for name, (code, spoil) in _FAULTS.items():
        items = _items(rng, "new")
        spoil(items, int(rng.integers(1, len(items))), DEFAULT_LADDER[int(rng.integers(len(DEFAULT_LADDER)))])
        try:
            session.turn(items, 100)
        except InvalidInstance as error:
            if [fault.code for fault in error.faults] == [code] and session.state.digest == before:
                continue
        wrong.append(name)
    return wrong + _accepted_duplicate_keys()


def _accepted_duplicate_keys() -> list[str]:
    """Read a problem file in which a key stands twice: a plain JSON reader would silently keep the last."""
    text = (
        '{"budget": 9, "items": [{"id": "a", "levels": {"raw": {"tokens": 9, "tokens": 1, "utility": 1}}}]}'
    )
    try:
        Instance.model_validate_json(text)
    except InvalidInstance as error:
        return [] if [fault.code for fault in error.faults] == ["duplicate_key"] else ["a key misnamed"]
    return ["a key twice"]


def _tokens(value: Any) -> Callable[[list[dict[str, Any]], int, str], None]:
    def spoil(items: list[dict[str, Any]], row: int, level: str) -> None:
        items[row]["levels"][level]["tokens"] = value

    return spoil


def _same_id(items: list[dict[str, Any]], row: int, level: str) -> None:
    items[row]["id"] = items[0]["id"]


_FAULTS: dict[str, tuple[str, Callable[[list[dict[str, Any]], int, str], None]]] = {
    "tokens below 0": ("tokens_negative", _tokens(-1)),
    "half a token": ("tokens_not_integer", _tokens(2.5)),
    "a whole float": ("tokens_not_integer", _tokens(3.0)),
    "true": ("tokens_not_integer", _tokens(True)),
    "a text": ("tokens_not_integer", _tokens("12")),
    "not a number": ("tokens_not_integer", _tokens(float("nan"))),
    "beyond 2^53 - 1": ("tokens_too_large", _tokens(MOST_TOKENS + 1)),
    "an id twice": ("duplicate_id", _same_id),
}
FAULTS = (*_FAULTS, "a key twice")
"""What is tried by `accepted_faults`."""


def kept_at_a_high_price(seed: int, rounds: int) -> int:
    """Return how many items a session keeps wrongly once tokens have a huge price.

    Only a pinned one may stay, and must. In each round a full first turn raises the queue; the second
    turn has room for all its items.
    """
    rng = np.random.default_rng([seed, 3])
    kept = 0
    for _ in range(rounds):
        session = Session(Config(gain=_HUGE_GAIN))
        first, second = _items(rng, "a"), _items(rng, "b")
        second[0]["pinned"] = True
        session.turn(first, sum(item["levels"]["raw"]["tokens"] for item in first))
        session.turn(second, sum(item["levels"]["raw"]["tokens"] for item in second))
        kept += len({*session.state.context} ^ {second[0]["id"]})
    return kept


def _items(rng: np.random.Generator, prefix: str) -> list[dict[str, Any]]:
    """Return two to six valid items."""
    return [
        {
            "id": f"{prefix}{row}",
            "levels": {
                level: {
                    "tokens": int(rng.integers(1, 20)) + size,
                    "utility": worth * float(rng.uniform(1, 2)),
                }
                for level, size, worth in zip(
                    DEFAULT_LADDER, (60, 40, 20, 0), (1.0, 0.6, 0.3, 0.1), strict=True
                )
            },
        }
        for row in range(int(rng.integers(2, 7)))
    ]
