"""A block recalls what a real memory flushed: in its budget, in the memory's limit, no call split."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="the LlamaIndex adapter needs memopt[llamaindex]")

from chats import WORDS, chats
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import (
    CachePoint,
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.sql import MessageStatus
from pydantic import ValidationError

from memopt.adapters.llamaindex import MemoptMemoryBlock, Recalled, llama_index
from memopt.adapters.llamaindex_messages import chat_dict
from memopt.session.errors import InfeasibleTurn
from memopt.text.errors import InvalidMessages
from memopt.text.fit import fit
from memopt.text.ladders import Ladder
from memopt.text.render import count_whole
from memopt.text.tokens import TokenCounter, counter

TOKENS = counter(llama_index)
LONG = "The train to Sils leaves at nine from platform two. The hotel by the lake has a room for two. " * 3
# Workflows look at every attribute of what they carry, of pydantic's deprecated ones, too.
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning:inspect")
EXAMPLE = Path(__file__).parents[2] / "examples" / "llamaindex_memory.py"


def message(given: dict[str, Any]) -> ChatMessage:
    """Return a chat dict as LlamaIndex writes it."""
    content = given["content"] or ""
    blocks: list[Any] = [TextBlock(text=content if isinstance(content, str) else content[0]["text"])]
    blocks += [
        ToolCallBlock(
            tool_call_id=call["id"],
            tool_name=call["function"]["name"],
            tool_kwargs=call["function"]["arguments"],
        )
        for call in given.get("tool_calls", ())
    ]
    beside = {"tool_call_id": given["tool_call_id"]} if "tool_call_id" in given else {}
    return ChatMessage(role=given["role"], blocks=blocks, additional_kwargs=beside)


def calls(messages: Sequence[ChatMessage]) -> set[str | None]:
    return {b.tool_call_id for each in messages for b in each.blocks if isinstance(b, ToolCallBlock)}


def results(messages: Sequence[ChatMessage]) -> set[str]:
    return {each.additional_kwargs["tool_call_id"] for each in messages if each.role == "tool"}


def count(messages: Sequence[ChatMessage], tokenizer: TokenCounter = TOKENS) -> int:
    costs = {"image_url": 1_445, "image_url:low": 85, "document": 2_048}
    return count_whole([chat_dict(each) for each in messages], tokenizer, costs)


def estimate(memory: Memory, messages: Sequence[ChatMessage]) -> int:
    """Return the tokens of messages as the memory itself counts them."""
    return sum(memory._estimate_token_count(each) for each in messages)


def remember(messages: Sequence[ChatMessage], **fields: Any) -> MemoptMemoryBlock:
    block = MemoptMemoryBlock(**fields)
    asyncio.run(block.aput(list(messages)))
    return block


def trip(days: int) -> list[ChatMessage]:
    """Return a chat in which every day has a question, two parallel calls with results, and an answer."""
    chat = []
    for day in range(days):
        ids = [f"c{day}.0", f"c{day}.1"]
        asked: list[Any] = [
            ToolCallBlock(tool_call_id=name, tool_name="look", tool_kwargs={"day": day}) for name in ids
        ]
        chat.append(ChatMessage(role="user", content=f"What shall we do on day {day} of the trip?"))
        chat.append(ChatMessage(role="assistant", blocks=asked))
        chat += [
            ChatMessage(role="tool", content=f"{day}: {LONG}", additional_kwargs={"tool_call_id": name})
            for name in ids
        ]
        chat.append(ChatMessage(role="assistant", content=f"On day {day} you walk around the lake."))
    return chat


def test_a_long_chat_never_exceeds_the_memorys_limit_nor_the_blocks_budget() -> None:
    block = MemoptMemoryBlock(budget=300)
    memory = Memory.from_defaults(
        session_id="s", token_limit=600, token_flush_size=100, memory_blocks=[block]
    )

    async def talk() -> None:
        for each in trip(8):
            await memory.aput(each)
            recalled = await block.aget(session_id="s")
            assert count(recalled) == recalled.report.tokens_after <= 300
            given = await memory.aget()
            assert estimate(memory, given) <= 600
            assert results(given) <= calls(given)

    asyncio.run(talk())
    recalled = asyncio.run(block.aget(session_id="s"))
    assert len({recalled.report.rows[index].level for index in range(len(recalled.flushed))}) >= 3
    assert "session_id" not in str([each.additional_kwargs for each in recalled])


def test_a_memory_that_cuts_the_block_gets_what_its_limit_leaves() -> None:
    block = MemoptMemoryBlock(budget=10_000)
    memory = Memory.from_defaults(
        session_id="s", token_limit=700, token_flush_size=100, memory_blocks=[block]
    )

    async def talk() -> tuple[list[ChatMessage], list[ChatMessage], list[ChatMessage]]:
        await memory.aput_messages(trip(8))
        return (
            await memory.aget(),
            await block.aget(session_id="s"),
            await memory.aget_all(MessageStatus.ACTIVE),
        )

    given, recalled, history = asyncio.run(talk())
    assert estimate(memory, [*recalled, *history]) > 1_000
    assert 600 < estimate(memory, given) <= 700
    assert len(given) > len(history)
    assert results(given) == calls(given)


def test_an_agent_with_tools_is_sent_a_memory_within_its_limit() -> None:
    seen: list[list[ChatMessage]] = []

    def respond(messages: Sequence[ChatMessage], **kwargs: Any) -> ChatMessage:
        seen.append(list(messages))
        if messages[-1].role == "tool":
            return ChatMessage(role="assistant", content="The one at nine.")
        call = ToolCallBlock(
            tool_call_id=f"c{len(seen)}", tool_name="timetable", tool_kwargs={"town": "Sils"}
        )
        return ChatMessage(role="assistant", blocks=[call])

    def timetable(town: str) -> str:
        """Look up trains."""
        return f"{town}: {LONG}"

    block = MemoptMemoryBlock(budget=150)
    memory = Memory.from_defaults(token_limit=400, token_flush_size=100, memory_blocks=[block])
    agent = FunctionAgent(
        tools=[timetable], llm=MockFunctionCallingLLM(response_generator=respond), streaming=False
    )

    async def talk() -> list[ChatMessage]:
        for day in range(6):
            await agent.run(f"Which train do I take on day {day}?", memory=memory)
        return await memory.aget_all()

    history = asyncio.run(talk())
    assert len(seen) == 12
    assert [each.content for each in history if each.role == "tool"] == [f"Sils: {LONG}"] * 6
    for sent in seen[::2]:  # the rest of a run is the agent's own, beside its memory
        assert estimate(memory, sent) <= 400
        assert results(sent) == calls(sent)
    assert any(LONG not in (each.content or "") for each in seen[-2] if each.role == "tool")


def test_what_fits_is_recalled_as_it_was_put() -> None:
    chat = trip(2)
    recalled = asyncio.run(remember(chat, budget=10_000).aget())
    assert isinstance(recalled, Recalled)
    assert recalled == chat
    assert all(one is other for one, other in zip(recalled, recalled.flushed, strict=True))


def test_what_shrinks_is_a_copy_with_its_other_blocks() -> None:
    block = ToolCallBlock(tool_call_id="c", tool_name="look", tool_kwargs={})
    asked = ChatMessage(
        role="assistant", blocks=[TextBlock(text=LONG), CachePoint(cache_control={"type": "e"}), block]
    )
    chat = [asked, ChatMessage(role="tool", content="ok", additional_kwargs={"tool_call_id": "c"})]
    first = asyncio.run(remember(chat, budget=60).aget())[0]
    assert first.role == "assistant"
    assert 0 < len(first.blocks[0].text) < len(LONG)
    assert first.blocks[1:] == asked.blocks[1:]
    assert asked.blocks[0].text == LONG


def test_a_smaller_budget_is_solved_again_and_not_cut_from_the_content() -> None:
    block = remember(trip(4), budget=400)

    async def both() -> tuple[Recalled, Recalled | None]:
        content = await block.aget()
        return content, await block.atruncate(content, 150)

    content, cut = asyncio.run(both())
    assert cut is not None
    alone = fit([chat_dict(each) for each in trip(4)], cut.report.budget, TOKENS)
    assert [chat_dict(each) for each in cut] == alone.messages
    levels = [[row.level for row in each.report.rows] for each in (content, cut)]
    assert levels[0] != levels[1]


class Estimating:
    """Counts as a `Memory` does, with its own code and the block's tokenizer."""

    def __init__(self, tokenizer: TokenCounter) -> None:
        self.memory = Memory.from_defaults(
            token_limit=1, tokenizer_fn=lambda text: [0] * tokenizer.count(text)
        )

    def __call__(self, messages: Sequence[ChatMessage]) -> int:
        return estimate(self.memory, messages)


