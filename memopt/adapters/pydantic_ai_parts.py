"""pydantic-ai's messages as chat dicts: a response is one, each part of a request another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic_core import to_jsonable_python

from memopt.adapters.objects import as_it_is, content_of, json_text

_URLS = {"image-url": "image_url", "audio-url": "input_audio", "video-url": "video"}
_MEDIA = {"image": "image_url", "audio": "input_audio", "video": "video"}

Content = str | list[dict[str, Any]]


def dicts(message: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the chat dicts of a message, each after what it tells of: the response, or a part of a request.

    Content that must stay as it is comes in parts that do not shrink: reasoning and what a provider
    signed, failures (sent in a wrapping of their own), files, the framework's records.
    """
    if message.kind == "response":
        yield message, _response(message)
    else:
        for part in message.parts:
            yield part, _request(part)


def _response(message: Any) -> dict[str, Any]:
    calls = [part for part in message.parts if part.part_kind == "tool-call"]
    content = [_said(part) for part in message.parts if part.part_kind != "tool-call"]
    made: dict[str, Any] = {"role": "assistant", "content": content_of(content)}
    if calls:
        made["tool_calls"] = [
            {
                "id": call.tool_call_id,
                "type": "function",
                "function": {"name": call.tool_name, "arguments": _text(call.args_as_json_str, call.args)},
            }
            for call in calls
        ]
    return made


def _said(part: Any) -> dict[str, Any]:
    match part.part_kind:
        case "text":
            return {"type": "text", "text": part.content}
        case "thinking":
            return {"type": "thinking", "thinking": part.content}
        case "file":
            return _media(part.content)
    return _written(part)


def _request(part: Any) -> dict[str, Any]:
    match part.part_kind:
        case "system-prompt":
            return {"role": "system", "content": part.content}
        case "user-prompt":
            return {"role": "user", "content": _user(part.content)}
        case "tool-return":
            return _answer(part, _result(part))
        case "retry-prompt" if part.tool_name is not None:
            return _answer(part, [_fixed(_text(part.model_response, part.content))])
        case "retry-prompt" | "retry-feedback":
            return {"role": "user", "content": [_fixed(_text(part.model_response, part.content))]}
        case "speech" | "compaction":
            return {"role": "user", "content": [_written(part)]}
    # A record of the framework: instructions or tools that changed. Developer messages are pinned.
    return {"role": "developer", "content": [_written(part)]}


def _user(content: Any) -> Content:
    if isinstance(content, str):
        return content
    parts = []
    for item in content:
        text = item if isinstance(item, str) else getattr(item, "content", None)
        if text is not None:
            parts.append({"type": "text", "text": text})
        elif item.kind != "cache-point":
            parts.append(_media(item))
    return content_of(parts)


def _result(part: Any) -> Content:
    text = _text(part.model_response_str, part.content)
    if part.outcome in ("failed", "retried") or part.files:
        return [_fixed(text), *map(_media, part.files)]
    return text


def _answer(part: Any, content: Content) -> dict[str, Any]:
    return {"role": "tool", "name": part.tool_name, "tool_call_id": part.tool_call_id, "content": content}


def _media(item: Any) -> dict[str, Any]:
    """Return a part that costs what its type does; see `memopt.text.content.COSTS`."""
    kind = _URLS.get(item.kind) or _MEDIA.get(_media_type(item).partition("/")[0], "document")
    return {"type": kind, "identifier": item.identifier}


def _media_type(item: Any) -> str:
    """Return the media type of a file, which pydantic-ai guesses of an address; empty where it cannot."""
    try:
        return str(getattr(item, "media_type", ""))
    except ValueError:
        return ""


def _text(write: Callable[[], str], given: Any) -> str:
    """Return what pydantic-ai writes of something; the thing itself as JSON where pydantic-ai cannot."""
    try:
        return write()
    except (TypeError, ValueError):  # an object, or half a surrogate pair
        return given if isinstance(given, str) else json_text(given)


def _fixed(text: str) -> dict[str, str]:
    return {"type": "output_text", "text": text}


def _written(part: Any) -> dict[str, str]:
    return as_it_is(to_jsonable_python(part, fallback=str))
