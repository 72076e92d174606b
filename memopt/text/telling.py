"""How a reader is told a term: not cut out of a time, an id or a Chinese word, as counting cuts it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memopt.text.words import HAN, stretches

_DIGIT = re.compile(r"\d")
_BIGRAM = re.compile(rf"[{HAN}]{{2}}")
_WORD = rf"[^\W{HAN}]"
_IN_WORD = re.compile(_WORD)
_REST = re.compile(f"{_WORD}+")
_WHOLE = re.compile(
    r"\+\d+(?:[ -]\d+)+"  # of a telephone
    rf"|[-+#$€£¥]{{0,2}}{_WORD}+(?:(?:[.:/'@+-]|(?<=\d)(?:,(?=\d{{3}}(?!\d))|[年月日时時点分](?=\d))){_WORD}+)*"
    r"(?:%|(?<=\d)[年月日时時点分秒元])?"
)
_LONGEST = 40
"""Characters of a time, date, number or id that is told whole."""
_SHORT = 8
"""A stretch of so many Chinese characters between function characters is told whole."""


def bigrams_of(terms: Iterable[str]) -> set[str]:
    """Return those of the terms that are two Chinese characters."""
    return {term for term in terms if _BIGRAM.fullmatch(term)}


def as_written(terms: Iterable[str], text: str) -> dict[str, str]:
    """Return terms with a digit, and what each is part of where it first stands: ``00-21``: ``11:00-21:00``.

    Found by their places, for most terms stand in a text many times and few of them are told.
    """
    numbered = [term for term in terms if _DIGIT.search(term)]
    lower = text.lower() if numbered else ""
    if len(lower) != len(text):  # of some letters the small one is two: places would shift
        return {}
    return {term: _around(term, lower, text) for term in numbered}


def _around(term: str, lower: str, text: str) -> str:
    at = lower.find(term)
    while at >= 0:
        end = at + len(term)
        if not (_IN_WORD.match(lower, end) or (at and _IN_WORD.match(lower, at - 1))):
            near = _WHOLE.finditer(text, max(at - _LONGEST, 0), end + _LONGEST)
            found = next((each[0] for each in near if each.end() > at), term)
            return found if len(found) <= _LONGEST else term
        rest = _REST.match(lower, at)  # no term begins inside of a word: long ids are not searched again
        at = lower.find(term, rest.end() if rest else at + 1)
    return term  # it is written in wide digits


def merged(best: list[str], text: str) -> list[str]:
    """Return the terms with Chinese bigrams as the stretches of the text that they are from."""
    chosen = bigrams_of(best)
    longest: dict[str, str] = {}
    for stretch in stretches(text):
        for begin, end in _spans(stretch, chosen):
            for at in range(begin, end - 1):
                bigram = stretch[at : at + 2]
                longest[bigram] = max(longest.get(bigram, ""), stretch[begin:end], key=len)
    told = list(dict.fromkeys(longest.get(term, term) for term in best))
    return [term for term in told if not any(term in other for other in told if other != term)]


def _spans(stretch: str, chosen: set[str]) -> list[tuple[int, int]]:
    """Return where bigrams stand in a stretch, as one where they touch.

    With a character on either side, for a bigram may be cut out of two words, but no fourth one where
    the stretch begins or ends.
    """
    spans: list[tuple[int, int]] = []
    last = len(stretch)
    for at in range(last - 1):
        if stretch[at : at + 2] not in chosen:
            continue
        if last <= _SHORT:
            return [(0, last)]
        begin, end = max(at - 1, 0), min(at + 3, last)
        begin, end = (0, 3) if begin == 0 else (last - 3, last) if end == last else (begin, end)
        if spans and begin <= spans[-1][1]:
            begin = spans.pop()[0]
        spans.append((begin, end))
    return spans