@settings(max_examples=100, deadline=None)
@given(chats(), st.integers(0, 600), st.integers(1, 400))
def test_as_many_tokens_go_as_a_memory_asks_for(chat: list[dict[str, Any]], budget: int, off: int) -> None:
    messages = [message(encodable(each)) for each in chat]
    block = remember(messages, budget=budget, tokenizer=WORDS)
    estimated = Estimating(WORDS)

    async def both() -> tuple[list[ChatMessage], list[ChatMessage] | None]:
        content = await block.aget()
        return content, await block.atruncate(content, off)

    try:
        content, cut = asyncio.run(both())
    except InfeasibleTurn:
        return
    assert count(content, WORDS) <= budget
    assert cut is None or estimated(cut) <= estimated(content) - off
    for kept in (content, cut or []):
        assert results(kept) == calls(kept) & results(messages)


def encodable(given: dict[str, Any]) -> dict[str, Any]:
    """Return a message without half surrogate pairs, which LlamaIndex's models refuse."""
    content = given["content"]
    text = content[0]["text"] if isinstance(content, list) else content or ""
    return {**given, "content": text.encode("utf-8", "replace").decode()}


def test_nothing_is_left_where_more_is_asked_off_than_there_is() -> None:
    block = remember(trip(1), budget=400)
    content = asyncio.run(block.aget())
    assert asyncio.run(block.atruncate(content, 10_000)) is None
    assert asyncio.run(block.atruncate([], 10)) is None


