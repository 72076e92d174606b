"""Compressors that need no language model: deterministic, extractive, for any script.

Each is a callable from text to text, which is all that a refresh asks of a compressor: a function
of the user's, with a language model behind it or not, takes their place as it is.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

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
        found = sentences(text)
        most = int(self.share * self.length(text))
        chosen = self._choose(found, most)
        while chosen:
            kept = join([found[index] for index in sorted(chosen)])
            if self.length(kept) <= most:
                return kept
            chosen.pop()  # a tokenizer may count more for the whole than for its parts
        return ""

    def _choose(self, found: list[Sentence], most: int) -> list[int]:
        """Return the indices of the sentences, best first.

        What a sentence newly covers only shrinks, so an old gain is a bound: most are never recomputed.
        """
        terms = [sorted(set(self.idf.terms(sentence.text))) for sentence in found]
        lengths = [max(self.length(sentence.text), 1) for sentence in found]
        spread = [math.sqrt(length) for length in lengths]
        weight = {term: self.idf(term) for each in terms for term in each}
        covered: set[str] = set()

        def gain(index: int) -> float:
            return sum(weight[term] for term in terms[index] if term not in covered) / spread[index]

        waiting = [(-gain(index), index) for index in range(len(found))]
        heapq.heapify(waiting)
        chosen: list[int] = []
        left = most
        while waiting:
            bound, index = heapq.heappop(waiting)
            if bound == 0:
                break
            needed = lengths[index] + bool(chosen)
            if needed > left:
                continue
            now = -gain(index)
            if now > bound:
                heapq.heappush(waiting, (now, index))
                continue
            chosen.append(index)
            covered.update(terms[index])
            left -= needed
        return chosen


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
        times = Counter(self.idf.terms(text))
        place = {term: index for index, term in enumerate(times)}
        best = sorted(times, key=lambda term: (-times[term] * self.idf(term), place[term]))[: self.count]
        return ", ".join(_merged(best, text))


def compressors(idf: StreamingIdf) -> dict[str, Callable[[str], str]]:
    """Return compressors for the default ladder that share one idf."""
    made: dict[str, Callable[[str], str]] = {
        level: IdfSentences(share, idf) for level, share in SHARES.items()
    }
    return made | {"keywords": TfIdfKeywords(KEYWORDS, idf)}


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
