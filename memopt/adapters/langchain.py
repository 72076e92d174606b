"""LangChain: a middleware, so that what an agent's model is sent is never over the budget.

::

    create_agent(model, tools, middleware=[MemoptMiddleware(budget=8000, tokenizer="o200k")])
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langgraph.runtime import Runtime

from memopt.adapters.langchain_messages import chat_dict, tools_text, with_text
from memopt.adapters.objects import kept, named, newest_question
from memopt.adapters.requests import Beside, FitsRequests


class MemoptMiddleware(FitsRequests[Runtime[Any]], AgentMiddleware[AgentState[Any], Any, Any]):
    """Fits the messages of each request to the model; the agent's stored history stays complete.

    The budget holds for the whole request, counted by the tokenizer: the system prompt and the schemas
    of tools and structured response (as JSON) are reserved, the messages get the rest. Name the reply
    yourself: ``budget={"window": 8000, "reserved": {"reply": 1024}}``; a part that you name ``system``
    or ``tools`` has the size you say in place of the counted one.

    A tool call is sent with all its results or not at all. The newest question is pinned, and so are
    system messages and calls that wait for a result. Results that the model has not seen yet are never
    deleted, and shrink after everything else unless a utility of yours says otherwise. A message that
    stays as it is is the very object it was; one that shrank is a copy with another text.

    Parameters
    ----------
    budget, tokenizer, utility, ladders, costs
        See `memopt.text.fit.fit`.
    session
        A session, or what returns that of a run; None = every request by itself. A request is a turn, a
        repeated one another: put a middleware that retries after this one. An agent with a checkpointer
        has a conversation a thread; one session a thread, in a database::

            def session(runtime):
                return Session(Config(gain=2.0), store.session(runtime.execution_info.thread_id))
    on_fit
        Told of every fit, from the thread it is made in: ``fitted.report`` has tokens, levels and price.

    Raises
    ------
    InfeasibleTurn
        When the pinned messages of a request need more than what is left of the budget.
    InvalidInstance
        When the reserved parts alone need more than the budget, or the budget or a message is wrong.
    """

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Send what fits."""
        return handler(self.fitted(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Send what fits; a thread finds it, other tasks go on."""
        return await handler(await asyncio.to_thread(self.fitted, request))

    def fitted(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return a request with the messages that fit."""
        chat = named([chat_dict(message) for message in request.messages])
        beside: dict[str, Beside] = {
            "system": [] if request.system_message is None else [chat_dict(request.system_message)],
            "tools": tools_text(request.tools, request.response_format),
        }
        fitted = self._fit(request.runtime, chat, beside, newest_question(chat))
        return request.override(messages=kept(request.messages, chat, fitted.messages, with_text))
