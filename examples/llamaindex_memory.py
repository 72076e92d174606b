"""A LlamaIndex chat whose memory recalls, in 60 tokens, what its history had no room for; no network.

Run: python examples/llamaindex_memory.py (needs ``memopt[llamaindex]``)
"""

from __future__ import annotations

import asyncio

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory

from memopt.adapters.llamaindex import MemoptMemoryBlock, Recalled

QUESTIONS = [
    "My name is Ada Berger, and I am allergic to walnuts. Please remember that for the trip to Sils.",
    "Which hotel near the lake has a room for two with a view, and does it take dogs?",
    "What is the weather like in Sils in the second week of October, as a rule?",
    "Which train leaves Zurich in the morning, and where do I have to change?",
    "How long is the walk around the lake, and is it steep for an old dog?",
    "What should I pack?",
]


async def main() -> None:
    """Ask all questions, then show what the memory gives."""
    block = MemoptMemoryBlock(budget=60)
    memory = Memory.from_defaults(
        session_id="ada", token_limit=170, token_flush_size=40, memory_blocks=[block]
    )
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=10), memory=memory)
    for question in QUESTIONS:
        await engine.achat(question)
    recalled = await block.aget(session_id="ada")
    assert isinstance(recalled, Recalled)
    print(f"recalled: {recalled.report.tokens_before} -> {recalled.report.tokens_after} tokens")
    for message in await memory.aget():
        print(f"{message.role.value:9} {message.content}")


if __name__ == "__main__":
    asyncio.run(main())
