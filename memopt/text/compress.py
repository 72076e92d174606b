"""Compressors that need no language model: deterministic, extractive, for any script.

Each is a callable from text to text, which is all that a refresh asks of a compressor: a function
of the user's, with a language model behind it or not, takes their place as it is.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial

from memopt.text.idf import StreamingIdf
from memopt.text.words import HAN, Sentence, join, sentences

SHARES = {"summary": 0.2, "abstraction": 0.1}
KEYWORDS = 12

_BIGRAM = re.compile(rf"[{HAN}]{{2}}")


@dataclass(frozen=True)
class IdfSentences:
    """Keep the sentences that cover most idf mass within a share of the text.

    Greedily: next comes the sentence that newly covers most idf mass for the square root of its
    length, of those that still fit. (By length itself short chatter wins, without it long sentences.)

    Attributes
    ----------
    share
        Of the text's length, 0 < share <= 1.
    idf
        Weighs the terms; while it has seen no text all weigh the same.
    length
        Length of a text, in characters by default; a token counter fits as well.
    """

    share: float
    idf: StreamingIdf = field(default_factory=StreamingIdf)
    length: Callable[[str], int] = len

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"the share must be above 0 and at most 1, read {self.share}")

    def __call__(self, text: str, /) -> str:
        """Return the kept sentences in their order; empty when none fits the share."""
        cut = _cut(text, self.idf, self.idf.texts, self.length)
        most = int(self.share * self.length(text))
        chosen = cut.choose(most)
        while chosen:
            kept = join([cut.sentences[index] for index in sorted(chosen)])
            if self.length(kept) <= most:
                return kept
            chosen.pop()  # a tokenizer may count more for the whole than for its parts
        return ""


class _Cut:
    """A text cut into sentences, with what each says and costs, for any number of shares."""

    def __init__(self, text: str, idf: StreamingIdf, length: Callable[[str], int]) -> None:
        self.sentences: list[Sentence] = sentences(text)
        self._terms = [list(dict.fromkeys(idf.terms(sentence.text))) for sentence in self.sentences]
        self._lengths = [max(length(sentence.text), 1) for sentence in self.sentences]
        self._spread = [math.sqrt(length) for length in self._lengths]
        self._weight = idf.weights(term for each in self._terms for term in each)
        nothing: set[str] = set()
        self._alone = [(-self._gain(index, nothing), index) for index in range(len(self.sentences))]
        heapq.heapify(self._alone)

    def _gain(self, index: int, covered: set[str]) -> float:
        weight = self._weight
        return sum([weight[term] for term in self._terms[index] if term not in covered]) / self._spread[index]

    def choose(self, most: int) -> list[int]:
        """Return the indices of the sentences that fit, best first.

        What a sentence newly covers only shrinks, so an old gain is a bound: most are never recomputed.
        """
        waiting = list(self._alone)
        covered: set[str] = set()
        chosen: list[int] = []
        left = most
        while waiting:
            bound, index = heapq.heappop(waiting)
            if bound == 0:
                break
            needed = self._lengths[index] + bool(chosen)
            if needed > left:
                continue
            now = -self._gain(index, covered)
            if now > bound:
                heapq.heappush(waiting, (now, index))
                continue
            chosen.append(index)
            covered.update(self._terms[index])
            left -= needed
        return chosen


@lru_cache(maxsize=4)
def _cut(text: str, idf: StreamingIdf, seen: int, length: Callable[[str], int]) -> _Cut:
    """Cut a text once for all shares; `seen` tells apart the states of one idf."""
    return _Cut(text, idf, length)


@dataclass(frozen=True)
class TfIdfKeywords:
    """Keep the terms of highest tf-idf.

    Attributes
    ----------
    count
        At most this many terms, > 0. Bigrams that overlap in the text are told as one string.
    idf
        Weighs the terms; while it has seen no text all weigh the same.
    """

    count: int = KEYWORDS
    idf: StreamingIdf = field(default_factory=StreamingIdf)

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"the count must be at least 1, read {self.count}")

    def __call__(self, text: str, /) -> str:
        """Return the terms, weightiest first, with commas between them; empty when there are none."""
        return next(self.shrinking(text), "")

    def shrinking(self, text: str) -> Iterator[str]:
        """Yield the terms as a text, then without the last one, and so on."""
        times = Counter(self.idf.terms(text))
        weight = {term: times[term] * idf for term, idf in self.idf.weights(times).items()}
        best = sorted(weight, key=weight.__getitem__, reverse=True)[: self.count]  # ties: the earlier first
        for count in range(len(best), 0, -1):
            yield ", ".join(_merged(best[:count], text))


def compressors(idf: StreamingIdf, length: Callable[[str], int] = len) -> dict[str, Callable[[str], str]]:
    """Return compressors for the default ladder that share one idf.

    Every level is shorter than all richer ones, or empty: there are only as many keywords as that
    leaves room for, few of a short text.

    Parameters
    ----------
    idf
        Weighs the terms.
    length
        Length of a text, in characters by default; a token counter fits as well.
    """
    return {level: partial(_level, level, idf, length) for level in (*SHARES, "keywords")}


def _level(level: str, idf: StreamingIdf, length: Callable[[str], int], text: str, /) -> str:
    return _levels(text, idf, idf.texts, length).get(level, "")


@lru_cache(maxsize=4)
def _levels(text: str, idf: StreamingIdf, seen: int, length: Callable[[str], int]) -> dict[str, str]:
    """Make all levels of a text at once, for each depends on the richer ones; `seen` as in `_cut`."""
    made: dict[str, str] = {}
    least = length(text)
    for level, share in SHARES.items():
        kept = IdfSentences(share, idf, length)(text)
        if kept and length(kept) < least:
            made[level], least = kept, length(kept)
    words = TfIdfKeywords(KEYWORDS, idf).shrinking(text)
    made["keywords"] = next((kept for kept in words if length(kept) < least), "")
    return made


def _merged(best: list[str], text: str) -> list[str]:
    """Return the terms with chains of overlapping Chinese bigrams joined where the text joins them."""
    chosen = {term for term in best if _BIGRAM.fullmatch(term)}
    if len(chosen) < 2:
        return best
    longest: dict[str, str] = {}
    at = 0
    while at < len(text) - 1:
        end = at
        while text[end : end + 2] in chosen:
            end += 1
        if end > at + 1:
            chain = text[at : end + 1]
            for begin in range(at, end):
                bigram = text[begin : begin + 2]
                longest[bigram] = max(longest.get(bigram, ""), chain, key=len)
        at = max(end, at + 1)
    return list(dict.fromkeys(longest.get(term, term) for term in best))