def test_a_memory_has_no_room_for_what_it_flushed_and_goes_on() -> None:
    memory = Memory.from_defaults(
        token_limit=300,
        token_flush_size=50,
        chat_history_token_ratio=0.9,
        memory_blocks=[MemoptMemoryBlock(budget=400, tokenizer="bytes")],
        tokenizer_fn=lambda text: list(text.encode()),
    )

    async def talk() -> list[ChatMessage]:
        await memory.aput(ChatMessage(role="user", content="hello " * 10))
        await memory.aput(ChatMessage(role="user", content="x" * 400))
        return await memory.aget()

    assert [each.content for each in asyncio.run(talk())] == ["x" * 400]


def test_nothing_is_left_where_what_must_stay_needs_more() -> None:
    block = remember([ChatMessage(role="system", content=LONG), *trip(1)], budget=1_000)

    async def cut() -> list[list[ChatMessage] | None]:
        content = await block.aget()
        return [await block.atruncate(asked, count(content) - 60) for asked in (content, list(content))]

    assert asyncio.run(cut()) == [None, None]


def test_nothing_that_was_flushed_waits_for_an_answer() -> None:
    last = ChatMessage(role="user", content=LONG)
    recalled = asyncio.run(remember([last], budget=10).aget())
    assert recalled == []
    assert [row.level for row in recalled.report.rows] == ["delete"]
    assert recalled.report.counts == {"delete": 1}
    assert (recalled.report.tokens_before, recalled.report.tokens_after) == (count([last]), 0)
    assert asyncio.run(remember([last], budget=1_000).aget()) == [last]


def test_a_question_at_the_end_goes_where_others_are_worth_more() -> None:
    def earlier(ladders: Sequence[Ladder]) -> list[dict[str, float]]:
        return [dict.fromkeys(ladder.texts, 1.0 / (place + 1)) for place, ladder in enumerate(ladders)]

    chat = [ChatMessage(role="user", content=f"Is {town} far?") for town in ("Sils", "Chur", "Thun")]
    recalled = asyncio.run(remember(chat, budget=count(chat[:2]), utility=earlier).aget())
    assert recalled == chat[:2]


def test_a_plain_list_is_cut_by_itself() -> None:
    chat = trip(2)
    cut = asyncio.run(MemoptMemoryBlock(budget=10_000).atruncate(chat, 100))
    assert cut is not None
    assert count(cut) < count(chat)


def test_sessions_are_kept_apart() -> None:
    block = MemoptMemoryBlock(budget=1_000)

    async def put() -> list[list[str | None]]:
        await block.aput([ChatMessage(content="Ada's")], session_id="ada")
        await block.aput([ChatMessage(content="Ben's")], session_id="ben")
        return [[each.content for each in await block.aget(session_id=name)] for name in ("ada", "ben", None)]

    assert asyncio.run(put()) == [["Ada's"], ["Ben's"], []]


