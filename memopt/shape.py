"""What pydantic finds wrong with the shape of a declaration, said with memopt's codes and places."""

from __future__ import annotations

from typing import Any

from memopt.errors import Fault, as_read, meant

_KINDS = {
    "missing": "missing",
    "extra_forbidden": "unknown_key",
    "unexpected_keyword_argument": "unknown_key",
    "greater_than_equal": "negative",
    "less_than_equal": "too_large",
    "string_unicode": "not_text",
    "string_type": "not_text",
    "string_too_short": "empty",
    "int_type": "not_integer",
    "int_parsing_size": "too_large",
    "bool_type": "not_boolean",
    "not_finite": "not_finite",
    "not_number": "not_number",
    "literal_error": "unknown_value",
    "model_type": "not_object",
    "dataclass_type": "not_object",
    "dict_type": "not_object",
    "tuple_type": "not_list",
}

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


def fields(value: Any) -> dict[str, Any]:
    """Return the fields of a JSON object or of a model; none of anything else."""
    if isinstance(value, dict):
        return value
    found = getattr(value, "__dict__", None)
    return found if isinstance(found, dict) else {}


def place_of(index: int | None, item: Any, level: str | None = None) -> str:
    """Return the place of an item or a level in words."""
    who = f"item {item!r}" if isinstance(item, str) else f"the item at position {index}"
    return who if level is None else f"{who}, level {level!r}"


def shape_faults(declared: Any, errors: Any) -> list[Fault]:
    """Return pydantic's error details as faults, each with its place in the declaration."""
    return [_fault(declared, error) for error in errors if _is_meant(declared, error["loc"])]


def _is_meant(declared: Any, loc: tuple[Any, ...]) -> bool:
    """Whether an error belongs to the alternative of the budget (number or window) that was meant."""
    if len(loc) < 2 or loc[0] != "budget":
        return True
    window = isinstance(fields(declared).get("budget"), dict)
    return window if loc[1] == "Window" else not window


def _fault(declared: Any, error: Any) -> Fault:
    path = [str(part) for part in error["loc"]]
    if path[-1:] == ["[key]"] and error["type"].startswith("string_"):
        path[-2:] = [as_read(error["input"])]  # the key itself is at fault
    kind = _KINDS.get(error["type"], error["type"])
    read = None if kind == "missing" else as_read(error["input"])
    item = level = None
    index: int | None = None
    if path[:1] == ["items"] and len(path) > 1:
        index, path = int(path[1]), path[2:]
        items = fields(declared).get("items")
        item = fields(items[index]).get("id") if isinstance(items, (list, tuple)) else None
        item = item if isinstance(item, str) else None
        if path[:1] == ["levels"] and len(path) > 1:
            level, path = path[1], path[2:] or ["level"]
    elif path[:1] == ["budget"] and len(path) > 1:
        del path[1]  # the name of the alternative
    where = place_of(index, item, level) if index is not None else "the instance"
    field = ".".join(path) or (None if index is None else "item")
    reason = _REASONS.get(kind, error["msg"]) + ("" if kind == "missing" else f", read {read!r}")
    if kind == "unknown_key":
        reason += _hint(error["loc"], path)
    message = f"{where}: field {field!r} {reason}" if path else f"{where} {reason}"
    return Fault(_code(kind, path), message, item, level, field, index, read)


def _hint(loc: tuple[Any, ...], path: list[str]) -> str:
    """Return what was meant by a key that is unknown where it stands, if that can be guessed."""
    from memopt.instance import Instance, Item, Option, Window  # which imports this module

    if len(loc) == 1 and path[0] in Window.model_fields:
        return '; it belongs to the budget: "budget": {"window": ..., "reserved": {...}}'
    if loc[0] == "budget":
        return meant(path[-1], Window.model_fields)
    if loc[0] == "items":
        return meant(path[-1], Option.__dataclass_fields__ if "levels" in loc else Item.model_fields)
    return meant(path[-1], Instance.model_fields)


def _code(kind: str, path: list[str]) -> str:
    """Return the code: the field's own word before the kind, where the field has one."""
    if not path or kind in ("missing", "unknown_key"):
        return kind
    return f"{path[1] if path[0] == 'budget' and len(path) > 1 else path[0]}_{kind}"
