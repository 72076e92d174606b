from __future__ import annotations

import copy
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs memopt[pydantic-ai]")

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    DocumentUrl,
    ImageUrl,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from memopt.adapters.pydantic_ai import FitHistory
from memopt.adapters.pydantic_ai_history import History
from memopt.adapters.pydantic_ai_parts import dicts
from memopt.session.config import Config
from memopt.session.errors import InfeasibleTurn
from memopt.session.events import TurnEvent
from memopt.session.session import Session
from memopt.text.content import COSTS
from memopt.text.errors import InvalidMessages
from memopt.text.render import count_whole
from memopt.text.tokens import counter

O200K = counter("o200k")
BUDGET = 1_200
STEPS = 6


class Reader:
    """A fake model that reads pages two at a time, and keeps what it was sent."""

    def __init__(self) -> None:
        self.sent: list[list[Any]] = []
        self.infos: list[AgentInfo] = []

    def __call__(self, messages: list[Any], info: AgentInfo) -> ModelResponse:
        self.sent.append(list(messages))
        self.infos.append(info)
        step = len(self.sent)
        if step > STEPS:
            return ModelResponse([TextPart("That was all of it.")])
        said = TextPart(f"Step {step}: pages {step} and {step + 100} should say more about the pears.")
        calls = [ToolCallPart("page", {"number": number}, f"c{number}") for number in (step, step + 100)]
        return ModelResponse([said, *calls])


def page(number: int) -> str:
    """Return a page of the book."""
    return " ".join(
        f"Page {number}, line {line}: apple {line * number} fell on a pear." for line in range(15)
    )


def run(*capabilities: Any, **more: Any) -> tuple[Reader, Any]:
    reader = Reader()
    agent = Agent(
        FunctionModel(reader), instructions="Read with care.", tools=[page], capabilities=capabilities
    )
    return reader, agent.run_sync("Read the whole book and tell me of the pears.", **more)


def recounted(messages: list[Any], info: AgentInfo) -> int:
    """Count a request by itself: messages, instructions and the schemas of tools."""
    chat = [given for message in messages for _, given in dicts(message)]
    system = [{"role": "system", "content": info.instructions}] if info.instructions else []
    tools = [[tool.name, tool.description, tool.parameters_json_schema] for tool in info.function_tools]
    schemas = json.dumps(tools, ensure_ascii=False) if tools else ""
    return count_whole([*system, *chat], O200K) + O200K.count(schemas)


def context(run_id: str) -> Any:
    """Return all that is read of a run's context."""
    return SimpleNamespace(run_id=run_id, run_step=1)


def told(messages: list[Any]) -> list[list[Any]]:
    """Return what messages say, without the times."""
    return [
        [
            part.args if isinstance(part, ToolCallPart) else getattr(part, "content", None)
            for part in message.parts
        ]
        for message in messages
    ]


def ids(messages: list[Any], kind: type) -> list[str]:
    return [part.tool_call_id for each in messages for part in each.parts if isinstance(part, kind)]


def test_every_request_of_a_loop_fits_as_counted_anew_and_no_call_is_split() -> None:
    reader, done = run(FitHistory(BUDGET, O200K))
    free, _ = run()
    assert done.output == "That was all of it."
    assert recounted(free.sent[-1], free.infos[-1]) > 2 * BUDGET
    sizes = [recounted(*request) for request in zip(reader.sent, reader.infos, strict=True)]
    assert len(sizes) == STEPS + 1
    assert max(sizes) <= BUDGET
    assert max(sizes) > BUDGET // 2
    for messages in reader.sent:
        assert ids(messages, ToolCallPart) == ids(messages, ToolReturnPart)
        assert isinstance(messages[-1], ModelRequest)
        assert told(messages[:1]) == [["Read the whole book and tell me of the pears."]]


def test_the_history_of_the_run_stays_complete() -> None:
    _, done = run(FitHistory(BUDGET, O200K))
    _, free = run()
    assert told(done.all_messages()) == told(free.all_messages())


def test_a_history_that_is_handed_in_is_not_changed() -> None:
    _, before = run()
    history = before.all_messages()
    copied = copy.deepcopy(history)
    reader, done = run(FitHistory(BUDGET, O200K), message_history=history)
    assert history == copied
    assert done.all_messages()[: len(history)] == copied
    assert max(recounted(*request) for request in zip(reader.sent, reader.infos, strict=True)) <= BUDGET


def test_as_a_processor_of_histories_the_run_goes_on_with_what_was_left() -> None:
    budget = BUDGET * 3 // 4
    reader, done = run(ProcessHistory(FitHistory(budget, O200K)))
    assert len(done.all_messages()) < 2 * (STEPS + 1)
    for messages, info in zip(reader.sent, reader.infos, strict=True):
        bare = AgentInfo(**{**info.__dict__, "function_tools": []})
        assert recounted(messages, bare) <= budget
        assert ids(messages, ToolCallPart) == ids(messages, ToolReturnPart)


