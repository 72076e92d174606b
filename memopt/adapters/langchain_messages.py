"""LangChain's messages as the chat dicts they are counted by, and its tools as the text they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.messages import AnyMessage, BaseMessage, convert_to_openai_messages
from langchain_core.utils.function_calling import convert_to_openai_tool

from memopt.adapters.objects import as_it_is, content_of, json_text, plain

_COSTS = {"image": "image_url", "audio": "input_audio", "video": "video", "file": "file"}
_CALLS = ("tool_call", "invalid_tool_call")  # content blocks that say what the tool calls say


def chat_dict(message: BaseMessage) -> dict[str, Any]:
    """Return a message as a chat dict with all that may be sent of it.

    Role, name and id are those of LangChain's own conversion. Content is read from the standard content
    blocks: text may shrink; reasoning, and what a provider alone understands, is counted as JSON and
    stays as it is; an image, audio, video or file counts what ``costs`` says of ``image_url``,
    ``input_audio``, ``video`` or ``file``. Whatever else ``additional_kwargs`` holds is counted: some
    providers are sent it. So are calls without an id, which nothing can be the result of.
    """
    bare = message.model_copy(update={"content": "", "tool_calls": []})
    (made,) = convert_to_openai_messages([bare], include_id=True)
    beside = {key: plain(value) for key, value in message.additional_kwargs.items() if value is not None}
    # Providers are sent invalid calls, too, each with the result that says so.
    calls = [*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ())]
    if calls:  # in place of what a provider wrote of them
        beside["tool_calls"] = [_call(call) for call in calls if call.get("id")]
        beside["calls_without_id"] = plain([call for call in calls if not call.get("id")]) or None
    return {**beside, **made, "content": _content(message)}


def with_text(message: AnyMessage, text: str) -> AnyMessage:
    """Return a copy of a message with another text."""
    return message.model_copy(update={"content": text})


def tools_text(tools: Sequence[Any], response_format: Any) -> str:
    """Return the schemas of a request as JSON, those of its structured response included; or nothing."""
    shown: list[Any] = [tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in tools]
    shown += [[spec.name, spec.description, spec.json_schema] for spec in _specs(response_format)]
    return json.dumps(shown, ensure_ascii=False, default=str) if shown else ""


def _content(message: BaseMessage) -> str | list[dict[str, Any]]:
    if isinstance(message.content, str):
        return message.content
    return content_of([_part(block) for block in message.content_blocks if block["type"] not in _CALLS])


def _part(block: Any) -> dict[str, Any]:
    kind = block["type"]
    if kind == "text":
        return {"type": "text", "text": block["text"]}
    if kind in _COSTS:
        return {"type": _COSTS[kind], _COSTS[kind]: plain(block.get("extras", {}))}
    return as_it_is(block, "reasoning" if kind == "reasoning" else "output_text")


def _call(call: Any) -> dict[str, Any]:
    given = call["args"]
    arguments = given if isinstance(given, str) else json_text(given)
    function = {"name": call["name"], "arguments": arguments}
    return {"type": "function", "id": call["id"], "function": function}


def _specs(response_format: Any) -> Sequence[Any]:
    if response_format is None:
        return ()
    if isinstance(response_format, ProviderStrategy):
        return (response_format.schema_spec,)
    if isinstance(response_format, AutoStrategy):
        response_format = response_format.schema
    if not isinstance(response_format, ToolStrategy):
        response_format = ToolStrategy(response_format)
    return list(response_format.schema_specs)
