"""LoCoMo's questions: read after a replay, never before, to score what survived it.

Evidence coverage (EC) is the mean over questions of the mean over evidence turns of the fidelity of the
session that holds the turn. Answer token recall (ATR) is the mean over questions of the share of the
answer's stems that are found in the surviving texts of the evidence sessions. Terms are those of
`memopt.text.words` (no function words), stems those of Snowball's English stemmer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any

from memopt.text.words import terms

CATEGORIES = (1, 2, 3, 4)
"""Category 5 asks for what was never said."""

Stems = Callable[[str], frozenset[str]]
_TURN = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True)
class Question:
    """A question: the answer as it stands, and the session of each evidence turn, with repeats."""

    answer: str
    sessions: tuple[int, ...]


def stemmer() -> Stems:
    """Return a function from a text to the stems of its terms.

    Raises
    ------
    ImportError
        When snowballstemmer is not installed.
    """
    stem: Any = cache(import_module("snowballstemmer").stemmer("english").stemWord)
    return cache(lambda text: frozenset(map(stem, terms(text))))


def load(path: Path) -> dict[str, list[Question]]:
    """Read the questions of categories 1 to 4 that have evidence, by the name of their conversation."""
    return {entry["sample_id"]: list(_questions(entry)) for entry in json.loads(path.read_bytes())}


def evidence(written: Sequence[str], turns: frozenset[str]) -> list[str]:
    """Return the ids of evidence turns that exist.

    An entry may hold several ids (``D8:6; D9:17``), a stray colon (``D:11:26``), a leading zero
    (``D30:05``), none (``D``), or one of a turn that does not exist.
    """
    found = [f"D{int(session)}:{int(turn)}" for text in written for session, turn in _TURN.findall(text)]
    return [turn for turn in found if turn in turns]


def coverage(questions: Sequence[Question], fidelity: Mapping[int, float]) -> float:
    """Return EC, given the fidelity at which each session is held."""
    return fmean(fmean(fidelity[session] for session in asked.sessions) for asked in questions)


def recall(questions: Sequence[Question], surviving: Mapping[int, str], stems: Stems) -> float:
    """Return ATR, given what survives of each session; answers of function words alone do not count."""
    shares = []
    for asked in questions:
        gold = stems(asked.answer)
        if gold:
            held = frozenset().union(*(stems(surviving[session]) for session in asked.sessions))
            shares.append(len(gold & held) / len(gold))
    return fmean(shares)


def _questions(entry: Mapping[str, Any]) -> list[Question]:
    talk = entry["conversation"].values()
    turns = frozenset(turn["dia_id"] for session in talk if isinstance(session, list) for turn in session)
    found = [
        (str(asked["answer"]), evidence(asked["evidence"], turns))
        for asked in entry["qa"]
        if asked["category"] in CATEGORIES
    ]
    return [Question(answer, tuple(map(_session, held))) for answer, held in found if held]


def _session(turn: str) -> int:
    return int(turn[1:].partition(":")[0])
