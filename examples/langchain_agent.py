"""A LangChain agent whose requests stay under 1,600 tokens, whatever its tools print; no network.

Run: python examples/langchain_agent.py (needs ``memopt[langchain]``)
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from memopt.adapters.langchain import MemoptMiddleware
from memopt.text.fit import Fitted

BUDGET = 1_600


class FakeModel(FakeMessagesListChatModel):
    """Answers from a list; a real one is ``init_chat_model("...")``."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> FakeModel:
        """Return itself: its calls are in the list."""
        return self


@tool
def timetable(town: str) -> str:
    """Look up the trains to a town."""
    trains = [f"The {hour}:05 to {town} leaves from platform {hour % 5 + 1}." for hour in range(6, 22)]
    return " ".join(trains)


def call(number: int, town: str) -> AIMessage:
    """Return what a model says that wants the timetable of a town."""
    wanted = {"id": f"call-{number}", "name": "timetable", "args": {"town": town}}
    return AIMessage("", tool_calls=[wanted])


def show(fitted: Fitted) -> None:
    """Print what was sent of the history."""
    report = fitted.report
    levels = ", ".join(f"{count} {level}" for level, count in report.counts.items())
    print(f"{report.tokens_before:5} -> {report.tokens_after:4} tokens ({report.tokenizer}): {levels}")


def main() -> None:
    """Ask for three towns, one after the other."""
    towns = ["Sils", "Scuol", "Chur"]
    answers = [each for n, town in enumerate(towns) for each in (call(n, town), AIMessage(f"{town}: 6:05."))]
    middleware = MemoptMiddleware(BUDGET, on_fit=show)
    agent = create_agent(
        FakeModel(responses=answers),
        [timetable],
        system_prompt="You are a travel agent.",
        middleware=[middleware],
    )
    history: list[Any] = []
    for town in towns:
        asked = {"role": "user", "content": f"When does the first train to {town} leave?"}
        history = agent.invoke({"messages": [*history, asked]})["messages"]
    print(f"{len(history)} messages in the history, all as they were")


if __name__ == "__main__":
    main()
