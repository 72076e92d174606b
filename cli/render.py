"""An allocation for a person: a table of choices, the totals, and what deserves a look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memopt import Allocation, Instance, Window
from memopt.columns import DELETE
from memopt.errors import visible
from memopt.explain import Explanation

from .tables import printed

MOST_ROWS = 200
"""Items that the table shows at most; ``--json`` has them all."""
MOST_NOTES = 10
"""Notes of one kind that are shown at most."""

Row = tuple[str, str, int, float]
"""An item, its level, tokens and utility."""


def rendered(instance: Instance, allocation: Allocation, explanation: Explanation | None) -> str:
    """Return the whole answer as text fit for standard output."""
    parts: list[RenderableType] = [choices(_rows(instance, allocation))]
    parts += ["", _totals(instance, allocation)]
    noted = lines(notes(allocation.to_dict()))
    if noted:
        parts += ["", Text(noted.removesuffix("\n"))]
    if explanation is not None:
        parts += ["", _line(explanation.sentence)]
        parts += [_line(f"- {alternative.sentence}") for alternative in explanation.alternatives]
    return printed(*parts)


def choices(rows: Sequence[Row]) -> Group:
    """Return the table of items, each at its level; of very many, the first ones."""
    table = Table()
    table.add_column("item", overflow="fold")
    table.add_column("level", overflow="fold")
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("utility", justify="right", no_wrap=True)
    for item, level, tokens, utility in rows[:MOST_ROWS]:
        table.add_row(
            _line(item),
            _line(level),
            f"{tokens:,}",
            f"{utility:.6g}",
            style="dim" if level == DELETE else None,
        )
    if len(rows) <= MOST_ROWS:
        return Group(table)
    return Group(table, Text(f"and {len(rows) - MOST_ROWS:,} more items; --json has all of them"))


def _rows(instance: Instance, allocation: Allocation) -> list[Row]:
    """Return the items in the order of the conversation."""
    tokens, utility = _per_item(allocation)
    items, levels = instance.items, allocation.choices
    by_order = sorted(range(len(items)), key=lambda row: (items[row].order is None, items[row].order or 0))
    return [(items[row].id, levels[items[row].id], tokens[row], utility[row]) for row in by_order]


def _per_item(allocation: Allocation) -> tuple[list[int], list[float]]:
    """Return tokens and utility (after repair) of the chosen levels, in input order."""
    compiled, chosen = allocation.compiled, allocation.selection
    back = np.argsort(compiled.rows)
    return compiled.program.tokens[chosen][back].tolist(), compiled.worth[chosen][back].tolist()


def _totals(instance: Instance, allocation: Allocation) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _figures(instance, allocation):
        table.add_row(name, _line(text))
    return table


def _figures(instance: Instance, allocation: Allocation) -> Iterator[tuple[str, str]]:
    tokens, budget = allocation.tokens or 0, allocation.budget
    share = f" ({tokens / budget:.1%})" if budget else ""
    yield "tokens", f"{tokens:,} of {budget:,}{share}, {budget - tokens:,} left"
    if isinstance(instance.budget, Window):
        parts = "".join(f" - {name} {count:,}" for name, count in instance.budget.reserved.items())
        yield "budget", f"window {instance.budget.window:,}{parts} = {budget:,}"
    yield "levels", _spread(allocation)
    yield "status", allocation.status
    yield "value", f"{allocation.value} (declared objective {allocation.objective:.9g})"
    yield "bound", f"{allocation.bound or 'none'}, gap {allocation.gap or 'unknown'}"
    yield "rounding", f"at most {allocation.error_bound:.3g} from the declared optimum"
    yield "price", f"{allocation.price}"
    yield "solver", f"{allocation.solver} {allocation.version}".strip()
    yield "proof", allocation.proof or "none"
    taken = allocation.seconds
    yield "time", f"{taken:.3g} s to solve" if taken >= 1 else f"{taken * 1000:.3g} ms to solve"


def _spread(allocation: Allocation) -> str:
    ladder = allocation.compiled.program.ladder
    counts = np.bincount(allocation.levels, minlength=len(ladder)).tolist()
    return ", ".join(f"{name} {count:,}" for name, count in zip(ladder, counts, strict=True))


def notes(result: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield what deserves a look in a result object, one list per kind."""
    yield [f"warning, {warning['code']}: {warning['message']}" for warning in result["warnings"]]
    yield [
        f"repaired: {item!r} at {level} is worth {after:.6g}, not {before:.6g}, "
        "for a poorer level is worth as much"
        for item, level, before, after in result["repaired"]
    ]
    yield [
        f"dominated: {item!r} at {level} costs no less and is worth no more than a richer level"
        for item, level in result["dominated"]
    ]


def lines(kinds: Iterable[list[str]]) -> str:
    """Return notes, one per line; of many of one kind, the first ones."""
    shown: list[str] = []
    for kind in kinds:
        shown += kind[:MOST_NOTES]
        if len(kind) > MOST_NOTES:
            shown.append(f"and {len(kind) - MOST_NOTES:,} more of this kind; --json has all of them")
    return "".join(f"{visible(note)}\n" for note in shown)


def _line(text: str) -> Text:
    """Return text that shows as it is: no markup is read in it, no control character acts."""
    return Text(visible(text))
