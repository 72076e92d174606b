"""LangChain: a middleware, so that what an agent's model is sent is never over the budget.

::

    create_agent(model, tools, middleware=[MemoptMiddleware(budget=8000, tokenizer="o200k")])
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langgraph.runtime import Runtime

from memopt.adapters.langchain_messages import chat_dict, tools_text, with_text
from memopt.adapters.objects import kept, named, newest_question
from memopt.instance import Instance, Window
from memopt.session.session import Session
from memopt.text.content import COSTS
from memopt.text.fit import Budget, Fitted, fit
from memopt.text.ladders import Ladders, default_ladders
from memopt.text.render import count_whole
from memopt.text.tokens import TokenCounter, counter
from memopt.text.utility import Utility

Sessions = Session | Callable[[Runtime[Any]], Session]
"""A session, or what returns that of a run: an agent with a checkpointer has a conversation a thread.

One session a thread, in a database::

    def session(runtime):
        return Session(Config(gain=2.0), store.session(runtime.execution_info.thread_id))
"""


class MemoptMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
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
        See `Sessions`; None = every request by itself. A request is a turn, a repeated one another: put
        a middleware that retries after this one.
    on_fit
        Told of every fit, from the thread it is made in: ``fitted.report`` has tokens, levels and price.

    Raises
    ------
    InfeasibleTurn
        By a request whose pinned messages need more than what is left of the budget.
    InvalidInstance
        When the reserved parts alone need more than the budget; by a wrong budget or message.
    """

    def __init__(
        self,
        budget: Budget,
        tokenizer: str | Callable[[str], int] | TokenCounter = "bytes",
        session: Sessions | None = None,
        utility: Utility | None = None,
        *,
        ladders: Ladders = default_ladders,
        costs: Mapping[str, int] = COSTS,
        on_fit: Callable[[Fitted], None] | None = None,
    ) -> None:
        super().__init__()
        asked = Instance.model_validate({"budget": budget, "items": []}).budget
        self._window = Window(window=asked) if isinstance(asked, int) else asked
        self._counter = counter(tokenizer)
        self._session, self._utility, self._on_fit = session, utility, on_fit
        self._ladders, self._costs = ladders, costs

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
        session = self._session(request.runtime) if callable(self._session) else self._session
        fitted = fit(
            chat, self._left(request), self._counter, session, self._utility,
            ladders=self._ladders, pinned=newest_question(chat), costs=self._costs,
        )  # fmt: skip
        if self._on_fit is not None:
            self._on_fit(fitted)
        return request.override(messages=kept(request.messages, chat, fitted.messages, with_text))

    def _left(self, request: ModelRequest[Any]) -> Window:
        """Return the budget with all that is sent beside the messages among its reserved parts."""
        system = [] if request.system_message is None else [chat_dict(request.system_message)]
        counted = {
            "system": count_whole(system, self._counter, self._costs),
            "tools": self._counter.count(tools_text(request.tools, request.response_format)),
        }
        return self._window.model_copy(update={"reserved": {**counted, **self._window.reserved}})
