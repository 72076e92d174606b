from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp_types", reason="needs memopt[mcp]")

import jsonschema
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import INVALID_REQUEST, PARSE_ERROR

from memopt import Instance, solve

COMMAND = [sys.executable, "-m", "memopt", "mcp"]
INSTANCE: dict[str, Any] = {
    "budget": 50,
    "items": [
        {"id": "a", "levels": {"raw": {"tokens": 40, "utility": 3}, "summary": {"tokens": 20, "utility": 2}}},
        {"id": "b", "levels": {"raw": {"tokens": 30, "utility": 2.5}}},
    ],
}
CHAT = [
    {"id": "task", "role": "user", "content": "Which of the pears are ripe?"},
    {
        "id": "call",
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "pears", "arguments": "{}"}}],
    },
    {"id": "pears", "role": "tool", "tool_call_id": "c1", "content": "Pear 7 is ripe. Pear 8 is green. " * 9},
    {"id": "more", "role": "user", "content": "And the apples?"},
]
Asked = Callable[[Client], Awaitable[Any]]


def ask(what: Asked, *options: str, **more: Any) -> Any:
    """Do something with the official client and a server that is started for it."""

    async def asked() -> Any:
        server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *options])
        async with Client(server, **more) as client:
            return await what(client)

    return asyncio.run(asked())


