"""Compressors that need no language model: deterministic, extractive, for any script.

Each is a callable from text to text, which is all that a refresh asks of a compressor: a function
of the user's, with a language model behind it or not, takes their place as it is.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial

from memopt.text.idf import StreamingIdf
from memopt.text.units import Units, record_units, sentence_units
from memopt.text.words import HAN, is_han, stretches

SHARES = {"summary": 0.2, "abstraction": 0.1, "keywords": 1.0}
"""Of a text's length, that each level of the default ladder has at most."""

KEYWORDS = 12

_BIGRAM = re.compile(rf"[{HAN}]{{2}}")
_ESCAPE = re.compile(r"\\[nrt]")
_SHORT = 4
"""A stretch of so many Chinese characters between function characters is told whole."""


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
    units
        What a text is cut into, sentences by default; `units.record_units` for what tools return.
    """

    share: float
    idf: StreamingIdf = field(default_factory=StreamingIdf)
    length: Callable[[str], int] = len
    units: Callable[[str], Units] = sentence_units

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"the share must be above 0 and at most 1, read {self.share}")

    def __call__(self, text: str, /) -> str:
        """Return the kept sentences in their order; empty when none fits the share."""
        cut = _cut(text, self.idf, self.idf.texts, self.length, self.units)
        return cut.within(int(self.share * self.length(text)))


class _Cut:
    """A text cut into units, with what each says and costs, for any number of shares."""

    def __init__(self, units: Units, idf: StreamingIdf, length: Callable[[str], int]) -> None:
        self._units, self._length = units, length
        self._terms = [list(dict.fromkeys(idf.terms(unit))) for unit in units.texts]
        self._lengths = [max(length(unit), 1) for unit in units.texts]
        self._spread = [math.sqrt(length) for length in self._lengths]
        self._weight = idf.weights(term for each in self._terms for term in each)
        nothing: set[str] = set()
        self._alone = [(-self._gain(index, nothing), index) for index in range(len(units.texts))]
        heapq.heapify(self._alone)

    def within(self, most: int) -> str:
        """Return the kept units in their order; empty when none fits."""
        chosen = self._choose(most)
        while chosen:
            kept = self._units.join(sorted(chosen))
            if self._length(kept) <= most:
                return kept
            chosen.pop()  # what joins units costs, and a tokenizer may count more for the whole
        return ""

    def _gain(self, index: int, covered: set[str]) -> float:
        weight = self._weight
        return sum([weight[term] for term in self._terms[index] if term not in covered]) / self._spread[index]

    def _choose(self, most: int) -> list[int]:
        """Return the indices of the units that fit, best first.

        What a unit newly covers only shrinks, so an old gain is a bound: most are never recomputed.
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
def _cut(
    text: str, idf: StreamingIdf, seen: int, length: Callable[[str], int], units: Callable[[str], Units]
) -> _Cut:
    """Cut a text once for all shares; `seen` tells apart the states of one idf."""
    return _Cut(units(text), idf, length)


@dataclass(frozen=True)
class TfIdfKeywords:
    """Keep the terms of highest tf-idf.

    Attributes
    ----------
    count
        At most this many terms, > 0. Chinese bigrams are told as the stretch of the text they are from.
    idf
        Weighs the terms; while it has seen no text all weigh the same.
    """

    count: int = KEYWORDS
    idf: StreamingIdf = field(default_factory=StreamingIdf)

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"the count must be at least 1, read {self.count}")

    def __call__(self, text: str, /) -> str:
        """Return the terms, weightiest first, with commas between them; empty when there are none.

        The commas are Chinese where most terms are.
        """
        return next(self.shrinking(text), "")

    def shrinking(self, text: str) -> Iterator[str]:
        """Yield the terms as a text, then without the last one, and so on."""
        times = Counter(self.idf.terms(text))
        weight = {term: times[term] * idf for term, idf in self.idf.weights(times).items()}
        best = sorted(weight, key=weight.__getitem__, reverse=True)[: self.count]  # ties: the earlier first
        bigrams = {term for term in best if _BIGRAM.fullmatch(term)}
        comma = "、" if 2 * len(bigrams) > len(best) else ", "
        words = any(len(term) > 2 and is_han(term) for term in times)  # of a dictionary: they are whole
        for count in range(len(best), 0, -1):
            yield comma.join(_merged(best[:count], text) if bigrams and not words else best[:count])


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
    return {level: partial(_level, level, idf, length) for level in SHARES}


def _level(level: str, idf: StreamingIdf, length: Callable[[str], int], text: str, /) -> str:
    return _levels(text, idf, idf.texts, length).get(level, "")


@lru_cache(maxsize=4)
def _levels(text: str, idf: StreamingIdf, seen: int, length: Callable[[str], int]) -> dict[str, str]:
    """Make all levels of a text at once, for each depends on the richer ones; `seen` as in `_cut`."""
    return levels(text, idf, length)


def levels(
    text: str,
    idf: StreamingIdf,
    length: Callable[[str], int] = len,
    shares: Mapping[str, float] = SHARES,
    mark: str = "",
) -> dict[str, str]:
    """Return the levels of a text by name, richest first, without the empty ones; see `compressors`.

    Parameters
    ----------
    text, idf, length
        As there.
    shares
        Of the text's length, that each level has at most, richest first; ``keywords`` are keywords,
        any other level units of the text.
    mark
        What every level begins with, ``{}`` in it standing for its name; part of its length.
    """
    whole = length(text)
    least = whole - 1
    made: dict[str, str] = {}
    cut: _Cut | None = None
    for level, share in shares.items():
        begin = mark.format(level)
        most = min(int(share * whole), least)
        if most <= length(begin):
            continue
        if level == "keywords":
            shrinking = TfIdfKeywords(KEYWORDS, idf).shrinking(_unescaped(text))
            kept = next((words for words in shrinking if length(begin + words) <= most), "")
        else:
            cut = cut or _Cut(record_units(text), idf, length)
            kept = cut.within(most - length(begin))
        if kept and length(begin + kept) <= most:
            made[level] = begin + kept
            least = length(made[level]) - 1
    return made


def _unescaped(text: str) -> str:
    """Return a text without the line breaks and tabs that JSON writes as letters: ``\\nThe`` is no word."""
    return _ESCAPE.sub(" ", text) if text.lstrip()[:1] in ("{", "[") else text


def _merged(best: list[str], text: str) -> list[str]:
    """Return the terms with Chinese bigrams as the stretches of the text that they are from."""
    chosen = {term for term in best if _BIGRAM.fullmatch(term)}
    longest: dict[str, str] = {}
    for stretch in stretches(text):
        for begin, end in _spans(stretch, chosen):
            for at in range(begin, end - 1):
                bigram = stretch[at : at + 2]
                longest[bigram] = max(longest.get(bigram, ""), stretch[begin:end], key=len)
    told = list(dict.fromkeys(longest.get(term, term) for term in best))
    return [term for term in told if not any(term in other for other in told if other != term)]


def _spans(stretch: str, chosen: set[str]) -> list[tuple[int, int]]:
    """Return where bigrams stand in a stretch: as one where they touch, with a lone character beside them."""
    spans: list[tuple[int, int]] = []
    last = len(stretch)
    for at in range(last - 1):
        if stretch[at : at + 2] not in chosen:
            continue
        if last <= _SHORT:
            return [(0, last)]
        begin, end = (0 if at == 1 else at), (last if at + 3 == last else at + 2)
        if spans and begin <= spans[-1][1]:
            begin = spans.pop()[0]
        spans.append((begin, end))
    return spans
