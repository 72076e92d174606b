"""The tools of `memopt mcp`, called without a client: what they say of wrong arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mcp_types", reason="needs memopt[mcp]")

from memopt_cli.mcp_sessions import Sessions
from memopt_cli.mcp_tools import tools
from session_inputs import TURN

from memopt.session.config import Config

CHAT = [{"role": "user", "content": "Which of the pears are ripe?"}]


@pytest.fixture
def fault() -> Callable[..., tuple[str, str]]:
    """Return the code and the message of the one fault of calls, the first ones of which may succeed."""
    known = {tool.name: tool for tool in tools(Sessions(None, Config()))}

    def call(tool: str, **arguments: Any) -> tuple[str, str]:
        answer = known[tool].call(arguments)
        if not answer.failed:
            return "", ""
        (found,) = json.loads(answer.text)["errors"]
        return found["code"], found["message"]

    return call


def test_messages_without_a_budget_are_told_that_they_need_one(fault: Any) -> None:
    code, said = fault("allocate", messages=CHAT)
    assert (code, said.partition(":")[0]) == ("missing", "messages need a budget")


@pytest.mark.parametrize("budget", ["many", -1, {"window": "x"}, {"window": 1, "reserved": {"reply": 2}}])
def test_a_wrong_budget_of_messages_speaks_of_no_instance(budget: Any, fault: Any) -> None:
    code, said = fault("allocate", messages=CHAT, budget=budget)
    assert code
    assert "instance" not in said


def test_an_item_that_a_turn_did_not_have_is_named_with_that_turn(fault: Any) -> None:
    assert fault("allocate", instance=TURN, session="s", event="t1") == ("", "")
    unknown = "there was no item 'zz' in the"
    assert fault("explain", session="s", item="zz") == (
        "unknown_item",
        f"{unknown} last turn of session 's'",
    )
    assert fault("explain", session="s", item="zz", turn="t1")[1] == f"{unknown} turn 't1' of session 's'"
    assert fault("explain", instance=TURN, item="zz")[1] == "there is no item 'zz' in the instance"
