"""From the declaration to the program: candidates, repairs and prices decided once, as integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memopt.columns import DELETE, Columns
from memopt.errors import Fault, InvalidInstance
from memopt.grid import round_to_grid
from memopt.instance import Instance
from memopt.program import Ints, Program, Selection

TOKEN_SUM_BELOW = 2**62
MOST_WARNINGS_A_KIND = 20

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Compiled:
    """A program together with what compiling did to the declaration.

    Attributes
    ----------
    program
        The integer program, items in canonical order.
    columns
        The declaration it came from.
    rows
        Input position of each of the program's items, shape ``[items]``.
    worth
        Utility of each option after repair, in utility; float64, shape ``[options]``.
    dropped
        Dominated levels as ``(input position, level index)``, each shape ``[dominated]``.
    raised
        Repaired utilities as ``(input position, level index, utility before, utility after)``.
    warnings
        What is allowed but looks like a mistake.
    """

    program: Program
    columns: Columns
    rows: Ints
    worth: NDArray[np.float64]
    dropped: tuple[Ints, Ints]
    raised: tuple[Ints, Ints, NDArray[np.float64], NDArray[np.float64]]
    warnings: tuple[Fault, ...]

    @property
    def error_bound(self) -> float:
        """Largest distance between the program's and the declared optimum, in utility."""
        return len(self.program) * 0.5 * 10.0**-self.program.scale

    def objective(self, selection: Selection) -> float:
        """Return the declared objective of a selection, in utility."""
        rate = float(_rate(self.columns))
        return math.fsum(self.worth[selection]) - rate * int(self.program.tokens[selection].sum())


def compile(instance: Instance | Columns) -> Compiled:  # noqa: A001  # the design's word for the step
    """Compile a declared instance to an integer program.

    Levels are capped (``current``), held (``pinned``), repaired (monotone rule), dropped where
    dominated or over the budget; then the priced utilities are rounded once to the grid.

    Raises
    ------
    InvalidInstance
        With code ``tokens_sum_too_large`` when token sums could leave 62 bits.
    """
    columns = instance.columns() if isinstance(instance, Instance) else instance
    warnings = list(instance.warnings) if isinstance(instance, Instance) else []
    rows = _canonical(columns.ids, len(columns))
    tokens, allowed, pinned = columns.tokens[rows], _allowed(columns)[rows], _pinned(columns)[rows]
    source, raised = _repair(columns, rows, allowed)
    utility = np.take_along_axis(columns.utility[rows], source, axis=1)
    dropped = _dominated(tokens, utility, allowed)
    allowed &= ~dropped
    groups, exclusives, forced = _links(columns, rows, pinned)
    fits = _fitting(tokens, allowed, forced, columns.budget)
    warnings += _never_fits(columns, rows, tokens, allowed & ~fits, fits.any(axis=1) | forced)

    options = np.column_stack([fits, ~pinned])
    item, level = (part.astype(np.int64) for part in np.nonzero(options))
    start = np.zeros(len(columns) + 1, dtype=np.int64)
    np.cumsum(options.sum(axis=1), out=start[1:])
    present = level < len(columns.ladder)
    column = np.where(present, level, 0)
    cost = np.where(present, tokens[item, column], 0)
    worth = np.where(present, utility[item, column], 0.0)
    _check_token_sum(cost, start)
    grid = round_to_grid(
        worth, cost, _rate(columns), start, _option_decimals(columns, rows, source, item, level)
    )
    program = Program(
        budget=columns.budget,
        scale=grid.scale,
        ladder=(*columns.ladder, DELETE),
        ids=_names(columns.ids, rows),
        start=start,
        level=level,
        tokens=cost,
        value=grid.values,
        groups=groups,
        exclusives=exclusives,
    )
    where = np.nonzero(dropped)
    return Compiled(program, columns, rows, worth, (rows[where[0]], where[1]), raised, tuple(warnings))


