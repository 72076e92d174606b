"""A real agent's requests stay under the budget, and its history is what it was."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain", reason="the LangChain adapter needs memopt[langchain]")

from chats import WORDS, chats
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.outputs import ChatResult
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, Field

from memopt.adapters.langchain import MemoptMiddleware
from memopt.adapters.langchain_messages import chat_dict, tools_text
from memopt.errors import InvalidInstance
from memopt.session.config import Config
from memopt.session.errors import InfeasibleTurn
from memopt.session.session import Session
from memopt.text.fit import Fitted
from memopt.text.render import count_whole
from memopt.text.tokens import Bytes
from memopt.text.utility import ROLES, RecencyIdfRole

BYTES = Bytes()
SYSTEM = "You are a travel agent. Answer in one sentence."
LONG = "The train to Sils leaves at nine from platform two. " * 4
WISHES = (
    "I like a window towards the lake, my dog hates tunnels, and my sister brings skis. We eat walnuts. "
    "Please book early, travel on Sundays, pay by invoice, and tell the hotel that we arrive at nine."
)
EXAMPLE = Path(__file__).parents[2] / "examples" / "langchain_agent.py"


class Recorder(FakeMessagesListChatModel):
    """A fake model that remembers what it was sent."""

    seen: list[list[BaseMessage]] = Field(default_factory=list)

    def bind_tools(self, tools: Any, **kwargs: Any) -> Recorder:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.seen.append(list(messages))
        return super()._generate(messages, *args, **kwargs)


@tool
def timetable(town: str, size: int) -> str:
    """Look up trains."""
    return " ".join(f"The {hour}:05 to {town} leaves from platform {hour % 7}." for hour in range(size))


def asks(number: int, sizes: list[int]) -> AIMessage:
    calls = [
        {"id": f"c{number}.{at}", "name": "timetable", "args": {"town": "Sils", "size": size}}
        for at, size in enumerate(sizes)
    ]
    return AIMessage(f"I look up {len(sizes)} timetables.", tool_calls=calls, id=f"a{number}")


def run(day: int) -> list[BaseMessage]:
    """Return what the model says on a day: three rounds of calls, parallel ones among them, and an answer."""
    rounds = [[3, 12], [30], [1, 2, 9]]
    answer = AIMessage("The 6:05.", id=f"answer{day}")
    return [*(asks(10 * day + number, sizes) for number, sizes in enumerate(rounds)), answer]


QUESTIONS = [HumanMessage(f"Which is the best train to Sils on day {day}?", id=f"q{day}") for day in range(3)]


FIRST, SECOND = asks(0, [3, 12]), asks(1, [30])


def model() -> Recorder:
    return Recorder(responses=[message for day in range(3) for message in run(day)])


def talk(agent: Any, is_async: bool = False, thread: str = "one") -> list[AnyMessage]:
    """Ask every question in turn; return the whole history."""
    history: list[AnyMessage] = []
    for question in QUESTIONS:
        asked = {"messages": [*history, question.model_copy()]}
        config = {"configurable": {"thread_id": thread}}
        told = asyncio.run(agent.ainvoke(asked, config)) if is_async else agent.invoke(asked, config)
        history = told["messages"]
    return history


def results(message: AIMessage) -> list[ToolMessage]:
    return [
        ToolMessage(timetable.invoke(call["args"]), tool_call_id=call["id"], id=f"r{call['id']}")
        for call in message.tool_calls
    ]


def tokens(messages: list[Any], tools: list[BaseTool], response_format: Any = None) -> int:
    return count_whole(list(map(chat_dict, messages)), BYTES) + BYTES.count(
        tools_text(tools, response_format)
    )


def whole_groups(sent: list[Any]) -> bool:
    """Whether every call is sent with exactly its results."""
    calls = {call["id"] for message in sent if isinstance(message, AIMessage) for call in message.tool_calls}
    return calls == {message.tool_call_id for message in sent if isinstance(message, ToolMessage)}


def said(messages: list[Any]) -> list[tuple[str, Any]]:
    return [(message.type, message.content) for message in messages]


def request(*messages: Any, **others: Any) -> ModelRequest[Any]:
    return ModelRequest(model=model(), messages=list(messages), **others)


@pytest.mark.parametrize("is_async", [False, True])
def test_an_agents_requests_are_under_the_budget_and_its_history_is_untouched(is_async: bool) -> None:
    recorder, budget = model(), 2_000
    reports: list[Fitted] = []
    agent = create_agent(
        recorder,
        [timetable],
        system_prompt=SYSTEM,
        middleware=[MemoptMiddleware(budget, on_fit=reports.append)],
    )
    history = talk(agent, is_async)
    assert len(recorder.seen) == len(reports) == 12
    assert max(fitted.report.tokens_before for fitted in reports) > 3 * budget
    for sent, fitted in zip(recorder.seen, reports, strict=True):
        assert tokens(sent, [timetable]) <= budget
        assert sent[0].content == SYSTEM
        assert whole_groups(sent)
        assert len(sent) - 1 == len(fitted.messages)
    unfitted = talk(create_agent(model(), [timetable], system_prompt=SYSTEM))
    assert said(history) == said(unfitted)


def test_what_fits_is_sent_as_the_very_objects() -> None:
    messages = [*QUESTIONS[:1], FIRST, *results(FIRST)]
    fitted = MemoptMiddleware(100_000).fitted(request(*messages))
    assert len(fitted.messages) == 4
    assert all(sent is given for sent, given in zip(fitted.messages, messages, strict=True))


def test_what_shrinks_is_a_copy_with_another_text_and_nothing_else_changed() -> None:
    messages = [QUESTIONS[0], SECOND, *results(SECOND), AIMessage("The 6:05.", id="a"), QUESTIONS[1]]
    before = [message.model_copy(deep=True) for message in messages]
    sent = MemoptMiddleware(700).fitted(request(*messages)).messages
    assert messages == before
    by_id = {message.id: message for message in sent}
    assert by_id["rc1.0"] is not messages[2]
    assert 0 < len(by_id["rc1.0"].content) < len(messages[2].content)
    assert by_id["rc1.0"].model_copy(update={"content": messages[2].content}) == messages[2]
    assert by_id["q1"] is messages[-1]


def test_results_not_seen_yet_stay_where_what_is_worth_more_shrinks() -> None:
    wishes = HumanMessage(WISHES, id="wishes")
    messages = [wishes, AIMessage("Noted.", id="noted"), QUESTIONS[0], asks(9, [12]), *results(asks(9, [12]))]
    utility = RecencyIdfRole({**ROLES, "tool": 0.01})
    middleware = MemoptMiddleware(tokens(messages, []) - 100, utility=utility)
    sent = middleware.fitted(request(*messages)).messages
    assert [message.id for message in sent if message not in messages] == ["wishes"]
    assert sent[-1] is messages[-1]


def test_a_result_larger_than_the_budget_shrinks() -> None:
    messages = [QUESTIONS[0], asks(9, [90]), *results(asks(9, [90]))]
    sent = MemoptMiddleware(900).fitted(request(*messages)).messages
    assert len(messages[-1].content) > 3_000
    assert tokens(sent, []) <= 900
    assert whole_groups(sent)
    assert [message.id for message in sent] == [message.id for message in messages]


def test_the_newest_question_too_large_for_the_budget_is_an_error() -> None:
    agent = create_agent(model(), [timetable], middleware=[MemoptMiddleware(500)])
    with pytest.raises(InfeasibleTurn):
        agent.invoke({"messages": [HumanMessage("Which train? " * 90)]})


def test_a_system_prompt_larger_than_the_budget_is_an_error() -> None:
    asked = request(QUESTIONS[0], system_message=SystemMessage(SYSTEM * 20))
    with pytest.raises(InvalidInstance, match="budget"):
        MemoptMiddleware(500).fitted(asked)


def test_a_wrong_budget_is_an_error_at_once() -> None:
    with pytest.raises(InvalidInstance):
        MemoptMiddleware(-1)


class Train(BaseModel):
    """A train."""

    time: str
    platform: int


def test_what_is_sent_beside_the_messages_is_reserved() -> None:
    budgets: list[int] = []
    middleware = MemoptMiddleware(5_000, on_fit=lambda fitted: budgets.append(fitted.report.budget))
    system = SystemMessage(SYSTEM)
    for others in (
        {},
        {"system_message": system},
        {"tools": [timetable, {"type": "web_search"}]},
        {"response_format": ToolStrategy(Train)},
        {"response_format": ProviderStrategy(Train)},
        {"response_format": AutoStrategy(Train)},
        {"response_format": Train},
    ):
        middleware.fitted(request(QUESTIONS[0], **others))
    assert budgets[0] == 5_000
    assert budgets[1] == 5_000 - count_whole([{"role": "system", "content": SYSTEM}], BYTES)
    assert budgets[2] == 5_000 - BYTES.count(tools_text([timetable, {"type": "web_search"}], None))
    assert '"name": "timetable"' in tools_text([timetable], None)
    assert set(budgets[3:]) == {5_000 - BYTES.count(tools_text([], Train))}
    assert "platform" in tools_text([], Train)


def test_a_reserved_part_that_is_named_is_not_counted() -> None:
    found: list[Fitted] = []
    middleware = MemoptMiddleware(
        {"window": 5_000, "reserved": {"reply": 1_000, "tools": 500}}, on_fit=found.append
    )
    middleware.fitted(request(QUESTIONS[0], tools=[timetable]))
    assert found[0].report.budget == 3_500


def test_in_a_session_levels_only_fall_and_turns_count() -> None:
    session = Session(Config(gain=1.0))
    messages = [QUESTIONS[0], SECOND, *results(SECOND), AIMessage("The 6:05.", id="a"), QUESTIONS[1]]
    small = MemoptMiddleware(700, session=session).fitted(request(*messages)).messages
    again = MemoptMiddleware(9_000, session=session).fitted(request(*messages)).messages
    assert said(again) == said(small)
    assert session.state.queue.turns == 2


def test_every_thread_has_its_own_session() -> None:
    sessions: dict[str | None, Session] = {}

    def session(runtime: Any) -> Session:
        return sessions.setdefault(runtime.execution_info.thread_id, Session(Config(gain=1.0)))

    agent = create_agent(
        model(),
        [timetable],
        middleware=[MemoptMiddleware(2_000, session=session)],
        checkpointer=InMemorySaver(),
    )
    for thread in ("one", "two", "two"):
        agent.invoke({"messages": [QUESTIONS[0].content]}, {"configurable": {"thread_id": thread}})
    assert {name: each.state.queue.turns for name, each in sessions.items()} == {"one": 4, "two": 8}


def test_messages_without_an_id_and_with_the_same_one_are_told_apart() -> None:
    twice = HumanMessage("Hello there.", id="same")
    messages = [HumanMessage("Hello."), twice, AIMessage("Yes?"), twice, HumanMessage("Hello.")]
    sent = MemoptMiddleware(1_000).fitted(request(*messages)).messages
    assert all(one is other for one, other in zip(sent, messages, strict=True))


def test_a_message_without_an_id_is_the_same_in_the_next_turn_wherever_it_stands() -> None:
    session = Session(Config(gain=0.0))
    old = [HumanMessage(f"I like the window. {LONG}"), AIMessage("Noted."), HumanMessage("And now?")]
    small = MemoptMiddleware(150, session=session).fitted(request(*old)).messages
    note = HumanMessage(f"I like the aisle. {LONG}")
    large = MemoptMiddleware(2_000, session=session).fitted(request(note, *old)).messages
    assert large[0] is note
    assert said(large[1:]) == said(small)
    assert small[0] is not old[0]


def test_a_request_without_messages_is_sent() -> None:
    assert MemoptMiddleware(100).fitted(request()).messages == []


IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
LOW = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}


@pytest.mark.parametrize(
    ("content", "types"),
    [
        ([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, "b"], "a\nb"),
        (["look", IMAGE], ["text", "image_url"]),
        ([{"type": "image", "base64": "AAAA", "mime_type": "image/png"}], ["image_url"]),
        ([{"type": "audio", "base64": "AAAA", "mime_type": "audio/wav"}], ["input_audio"]),
        (
            [{"type": "reasoning", "summary": [], "id": "r"}, {"type": "text", "text": "a"}],
            ["reasoning", "text"],
        ),
        ([{"type": "thinking", "thinking": "hm", "signature": "s"}], ["output_text"]),
        ([{"type": "citations", "list": [1]}], ["output_text"]),
        ([], ""),
    ],
)
def test_content_is_counted_by_what_it_is(content: list[Any], types: Any) -> None:
    read = chat_dict(AIMessage(content))["content"]
    assert read == chat_dict(AIMessage(content))["content"]
    assert (read if isinstance(read, str) else [part["type"] for part in read]) == types


def test_an_image_of_low_detail_costs_less() -> None:
    assert count_whole([chat_dict(HumanMessage([IMAGE]))], BYTES) > 1_445
    assert count_whole([chat_dict(HumanMessage([LOW]))], BYTES) < 200


@pytest.mark.parametrize(
    "message",
    [
        AIMessage([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": LONG}]),
        HumanMessage([{"type": "text", "text": LONG}, LOW]),
    ],
)
def test_content_that_is_more_than_text_is_never_changed(message: BaseMessage) -> None:
    whole = tokens([message, QUESTIONS[0]], [])
    assert MemoptMiddleware(whole - 1).fitted(request(message, QUESTIONS[0])).messages == [QUESTIONS[0]]
    assert MemoptMiddleware(whole).fitted(request(message, QUESTIONS[0])).messages == [message, QUESTIONS[0]]


def test_calls_in_content_are_counted_once() -> None:
    call = {"id": "1", "name": "timetable", "args": {"town": "Sils"}}
    block = {"type": "tool_use", "id": "1", "name": "timetable", "input": {"town": "Sils"}}
    anthropic = AIMessage(
        [{"type": "text", "text": "I look."}, block],
        tool_calls=[call],
        response_metadata={"model_provider": "anthropic"},
    )
    assert chat_dict(anthropic) == chat_dict(AIMessage("I look.", tool_calls=[call]))


def test_invalid_calls_go_with_the_results_that_say_so() -> None:
    wrong = {"type": "invalid_tool_call", "id": "w", "name": "timetable", "args": "{town", "error": "no JSON"}
    answers = [AIMessage("", invalid_tool_calls=[wrong]), AIMessage("I could not.")]
    recorder = Recorder(responses=answers)
    agent = create_agent(recorder, [timetable], middleware=[MemoptMiddleware(1_000)])
    history = agent.invoke({"messages": [QUESTIONS[0]]})["messages"]
    agent.invoke({"messages": [*history, QUESTIONS[1]]})
    assert [message.type for message in recorder.seen[-1]][1:3] == ["ai", "tool"]


@pytest.mark.parametrize("kind", ["tool_calls", "invalid_tool_calls"])
def test_a_call_without_an_id_is_counted_and_has_no_result(kind: str) -> None:
    valid = kind == "tool_calls"
    call = {
        "id": None,
        "name": "timetable",
        "args": {"town": "Sils"} if valid else "{town",
        "error": "no JSON",
    }
    asked = AIMessage(
        "", **{kind: [call if not valid else {key: call[key] for key in ("id", "name", "args")}]}
    )
    messages = [QUESTIONS[0], asked, QUESTIONS[1]]
    middleware = MemoptMiddleware(1_000)
    sent = middleware.fitted(request(*messages)).messages
    assert all(one is other for one, other in zip(sent, messages, strict=True))
    assert BYTES.count("timetable town") < tokens([asked], []) - tokens([AIMessage("")], [])
    assert middleware.fitted(request(*messages, asks(9, [1]), *results(asks(9, [1])))).messages


def test_what_json_cannot_hold_is_counted_and_sent_as_it_is() -> None:
    odd: dict[Any, Any] = {(1, 2): object()}
    odd["self"] = odd
    call = {"id": "c", "name": "timetable", "args": {"at": odd}}
    block = {"type": "image", "url": "https://example.org/a.png", "extras": {"at": odd}}
    messages = [
        HumanMessage([{"type": "own", "at": odd}, block], additional_kwargs={"at": odd}),
        AIMessage("", tool_calls=[call]),
        ToolMessage("ok", tool_call_id="c"),
        QUESTIONS[1],
    ]
    sent = MemoptMiddleware(5_000).fitted(request(*messages)).messages
    assert all(one is other for one, other in zip(sent, messages, strict=True))


def test_what_else_a_provider_may_be_sent_is_counted() -> None:
    message = AIMessage("a", additional_kwargs={"reasoning_content": "hm " * 50, "refusal": None})
    assert chat_dict(message)["reasoning_content"] == "hm " * 50
    assert "refusal" not in chat_dict(message)


@settings(max_examples=100, deadline=None)
@given(chats(), st.integers(0, 1_000))
def test_no_chat_is_over_the_budget_or_split(chat: list[dict[str, Any]], budget: int) -> None:
    messages = convert_to_messages([encodable(message) for message in chat])
    try:
        sent = MemoptMiddleware(budget, WORDS).fitted(request(*messages)).messages
    except InfeasibleTurn:
        return
    assert count_whole(list(map(chat_dict, sent)), WORDS) <= budget
    given_ids = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    calls = {call["id"] for message in sent if isinstance(message, AIMessage) for call in message.tool_calls}
    found = {message.tool_call_id for message in sent if isinstance(message, ToolMessage)}
    assert calls & given_ids == found


def encodable(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without half surrogate pairs, which LangChain's models refuse."""
    made = dict(message)
    if isinstance(made["content"], str):
        made["content"] = made["content"].encode("utf-8", "replace").decode()
    elif made["content"]:
        made["content"] = [
            {**part, "text": part["text"].encode("utf-8", "replace").decode()} for part in made["content"]
        ]
    return made


def test_the_example_runs() -> None:
    finished = subprocess.run(
        [sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=120, check=False
    )
    assert finished.returncode == 0, finished.stderr
    assert "12 messages in the history, all as they were" in finished.stdout


def test_memopt_alone_loads_no_framework() -> None:
    code = (
        "import sys, memopt, memopt.text.fit, memopt.session.session, memopt.adapters;"
        "print([name for name in ('langchain', 'langchain_core', 'langgraph', 'llama_index')"
        " if name in sys.modules])"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.stdout == "[]\n", finished.stderr