def test_a_result_larger_than_the_budget_shrinks_before_the_model_sees_it() -> None:
    def book() -> str:
        """Return the book."""
        return "\n".join(map(page, range(40)))

    fits = []
    agent = Agent(TestModel(), tools=[book], capabilities=[FitHistory(BUDGET, O200K, on_fit=fits.append)])
    agent.run_sync("What does the book say?")
    (result,) = [row for row in fits[-1].report.rows if row.role == "tool"]
    assert result.tokens_before > BUDGET
    assert 0 < result.tokens < BUDGET


def test_pins_over_the_budget_are_an_error_that_says_so() -> None:
    agent = Agent(TestModel(), capabilities=[FitHistory(100, O200K)])
    with pytest.raises(InfeasibleTurn, match="pinned"):
        agent.run_sync("pear apple " * 300)


def test_a_step_of_a_run_is_a_turn_of_its_session_and_levels_only_fall() -> None:
    session = Session(Config(gain=1.0))
    run(FitHistory(BUDGET, O200K, lambda ctx: session))
    turns = [record.event for record in session.events() if isinstance(record.event, TurnEvent)]
    assert [event.id.partition(".")[2] for event in turns] == [str(step) for step in range(1, STEPS + 2)]
    rank = {level: n for n, level in enumerate((*session.state.config.ladder, "delete"))}
    for before, after in pairwise(turns):
        for item, level in after.choices.items():
            assert rank[level] >= rank[before.choices.get(item, "raw")]


def test_a_request_that_is_tried_again_is_the_same_turn() -> None:
    session = Session()
    fit = FitHistory(BUDGET, O200K, session)
    reader, done = run(fit)
    ctx = context(done.run_id)
    length = len(session.events())
    fit(ctx, reader.sent[0])
    assert len(session.events()) == length


def test_what_is_kept_as_it_is_is_the_very_object() -> None:
    _, done = run()
    messages = [*done.all_messages(), ModelRequest([])]
    history = History(messages)
    assert all(a is b for a, b in zip(history.left(history.chat), messages, strict=True))


def test_what_shrinks_is_a_copy_with_another_text() -> None:
    call = ToolCallPart("page", {"number": 1}, "c1")
    result = ToolReturnPart("page", {"lines": ["a", "b"]}, "c1")
    said = TextPart("A long text.", id="msg_1", provider_name="openai", provider_details={"x": 1})
    messages = [
        ModelRequest([UserPromptPart(["Look:", CachePoint(), "there."])]),
        ModelResponse([said, call, TextPart("More of it.")], model_name="m"),
        ModelRequest([result, UserPromptPart("Go on.")]),
    ]
    copied = copy.deepcopy(messages)
    history = History(messages)
    assert [given["content"] for given in history.chat] == [
        "Look:\nthere.", "A long text.\nMore of it.", '{"lines":["a","b"]}', "Go on.",
    ]  # fmt: skip
    sent = [given | {"content": "short"} for given in history.chat[:3]]
    first, second, third = history.left(sent)
    assert first.parts[0].content == "short"
    assert second.parts == [TextPart("short"), call]
    assert second.model_name == "m"
    assert third.parts[0].model_response_str() == "short"
    assert (third.parts[0].tool_call_id, len(third.parts)) == ("c1", 1)
    assert messages == copied


def test_equal_messages_have_different_ids_that_stay_when_others_go() -> None:
    messages = [ModelRequest([UserPromptPart(text)]) for text in ("yes", "what", "yes")]
    names = [given["id"] for given in History(messages).chat]
    assert len(set(names)) == 3
    assert [given["id"] for given in History([messages[0], messages[2]]).chat] == [names[0], names[2]]


@pytest.mark.parametrize(
    "message",
    [
        ModelResponse([ThinkingPart("hm " * 400, signature="s"), TextPart("word " * 400)]),
        ModelRequest([ToolReturnPart("page", "error " * 400, "c1", outcome="failed")]),
        ModelRequest([ToolReturnPart("page", "again " * 400, "c1", outcome="retried")]),
        ModelRequest([UserPromptPart(["look " * 400, ImageUrl("https://example.org/a.png")])]),
        ModelRequest(
            [ToolReturnPart("page", ["x " * 400, BinaryContent(b"1", media_type="image/png")], "c1")]
        ),
    ],
    ids=["reasoning", "failure", "retry", "image", "file of a tool"],
)
def test_what_must_not_be_changed_is_sent_whole_or_not_at_all(message: Any) -> None:
    call = ModelResponse([ToolCallPart("page", {}, "c1")])
    answer, question = ModelResponse([TextPart("Done.")]), ModelRequest([UserPromptPart("And now?")])
    kept = set()
    for budget in range(200, 4_000, 190):
        fits: list[Any] = []
        asked = [call, message, answer, question] if "c1" in str(message) else [message, question]
        fit = FitHistory(budget, O200K, on_fit=fits.append)
        ctx = context("r")
        left = fit(ctx, asked)
        kept.add(any(each is message for each in left))
        assert all(any(each is given for given in asked) for each in left)
    assert kept == {True, False}


