"""tau-bench's airline talks as chats, and one long chat made of them.

tau-bench (Yao et al. 2024; MIT) is read where it lies and never copied: 200 trajectories of a gpt-4o
agent, 50 tasks in 4 trials. The system message, an airline's policy, is the same in all of them and
larger than the smallest budget; it stands outside of every talk, as a reserved part of a window does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import DATA
from benchmarks.talks import Messages, Talk

FILE = DATA / "tau_bench" / "gpt-4o-airline.json"
BUDGETS = (1_000, 2_000, 4_000)
"""Of the history, without the system message."""

LONG_MESSAGES = 1_000
LONG_TALKS = 173
"""The first talks that hold, without calls, about 217k tokens (o200k_base) of texts all different."""


def load(path: Path = FILE) -> list[Talk]:
    """Read the talks, the first trial of every task before the second, cut before every assistant turn.

    Raises
    ------
    FileNotFoundError
        When the data does not lie there.
    """
    entries = sorted(json.loads(path.read_bytes()), key=lambda entry: (entry["trial"], entry["task_id"]))
    return [_talk(entry) for entry in entries]


def system_message(path: Path = FILE) -> dict[str, Any]:
    """Return the system message of all talks.

    Raises
    ------
    FileNotFoundError, ValueError
        When the data does not lie there; when there are several.
    """
    first, *others = [entry["traj"][0] for entry in json.loads(path.read_bytes())]
    if any(other != first for other in others):
        raise ValueError(f"{path}: the system messages differ")
    return dict(first)


def long_chat(talks: Sequence[Talk]) -> Messages:
    """Return `LONG_MESSAGES` messages, no two of which hold the same text.

    Users, calls, results and replies take turns, a quarter each. Their texts are the different ones
    of the talks, in order; where there are more texts than messages, a message holds several.
    """
    turns = LONG_MESSAGES // 4
    said = {role: _different(talks[:LONG_TALKS], role) for role in ("user", "assistant", "tool")}
    chat: Messages = []
    for turn in range(turns):
        user, reply, result = (
            "\n\n".join(texts[turn * len(texts) // turns : (turn + 1) * len(texts) // turns])
            for texts in said.values()
        )
        arguments = json.dumps({"reservation_id": f"R{turn:04}"})
        call = {"name": "get_reservation_details", "arguments": arguments}
        name = f"call_{turn:04}"
        chat += [
            {"role": "user", "content": user},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": name, "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": name, "content": result},
            {"role": "assistant", "content": reply},
        ]
    return chat


def _talk(entry: dict[str, Any]) -> Talk:
    system, *messages = entry["traj"]
    if system["role"] != "system":
        raise ValueError(f"task {entry['task_id']} does not begin with a system message")
    cuts = tuple(index for index, message in enumerate(messages) if message["role"] == "assistant")
    return Talk(f"task-{entry['task_id']:02}-trial-{entry['trial']}", messages, cuts)


def _different(talks: Sequence[Talk], role: str) -> list[str]:
    told = (message["content"] for talk in talks for message in talk.messages if message["role"] == role)
    return list(dict.fromkeys(text for text in told if text))
