"""Lines of JSON-RPC before the SDK reads them: it drops what it cannot read, and clients wait for ever."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import Any

import mcp_types as types
from pydantic import ValidationError

_SHAPE = (
    "a line is one JSON-RPC 2.0 message: jsonrpc, method, params by name, "
    "and the id of a request, which is a text or an integer"
)
_HALF = re.compile("[\ud800-\udfff]")
_TEXT = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN = re.compile(rf'[\[\]{{}}]|"id"\s*:\s*(?P<id>{_TEXT}|-?\d{{1,99}}(?![\d.eE]))|{_TEXT}', re.DOTALL)


async def answered(
    lines: AsyncIterable[bytes], refuse: Callable[[types.JSONRPCError], Awaitable[None]]
) -> AsyncIterator[str]:
    """Yield the lines that the SDK reads; every other one but a blank one is refused."""
    async for line in lines:
        text = line.decode("utf-8-sig", "replace")
        if not text.strip():
            continue
        read = readable(text)
        if isinstance(read, str):
            yield read
        else:
            await refuse(read)


def readable(line: str) -> str | types.JSONRPCError:
    """Return a line as the SDK reads it, or the error that answers it.

    Half surrogates, which JavaScript writes where it cuts an emoji, are replaced by U+FFFD. The error has
    the id of the request where there is one, also of a line that is nested too deeply to be read.
    """
    fault = _fault(line)
    if fault is None:
        return line
    try:
        given = json.loads(line)
        mended = _HALF.sub("\ufffd", json.dumps(given, ensure_ascii=False))
    except json.JSONDecodeError as error:
        return _error(types.PARSE_ERROR, f"the line is no JSON: {error}", None)
    except (RecursionError, ValueError):  # an integer of more digits than Python converts is a ValueError
        return _error(types.INVALID_REQUEST, fault, _id_in(line))
    fault = _fault(mended)
    if fault is None:
        return mended
    return _error(types.INVALID_REQUEST, fault, given.get("id") if isinstance(given, dict) else None)


def _fault(line: str) -> str | None:
    """Return why the SDK does not read a line, or reads no request where one is meant; None if it does."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return str(first["msg"]) if first["type"] == "json_invalid" else _SHAPE
    if isinstance(message, types.JSONRPCNotification) and "id" in json.loads(line):
        return _SHAPE
    return None


def _id_in(line: str) -> Any:
    """Return the id in the outermost object of a line that is not read as a whole."""
    depth = 0
    for token in _TOKEN.finditer(line):
        if token["id"] and depth == 1:
            return json.loads(token["id"])
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
    return None


def _error(code: int, message: str, name: Any) -> types.JSONRPCError:
    known = name if isinstance(name, (str, int)) and not isinstance(name, bool) else None
    return types.JSONRPCError(
        jsonrpc="2.0",
        id=_HALF.sub("\ufffd", known) if isinstance(known, str) else known,
        error=types.ErrorData(code=code, message=message),
    )