class _Positions(Sequence[str]):
    """Ids of a columnar instance that declared none: the decimal position of each item."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        picked = range(self._length)[index]
        return [str(i) for i in picked] if isinstance(picked, range) else str(picked)


def _names(ids: Sequence[str] | None, rows: Ints) -> Sequence[str]:
    return _Positions(len(rows)) if ids is None else tuple([ids[row] for row in rows.tolist()])


def _canonical(ids: Sequence[str] | None, length: int) -> Ints:
    if ids is None:
        return np.arange(length, dtype=np.int64)
    return np.array(sorted(range(length), key=ids.__getitem__), dtype=np.int64)


def _rate(columns: Columns) -> Fraction:
    """Return the price of one token; with no budget only free options remain, so it is 0."""
    return columns.price_exact / columns.budget if columns.budget else Fraction(0)


def _allowed(columns: Columns) -> Mask:
    allowed = columns.tokens >= 0
    levels = np.arange(allowed.shape[1])
    if columns.richest is not None:
        allowed &= levels >= columns.richest[:, None]
    if columns.poorest is not None:
        allowed &= levels <= columns.poorest[:, None]
    return allowed


def _pinned(columns: Columns) -> Mask:
    if columns.poorest is None:
        return np.zeros(len(columns), dtype=bool)
    return columns.poorest < len(columns.ladder)


def _repair(
    columns: Columns, rows: Ints, allowed: Mask
) -> tuple[Ints, tuple[Ints, Ints, NDArray[np.float64], NDArray[np.float64]]]:
    """Return the level each utility is taken from, and what the monotone rule raised."""
    before = columns.utility[rows]
    source = np.broadcast_to(np.arange(allowed.shape[1]), allowed.shape).copy()
    if columns.repair:
        best = np.full(len(before), -np.inf)
        holder = np.zeros(len(before), dtype=np.int64)
        for level in reversed(range(allowed.shape[1])):
            raised = allowed[:, level] & (before[:, level] < best)
            source[raised, level] = holder[raised]
            leads = allowed[:, level] & ~raised
            best[leads] = before[leads, level]
            holder[leads] = level
    item, level = np.nonzero(source != np.arange(allowed.shape[1]))
    after = before[item, source[item, level]]
    return source, (rows[item], level, before[item, level], after)


def _dominated(tokens: Ints, utility: NDArray[np.float64], allowed: Mask) -> Mask:
    dropped = np.zeros_like(allowed)
    for poor in range(1, allowed.shape[1]):
        for rich in range(poor):
            dropped[:, poor] |= (
                allowed[:, rich]
                & (tokens[:, poor] >= tokens[:, rich])
                & (utility[:, poor] <= utility[:, rich])
            )
    dropped &= allowed
    return dropped


Units = tuple[tuple[int, ...], ...]


def _links(columns: Columns, rows: Ints, pinned: Mask) -> tuple[Units, tuple[Units, ...], Mask]:
    """Return groups, exclusive sets of units, and the items that must be present."""
    forced = pinned.copy()
    groups = () if columns.group is None else _members(columns.group[rows])
    for members in groups:
        forced[list(members)] |= pinned[list(members)].any()
    exclusives = []
    if columns.exclusive is not None:
        unit_of = {item: members for members in groups for item in members}
        for named in _members(columns.exclusive[rows], smallest=1):
            units = dict.fromkeys(unit_of.get(item, (item,)) for item in named)
            if len(units) > 1:
                exclusives.append(tuple(units))
    return groups, tuple(exclusives), forced


def _members(numbers: Ints, smallest: int = 2) -> Units:
    """Return the items that share a link number, ordered by their first item."""
    members: dict[int, list[int]] = {}
    for item in np.flatnonzero(numbers >= 0).tolist():
        members.setdefault(int(numbers[item]), []).append(item)
    return tuple(tuple(items) for items in members.values() if len(items) >= smallest)


def _fitting(tokens: Ints, allowed: Mask, forced: Mask, budget: int) -> Mask:
    """Return the candidates within the budget; an item that must stay keeps its cheapest at least."""
    fits = allowed & (tokens <= budget)
    stuck = np.flatnonzero(forced & ~fits.any(axis=1) & allowed.any(axis=1))
    if len(stuck):
        cost = np.where(allowed[stuck], tokens[stuck], np.iinfo(np.int64).max)
        fits[stuck, cost.argmin(axis=1)] = True
    return fits


def _never_fits(columns: Columns, rows: Ints, tokens: Ints, over: Mask, usable: Mask) -> list[Fault]:
    lost = np.flatnonzero(over.any(axis=1) & ~usable)
    found = []
    for item in lost[:MOST_WARNINGS_A_KIND].tolist():
        row = int(rows[item])
        name = str(row) if columns.ids is None else columns.ids[row]
        least = int(tokens[item][over[item]].min())
        message = (
            f"item {name!r} fits at no level: its smallest has {least} tokens, the budget is {columns.budget}"
        )
        found.append(Fault("never_fits", message, item=name, index=row, read=least))
    if len(lost) > MOST_WARNINGS_A_KIND:
        found.append(
            Fault("never_fits", f"and {len(lost) - MOST_WARNINGS_A_KIND} more items fit at no level")
        )
    return found


def _check_token_sum(cost: Ints, start: Ints) -> None:
    if len(cost) and float(np.maximum.reduceat(cost, start[:-1]).astype(np.float64).sum()) >= TOKEN_SUM_BELOW:
        message = "the largest token counts of the items add up to 2^62 or more"
        raise InvalidInstance([Fault("tokens_sum_too_large", message, field="tokens")])


def _option_decimals(
    columns: Columns, rows: Ints, source: Ints, item: Ints, level: Ints
) -> dict[int, Fraction]:
    if not columns.decimals:
        return {}
    place = {int(row): index for index, row in enumerate(rows)}
    option = {(int(i), int(j)): o for o, (i, j) in enumerate(zip(item, level, strict=True))}
    found = {}
    for (row, _), _worth in columns.decimals.items():
        index = place[row]
        for at in range(source.shape[1]):
            origin = (row, int(source[index, at]))
            if (index, at) in option and origin in columns.decimals:
                found[option[index, at]] = columns.decimals[origin]
    return found