def test_a_new_process_puts_what_an_earlier_one_archived(tmp_path: Path) -> None:
    where = f"sqlite+aiosqlite:///{tmp_path / 'memory.db'}"

    def memory(block: MemoptMemoryBlock) -> Memory:
        return Memory.from_defaults(
            session_id="s",
            token_limit=600,
            token_flush_size=100,
            memory_blocks=[block],
            async_database_uri=where,
        )

    async def run() -> tuple[list[ChatMessage], list[ChatMessage]]:
        first, second = MemoptMemoryBlock(budget=300), MemoptMemoryBlock(budget=300)
        before = memory(first)
        await before.aput_messages(trip(6))
        after = memory(second)
        await second.aput(await after.aget_all(MessageStatus.ARCHIVED), session_id="s")
        return await before.aget(), await after.aget()

    before, after = asyncio.run(run())
    assert before == after
    assert len(before) > 5


def test_system_messages_too_large_for_the_budget_are_an_error() -> None:
    block = remember([ChatMessage(role="system", content=LONG)], budget=50)
    with pytest.raises(InfeasibleTurn):
        asyncio.run(block.aget())


def test_a_wrong_budget_is_an_error_at_once() -> None:
    with pytest.raises(ValidationError):
        MemoptMemoryBlock(budget="many")


def test_a_block_is_cut_unless_told_otherwise() -> None:
    assert MemoptMemoryBlock(budget=1).priority == 1
    assert MemoptMemoryBlock(budget={"window": 9, "reserved": {"a": 1}}).budget.budget == 8


@pytest.mark.parametrize(
    ("blocks", "content"),
    [
        ([TextBlock(text="a"), CachePoint(cache_control={"type": "e"}), TextBlock(text="b")], "a\nb"),
        ([], ""),
        ([TextBlock(text="a"), ImageBlock(url="https://example.org/a.png")], ["text", "image_url"]),
        ([DocumentBlock(data=b"a")], ["document"]),
        ([ThinkingBlock(content="hm"), TextBlock(text="a")], ["reasoning", "text"]),
    ],
)
def test_content_is_counted_by_what_it_is(blocks: list[Any], content: Any) -> None:
    read = chat_dict(ChatMessage(role="assistant", blocks=blocks))["content"]
    assert (read if isinstance(read, str) else [part["type"] for part in read]) == content


def test_an_image_costs_by_its_detail() -> None:
    def image(detail: str | None) -> list[ChatMessage]:
        return [ChatMessage(blocks=[ImageBlock(url="https://example.org/a.png", detail=detail)])]

    assert count(image("low")) + 1_360 == count(image(None)) == count(image("high"))


@pytest.mark.parametrize(
    ("role", "read"), [("chatbot", "assistant"), ("model", "assistant"), ("tool", "tool")]
)
def test_roles_are_those_of_chats(role: str, read: str) -> None:
    assert chat_dict(ChatMessage(role=role, content="a"))["role"] == read


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ({"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}, "c"),
        ({"function": {"name": "look", "arguments": {}}}, "look"),
    ],
)
def test_calls_may_stand_in_additional_kwargs(written: dict[str, Any], name: str) -> None:
    chat = [
        ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [written]}),
        ChatMessage(role="tool", content="ok", additional_kwargs={"tool_call_id": name}),
    ]
    recalled = asyncio.run(remember(chat, budget=1_000).aget())
    assert recalled == chat
    assert recalled.report.diagnostics == ()


@pytest.mark.parametrize(
    "written", ["abc", 5, {"function": 1}, ["abc"], [None], [{"function": "look"}], [{"function": {}}]]
)
def test_calls_that_are_none_are_a_fault_of_the_message(written: Any) -> None:
    asked = ChatMessage(role="assistant", content="a", additional_kwargs={"tool_calls": written})
    with pytest.raises(InvalidMessages, match=r"message 0 has (a tool call 0 |tool_calls )"):
        asyncio.run(remember([asked], budget=1_000).aget())


def test_what_json_cannot_hold_is_counted_and_recalled() -> None:
    odd = {(1, 2): object()}
    call = ToolCallBlock(tool_call_id="c", tool_name="look", tool_kwargs={"at": odd})
    chat = [
        ChatMessage(role="assistant", blocks=[call]),
        ChatMessage(role="tool", content="ok", additional_kwargs={"tool_call_id": "c", "at": odd}),
    ]
    recalled = asyncio.run(remember(chat, budget=1_000).aget())
    assert all(one is other for one, other in zip(recalled, recalled.flushed, strict=True))
    assert recalled.report.tokens_after > 2 * TOKENS.count(str(odd))


def test_the_example_runs() -> None:
    finished = subprocess.run(
        [sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=120, check=False
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith("recalled: ")
    assert "What should I pack?" in finished.stdout
