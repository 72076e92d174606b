"""What every other level of an item would cost: the exact optimum with that level forced."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import numpy as np

from memopt.allocation import Allocation, decimal_text
from memopt.columns import DELETE
from memopt.compile import Compiled
from memopt.errors import SolverFailed, UnknownItem, counted
from memopt.explanation import Alternative, Change, Explanation
from memopt.program import Selection
from memopt.shortage import find_shortage
from memopt.solvers import get

__all__ = ["Alternative", "Change", "Explanation", "explain"]

_UNCHANGED = "unchanged", "it is in the leading part that stays as it was sent"
"""The one reason why a candidate within the budget is missing: `prompt_cache` has fixed the item."""
MOST_CHANGES_TOLD = 4
"""A sentence names at most this many other items; ``changes`` has them all."""


def explain(allocation: Allocation, item_id: str) -> Explanation:
    """Solve the program again for every other level of an item, with that level forced.

    Parameters
    ----------
    allocation
        A feasible allocation.
    item_id
        Id of the item to explain.

    Raises
    ------
    UnknownItem
        When the instance has no item of that id.
    ValueError
        When the allocation is infeasible: there is no level to explain.
    """
    if allocation.selection is None:
        raise ValueError("the instance is infeasible: no item holds a level that could be explained")
    return _Explainer(allocation, allocation.selection, item_id).explanation()


class _Explainer:
    def __init__(self, allocation: Allocation, selection: Selection, item_id: str) -> None:
        self.allocation, self.selection = allocation, selection
        self.compiled: Compiled = allocation.compiled
        self.program = self.compiled.program
        self.name = item_id
        try:
            self.item = self.program.ids.index(item_id)
        except ValueError:
            raise UnknownItem(item_id) from None
        self.held = int(self.program.level[selection[self.item]])

    def explanation(self) -> Explanation:
        others = [level for level in range(len(self.program.ladder)) if level != self.held]
        alternatives = tuple((self._impossible(level) or self._forced(level)) for level in others)
        level = self.program.ladder[self.held]
        tokens = int(self.program.tokens[self.selection[self.item]])
        stands = f"{self.name!r} is {_state(level)}"
        if tokens:
            stands += f" with {counted(tokens, 'token')}"
        losses = [(Decimal(other.lost), other) for other in alternatives if other.lost is not None]
        if not losses:
            return Explanation(self.name, level, f"{stands}; it can hold no other level.", alternatives)
        least, nearest = min(losses, key=lambda pair: pair[0])
        would = _loss(least, nearest.proved)
        sentence = f"{stands}; the nearest alternative, {nearest.level}, would {would}."
        return Explanation(self.name, level, sentence, alternatives)

    def _impossible(self, level: int) -> Alternative | None:
        """Return why a level is no candidate of the program, or None when it is one."""
        program, columns = self.program, self.compiled.columns
        if any(program.level[option] == level for option in program.options(self.item)):
            return None
        row = int(self.compiled.rows[self.item])
        poorest = program.deleted if columns.poorest is None else int(columns.poorest[row])
        richest = 0 if columns.richest is None else int(columns.richest[row])
        if level == program.deleted:
            if poorest < program.deleted:
                return self._refused(level, "pinned", "it is pinned")
            return self._refused(level, *_UNCHANGED)
        tokens = int(columns.tokens[row, level])
        if tokens < 0:
            return self._refused(level, "absent", "the item has no such level")
        if level < richest:
            now = _state(program.ladder[richest])
            because = f"the item is {now} now, and a level never rises by itself"
            return self._refused(level, "richer_than_current", because)
        if level > poorest:
            because = f"it is pinned and may not shrink below {program.ladder[poorest]}"
            return self._refused(level, "below_min_level", because)
        better = self._dominating(row, level)
        if better is not None:
            because = f"{program.ladder[better]} is worth no less and has no more tokens"
            return self._refused(level, "dominated", because)
        over = tokens - program.budget
        if over <= 0:
            return self._refused(level, *_UNCHANGED)
        because = f"its {counted(tokens, 'token')} alone are {over:,} over the budget of {program.budget:,}"
        return self._refused(level, "over_budget", because, over)

    def _dominating(self, row: int, level: int) -> int | None:
        """Return the level because of which `compile` dropped this one, if it did."""
        rows, levels = self.compiled.dropped
        dropped = set(levels[rows == row].tolist())
        if level not in dropped:
            return None
        tokens, worth = self.compiled.columns.tokens[row], self.compiled.columns.utility[row].copy()
        raised_rows, raised_levels, _, after = self.compiled.raised
        worth[raised_levels[raised_rows == row]] = after[raised_rows == row]
        richest = self.compiled.columns.richest
        first = 0 if richest is None else int(richest[row])
        return next(
            rich
            for rich in range(first, level)
            if rich not in dropped and 0 <= tokens[rich] <= tokens[level] and worth[rich] >= worth[level]
        )

    def _forced(self, level: int) -> Alternative:
        """Return the optimum with a level forced."""
        program = self.program.forced(self.item, level)
        assert program is not None, "only candidates are forced"
        shortage = find_shortage(program)
        if shortage is not None and shortage.shortfall is not None:
            because = (
                f"with what must stay it needs {shortage.minimum_tokens:,} tokens, "
                f"{shortage.shortfall:,} over the budget of {program.budget:,}"
            )
            return self._refused(level, "no_room", because, shortage.shortfall)
        if shortage is not None:
            return self._refused(level, "links", f"the links forbid it: {shortage.message}")
        solver = get("dp")
        answer = solver.solve(program)
        if answer.selection is None:
            raise SolverFailed(solver.name, f"it found no selection with {self.name!r} forced")
        audit = program.audit(answer.selection)
        if not audit.feasible:
            raise SolverFailed(solver.name, "; ".join(audit.broken))
        changes = tuple(self._changes(program.levels(answer.selection)))
        lost = (self.allocation.units or 0) - audit.value
        proved = answer.bound == audit.value
        exact = decimal_text(lost, program.scale) if lost else "0"
        return Alternative(
            level=program.ladder[level],
            sentence=self._told(level, Decimal(exact), audit.tokens, changes, proved),
            value=decimal_text(audit.value, program.scale),
            lost=exact,
            tokens=audit.tokens,
            changes=changes,
            proved=proved,
        )

    def _changes(self, after: Selection) -> Iterator[Change]:
        before, ladder = self.program.levels(self.selection), self.program.ladder
        for index in np.flatnonzero(before != after).tolist():
            if index != self.item:
                yield Change(self.program.ids[index], ladder[before[index]], ladder[after[index]])

    def _refused(self, level: int, reason: str, because: str, shortfall: int | None = None) -> Alternative:
        name = self.program.ladder[level]
        sentence = f"{self.name!r} cannot be {_state(name)}: {because}."
        return Alternative(name, sentence, reason, shortfall=shortfall)

    def _told(self, level: int, lost: Decimal, tokens: int, changes: tuple[Change, ...], proved: bool) -> str:
        name = self.program.ladder[level]
        doing = f"Deleting {self.name!r}" if level == self.program.deleted else f"{self.name!r} at {name}"
        more = tokens - (self.allocation.tokens or 0)
        cost = "use as many tokens"
        if more:
            cost = f"use {counted(abs(more), 'token')} {'more' if more > 0 else 'fewer'}"
        told = [change.told() for change in changes[:MOST_CHANGES_TOLD]]
        if len(changes) > MOST_CHANGES_TOLD:
            told.append(f"{counted(len(changes) - MOST_CHANGES_TOLD, 'other')} would change too")
        rest = _listed(told) if told else "no other item would change"
        return f"{doing} would {_loss(lost, proved)} and {cost} ({tokens:,} in all); {rest}."


def _state(level: str) -> str:
    return "deleted" if level == DELETE else f"kept at {level}"


def _loss(lost: Decimal, proved: bool) -> str:
    if lost == 0:
        return "lose no value"
    amount = f"{abs(lost):f}"
    amount = amount.rstrip("0").rstrip(".") if "." in amount else amount
    if lost < 0:
        return f"gain {amount} of value, for the allocation is not optimal,"
    return f"lose {'' if proved else 'at most '}{amount} of value"


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