def test_a_file_without_a_cost_is_refused_and_one_with_a_cost_is_counted() -> None:
    prompt = ["Read this.", BinaryContent(b"%PDF", media_type="application/pdf")]
    with pytest.raises(InvalidMessages, match="document"):
        Agent(TestModel(), capabilities=[FitHistory(BUDGET, O200K)]).run_sync(prompt)
    fits: list[Any] = []
    capability = FitHistory(BUDGET, O200K, costs={"document": 700}, on_fit=fits.append)
    Agent(TestModel(), capabilities=[capability]).run_sync(prompt)
    assert 700 < fits[0].report.tokens_after < 750


@pytest.mark.parametrize(
    ("url", "tokens"),
    [
        (ImageUrl("https://example.org/image?id=5"), 1_445),
        (DocumentUrl("https://example.org/file?id=5"), 700),
    ],
    ids=["image", "document"],
)
def test_an_address_that_does_not_tell_its_media_type_costs_what_its_kind_does(url: Any, tokens: int) -> None:
    fits: list[Any] = []
    capability = FitHistory(8_000, O200K, costs={**COSTS, "document": 700}, on_fit=fits.append)
    with pytest.raises(ValueError, match="Could not infer"):
        _ = url.media_type
    Agent(TestModel(), capabilities=[capability]).run_sync(["look", url])
    assert tokens < fits[0].report.tokens_after < tokens + 50


@pytest.mark.parametrize(
    "odd",
    [{"a": object()}, {"a": "half \ud800"}, {"a": {(1, 2): b"\xff"}}, '{"a": "half \ud800"}'],
    ids=["object", "half", "bytes", "text"],
)
@pytest.mark.parametrize("outcome", ["success", "failed"])
def test_what_json_cannot_hold_is_counted_and_sent_as_it_is(odd: Any, outcome: Any) -> None:
    fits: list[Any] = []
    messages = [
        ModelResponse([ToolCallPart("page", odd, "c1")]),
        ModelRequest([ToolReturnPart("page", odd, "c1", outcome=outcome)]),
        ModelRequest([UserPromptPart("And now?")]),
    ]
    left = FitHistory(BUDGET, O200K, on_fit=fits.append)(context("r"), messages)
    assert all(one is other for one, other in zip(left, messages, strict=True))
    (call, result, _) = fits[0].messages
    assert all(
        "a" in said for said in (call["tool_calls"][0]["function"]["arguments"], str(result["content"]))
    )


def test_a_session_that_is_none_is_an_error_that_says_so() -> None:
    agent = Agent(TestModel(), capabilities=[FitHistory(BUDGET, O200K, lambda ctx: ctx.run_id)])
    with pytest.raises(TypeError, match=r"session is a Session, or a function .*, not a str"):
        agent.run_sync("Go on.")


def test_a_tool_that_asks_again_is_answered_within_the_budget() -> None:
    tries = []

    def guess(number: int) -> str:
        """Guess a number."""
        tries.append(number)
        if len(tries) == 1:
            raise ModelRetry("Guess once more: " + "higher " * 30)
        return "right"

    agent = Agent(TestModel(), tools=[guess], capabilities=[FitHistory(BUDGET, O200K)])
    assert "right" in agent.run_sync("Guess.").output
    assert len(tries) == 2


def test_system_prompts_and_what_the_framework_reads_again_stay() -> None:
    loaded = ToolReturnPart("search", {"found": "word " * 50}, "c1", tool_kind="memopt-test")
    messages = [
        ModelRequest([SystemPromptPart("Be kind."), UserPromptPart("old " * 500)]),
        ModelResponse([ToolCallPart("search", {}, "c1", tool_kind="memopt-test")]),
        ModelRequest([loaded]),
        ModelResponse([TextPart("text " * 500)]),
        ModelRequest([UserPromptPart("And now?")]),
    ]
    fit = FitHistory(300, O200K)
    ctx = context("r")
    left = fit(ctx, messages)
    assert left[0].parts[0] is messages[0].parts[0]
    assert left[1] is messages[1]
    assert left[2] is messages[2]
    assert left[-1] is messages[-1]


def test_the_example_runs() -> None:
    example = Path(__file__).parents[2] / "examples" / "pydantic_ai_agent.py"
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("12 messages in the history, all as they were\n")
    sent = [int(line.split()[2]) for line in done.stdout.splitlines()[:-1]]
    assert len(sent) == 6
    assert max(sent) <= 900
