"""Levels of LoCoMo sessions for a replay: those that the data set ships, and those made without an LLM.

An original is the session's date in brackets, a line break, and its turns with image captions. The
date is the day alone: with the time of day it would fill half of a keyword level.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from benchmarks.locomo import FIDELITY, Conversation, Count
from memopt.session.refresh import Compressor
from memopt.text.compress import IdfSentences, TfIdfKeywords
from memopt.text.idf import StreamingIdf

SENTENCE_TOKENS = {"summary": 153, "abstraction": 76}
KEYWORD_TOKENS = 32

_TIME_OF_DAY = re.compile(r"\A\[[^]]* on ")


class Ladder(ABC):
    """The originals of a conversation, and how their poorer levels are made.

    Attributes
    ----------
    name
        As in the table.
    fidelity
        Share of an original's worth that each level keeps.
    originals
        Raw text by session number, in order.
    """

    name: ClassVar[str]
    fidelity: ClassVar[Mapping[str, float]]

    def __init__(self, conversation: Conversation) -> None:
        self.originals = {session.number: _by_day(session.texts["raw"]) for session in conversation.sessions}

    @abstractmethod
    def compressors(self, seen: int) -> Mapping[str, Compressor]:
        """Return what makes each poorer level out of an original, once `seen` sessions have arrived."""


class Shipped(Ladder):
    """Summary = date and observations, abstraction = session summary, keywords by tf-idf.

    These texts lie there before a replay begins; the idf is that of the whole conversation.
    """

    name = "shipped"
    fidelity: ClassVar[Mapping[str, float]] = FIDELITY | {"delete": 0.0}

    def __init__(self, conversation: Conversation, count: Count) -> None:
        super().__init__(conversation)
        keywords = Keywords(_seen(self.originals.values()), count)
        texts: dict[str, dict[str, str]] = {"summary": {}, "abstraction": {}, "keywords": {}}
        for session in conversation.sessions:
            original = self.originals[session.number]
            texts["summary"][original] = _by_day(session.texts["summary"])
            texts["abstraction"][original] = session.texts["abstraction"]
            texts["keywords"][original] = keywords(original)
        self._compressors = {level: known.__getitem__ for level, known in texts.items()}

    def compressors(self, seen: int) -> Mapping[str, Compressor]:
        """See `Ladder`; the same at any time."""
        return self._compressors


class LlmFree(Ladder):
    """Summary and abstraction = date and idf sentences, keywords by tf-idf; the idf of what arrived."""

    name = "LLM-free"
    fidelity: ClassVar[Mapping[str, float]] = {
        "raw": 1.0,
        "summary": 0.64,
        "abstraction": 0.42,
        "keywords": 0.47,
        "delete": 0.0,
    }

    def __init__(self, conversation: Conversation, count: Count) -> None:
        super().__init__(conversation)
        self._count = count
        self._made: dict[int, Mapping[str, Compressor]] = {}

    def compressors(self, seen: int) -> Mapping[str, Compressor]:
        """See `Ladder`; a text is compressed once and then remembered."""
        if seen not in self._made:
            idf = _seen(list(self.originals.values())[:seen])
            made: dict[str, Compressor] = {
                level: Sentences(most, idf, self._count) for level, most in SENTENCE_TOKENS.items()
            }
            made["keywords"] = Keywords(idf, self._count)
            self._made[seen] = {level: cache(compressor) for level, compressor in made.items()}
        return self._made[seen]


@dataclass(frozen=True)
class Sentences:
    """The date, and as many sentences by `IdfSentences` as fit into `most` tokens."""

    most: int
    idf: StreamingIdf
    count: Count

    def __call__(self, text: str, /) -> str:
        """Return the compressed text."""
        date, _, body = text.partition("\n")
        room = self.most - self.count(date) - 1
        share = min(1.0, room / self.count(body))
        return f"{date}\n{IdfSentences(share, self.idf, self.count)(body)}"


@dataclass(frozen=True)
class Keywords:
    """The date, and as many terms by `TfIdfKeywords`, spaces between them, as fit into `KEYWORD_TOKENS`."""

    idf: StreamingIdf
    count: Count

    def __call__(self, text: str, /) -> str:
        """Return the compressed text."""
        kept, _, body = text.partition("\n")
        for term in TfIdfKeywords(KEYWORD_TOKENS, self.idf)(body).split(", "):
            longer = f"{kept} {term}"
            if self.count(longer) > KEYWORD_TOKENS:
                break
            kept = longer
        return kept


def _seen(texts: Iterable[str]) -> StreamingIdf:
    idf = StreamingIdf()
    for text in texts:
        idf.observe(text.partition("\n")[2])
    return idf


def _by_day(text: str) -> str:
    return _TIME_OF_DAY.sub("[", text)
