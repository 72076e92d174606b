"""Compressors that need no language model: deterministic, extractive, for any script.

Each is a callable from text to text, which is all that a refresh asks of a compressor: a function
of the user's, with a language model behind it or not, takes their place as it is.
"""

from __future__ import annotations

import heapq
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache, partial

from memopt.text.escapes import unescaped
from memopt.text.idf import StreamingIdf
from memopt.text.telling import as_written, bigrams_of, merged
from memopt.text.units import Units, record_units, sentence_units
from memopt.text.words import CLOSERS, Joint, fails, is_han, restricts, without_courtesies

SHARES: Mapping[str, float] = {"summary": 0.5, "abstraction": 0.2, "keywords": 0.5}
"""Of a text's length, that each level of the default ladder has at most, its mark included: of what is not
kept in any case. Longer keywords save next to nothing: in Chinese they cost more tokens a character than the
sentence that they stand for."""

SHORTER = 0.85
"""Of the length of the next richer level, that a level has at most: it would not be worth its gaps."""

FAIR = 2 / 3
"""Of its share of the length, that a level of sentences or records has to tell of the idf mass."""

KEYWORDS = 12

_ITEM = re.compile(r"\s*(?:[-+•·–]|\*(?!\*)|[(（]?\w{1,2}[.)、．）])")


@dataclass(frozen=True)
class IdfSentences:
    """Keep the sentences that cover most idf mass within a share of the text.

    Greedily: next comes the sentence that newly covers most idf mass for the square root of its
    length, of those that still fit. (By length itself short chatter wins, without it long sentences.)
    Before all others come the ends of a list or a log, see `Units.ends`.

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
        return cut.within(int(self.share * self.length(text)))[0]


class _Cut:
    """A text cut into units, with what each says and costs, for any number of shares.

    The units at `needed` and the header of a table are kept in any case, and some other one beside
    them. The first of a list and those at `early` come next; of lines these, and then the first and the last.
    """

    def __init__(
        self,
        units: Units,
        idf: StreamingIdf,
        length: Callable[[str], int],
        needed: Sequence[int] = (),
        early: Collection[int] = (),
    ) -> None:
        self.units, self._length = units, length
        self._needed = needed = sorted({*units.header, *needed})
        self._terms = [list(dict.fromkeys(idf.terms(unescaped(unit)))) for unit in units.texts]
        self._lengths = [max(length(unit), 1) for unit in units.texts]
        self._spread = [math.sqrt(length) for length in self._lengths]
        self._weight = idf.weights(term for each in self._terms for term in each)
        nothing: set[str] = set()
        early, later = (early, units.ends) if units.kind == "lines" else (units.ends, early)
        turns = dict.fromkeys(later, 1) | dict.fromkeys(early, 0)
        self._alone = [
            (turns.get(index, 2), -self._gain(index, nothing), index) for index in range(len(units.texts))
        ]
        heapq.heapify(self._alone)
        self._known = {term for index in needed for term in self._terms[index]}
        self._mass = self._mass_of(self._weight.keys())
        self.least = length(units.join(needed))

    def within(self, most: int) -> tuple[str, list[int]]:
        """Return the kept units as a text, and their indices in order; nothing when none fits."""
        chosen = self._choose(most)

        def joined(count: int) -> str:
            return self.units.join(sorted(chosen[:count]))

        count = len(chosen)
        kept = joined(count)
        if self._length(kept) > most:  # what joins units costs, and a tokenizer may count more for the whole
            count = bisect_right(range(count), most, key=lambda count: self._length(joined(count))) - 1
            kept = joined(count)
        return (kept, sorted(chosen[:count])) if count > len(self._needed) else ("", [])

    def told(self, chosen: Sequence[int]) -> float:
        """Return the share that chosen units tell of the idf mass beyond the needed ones."""
        told = self._mass_of({term for index in chosen for term in self._terms[index]})
        return told / self._mass if self._mass else 1.0

    def _mass_of(self, terms: Set[str]) -> float:
        beyond = terms - self._known if self._known else terms
        return math.fsum([self._weight[term] for term in beyond])  # exact: the order of a set does not matter

    def _gain(self, index: int, covered: set[str]) -> float:
        weight = self._weight
        return sum([weight[term] for term in self._terms[index] if term not in covered]) / self._spread[index]

    def _choose(self, most: int) -> list[int]:
        """Return the indices of the units that fit: the needed, the early, the later, the best of the rest.

        What a unit newly covers only shrinks, so an old gain is a bound: most are never recomputed.
        """
        waiting = list(self._alone)
        chosen = list(self._needed)
        covered = set(self._known)
        left = most - sum(self._lengths[index] + 1 for index in chosen) + bool(chosen)
        while waiting:
            later, bound, index = heapq.heappop(waiting)
            cost = self._lengths[index] + bool(chosen)
            if bound == 0 or cost > left:
                continue
            now = -self._gain(index, covered)
            if now > bound:
                heapq.heappush(waiting, (later, now, index))
                continue
            chosen.append(index)
            covered.update(self._terms[index])
            left -= cost
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
        At most this many terms, > 0. Chinese bigrams are told as the stretch of the text they are from,
        a term with a digit as it is written there: a time, a date, an id.
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
        """Yield the terms as a text, then without the last one, and so on down to a quarter of them."""
        times = Counter(self.idf.terms(text))
        weight = {term: times[term] * idf for term, idf in self.idf.weights(times).items()}
        best = sorted(weight, key=weight.__getitem__, reverse=True)[: self.count]  # ties: the earlier first
        written = as_written(best, text)
        bigrams = bigrams_of(best)
        comma = "、" if 2 * len(bigrams) > len(best) else ", "
        words = any(len(term) > 2 and is_han(term) for term in times)  # of a dictionary: they are whole
        for count in range(len(best), (len(best) - 1) // 4, -1):
            told = list(dict.fromkeys(written.get(term, term) for term in best[:count]))
            yield comma.join(merged(told, text) if bigrams and not words else told)


def compressors(idf: StreamingIdf, length: Callable[[str], int] = len) -> dict[str, Callable[[str], str]]:
    """Return compressors for the default ladder that share one idf.

    Every level is shorter than all richer ones, or empty: there are only as many keywords as that
    leaves room for, few of a short text, and none where less than a quarter of them has room. Of a text
    that negates or restricts every level says so, and there are no keywords; see `levels`.

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
    guarded: bool = True,
    failing: bool = False,
) -> dict[str, str]:
    """Return the levels of a text by name, richest first, without the empty ones; see `compressors`.

    A greeting that fits is no summary: units that tell less of the idf mass than `FAIR` of the share
    that they may take of the length are no level, and leave the poorer ones their room. Both are meant of
    the text beyond what is kept in any case: one long "only if" leaves the rest its shorter levels.

    Parameters
    ----------
    text, idf, length
        As there.
    shares
        Of the text's length, that each level has at most, richest first, and of a richer level at most
        `SHORTER`; ``keywords`` are keywords, any other level units of the text. What is kept in any case
        (the header of a table, what restricts) comes on top: the share is of the rest.
    mark
        What every level begins with, ``{}`` in it standing for its name, and for how many records it
        has of how many where it has records, lines, rows or fields; part of its length.
    guarded
        Whether "not" and "only if" must not get lost: of a text that negates or restricts every level
        keeps all units that do, and a fair share of the rest beside them, and there are no keywords.
    failing
        Whether units that tell of a failure are chosen before all others, as far as they fit: without
        them what a tool was asked reads as what it did.
    """
    whole = length(text)
    room = int(SHORTER * whole)
    made: dict[str, str] = {}
    plain = unescaped(text)
    restricted = guarded and restricts(plain)
    cut: _Cut | None = None
    for level, share in shares.items():
        most = min(int(share * whole), room)
        if level == "keywords":
            begin = mark.format(level)
            if restricted or most <= length(begin):
                continue
            shrinking = TfIdfKeywords(KEYWORDS, idf).shrinking(without_courtesies(plain))
            kept = next((words for words in shrinking if length(begin + words) <= most), "")
        else:
            if cut is None:
                units = record_units(text)
                needed = _restricting(units) if restricted else ()
                failures = _failing(units) if failing and fails(plain) else frozenset()
                cut = _Cut(units, idf, length, needed, failures)
            rest = max(whole - cut.least, 0)
            most = min(cut.least + int(share * rest), room)
            begin = mark.format(_named(level, cut.units, range(len(cut.units.texts))))
            kept, chosen = cut.within(most - length(begin))
            if not kept or cut.told(chosen) * rest < FAIR * (most - cut.least):
                continue
            begin = mark.format(_named(level, cut.units, chosen))
        if kept and length(begin + kept) <= most:
            made[level] = begin + kept
            room = int(SHORTER * length(made[level]))
    return made


