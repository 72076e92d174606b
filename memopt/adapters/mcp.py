"""An MCP server over standard input and output, of tools that are plain functions."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import mcp_types as types
from anyio import AsyncFile, CapacityLimiter, to_thread, wrap_file
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from memopt.adapters.mcp_lines import answered


class Answer(NamedTuple):
    """What a tool answers: the JSON text of an object, and whether it says why there is no result."""

    text: str
    failed: bool = False


@dataclass(frozen=True)
class Tool:
    """A tool.

    Attributes
    ----------
    name, description
        As clients and their models see it.
    schema
        JSON Schema of its arguments, an object.
    call
        Answers a call; called in a thread, one call after the other.
    changes
        Whether a call may change anything.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], Answer]
    changes: bool = False


async def serve(name: str, version: str, instructions: str, tools: Sequence[Tool]) -> None:
    """Serve tools until standard input ends; nothing but the protocol reaches standard output.

    Every line is answered but blank ones and notifications.
    """
    named = {tool.name: tool for tool in tools}
    one = CapacityLimiter(1)

    async def listed(_: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_declared(tool) for tool in tools])

    async def called(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in named:
            known = ", ".join(named)
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r}; known are {known}")
        call = named[params.name].call
        answer = await to_thread.run_sync(call, params.arguments or {}, limiter=one)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=json.loads(answer.text),
            is_error=answer.failed,
        )

    server: Server[Any] = Server(
        name, version=version, instructions=instructions, on_list_tools=listed, on_call_tool=called
    )

    async def refuse(error: types.JSONRPCError) -> None:
        await write.send(SessionMessage(error))

    # The SDK does no more with its input than iterate over the lines.
    lines = cast("AsyncFile[str]", answered(wrap_file(sys.stdin.buffer), refuse))
    async with stdio_server(lines) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _declared(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=not tool.changes, destructive_hint=False, open_world_hint=False
    )
    return types.Tool(
        name=tool.name, description=tool.description, input_schema=dict(tool.schema), annotations=hints
    )
