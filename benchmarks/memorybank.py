"""MemoryBank's Chinese talks as chats.

MemoryBank (Zhong et al. 2024; MIT) is read where it lies and never copied: 15 people talk to a
companion on ten days each. A person is a talk: every ``query`` a user's message, every ``response``
the assistant's, day after day; the first query of a day begins with its date in brackets. Names,
traits and hobbies (``meta_information``) are not part of what was said, and its summaries are empty.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.data import DATA
from benchmarks.talks import Messages, Talk

FILE = DATA / "memorybank" / "memory_bank_cn.json"
BUDGETS = (1_000, 4_000)


def load(path: Path = FILE) -> list[Talk]:
    """Read the talks, cut after every day.

    Raises
    ------
    FileNotFoundError
        When the data does not lie there.
    """
    return [_talk(name, entry["history"]) for name, entry in json.loads(path.read_bytes()).items()]


def everyone(talks: Sequence[Talk]) -> Talk:
    """Return the talks as one, cut after every person; a single talk is smaller than the larger budget."""
    cuts = tuple(accumulate(len(talk.messages) for talk in talks))
    return Talk("everyone", [message for talk in talks for message in talk.messages], cuts)


def _talk(name: str, days: dict[str, list[dict[str, Any]]]) -> Talk:
    messages: Messages = []
    cuts = []
    for day, exchanges in sorted(days.items()):
        for number, exchange in enumerate(exchanges):
            asked = exchange["query"] if number else f"[{day}] {exchange['query']}"
            messages += [
                {"role": "user", "content": asked},
                {"role": "assistant", "content": exchange["response"]},
            ]
        cuts.append(len(messages))
    return Talk(name, messages, tuple(cuts))
