"""LlamaIndex: a memory block of what its chat history had no room for, at the best levels that fit.

::

    Memory.from_defaults(token_limit=8000, memory_blocks=[MemoptMemoryBlock(budget=2000)])
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer

from memopt.adapters.llamaindex_messages import chat_dict, with_text
from memopt.adapters.objects import kept, named
from memopt.instance import Budget, Window
from memopt.session.errors import InfeasibleTurn
from memopt.text.content import COSTS
from memopt.text.fit import Report, fit
from memopt.text.ladders import Ladder, Ladders, default_ladders
from memopt.text.render import count_whole
from memopt.text.tokens import TokenCounter, counter
from memopt.text.utility import RecencyIdfRole, Utility

_ANSWER = {"role": "assistant", "content": ""}
"""Stands for all that came after what was flushed, so that nothing of that waits for an answer."""


def llama_index(text: str) -> int:
    """Return the tokens of a text by LlamaIndex's own tokenizer, which its `Memory` counts by."""
    return len(get_tokenizer()(text))


class Recalled(list[ChatMessage]):
    """What a block recalls.

    Attributes
    ----------
    flushed
        The messages it was chosen from.
    report
        What was done.
    """

    def __init__(
        self, messages: Sequence[ChatMessage], flushed: Sequence[ChatMessage], report: Report
    ) -> None:
        super().__init__(messages)
        self.flushed, self.report = flushed, report


class MemoptMemoryBlock(BaseMemoryBlock[list[ChatMessage]]):
    """Recalls the messages that a `Memory` flushed from its chat history: exact, and in a budget.

    They come in their order and roles, before the chat history, each as it was, as a summary,
    abstraction or keywords, or not at all; a tool call with all its results. `atruncate` solves the whole
    choice again for the smaller budget.

    What the interface of memory blocks allows, and what not:

    - A `Memory` cuts no block of priority 0, whatever its limit: this one has 1 unless told otherwise.
      It does not cut its chat history for a block: a history over the limit stays over it.
    - It asks for tokens off as it counts them: texts and ``additional_kwargs``, not roles, not tool
      calls. `atruncate` cuts until that count is met, so give the block the tokenizer of the `Memory`.
    - It asks for a block's content whenever somebody looks, before it says how much of it fits: there is
      nothing to be called a turn. So a block takes no `Session`, and a level can rise again.
    - It tells a block nothing of earlier processes. What they archived is put by
      ``await block.aput(await memory.aget_all(MessageStatus.ARCHIVED), session_id=memory.session_id)``.

    Parameters
    ----------
    budget
        Tokens of all it recalls, counted as sent: roles and tool calls included.
    tokenizer
        See `memopt.text.fit.fit`; by default that of a `Memory` without one of its own.
    utility, ladders, costs
        See `memopt.text.fit.fit`. Video and documents are charged what a `Memory` charges.

    Raises
    ------
    InfeasibleTurn
        By `aget`, when system messages and calls without a result need more.
    """

    name: str = "memopt"
    priority: int = 1
    budget: int | Window
    tokenizer: str | Callable[[str], int] | TokenCounter = Field(default=llama_index, exclude=True)
    utility: Utility | None = Field(default=None, exclude=True)
    ladders: Ladders = Field(default=default_ladders, exclude=True)
    costs: dict[str, int] = Field(default={**COSTS, "video": 256, "document": 2048})
    _counter: TokenCounter = PrivateAttr()
    _flushed: dict[str | None, list[ChatMessage]] = PrivateAttr(default_factory=dict)

    def model_post_init(self, context: Any) -> None:
        """Load the tokenizer once."""
        super().model_post_init(context)
        self._counter = counter(self.tokenizer)

    async def atruncate(
        self, content: list[ChatMessage], tokens_to_truncate: int
    ) -> list[ChatMessage] | None:
        """Return what is recalled in at least so many tokens less, by the count of a `Memory`.

        Returns
        -------
        Recalled or None
            None when nothing is left, or when what must stay needs more.
        """
        return await asyncio.to_thread(self._without, content, tokens_to_truncate)

    async def _aget(
        self, messages: list[ChatMessage] | None = None, **block_kwargs: Any
    ) -> list[ChatMessage]:
        flushed = tuple(self._flushed.get(block_kwargs.get("session_id"), ()))
        return await asyncio.to_thread(self._recall, flushed, self.budget)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            # LlamaIndex leaves the session's id here, where a provider would be sent it.
            beside = dict(message.additional_kwargs)
            session = beside.pop("session_id", None)
            put = message.model_copy(update={"additional_kwargs": beside})
            self._flushed.setdefault(session, []).append(put)

    def _recall(self, flushed: Sequence[ChatMessage], budget: Budget) -> Recalled:
        chat = named([chat_dict(message) for message in flushed])
        waits = chat and chat[-1]["role"] != "assistant"
        fitted = fit(
            [*chat, _ANSWER] if waits else chat, budget, self._counter,
            utility=_before_the_answer(self.utility or RecencyIdfRole()) if waits else self.utility,
            ladders=self.ladders, costs=self.costs,
        )  # fmt: skip
        report = self._of(chat, fitted.report) if waits else fitted.report
        return Recalled(kept(flushed, chat, fitted.messages, with_text), flushed, report)

    def _of(self, chat: Sequence[Mapping[str, Any]], report: Report) -> Report:
        """Return a report without the answer that was put after a chat."""
        rows = report.rows[: len(chat)]
        counts = dict(Counter(row.level for row in rows))
        before = count_whole(chat, self._counter, self.costs)
        return replace(report, rows=rows, counts=counts, tokens_before=before)

    def _without(self, content: Sequence[ChatMessage], tokens: int) -> Recalled | None:
        allowed = self._estimate(content) - tokens
        if allowed <= 0:
            return None
        try:
            return self._within(content, allowed)
        except InfeasibleTurn:
            return None

    def _within(self, content: Sequence[ChatMessage], allowed: int) -> Recalled | None:
        held = content if isinstance(content, Recalled) else self._recall(content, self.budget)
        rounds = 0
        while held and (over := self._estimate(held) - allowed) > 0:
            budget = held.report.tokens_after - (over << rounds)
            held = self._recall(held.flushed, max(budget, 0))
            rounds += 1
        return held or None

    def _estimate(self, messages: Sequence[ChatMessage]) -> int:
        """Return what a `Memory` counts of texts; what it takes images and files for is not cut off."""
        texts = [block.text for each in messages for block in each.blocks if isinstance(block, TextBlock)]
        texts += [str(each.additional_kwargs) for each in messages if each.additional_kwargs]
        return sum(map(self._counter.count, texts))


def _before_the_answer(utility: Utility) -> Utility:
    """Return a utility to which the last message, `_ANSWER`, is worth nothing: it is never chosen."""

    def before(ladders: Sequence[Ladder]) -> Sequence[Mapping[str, float]]:
        return [*utility(ladders)[:-1], dict.fromkeys(ladders[-1].texts, 0.0)]

    return before
