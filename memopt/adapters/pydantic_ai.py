"""pydantic-ai: a capability, so that what an agent's model is sent is never over the budget.

::

    Agent(model, capabilities=[FitHistory(8000, "o200k")])
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from anyio import to_thread
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.tools import RunContext

from memopt.adapters.pydantic_ai_history import History
from memopt.adapters.requests import Beside, FitsRequests


class FitHistory(FitsRequests[RunContext[Any]], AbstractCapability[Any]):
    """Fits the history before each request to the model; the history of the run stays complete.

    It is a processor of histories, too, for ``ProcessHistory(FitHistory(...))``: then the run goes on
    with what was left, and the schemas of tools are not counted.

    The budget holds for the whole request, counted by the tokenizer: instructions and the schemas of
    tools and output (as JSON) are reserved, the messages get the rest. Name the reply yourself:
    ``budget={"window": 8000, "reserved": {"reply": 1024}}``; a part that you name ``instructions`` or
    ``tools`` has the size you say in place of the counted one.

    A response is sent with the results of all its calls or not at all. Pinned are the newest question,
    system prompts, and what pydantic-ai itself reads again. Results that the model has not seen yet
    shrink after everything else. A message that stays as it is is the very object it was; one that
    shrank is a copy. Reasoning, failures and files never shrink, nor does what comes with them.

    Parameters
    ----------
    budget, tokenizer, utility, ladders, costs
        See `memopt.text.fit.fit`; files cost ``image_url``, ``input_audio``, ``video`` or ``document``.
    session
        A session, or what returns that of a run, by ``ctx.conversation_id`` or the dependencies; None =
        every request by itself. A step of a run is a turn, however often it is tried.
    on_fit
        Told of every fit, from the thread it is made in: ``fitted.report`` has tokens, levels and price.

    Raises
    ------
    InfeasibleTurn
        When the pinned messages of a request need more than what is left of the budget.
    InvalidInstance
        When the reserved parts alone need more than the budget, or the budget or a message is wrong.
    """

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Send what fits; a thread finds it, other tasks go on."""
        tools = _tools(request_context.model_request_parameters)
        messages = await to_thread.run_sync(self._fitted, ctx, request_context.messages, tools)
        return replace(request_context, messages=messages)

    def __call__(self, ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
        """Return what fits of a history."""
        return self._fitted(ctx, messages, "")

    def _fitted(self, ctx: RunContext[Any], messages: list[ModelMessage], tools: str) -> list[ModelMessage]:
        history = History(messages)
        told = [text for each in messages if (text := getattr(each, "instructions", None))]
        beside: dict[str, Beside] = {
            "instructions": [{"role": "system", "content": text} for text in told[-1:]],
            "tools": tools,
        }
        event_id = f"{ctx.run_id}.{ctx.run_step}"
        return history.left(self._fit(ctx, history.chat, beside, history.pinned, event_id).messages)


def _tools(asked: ModelRequestParameters) -> str:
    """Return the schemas of a request as JSON, that of its output included; or nothing."""
    shown = [[tool.name, tool.description, tool.parameters_json_schema] for tool in asked.tool_defs.values()]
    if (output := asked.output_object) is not None:
        shown.append([output.name or "", output.description, output.json_schema])
    return json.dumps(shown, ensure_ascii=False, default=str) if shown else ""
