"""JSON text: read, with every way it can be broken turned into a named fault, and written row by row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from pydantic_core import from_json

from memopt.errors import Fault, InvalidInstance

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class RepeatedKeys(dict[str, Any]):
    """An object whose text names a key more than once; ``repeated`` lists those keys.

    Readers keep the last value in silence; an instance may not lose a level that way.
    """

    repeated: tuple[str, ...] = ()


def parse(text: str | bytes | bytearray) -> Any:
    """Read one JSON document.

    Parameters
    ----------
    text
        UTF-8 (with or without a byte order mark) or a string.

    Returns
    -------
    object
        Plain Python data. NaN and infinities are let through here, so that the validation can
        report them with their place; objects with repeated keys come as `RepeatedKeys`.

    Raises
    ------
    InvalidInstance
        With code ``not_utf8``, ``empty``, ``not_json`` or ``too_deep``.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    data = data.removeprefix(_BYTE_ORDER_MARK)
    try:
        document = from_json(data)
    except ValueError:
        return _read_slowly(data)
    return document if _keys_read(document) == _keys_written(data) else _read_slowly(data)


def in_lines(head: Mapping[str, Any], name: str, rows: Iterable[Any]) -> bytes:
    """Return a document as JSON: its head, then under ``name`` a list with one row per line.

    Parameters
    ----------
    head
        Not empty; all but the rows.
    name, rows
        The last key and the list it has. No number here or in the head may be NaN or infinite.
    """
    text = json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return f'{text},\n "{name}": [\n{lines}\n]}}\n'.encode("utf-8", "backslashreplace")


def repeated_key(document: Any) -> str | None:
    """Return a key that an object in a document names more than once, None where there is none."""
    found = [document]
    while found:
        part = found.pop()
        if isinstance(part, RepeatedKeys):
            return part.repeated[0]
        if isinstance(part, (dict, list)):
            found += part.values() if isinstance(part, dict) else part
    return None


def _read_slowly(data: bytes) -> Any:
    """Read with the standard reader, which finds repeated keys and says where a text is broken."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the text is not UTF-8: byte {error.start} cannot be read"
        raise InvalidInstance([Fault("not_utf8", message)]) from None
    if not text.strip():
        raise InvalidInstance([Fault("empty", "the text is empty")])
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        fault = Fault(
            "not_json", f"the text is no JSON: {error.msg.removesuffix(' at')} at {place}", field=place
        )
    except RecursionError:
        fault = Fault("too_deep", "the text is nested too deeply to be an instance")
    except ValueError as error:  # an integer literal of more digits than Python converts
        fault = Fault("not_json", f"the text is no readable JSON: {str(error).split(';')[0]}")
    raise InvalidInstance([fault])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    times = Counter(name for name, _ in pairs)
    marked = RepeatedKeys(plain)
    marked.repeated = tuple(name for name in plain if times[name] > 1)
    return marked


def _keys_written(data: bytes) -> int:
    """Return how many keys a JSON text writes: its colons outside strings."""
    if b"\\" in data:
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    characters = np.frombuffer(data, dtype=np.uint8)
    in_string = np.logical_xor.accumulate(characters == ord('"'))
    return int(np.count_nonzero((characters == ord(":")) & ~in_string))


def _keys_read(document: Any) -> int | None:
    """Return how many keys the objects of an instance have; None for data of another shape."""
    try:
        items = document["items"]
        levels = [item["levels"] for item in items]
        options = [option for named in levels for option in named.values() if option is not None]
        keys = len(document) + sum(map(len, items)) + sum(map(len, levels)) + sum(map(len, options))
        budget = document["budget"]
        return keys + len(budget) + len(budget["reserved"]) if isinstance(budget, dict) else keys
    except (TypeError, KeyError, AttributeError):
        return None
