"""LlamaIndex's messages as the chat dicts they are counted by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.base.llms.types import CachePoint, ChatMessage, TextBlock, ThinkingBlock, ToolCallBlock

from memopt.adapters.objects import as_it_is, content_of, json_text, plain

_ROLES = {"chatbot": "assistant", "model": "assistant"}
_COSTS = {"image": "image_url", "audio": "input_audio", "video": "video", "document": "document"}


def chat_dict(message: ChatMessage) -> dict[str, Any]:
    """Return a message as a chat dict.

    Text may shrink; thinking and citations are counted as JSON and stay as they are; an image, audio,
    video or document counts what ``costs`` says of ``image_url``, ``input_audio``, ``video`` or
    ``document``. Tool calls come from blocks, or from ``additional_kwargs`` where there are none.
    """
    said = [block for block in message.blocks if not isinstance(block, (CachePoint, ToolCallBlock))]
    dumped = message.model_dump(include={"additional_kwargs"})["additional_kwargs"]
    beside = {key: plain(value) for key, value in dumped.items()}
    calls = [_call(block) for block in message.blocks if isinstance(block, ToolCallBlock)]
    if not calls and isinstance(written := beside.get("tool_calls"), list):
        calls = [_named(call) for call in written]
    made = {**beside, "role": _ROLES.get(message.role.value, message.role.value)}
    made["content"] = content_of([_part(block) for block in said])
    return made | {"tool_calls": calls} if calls else made


def with_text(message: ChatMessage, text: str) -> ChatMessage:
    """Return a copy of a message with another text, its other blocks after it."""
    others = [block for block in message.blocks if not isinstance(block, TextBlock)]
    return message.model_copy(update={"blocks": [TextBlock(text=text), *others]})


def _part(block: Any) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if block.block_type in _COSTS:
        kind = _COSTS[block.block_type]
        return {"type": kind, kind: {"detail": getattr(block, "detail", None)}}
    shown = block.model_dump(mode="json", exclude_none=True)
    return as_it_is(shown, "reasoning" if isinstance(block, ThinkingBlock) else "output_text")


def _call(block: ToolCallBlock) -> dict[str, Any]:
    given = block.tool_kwargs
    arguments = given if isinstance(given, str) else json_text(given)
    function = {"name": block.tool_name, "arguments": arguments}
    return {"id": block.tool_call_id or block.tool_name, "type": "function", "function": function}


def _named(call: Any) -> Any:
    """Return a call as it is; where it has no id, results name its function."""
    if not isinstance(call, Mapping) or call.get("id"):
        return call
    function = call.get("function")
    return {**call, "id": function.get("name") if isinstance(function, Mapping) else None}
