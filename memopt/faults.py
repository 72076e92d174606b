"""Every fault of a declaration, each with its place, whatever else is wrong with it.

The checks read plain JSON data and validated models alike, so that a report is complete even when
the shape is broken elsewhere.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic_core import PydanticCustomError

from memopt.columns import DEFAULT_LADDER, DELETE
from memopt.errors import Fault, as_read
from memopt.jsontext import RepeatedKeys
from memopt.number import exact, read_number
from memopt.shape import fields, place_of, shape_faults

Fields = Mapping[str, Any]
_MOST_LEVELS_TOLD = 10


def declaration_faults(read: Any, errors: Iterable[Any] = (), instance: Any = None) -> list[Fault]:
    """Return every fault of a declaration: those of shape, found by pydantic, and all the others.

    Parameters
    ----------
    read
        The declaration as it was given: plain data, models, or a mixture.
    errors
        pydantic's error details, if the shape is wrong.
    instance
        What it was validated to, if the shape is right.
    """
    top = fields(read if instance is None else instance)
    items = _items(top)
    rank = _ranks(top)
    found = shape_faults(read, errors)
    found += _budget_faults(top)
    found += _price_faults(top)
    found += _ladder_faults(top)
    if rank is not None:
        for index, item in enumerate(items):
            if instance is None or not _is_plain(item, rank):
                found += _level_faults(index, item, rank)
                found += _pin_faults(index, item, rank)
    found += _id_faults(items)
    found += _link_faults(items)
    return sorted([*_one_a_place(found), *_repeated_keys(read)], key=_position)


def _is_plain(item: Fields, rank: dict[str, int]) -> bool:
    """Whether a look is enough to see that a validated item has none of the faults of an item.

    Nearly all items are so, and a turn has some milliseconds.
    """
    current, levels = item["current"], item["levels"]
    if item["pinned"] or item["min_level"] is not None or not levels.keys() <= rank.keys():
        return False
    if not (current is None or current in rank or current == DELETE):
        return False
    for option in levels.values():  # any() costs twice as much here
        if option is not None and option.utility is None and option.tokens is not None:
            return False
    return True


def declaration_warnings(declared: Any) -> list[Fault]:
    """Return what is allowed but looks like a mistake: ids alike, levels not there or without a word."""
    return [*_alike_ids(declared), *_lacking_levels(declared), *_empty_texts(declared)]


def _empty_texts(declared: Any) -> Iterator[Fault]:
    """Find levels that are worth something and say nothing."""
    for index, item in enumerate(_items(fields(declared))):
        name, levels = item.get("id"), item.get("levels")
        for level, option in levels.items() if isinstance(levels, dict) else ():
            text = option.get("text") if isinstance(option, dict) else getattr(option, "text", None)
            if text == "" and _counts(option):
                message = (
                    f"{place_of(index, name)} says nothing at {level!r}, where its text is empty: leave out "
                    "a level that a compressor made nothing of"
                )
                yield Fault("empty_text", message, _text(name), _text(level), "text", index)


def _lacking_levels(declared: Any) -> Iterator[Fault]:
    """Find items that hold a level they do not declare, or declare none at all."""
    for index, item in enumerate(_items(fields(declared))):
        name, levels, current = item.get("id"), item.get("levels"), item.get("current")
        if not isinstance(levels, dict) or current == DELETE:
            continue
        if current is None and any(map(_counts, levels.values())):
            continue
        held = [level for level, option in levels.items() if _counts(option)]
        if not held:
            message = (
                f"{place_of(index, name)} declares no level with tokens: it and its group can only be deleted"
            )
            yield Fault("no_level", message, _text(name), None, "levels", index)
        elif isinstance(current, str) and current not in held:
            message = (
                f"{place_of(index, name)} holds {current!r} now but does not declare it: it can only fall"
            )
            yield Fault("current_absent", message, _text(name), None, "current", index, as_read(current))


def _alike_ids(declared: Any) -> list[Fault]:
    ids = [item.get("id") for item in _items(fields(declared))]
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


def _items(top: Fields) -> list[Fields]:
    items = top.get("items")
    return [*map(fields, items)] if isinstance(items, (list, tuple)) else []


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _position(fault: Fault) -> tuple[int, int]:
    index = fault.index[0] if isinstance(fault.index, tuple) else fault.index
    return (0, 0) if index is None else (1, index)


def _one_a_place(found: list[Fault]) -> Iterator[Fault]:
    """Keep the first fault of each place: an empty level name is not reported as unknown, too."""
    seen = set()
    for fault in found:
        place = (fault.item, fault.level, fault.field, fault.index)
        if place not in seen:
            seen.add(place)
            yield fault


def _budget_faults(top: Fields) -> Iterator[Fault]:
    parts = fields(top.get("budget"))
    window: Any = parts.get("window")
    reserved: Any = parts.get("reserved", {})
    if not isinstance(reserved, dict) or not all(map(_is_count, [window, *reserved.values()])):
        return
    shortfall = sum(reserved.values()) - window
    if shortfall > 0:
        held = " + ".join(f"{name} {count}" for name, count in reserved.items())
        message = f"the reserved parts {held} exceed the window {window} by {shortfall} tokens"
        yield Fault("budget_negative", message, field="budget", read=-shortfall)


def _price_faults(top: Fields) -> Iterator[Fault]:
    price = top.get("price", 0)
    try:
        negative = exact(read_number(price)) < 0
    except PydanticCustomError:
        return
    if negative:
        read = as_read(price)
        yield Fault("price_negative", f"the price must be >= 0, read {read}", field="price", read=read)


def _ranks(top: Fields) -> dict[str, int] | None:
    """Return the rank of each level, or None where the ladder itself is no list of names."""
    ladder = top.get("ladder", DEFAULT_LADDER)
    if not isinstance(ladder, (list, tuple)) or not all(isinstance(name, str) for name in ladder):
        return None
    return {name: index for index, name in enumerate(ladder)}


def _ladder_faults(top: Fields) -> Iterator[Fault]:
    ladder = top.get("ladder", DEFAULT_LADDER)
    if not isinstance(ladder, (list, tuple)):
        return
    if not ladder:
        yield Fault("ladder_empty", "the ladder must name at least one level", field="ladder")
    names = [name for name in ladder if isinstance(name, str)]
    for name, times in Counter(names).items():
        if times > 1:
            message = f"the ladder names {name!r} {times} times"
            yield Fault("duplicate_level", message, None, name, "ladder", None, as_read(name))
        if name == DELETE:
            message = "the ladder must not name 'delete': it always ends the ladder unsaid"
            yield Fault("reserved_level", message, None, name, "ladder", None, name)


def _level_faults(index: int, item: Fields, rank: dict[str, int]) -> Iterator[Fault]:
    levels, name = item.get("levels"), item.get("id")
    for level, option in levels.items() if isinstance(levels, dict) else ():
        if level not in rank:
            yield _unknown_level(index, name, "level", level, rank)
        if isinstance(option, dict):
            tokens, worthless = option.get("tokens"), "utility" not in option
        else:
            tokens = getattr(option, "tokens", None)
            worthless = getattr(option, "utility", None) is None
        if worthless and tokens is not None:
            message = f"{place_of(index, name, level)}: tokens without a utility"
            yield Fault("utility_missing", message, _text(name), level, "utility", index)


def _pin_faults(index: int, item: Fields, rank: dict[str, int]) -> Iterator[Fault]:
    name, pinned = item.get("id"), item.get("pinned", False)
    current, poorest = item.get("current"), item.get("min_level")
    if isinstance(current, str) and current not in (*rank, DELETE, ""):
        yield _unknown_level(index, name, "current", current, rank)
    if isinstance(poorest, str) and poorest not in (*rank, ""):
        yield _unknown_level(index, name, "min_level", poorest, rank)
    elif pinned is False and poorest is not None:
        reason = "min_level says how far a pinned item may shrink, but it is not pinned"
        message, read = f"{place_of(index, name)}: {reason}", as_read(poorest)
        yield Fault("min_level_without_pinned", message, _text(name), None, "min_level", index, read)
    levels = item.get("levels")
    if pinned is True and isinstance(levels, dict) and not _may_stay(levels, current, poorest, rank):
        bounds = [
            f"{key} {value!r}" for key, value in (("current", current), ("min_level", poorest)) if value
        ]
        within = f" within {' and '.join(bounds)}" if bounds else ""
        message = f"{place_of(index, name)} is pinned but has no level it may stay at{within}"
        yield Fault("pinned_without_level", message, _text(name), None, "pinned", index, True)


def _may_stay(levels: dict[str, Any], current: Any, poorest: Any, rank: dict[str, int]) -> bool:
    """Whether a pinned item has a level; one that is faulty itself counts, to be reported once."""
    end = len(rank)
    highest = end if current == DELETE else rank.get(current, 0) if isinstance(current, str) else 0
    lowest = rank.get(poorest, end) if isinstance(poorest, str) else end
    return any(
        highest <= rank[level] <= lowest
        for level, option in levels.items()
        if level in rank and _counts(option)
    )


def _counts(option: Any) -> bool:
    """Whether a level is there; one that is no object counts, to be reported once."""
    if isinstance(option, dict):
        return option.get("tokens") is not None
    return option is not None and getattr(option, "tokens", True) is not None


def _unknown_level(index: int, name: Any, field: str, level: str, rank: dict[str, int]) -> Fault:
    known = ", ".join(list(rank)[:_MOST_LEVELS_TOLD]) + (", ..." if len(rank) > _MOST_LEVELS_TOLD else "")
    reason = f"{field} {level!r} is not in the ladder ({known})"
    if level == DELETE:
        reason = f"{field} 'delete' is not declared; every item has it, unless it is pinned"
    message = f"{place_of(index, name)}: {reason}"
    return Fault("unknown_level", message, _text(name), level, field, index, as_read(level))


def _text(name: Any) -> str | None:
    return name if isinstance(name, str) else None


def _id_faults(items: list[Fields]) -> Iterator[Fault]:
    names = [item.get("id") for item in items]
    told = [name for name in names if isinstance(name, str)]
    if len(set(told)) == len(told):
        return
    places: defaultdict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(names):
        if isinstance(name, str):
            places[name].append(index)
    for name, found in places.items():
        if len(found) > 1:
            message = f"items {found} have the same id {name!r}"
            yield Fault("duplicate_id", message, name, None, "id", tuple(found), as_read(name))


def _link_faults(items: list[Fields]) -> Iterator[Fault]:
    sets: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for index, item in enumerate(items):
        group, exclusive = item.get("group"), item.get("exclusive")
        if isinstance(group, str) and isinstance(exclusive, str):
            sets[group].setdefault(exclusive, index)
    for group, named in sets.items():
        if len(named) > 1:
            listed = ", ".join(map(repr, named))
            message = f"group {group!r} has members in different exclusive sets: {listed}"
            places = tuple(named.values())
            yield Fault("links_cross", message, None, None, "exclusive", places, as_read(group))


def _repeated_keys(declared: Any) -> Iterator[Fault]:
    """Yield every key that the JSON text of a declaration names more than once in one object."""
    top = fields(declared)
    budget = top.get("budget")
    for part, where in (
        (declared, "the instance"),
        (budget, "budget"),
        (fields(budget).get("reserved"), "budget.reserved"),
    ):
        yield from _repeats(part, where)
    for index, item in enumerate(_items(top)):
        levels = item.get("levels")
        if type(item) is dict and type(levels) is dict and RepeatedKeys not in map(type, levels.values()):
            continue  # nearly all of them
        if isinstance(item, RepeatedKeys) or isinstance(levels, RepeatedKeys):
            name = item.get("id")
            yield from _repeats(item, place_of(index, name), _text(name), None, index)
            yield from _repeats(levels, f"the levels of {place_of(index, name)}", _text(name), None, index)
        for level, option in levels.items() if isinstance(levels, dict) else ():
            if isinstance(option, RepeatedKeys):
                name = item.get("id")
                yield from _repeats(option, place_of(index, name, level), _text(name), level, index)


def _repeats(
    part: Any, where: str, item: str | None = None, level: str | None = None, index: int | None = None
) -> Iterator[Fault]:
    for key in part.repeated if isinstance(part, RepeatedKeys) else ():
        message = f"{where}: key {key!r} stands there more than once"
        yield Fault("duplicate_key", message, item, level, key, index, as_read(key))