async def answer(client: Client, tool: str, **arguments: Any) -> Any:
    """Return what a tool answers, which is the same in text and as an object."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def fault(client: Client, tool: str, **arguments: Any) -> Any:
    """Return the codes and places of what is wrong with a call."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert json.loads(result.content[0].text) == result.structured_content
    return sorted((each["code"], each["field"]) for each in result.structured_content["errors"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_finds_four_tools_with_schemas(mode: str) -> None:
    async def what(client: Client) -> Any:
        assert client.server_info.name == "memopt"
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in ask(what, mode=mode)}
    assert list(tools) == ["allocate", "record_outcome", "explain", "status"]
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["type"] == "object"
        assert tool.description
    allocate = jsonschema.Draft202012Validator(tools["allocate"].input_schema)
    assert allocate.is_valid({"instance": INSTANCE, "session": "s"})
    assert allocate.is_valid({"messages": CHAT, "budget": {"window": 900, "reserved": {"reply": 100}}})
    assert not allocate.is_valid({"instance": {"budget": "x", "items": []}})
    assert not allocate.is_valid({"messages": CHAT, "budget": -1})
    assert not allocate.is_valid({"nonsense": 1})
    hints = {name: tool.annotations.read_only_hint for name, tool in tools.items()}
    assert hints == {"allocate": False, "record_outcome": False, "explain": True, "status": True}


def test_an_instance_is_allocated_and_explained_as_in_a_program() -> None:
    async def what(client: Client) -> Any:
        return [
            await answer(client, "allocate", instance=INSTANCE),
            await answer(client, "explain", instance=INSTANCE, item="a"),
        ]

    allocated, explained = ask(what)
    solved = solve(Instance.model_validate(INSTANCE))
    assert allocated | {"seconds": 0} == solved.to_dict() | {"seconds": 0}
    assert explained == solved.explain("a").to_dict()


def test_a_session_goes_on_over_every_tool_and_over_servers(tmp_path: Path) -> None:
    async def first(client: Client) -> Any:
        fitted = await answer(client, "allocate", messages=CHAT, budget=300, session="s", event="t1")
        assert fitted["report"]["tokens_after"] <= 300
        assert fitted["report"]["tokens_before"] > 300
        assert [each["id"] for each in fitted["messages"]] == [each["id"] for each in CHAT]
        explained = await answer(client, "explain", session="s", item="pears")
        assert explained["level"] == fitted["report"]["rows"][2]["level"] != "raw"
        assert explained["alternatives"][0]["reason"] in ("over_budget", "no_room")
        recorded = await answer(
            client, "record_outcome", session="s", success=True, retrieved=["pears"], id="e1"
        )
        assert (recorded["status"], recorded["turn"], recorded["weights"]) == (
            "recorded",
            "t1",
            {"pears": 1.0},
        )
        return await answer(client, "status", session="s")

    async def second(client: Client) -> Any:
        again = await answer(
            client, "record_outcome", session="s", success=True, retrieved=["pears"], id="e1"
        )
        assert again["status"] == "known"
        status = await answer(client, "status", session="s")
        await answer(client, "allocate", messages=CHAT, budget=3_000, session="s", event="t2")
        explained = await answer(client, "explain", session="s", item="pears")
        assert explained["alternatives"][0]["reason"] == "richer_than_current"
        before = await answer(client, "explain", session="s", item="pears", turn="t1")
        assert before["level"] == explained["level"]
        assert before["alternatives"][0]["reason"] != "richer_than_current"
        return status

    db = str(tmp_path / "memory.db")
    status = ask(first, "--db", db, "--gain", "2")
    assert (status["turns"], status["gain"], status["episodes"]) == (1, 2.0, 1)
    assert ask(second, "--db", db) == status


def test_sessions_do_not_see_one_another() -> None:
    async def what(client: Client) -> Any:
        await answer(client, "allocate", instance=INSTANCE, session="one")
        await answer(client, "allocate", instance=INSTANCE, session="one")
        await answer(client, "allocate", instance=INSTANCE, session="two")
        assert await fault(client, "status", session="three") == [("unknown_session", "session")]
        return [(await answer(client, "status", session=name))["turns"] for name in ("one", "two")]

    assert ask(what) == [2, 1]


def test_calls_at_the_same_time_are_all_recorded() -> None:
    async def what(client: Client) -> Any:
        calls = [answer(client, "allocate", instance=INSTANCE, session="s") for _ in range(8)]
        await asyncio.gather(*calls)
        return (await answer(client, "status", session="s"))["turns"]

    assert ask(what) == 8


def test_an_error_lists_every_fault_and_the_server_goes_on() -> None:
    async def what(client: Client) -> Any:
        broken = {"budget": -1, "items": [{"id": "a"}, {"id": 3, "levels": {}}]}
        found = await fault(client, "allocate", instance=broken, session=7, nonsense=1)
        assert {("extra_forbidden", "nonsense"), ("string_type", "session")} <= set(found)
        found = await fault(client, "allocate", instance=broken)
        assert {code for code, _ in found} == {"budget_negative", "missing", "id_not_text"}
        wrong = [{"role": "user"}, {"role": "pope"}, 3]
        found = await fault(client, "allocate", messages=wrong, budget=-1)
        assert {code for code, _ in found} == {"unknown_role", "not_an_object", "budget_negative"}
        assert await fault(client, "allocate") == [("one_of", "instance")]
        assert await fault(client, "allocate", instance=INSTANCE, messages=CHAT, budget=9) == [
            ("one_of", "instance")
        ]
        assert await fault(client, "allocate", instance=INSTANCE, tokenizer="bytes", event="e") == [
            ("needless", "event"), ("needless", "tokenizer"),
        ]  # fmt: skip
        assert await fault(client, "allocate", messages=CHAT, budget=900, tokenizer="no") == [
            ("unknown_tokenizer", None)
        ]
        assert await fault(client, "record_outcome", retrieved="b", success=1) == [
            ("bool_type", "success"), ("list_type", "retrieved"),
        ]  # fmt: skip
        assert await fault(client, "record_outcome", retrieved=["b"], success=True, turn="t9") == [
            ("unknown_turn", "turn")
        ]
        assert await fault(client, "explain", item="a") == [("one_of", "instance")]
        assert await fault(client, "explain", item="z", instance=INSTANCE) == [("unknown_item", None)]
        priced = INSTANCE | {"price": 1}
        assert await fault(client, "allocate", instance=priced, session="s") == [("invalid_event", None)]
        with pytest.raises(MCPError, match="no tool 'nope'; known are allocate"):
            await client.call_tool("nope", {})
        return await answer(client, "allocate", instance=INSTANCE)

    assert ask(what)["tokens"] == 50


def test_an_infeasible_call_says_what_is_missing() -> None:
    async def what(client: Client) -> Any:
        pinned = INSTANCE | {"items": [INSTANCE["items"][1] | {"pinned": True}], "budget": 10}
        answers = [
            await client.call_tool("allocate", {"instance": pinned}),
            await client.call_tool("allocate", {"instance": pinned, "session": "s"}),
            await client.call_tool("explain", {"instance": pinned, "item": "b"}),
        ]
        assert await fault(client, "explain", session="s", item="b") == [("unknown_session", "session")]
        return answers

    for result in ask(what):
        assert result.is_error
        assert result.structured_content["status"] == "infeasible"
        assert (result.structured_content["shortfall"], result.structured_content["pinned"]) == (20, ["b"])


def request(number: Any, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


INITIALIZE = request(
    1,
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "test", "version": "1"},
)


@contextmanager
def serving(*options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server that has answered one request; it is ended by its own process id."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([*COMMAND, *options], **pipes) as server:
        try:
            server.stdin.write(INITIALIZE)
            server.stdin.flush()
            assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"] == "memopt"
            yield server
        finally:
            if server.poll() is None:
                server.kill()


def test_it_ends_when_its_input_ends_and_writes_nothing_but_the_protocol() -> None:
    with serving() as server:
        called = request(2, "tools/call", name="allocate", arguments={"instance": INSTANCE})
        server.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\nno JSON\n' + called)
        server.stdin.flush()
        refused, line = (json.loads(server.stdout.readline()) for _ in range(2))
        assert (refused["id"], refused["error"]["code"]) == (None, PARSE_ERROR)
        assert (line["id"], line["result"]["isError"]) == (2, False)
        rest, said = server.communicate(timeout=60)
    assert (server.returncode, rest) == (0, b"")
    assert said.startswith(b"memopt: serving the Model Context Protocol")
    assert b"Traceback" not in said


def asking(number: Any, content: Any) -> bytes:
    arguments = {"messages": [{"role": "user", "content": content}], "budget": 90}
    return request(number, "tools/call", name="allocate", arguments=arguments)


def test_every_line_is_answered() -> None:
    deep: Any = "x"
    for _ in range(400):
        deep = [deep]
    broken = {
        b"not json\n": (None, PARSE_ERROR),
        b'{"jsonrpc": "2.0", "id": 3, "method": "pi\n': (None, PARSE_ERROR),
        b"\xff\n": (None, PARSE_ERROR),
        asking(4, deep): (4, INVALID_REQUEST),
        asking("five", "[" * 9).replace(b'"' + b"[" * 9 + b'"', b"[" * 10**5 + b"]" * 10**5): (
            "five", INVALID_REQUEST,
        ),
        asking(6, "n").replace(b"90", b"9" * 5_000): (6, INVALID_REQUEST),
        b'{"jsonrpc": "2.0", "id": 7, "method": 7}\n': (7, INVALID_REQUEST),
        b'{"jsonrpc": "2.0", "id": 8, "method": "ping", "params": [1]}\n': (8, INVALID_REQUEST),
        b'{"jsonrpc": "2.0", "id": null, "method": "ping"}\n': (None, INVALID_REQUEST),
        b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}\n': (None, INVALID_REQUEST),
        b'[{"jsonrpc": "2.0", "id": 9, "method": "ping"}]\n': (None, INVALID_REQUEST),
        b"3\n": (None, INVALID_REQUEST),
    }  # fmt: skip
    with serving() as server:
        for line, (name, code) in broken.items():
            server.stdin.write(line + request(99, "ping"))
            server.stdin.flush()
            refused = json.loads(server.stdout.readline())
            assert (refused["id"], refused.get("error", {}).get("code")) == (name, code), line[:90]
            assert json.loads(server.stdout.readline())["id"] == 99
        server.stdin.write(b"\n  \r\n" + request(10, "ping"))
        rest, said = server.communicate(timeout=60)
    assert json.loads(rest) == {"jsonrpc": "2.0", "id": 10, "result": {}}
    assert b"Traceback" not in said


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_is_kept() -> None:
    with serving() as server:
        # Calls are answered in their order: were the first one not, the second would be.
        server.stdin.write(
            asking(2, "half \ud83d, whole \U0001f350, half \udf50, text \\ud83d") + asking(3, "more")
        )
        server.stdin.flush()
        answered = json.loads(server.stdout.readline())
    (message,) = answered["result"]["structuredContent"]["messages"]
    assert (answered["id"], answered["result"]["isError"]) == (2, False)
    assert message["content"] == "half \ufffd, whole \U0001f350, half \ufffd, text \\ud83d"


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["interrupt", "termination"]
)
def test_it_ends_on_a_signal_while_its_input_is_open(number: signal.Signals, status: int) -> None:
    with serving() as server:
        server.send_signal(number)
        assert server.wait(timeout=60) == status
        assert b"Traceback" not in server.stderr.read()


