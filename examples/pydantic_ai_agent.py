"""A pydantic-ai agent whose requests stay under 900 tokens, whatever its tools print; no network.

Run: python examples/pydantic_ai_agent.py (needs ``memopt[pydantic-ai]``)
"""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from memopt.adapters.pydantic_ai import FitHistory
from memopt.text.fit import Fitted

BUDGET = 900


def fake_model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Ask for the timetable, then answer; a real model is named, as ``"openai:gpt-5"``."""
    last = messages[-1].parts[-1]
    if isinstance(last, UserPromptPart):
        return ModelResponse([ToolCallPart("timetable", {"town": str(last.content).split()[-1]})])
    return ModelResponse([TextPart("At 6:05.")])


def timetable(town: str) -> str:
    """Look up the trains to a town."""
    trains = [f"The {hour}:05 to {town} leaves from platform {hour % 5 + 1}." for hour in range(6, 22)]
    return " ".join(trains)


def show(fitted: Fitted) -> None:
    """Print what was sent of the history."""
    report = fitted.report
    levels = ", ".join(f"{count} {level}" for level, count in report.counts.items())
    print(f"{report.tokens_before:5} -> {report.tokens_after:4} tokens ({report.tokenizer}): {levels}")


def main() -> None:
    """Ask for three towns, one after the other."""
    agent = Agent(
        FunctionModel(fake_model),
        instructions="You are a travel agent.",
        tools=[timetable],
        capabilities=[FitHistory(BUDGET, on_fit=show)],
    )
    history: list[ModelMessage] = []
    for town in ("Sils", "Scuol", "Chur"):
        done = agent.run_sync(f"When does the first train leave to {town}", message_history=history)
        history = done.all_messages()
    print(f"{len(history)} messages in the history, all as they were")


if __name__ == "__main__":
    main()
