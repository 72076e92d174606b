"""JSON text in, with every way it can be broken turned into a named fault."""

from __future__ import annotations

import json
from typing import Any

from memopt.errors import Fault, InvalidInstance


class RepeatedKeys(dict[str, Any]):
    """An object whose text names a key more than once; ``repeated`` lists those keys.

    The standard reader keeps the last value in silence; an instance may not lose a level that way.
    """

    repeated: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    marked = RepeatedKeys(plain)
    names = [name for name, _ in pairs]
    marked.repeated = tuple(name for name in plain if names.count(name) > 1)
    return marked


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
    if not isinstance(text, str):
        try:
            text = bytes(text).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"the text is not UTF-8: byte {error.start} cannot be read"
            raise InvalidInstance([Fault("not_utf8", message)]) from None
    if not text.strip():
        raise InvalidInstance([Fault("empty", "the text is empty")])
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        fault = Fault("not_json", f"the text is no JSON: {error.msg} at {place}", field=place)
    except RecursionError:
        fault = Fault("too_deep", "the text is nested too deeply to be an instance")
    except ValueError as error:  # an integer literal of more digits than Python converts
        fault = Fault("not_json", f"the text is no readable JSON: {str(error).split(';')[0]}")
    raise InvalidInstance([fault])
