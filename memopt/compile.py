"""From the declaration to the program: candidates, links and prices decided once, as integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from memopt.candidates import Candidates, Floats, Ints, Mask, find_candidates, within_budget
from memopt.columns import DELETE, Columns
from memopt.errors import Fault, InvalidInstance
from memopt.grid import FINEST, Grid, round_to_grid
from memopt.instance import Instance
from memopt.program import Program, Selection

TOKEN_SUM_BELOW = 2**62
UTILITY_SUM_BELOW = 2**900
"""Leaves room below a double's range for any charge: 2^62 tokens at a price as large as this."""
MOST_WARNINGS_A_KIND = 20


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
    exact
        Utilities of the options that were declared as decimal strings, by option.
    raised
        Repaired utilities as ``(input position, level index, utility before, utility after)``.
    warnings
        What is allowed but looks like a mistake.
    """

    program: Program
    columns: Columns
    rows: Ints
    worth: Floats
    exact: dict[int, Fraction]
    dropped: tuple[Ints, Ints]
    raised: tuple[Ints, Ints, Floats, Floats]
    warnings: tuple[Fault, ...]

    @property
    def error_bound(self) -> float:
        """Largest distance between the program's and the declared optimum, in utility."""
        return len(self.program) * 0.5 * 10.0**-self.program.scale

    def priced(self, price: Fraction, finest: int = FINEST) -> Grid:
        """Return the values of the options at another price; see `grid.round_to_grid`."""
        program = self.program
        rate = price / program.budget if program.budget else Fraction(0)
        return round_to_grid(self.worth, program.tokens, rate, program.start, self.exact, finest)

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
    TypeError
        When it is neither.
    InvalidInstance
        With code ``tokens_sum_too_large`` when token sums could leave 62 bits, or
        ``utility_sum_too_large`` or ``price_too_large`` when values could leave the range of doubles.
    """
    if not isinstance(instance, Instance | Columns):
        made = "Instance.model_validate() or Instance.from_arrays() makes one"
        raise TypeError(f"an Instance or Columns is needed, not {type(instance).__name__}: {made}")
    declared = instance.columns() if isinstance(instance, Instance) else instance
    warnings = instance.warnings if isinstance(instance, Instance) else ()
    columns, rows = _in_canonical_order(declared)
    candidates = find_candidates(columns)
    groups, exclusives, forced = _links(columns, candidates.pinned)
    fits = within_budget(columns, candidates.allowed, forced)
    options = np.column_stack([fits, ~candidates.pinned])
    start = _starts(options)
    cost = _flat(options, columns.tokens)
    worth = _flat(options, candidates.utility)
    _check_sums(cost, worth, start, declared.price_exact)
    exact = _option_decimals(columns, candidates, options)
    grid = round_to_grid(worth, cost, _rate(declared), start, exact)
    program = Program(
        budget=declared.budget,
        scale=grid.scale,
        ladder=(*declared.ladder, DELETE),
        ids=_Positions(len(columns)) if columns.ids is None else columns.ids,
        start=start,
        level=np.broadcast_to(np.arange(options.shape[1]), options.shape)[options],
        tokens=cost,
        value=grid.values,
        groups=groups,
        exclusives=exclusives,
    )
    item, level = candidates.raised()
    dropped = np.nonzero(candidates.dominated)
    return Compiled(
        program=program,
        columns=declared,
        rows=rows,
        worth=worth,
        exact=exact,
        dropped=(rows[dropped[0]], dropped[1]),
        raised=(rows[item], level, columns.utility[item, level], candidates.utility[item, level]),
        warnings=(*warnings, *_never_fits(columns, rows, candidates.allowed & ~fits, fits, forced)),
    )


class _Positions(Sequence[str]):
    """Ids of a columnar instance that declared none: the decimal position of each item."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        picked = range(self._length)[index]
        return [str(i) for i in picked] if isinstance(picked, range) else str(picked)


def _in_canonical_order(columns: Columns) -> tuple[Columns, Ints]:
    """Return the columns with their items sorted by id, and the input position of each item."""
    if columns.ids is None:
        return columns, np.arange(len(columns), dtype=np.int64)
    order = sorted(range(len(columns)), key=columns.ids.__getitem__)
    rows = np.array(order, dtype=np.int64)
    place = {row: index for index, row in enumerate(order)} if columns.decimals else {}

    def sorted_rows(values: Ints | None) -> Ints | None:
        return None if values is None else values[rows]

    ordered = replace(
        columns,
        ids=tuple([columns.ids[row] for row in order]),
        tokens=columns.tokens[rows],
        utility=columns.utility[rows],
        decimals={(place[row], level): number for (row, level), number in columns.decimals.items()},
        richest=sorted_rows(columns.richest),
        poorest=sorted_rows(columns.poorest),
        group=sorted_rows(columns.group),
        exclusive=sorted_rows(columns.exclusive),
    )
    return ordered, rows


