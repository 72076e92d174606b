"""Every fault of a declaration, each with its place, whatever else is wrong with it.

The checks read plain JSON data and validated models alike, so that a report is complete even when
the shape is broken elsewhere.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from memopt.columns import DEFAULT_LADDER, DELETE
from memopt.errors import Fault, as_read
from memopt.jsontext import RepeatedKeys

MOST_FAULTS_A_KIND = 20
"""Columnar inputs report at most this many places of one kind, and the count of the rest."""

_CODES = {
    "missing": "missing",
    "extra_forbidden": "unknown_key",
    "greater_than_equal": "negative",
    "less_than_equal": "too_large",
    "string_unicode": "not_text",
    "string_type": "not_text",
    "string_too_short": "empty",
    "int_type": "not_integer",
    "int_from_float": "not_integer",
    "int_parsing_size": "too_large",
    "bool_type": "not_boolean",
    "not_finite": "not_finite",
    "not_number": "not_number",
    "literal_error": "unknown_value",
    "model_type": "not_object",
    "model_attributes_type": "not_object",
    "dict_type": "not_object",
    "tuple_type": "not_list",
}


def declaration_faults(declared: Any, errors: Sequence[Any] = ()) -> list[Fault]:
    """Return every fault of a declaration: those of shape, found by pydantic, and all the others.

    Parameters
    ----------
    declared
        Plain data as read from JSON, or a validated instance.
    errors
        pydantic's error details, if the shape is wrong.
    """
    found = [_translated(declared, error) for error in errors if _concerns(declared, error["loc"])]
    top = _fields(declared)
    found += _budget_faults(top)
    found += _price_faults(top)
    found += _ladder_faults(top)
    found += _item_faults(top)
    found += _link_faults(top)
    found += _repeated_keys(declared)
    places = {
        (f.item, f.level, f.field, f.index) if f.code != "unknown_key" else id(f): f for f in reversed(found)
    }
    return sorted(reversed(places.values()), key=_position)


def declaration_warnings(declared: Any) -> list[Fault]:
    """Return what is allowed but looks like a mistake: ids that differ in Unicode form only."""
    ids = [item.get("id") for item in _items(_fields(declared))]
    if all(isinstance(name, str) and name.isascii() for name in ids):
        return []
    forms: defaultdict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(ids):
        if isinstance(name, str):
            forms[unicodedata.normalize("NFC", name)].append(index)
    return [
        Fault(
            "same_after_nfc",
            f"items {places} have ids that differ only in their Unicode form: {form!r}",
            item=form,
            field="id",
            index=tuple(places),
        )
        for form, places in forms.items()
        if len({ids[index] for index in places}) > 1
    ]


def arrays_faults(
    tokens: Any, utility: Any, budget: Any, price: Any, ids: Sequence[Any] | None
) -> list[Fault]:
    """Return every fault of a columnar declaration."""
    top = {"budget": budget, "price": price}
    found = [
        Fault(
            "budget_not_integer", "the budget must be an integer >= 0", field="budget", read=as_read(budget)
        )
    ]
    if _is_integer(budget):
        found = []
        if not 0 <= budget < 2**53:
            code = "budget_negative" if budget < 0 else "budget_too_large"
            found.append(Fault(code, f"the budget is {budget}", field="budget", read=as_read(budget)))
    found += _price_faults(top, strict=True)
    counts, worths = np.asarray(tokens), np.asarray(utility)
    if counts.ndim != 2 or counts.shape[1] == 0 or counts.shape != worths.shape:
        message = f"tokens and utility need one shape [n, L], L >= 1; read {counts.shape} and {worths.shape}"
        return [*found, Fault("shape", message, field="tokens")]
    if counts.dtype.kind not in "iu":
        message = f"tokens must be integers; read {counts.dtype}"
        return [*found, Fault("tokens_not_integer", message, field="tokens")]
    if worths.dtype.kind not in "fiu":
        message = f"utility must be floats; read {worths.dtype}"
        return [*found, Fault("utility_not_number", message, field="utility")]
    found += _places("tokens_too_large", "tokens", counts, counts >= 2**53, ids)
    found += _places("utility_not_finite", "utility", worths, (counts >= 0) & ~np.isfinite(worths), ids)
    if ids is not None:
        found += _id_column_faults(ids, len(counts))
    return found


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    fields = getattr(value, "__dict__", {})
    return fields if isinstance(fields, dict) else {}


def _items(top: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    items = top.get("items")
    if isinstance(items, (list, tuple)):
        yield from map(_fields, items)


def _name(item: Mapping[str, Any]) -> str | None:
    name = item.get("id")
    return name if isinstance(name, str) else None


def _position(fault: Fault) -> tuple[int, int]:
    index = fault.index[0] if isinstance(fault.index, tuple) else fault.index
    return (0, 0) if index is None else (1, index)


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _concerns(declared: Any, loc: tuple[Any, ...]) -> bool:
    """Whether an error belongs to the alternative of the budget that was meant."""
    if not loc or loc[0] != "budget" or len(loc) == 1:
        return True
    return isinstance(_fields(declared).get("budget"), Mapping) == (loc[1] == "Window")


def _translated(declared: Any, error: Any) -> Fault:
    loc = [part for part in error["loc"] if part not in ("Window", "constrained-int", "[key]")]
    item = level = None
    index: int | None = None
    path, read = loc, None if error["type"] == "missing" else as_read(error["input"])
    if loc[:1] == ["items"] and len(loc) > 1 and isinstance(loc[1], int):
        index, path = loc[1], loc[2:]
        entries = _fields(declared)["items"]
        item = _name(_fields(entries[index]))
        if path[:1] == ["levels"] and len(path) > 1:
            level, path = str(path[1]), path[2:] or ["level"]
    field = ".".join(map(str, path)) or ("item" if index is not None else None)
    kind = _CODES.get(error["type"], error["type"])
    last = str(path[-1]) if path else None
    prefix = (
        (path[0] if path[0] == "budget" else last)
        if path and kind not in ("missing", "unknown_key")
        else None
    )
    code = f"{prefix}_{kind}" if prefix is not None and str(prefix).isidentifier() else kind
    where = ", ".join(
        part
        for part in (
            f"item {item!r}"
            if item is not None
            else f"item at position {index}"
            if index is not None
            else "",
            f"level {level!r}" if level is not None else "",
            f"field {field!r}" if field else "",
        )
        if part
    )
    reason = _REASONS.get(kind, error["msg"])
    message = f"{where or 'the instance'}: {reason}" + ("" if read is None else f", read {read!r}")
    return Fault(code, message, item=item, level=level, field=field, index=index, read=read)


_REASONS = {
    "missing": "is missing",
    "unknown_key": "is no key of this format",
    "negative": "must be >= 0",
    "too_large": "is larger than 2^53 - 1",
    "not_text": "must be readable text",
    "empty": "must not be empty",
    "not_integer": "must be an integer",
    "not_boolean": "must be true or false",
    "not_finite": "must be finite",
    "not_number": "must be a number or a decimal string",
    "not_object": "must be an object",
    "not_list": "must be a list",
}


def _budget_faults(top: Mapping[str, Any]) -> Iterator[Fault]:
    declared = top.get("budget")
    parts = _fields(declared)
    window, reserved = parts.get("window"), parts.get("reserved", {})
    if not _is_integer(window) or not isinstance(reserved, Mapping):
        return
    if not all(map(_is_integer, reserved.values())):
        return
    shortfall = sum(reserved.values()) - window
    if shortfall > 0:
        held = " + ".join(f"{name} {count}" for name, count in reserved.items())
        yield Fault(
            "budget_negative",
            f"the reserved parts {held} exceed the window {window} by {shortfall} tokens",
            field="budget",
            read=-shortfall,
        )


def _price_faults(top: Mapping[str, Any], strict: bool = False) -> Iterator[Fault]:
    price = top.get("price", 0)
    try:
        value = float(price)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if strict and not math.isfinite(value):
        yield Fault(
            "price_not_finite", "the price must be a finite number >= 0", field="price", read=as_read(price)
        )
    if value < 0 and math.isfinite(value):
        yield Fault(
            "price_negative", f"the price must be >= 0, read {price}", field="price", read=as_read(price)
        )


def _ladder(top: Mapping[str, Any]) -> list[str]:
    ladder = top.get("ladder", DEFAULT_LADDER)
    return [name for name in ladder if isinstance(name, str)] if isinstance(ladder, (list, tuple)) else []


def _ladder_faults(top: Mapping[str, Any]) -> Iterator[Fault]:
    declared = top.get("ladder", DEFAULT_LADDER)
    if not isinstance(declared, (list, tuple)):
        return
    names = _ladder(top)
    if not declared:
        yield Fault("ladder_empty", "the ladder must name at least one level", field="ladder")
    for name, times in Counter(names).items():
        if times > 1:
            yield Fault(
                "duplicate_level",
                f"the ladder names {name!r} {times} times",
                level=name,
                field="ladder",
                read=name,
            )
    if DELETE in names:
        message = "the ladder must not name 'delete': it always ends the ladder unsaid"
        yield Fault("reserved_level", message, level=DELETE, field="ladder", read=DELETE)


def _item_faults(top: Mapping[str, Any]) -> Iterator[Fault]:
    ladder = _ladder(top)
    rank = {name: index for index, name in enumerate(ladder)}
    places: dict[str, list[int]] = {}
    for index, item in enumerate(_items(top)):
        name = _name(item)
        if name is not None:
            places.setdefault(name, []).append(index)
        yield from _level_faults(index, item, rank)
        yield from _pin_faults(index, item, rank)
    for name, found in places.items():
        if len(found) > 1:
            yield Fault(
                "duplicate_id",
                f"items {found} have the same id {name!r}",
                item=name,
                field="id",
                index=tuple(found),
                read=as_read(name),
            )


def _level_faults(index: int, item: Mapping[str, Any], rank: Mapping[str, int]) -> Iterator[Fault]:
    levels = item.get("levels")
    name = _name(item)
    for level, option in levels.items() if isinstance(levels, Mapping) else ():
        if level not in rank:
            known = ", ".join(rank)
            message = f"item {name!r}: level {level!r} is not in the ladder ({known})"
            if level == DELETE:
                message = f"item {name!r}: 'delete' is not declared; it is there for every item"
            yield Fault("unknown_level", message, name, level, "level", index, as_read(level))
        fields = _fields(option)
        unset = "utility" not in fields if isinstance(option, Mapping) else fields.get("utility") is None
        if fields.get("tokens") is not None and unset:
            message = f"item {name!r}, level {level!r}: tokens without a utility"
            yield Fault("utility_missing", message, name, level, "utility", index)


def _pin_faults(index: int, item: Mapping[str, Any], rank: Mapping[str, int]) -> Iterator[Fault]:
    name, pinned = _name(item), item.get("pinned", False)
    current, poorest = item.get("current"), item.get("min_level")
    for field, level in (("current", current), ("min_level", poorest)):
        if isinstance(level, str) and level not in rank and not (field == "current" and level == DELETE):
            message = f"item {name!r}: {field} {level!r} is not in the ladder ({', '.join(rank)})"
            yield Fault("unknown_level", message, name, level, field, index, as_read(level))
    if pinned is False and poorest is not None:
        message = f"item {name!r}: min_level says how far a pinned item may shrink, but it is not pinned"
        yield Fault("min_level_without_pinned", message, name, None, "min_level", index, as_read(poorest))
    levels = item.get("levels")
    if pinned is True and isinstance(levels, Mapping):
        highest = len(rank) if current == DELETE else rank.get(current, 0) if isinstance(current, str) else 0
        lowest = rank.get(poorest, len(rank)) if isinstance(poorest, str) else len(rank)
        held = [rank[k] for k, v in levels.items() if k in rank and _fields(v).get("tokens") is not None]
        if not any(highest <= level <= lowest for level in held):
            message = f"item {name!r} is pinned but has no level it may stay at"
            yield Fault("pinned_without_level", message, name, None, "pinned", index, True)


def _link_faults(top: Mapping[str, Any]) -> Iterator[Fault]:
    sets: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for index, item in enumerate(_items(top)):
        group, exclusive = item.get("group"), item.get("exclusive")
        if isinstance(group, str) and isinstance(exclusive, str):
            sets[group].setdefault(exclusive, index)
    for group, named in sets.items():
        if len(named) > 1:
            yield Fault(
                "links_cross",
                f"group {group!r} has members in different exclusive sets: {', '.join(map(repr, named))}",
                field="exclusive",
                index=tuple(named.values()),
                read=as_read(group),
            )


def _repeated_keys(declared: Any) -> Iterator[Fault]:
    if isinstance(declared, RepeatedKeys):
        yield from _repeats(declared, "the instance")
    top = _fields(declared)
    for part in ("budget",):
        if isinstance(top.get(part), RepeatedKeys):
            yield from _repeats(top[part], part)
    reserved = _fields(top.get("budget")).get("reserved")
    if isinstance(reserved, RepeatedKeys):
        yield from _repeats(reserved, "reserved")
    for index, item in enumerate(_items(top)):
        name, levels = _name(item), item.get("levels")
        if isinstance(item, RepeatedKeys):
            yield from _repeats(item, f"item {name!r}", name, None, index)
        if isinstance(levels, RepeatedKeys):
            yield from _repeats(levels, f"the levels of item {name!r}", name, None, index)
        for level, option in levels.items() if isinstance(levels, Mapping) else ():
            if isinstance(option, RepeatedKeys):
                yield from _repeats(option, f"item {name!r}, level {level!r}", name, level, index)


def _repeats(
    marked: RepeatedKeys,
    where: str,
    item: str | None = None,
    level: str | None = None,
    index: int | None = None,
) -> Iterator[Fault]:
    for key in marked.repeated:
        message = f"{where}: key {key!r} stands there more than once"
        yield Fault("duplicate_key", message, item, level, as_read(key), index, as_read(key))


def _places(code: str, field: str, values: Any, wrong: Any, ids: Sequence[Any] | None) -> Iterator[Fault]:
    rows, columns = np.nonzero(wrong)
    for row, column in list(zip(rows.tolist(), columns.tolist(), strict=True))[:MOST_FAULTS_A_KIND]:
        name = str(row) if ids is None or row >= len(ids) else str(ids[row])
        read = as_read(values[row, column].item())
        message = f"row {row} (item {name!r}), level {column}: {field} read {read!r}"
        yield Fault(code, message, name, str(column), field, row, read)
    if len(rows) > MOST_FAULTS_A_KIND:
        rest = len(rows) - MOST_FAULTS_A_KIND
        yield Fault(code, f"and {rest} more places of {field}", field=field)


def _id_column_faults(ids: Sequence[Any], rows: int) -> Iterator[Fault]:
    if len(ids) != rows:
        yield Fault("shape", f"there are {len(ids)} ids for {rows} rows", field="ids")
    wrong = [index for index, name in enumerate(ids) if not isinstance(name, str) or not name]
    for index in wrong[:MOST_FAULTS_A_KIND]:
        yield Fault(
            "id_not_text", f"row {index}: an id must be text", None, None, "id", index, as_read(ids[index])
        )
    if not wrong and len(set(ids)) < len(ids):
        seen: dict[str, list[int]] = {}
        for index, name in enumerate(ids):
            seen.setdefault(name, []).append(index)
        repeated = [(name, places) for name, places in seen.items() if len(places) > 1]
        for name, places in repeated[:MOST_FAULTS_A_KIND]:
            message = f"rows {places[:5]} have the same id {name!r}"
            yield Fault("duplicate_id", message, name, None, "id", tuple(places), as_read(name))