def _restricting(units: Units) -> list[int]:
    """Return the indices of the units that negate or restrict, with all that those govern.

    Of equal ones the first.
    """
    found: dict[tuple[str, ...], range] = {}
    end = 0
    for at, unit in enumerate(units.texts):
        if at >= end and restricts(unescaped(unit)):
            governed = _governed(units, at)
            found.setdefault(tuple(units.texts[governed.start : governed.stop]), governed)
            end = governed.stop
    return [index for governed in found.values() for index in governed]


def _failing(units: Units) -> frozenset[int]:
    return frozenset(index for index, unit in enumerate(units.texts) if fails(unescaped(unit)))


def _governed(units: Units, at: int) -> range:
    """Return the units of the sentence that one belongs to, with what its colon introduces.

    Those are the items of a list, or else a line: without them it would govern what is kept after it.
    """
    texts, joints = units.texts, units.joints
    begin, end = at, at + 1
    while begin and joints[begin] is Joint.NOTHING:
        begin -= 1
    while end < len(texts) and joints[end] is Joint.NOTHING:
        end += 1
    listed = _introduces(texts[end - 1])
    while listed and end < len(texts):
        listed = joints[end] is not Joint.LINE or bool(_ITEM.match(texts[end])) or _introduces(texts[end - 1])
        end += listed
    return range(begin, end)


def _introduces(unit: str) -> bool:
    return unit.rstrip(CLOSERS).endswith((":", "："))


def _named(level: str, units: Units, chosen: Sequence[int]) -> str:
    """Return the name of a level, with how many of the records it has: a list that is cut looks whole."""
    told = units.told(chosen)
    return f"{level}: {told}" if told else level
