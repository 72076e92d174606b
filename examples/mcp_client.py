"""A client of `memopt mcp`: a chat cut to its budget, why a message holds its level, and how it ended.

Run: python examples/mcp_client.py (needs ``memopt[mcp]``)
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp import Client, StdioServerParameters

SERVER = StdioServerParameters(command=sys.executable, args=["-m", "memopt", "mcp"])
FLIGHTS = " ".join(f"Flight {n} leaves at {n % 12 + 6}:40 and costs {80 + n} euros." for n in range(12))
CHAT = [
    {"id": "task", "role": "user", "content": "Find me a flight to Rome under 90 euros."},
    {
        "id": "call",
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "flights", "arguments": "{}"}}],
    },
    {"id": "flights", "role": "tool", "tool_call_id": "c1", "content": FLIGHTS},
    {"id": "thanks", "role": "user", "content": "Take the cheapest one, please."},
]


async def main() -> None:
    """Call every tool."""
    async with Client(SERVER) as client:
        print("tools:", ", ".join(tool.name for tool in (await client.list_tools()).tools))

        async def call(tool: str, **arguments: Any) -> Any:
            answer = await client.call_tool(tool, {"session": "trip", **arguments})
            return answer.structured_content

        fitted = await call("allocate", messages=CHAT, budget=400, event="t1")
        report = fitted["report"]
        print(f"allocate: {report['tokens_before']} -> {report['tokens_after']} tokens, {report['counts']}")
        print("explain:", (await call("explain", item="flights"))["sentence"])
        recorded = await call("record_outcome", success=True, retrieved=["flights"], turn="t1")
        print("record_outcome:", recorded["status"], recorded["weights"])
        status = await call("status")
        print(f"status: {status['turns']} turn, average occupancy {status['average_occupancy']:.2f}")


if __name__ == "__main__":
    asyncio.run(main())