def test_it_ends_quietly_when_nobody_reads_its_answers() -> None:
    with serving() as server:
        server.stdout.close()
        server.stdin.write(request(2, "ping"))
        server.stdin.close()
        assert server.wait(timeout=60) == 141
        assert b"Traceback" not in server.stderr.read()


CLIENT = """
import asyncio, sys
from mcp import Client, StdioServerParameters

async def main():
    started = f"echo $$ > {sys.argv[1]}; exec {sys.executable} -m memopt mcp"
    async with Client(StdioServerParameters(command="sh", args=["-c", started])) as client:
        await client.list_tools()
        print("ready", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet waited for does not."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] not in "ZX"


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there is no /proc here")
def test_a_client_that_is_killed_leaves_no_server_behind(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    command = [sys.executable, "-c", CLIENT, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
        assert client.stdout.readline() == b"ready\n"
        server = int(path.read_text())
        assert alive(server)
        client.kill()
    for _ in range(600):
        if not alive(server):
            return
        time.sleep(0.1)
    os.kill(server, signal.SIGKILL)
    pytest.fail("the server outlived its client")


@pytest.mark.parametrize("hidden", ["mcp", "mcp_types"])
def test_without_the_sdk_the_extra_is_named(hidden: str) -> None:
    """The package is hidden from the import system; an SDK before version 2 has no `mcp_types`."""
    code = f"import sys; sys.modules[{hidden!r}] = None; from memopt_cli.main import run; run()"
    done = subprocess.run([sys.executable, "-c", code, "mcp"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "memopt: a server needs mcp 2, which is not installed: pip install 'memopt[mcp]'\n"


def test_the_example_runs() -> None:
    example = Path(__file__).parents[2] / "examples" / "mcp_client.py"
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "explain: 'flights' is kept at" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("status: 1 turn")