def _rate(columns: Columns) -> Fraction:
    """Return the price of one token; with no budget only free options remain, so it is 0."""
    return columns.price_exact / columns.budget if columns.budget else Fraction(0)


Units = tuple[tuple[int, ...], ...]


def _links(columns: Columns, pinned: Mask) -> tuple[Units, tuple[Units, ...], Mask]:
    """Return groups, exclusive sets of units, and the items that must be present."""
    forced = pinned.copy()
    groups = () if columns.group is None else _members(columns.group)
    for members in groups:
        forced[list(members)] |= pinned[list(members)].any()
    exclusives = []
    if columns.exclusive is not None:
        unit_of = {item: members for members in groups for item in members}
        for named in _members(columns.exclusive, smallest=1):
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


def _starts(options: Mask) -> Ints:
    start = np.zeros(len(options) + 1, dtype=np.int64)
    np.cumsum(np.count_nonzero(options, axis=1), out=start[1:])
    return start


Number = TypeVar("Number", np.int64, np.float64)


def _flat(options: Mask, table: NDArray[Number]) -> NDArray[Number]:
    """Return what a table of ladder levels says of each option; ``delete`` counts nothing."""
    return np.pad(table, ((0, 0), (0, 1)))[options]


def _check_sums(cost: Ints, worth: Floats, start: Ints, price: Fraction) -> None:
    """Refuse what could overflow, by limits that only absurd numbers reach."""
    faults = []
    if _sum_reaches(TOKEN_SUM_BELOW, cost, start):
        message = "the largest token counts of the items add up to 2^62 or more"
        faults.append(Fault("tokens_sum_too_large", message, field="tokens"))
    if _sum_reaches(UTILITY_SUM_BELOW, np.abs(worth), start):
        message = "the largest utilities of the items add up to 2^900 or more"
        faults.append(Fault("utility_sum_too_large", message, field="utility"))
    if price >= UTILITY_SUM_BELOW:
        faults.append(Fault("price_too_large", "the price is 2^900 or more", field="price"))
    if faults:
        raise InvalidInstance(faults)


def _sum_reaches(limit: int, values: NDArray[Number], start: Ints) -> bool:
    """Whether the largest values of the items add up to a limit; exact to a double's precision."""
    if float(values.max(initial=0)) * len(start) < limit:
        return False
    return bool((np.maximum.reduceat(values, start[:-1]) / float(limit)).sum() >= 1)


def _never_fits(columns: Columns, rows: Ints, over: Mask, fits: Mask, forced: Mask) -> list[Fault]:
    if not over.any():
        return []
    lost = np.flatnonzero(over.any(axis=1) & ~fits.any(axis=1) & ~forced)
    found = []
    for item in lost[:MOST_WARNINGS_A_KIND].tolist():
        row = int(rows[item])
        name = str(row) if columns.ids is None else columns.ids[item]
        least = int(columns.tokens[item][over[item]].min())
        reason = f"its smallest has {least} tokens, the budget is {columns.budget}"
        message = f"item {name!r} fits at no level: {reason}"
        found.append(Fault("never_fits", message, item=name, index=row, read=least))
    if len(lost) > MOST_WARNINGS_A_KIND:
        message = f"and {len(lost) - MOST_WARNINGS_A_KIND} more items fit at no level"
        found.append(Fault("never_fits", message))
    return found


def _option_decimals(columns: Columns, candidates: Candidates, options: Mask) -> dict[int, Fraction]:
    """Return the exact utility of each option whose utility was declared as a decimal string."""
    if not columns.decimals:
        return {}
    item, level = np.nonzero(options[:, :-1])
    source = level if candidates.origin is None else candidates.origin[item, level]
    number = np.cumsum(options).reshape(options.shape)[item, level] - 1
    return {
        option: columns.decimals[place]
        for option, place in zip(
            number.tolist(), zip(item.tolist(), source.tolist(), strict=True), strict=True
        )
        if place in columns.decimals
    }
