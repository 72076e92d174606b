"""What a text is made of, and can be kept whole or not at all: JSON records, lines, sentences."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from memopt.text.words import CLOSERS, Joint, join, sentences

DEEPEST = 8
"""Wrappers that are opened at most, one inside the other."""

_WHITE = re.compile(r"[ \t\n\r]*")
_TIGHT = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+')
_SURROGATE = re.compile("[\ud800-\udfff]")
_READ = json.JSONDecoder().raw_decode
_ENDS = tuple(".!?。！？；…")
_QUOTED = re.compile('"[^"]*"')
_NAMES = re.compile(r'\ufeff?\s*(?:[^\W\d]|[|",])')
_RULE = re.compile(r"(?=.*-)[\s|:+-]+")
_GAP = "…"
"""Stands for the lines that are left out between two: they would read as the next one each."""


class Units(NamedTuple):
    """The units of a text in order, and what makes some of them, by ascending index, a text again.

    Attributes
    ----------
    texts, join
        The units, and what makes a text of some.
    joints
        What each begins.
    kind
        What a reader would count: ``records``, ``fields``, ``lines`` or ``rows``; empty for sentences.
    counted
        Indices where those begin, and where the last one ends: of a list in an object it is the elements.
    header
        Indices of those that name the columns of a table: its rows say little without them.
    """

    texts: Sequence[str]
    join: Callable[[Sequence[int]], str]
    joints: Sequence[Joint]
    kind: str = ""
    counted: Sequence[int] = ()
    header: Sequence[int] = ()

    def told(self, chosen: Sequence[int]) -> str:
        """Return of how many some is chosen, by index, ``10 of 20 records``; empty for sentences."""
        if not self.kind:
            return ""
        begin, end = self.counted[0], self.counted[-1]
        kept = {bisect_right(self.counted, index) for index in chosen if begin <= index < end}
        return f"{len(kept)} of {len(self.counted) - 1} {self.kind}"

    @property
    def ends(self) -> list[int]:
        """Return the index of the first record or row, and of the first and the last line.

        Lists are sorted by what was asked for, and logs tell at the end how it went.
        """
        if len(self.counted) < 2 or self.kind not in ("records", "rows", "lines"):
            return []
        first, last = self.counted[0], self.counted[-1] - 1
        return [first, last] if self.kind == "lines" else [first]


class _Part(NamedTuple):
    """Where an element of a JSON text begins, its key included, where its value does, and its end."""

    begin: int
    value: int
    end: int


def sentence_units(text: str) -> Units:
    """Return the sentences of a text."""
    cut = sentences(text)
    return Units(
        [sentence.text for sentence in cut],
        lambda chosen: join([cut[index] for index in chosen]),
        [sentence.joint for sentence in cut],
    )


def record_units(text: str) -> Units:
    """Return the records of a text.

    Of JSON with a list or an object on top: its elements or pairs, as it writes them but compact, one
    a line, in a list or an object again. Of a text that is mostly lines without the end of a sentence
    (logs, tables, code): its lines, the first of a table as its header. Of any other: its sentences. A
    unit that holds most of such a whole is made of records itself: ``{"status": "ok", "results": [...]}``
    has those of its results.
    """
    return _records(text, DEEPEST)


def _records(text: str, deepest: int) -> Units:
    stripped = text.strip()
    if deepest and stripped[:1] in ("[", "{"):
        try:
            return _json(stripped, deepest)
        except (ValueError, RecursionError):
            pass
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if not deepest or len(lines) < 2 or _is_prose(lines):
        return sentence_units(text)
    longest = _longest(lines)
    if longest is None:
        header = _header(lines)
        return _listed(lines, "rows", _rows, header) if header else _listed(lines, "lines", _lines)
    return _opened(lines, longest, _records(lines[longest], deepest - 1), _lines, "lines")


def _rows(kept: Mapping[int, str]) -> str:
    return "\n".join(kept.values())


def _lines(kept: Mapping[int, str]) -> str:
    """Return lines by their numbers as a text, with a sign where some are left out between them."""
    told: list[str] = []
    following = min(kept, default=0)
    for number, line in kept.items():
        told += [line] if number == following else [_GAP, line]
        following = number + 1
    return "\n".join(told)


def _is_prose(lines: Sequence[str]) -> bool:
    """Return whether at least half of the text is in lines that end as a sentence does."""
    ended = sum(len(line) for line in lines if line.rstrip(CLOSERS).endswith(_ENDS))
    return 2 * ended >= sum(map(len, lines))


def _header(lines: Sequence[str]) -> range:
    """Return the line that names the columns of a table, with the rule below it; nothing of other lines.

    In a table nine lines of ten have as many bars, tabs or commas, two at least, and the first of these
    begins with no number, bracket or dash as the lines of logs and lists do.
    """
    bare = [_QUOTED.sub("", line) for line in lines]
    for sign in "|\t,":
        signs = [line.count(sign) for line in bare]
        [(most, rows)] = Counter(signs).most_common(1)
        begin = signs.index(most)
        if most >= 2 < rows and 10 * rows >= 9 * len(lines) and _NAMES.match(lines[begin]):
            return range(begin, begin + 2 if _RULE.fullmatch(lines[begin + 1]) else begin + 1)
    return range(0)


def _longest(texts: Sequence[str]) -> int | None:
    """Return the index of the text that is longer than all others together, None where there is none."""
    lengths = list(map(len, texts))
    most = max(lengths, default=0)
    return lengths.index(most) if 2 * most > sum(lengths) else None


def _json(text: str, deepest: int) -> Units:
    """Return the records of a JSON text; ValueError when it is none."""
    parts, end = _parts(text)
    if end != len(text):
        raise ValueError("more than one JSON value")
    open_, close = text[0], text[-1]

    def wrapped(kept: Mapping[int, str]) -> str:
        return open_ + ",\n".join(kept.values()) + close if kept else ""

    records = ["".join(_TIGHT.findall(text, part.begin, part.end)) for part in parts]
    kind = "records" if open_ == "[" else "fields"
    longest = _longest(records)
    if longest is not None:
        part = parts[longest]
        inner = _inside(text[part.value : part.end], text.isascii(), deepest - 1)
        if inner is not None:
            key = "".join(_TIGHT.findall(text, part.begin, part.value))
            within = inner._replace(join=lambda chosen: key + inner.join(chosen))
            return _opened(records, longest, within, wrapped, kind)
    return _listed(records, kind, wrapped)


def _inside(value: str, escaped: bool, deepest: int) -> Units | None:
    """Return the records of a JSON value; those of a string as a string. None where it has not several."""
    if value[0] in "[{":
        inner = _json(value, deepest) if deepest else None
        return inner if inner and inner.texts else None
    if value[0] != '"':
        return None
    said = json.loads(value)
    if _SURROGATE.search(said):
        return None
    inside = _records(said, deepest)
    if len(inside.texts) < 2:
        return None
    return inside._replace(join=lambda chosen: json.dumps(inside.join(chosen), ensure_ascii=escaped))


def _listed(
    texts: Sequence[str], kind: str, assemble: Callable[[Mapping[int, str]], str], header: range = range(0)
) -> Units:
    """Return units that all count, those of a table below its header."""
    return Units(
        texts,
        lambda chosen: assemble({index: texts[index] for index in chosen}),
        [Joint.LINE] * len(texts),
        kind,
        range(header.stop, len(texts) + 1),
        header,
    )


def _opened(
    texts: Sequence[str], at: int, inner: Units, assemble: Callable[[Mapping[int, str]], str], kind: str
) -> Units:
    """Return units with those of `inner` in the place of one.

    What is counted is the elements of a list and lines, so that none is missed, and of the fields of an
    object, and of lines around a list, what `inner` counts.
    """
    after = at + len(inner.texts)

    def joined(chosen: Sequence[int]) -> str:
        kept = {index: texts[index] for index in chosen if index < at}
        within = [index - at for index in chosen if at <= index < after]
        if within:
            kept[at] = inner.join(within)
        later = [index - after + at + 1 for index in chosen if index >= after]
        return assemble(kept | {index: texts[index] for index in later})

    around = [Joint.LINE] * len(texts)
    opened = [*texts[:at], *inner.texts, *texts[at + 1 :]]
    joints = [*around[:at], *inner.joints, *around[at + 1 :]]
    header = [index + at for index in inner.header]
    if len(texts) > 1 and (kind == "records" or (kind == "lines" and inner.kind != "records")):
        return Units(opened, joined, joints, kind, [*range(at + 1), *range(after, len(opened) + 1)], header)
    return Units(opened, joined, joints, inner.kind, [index + at for index in inner.counted], header)


def _parts(text: str) -> tuple[list[_Part], int]:
    """Return the elements or pairs of the list or object that a text begins with, and where it ends."""
    pairs, close = text[0] == "{", {"{": "}", "[": "]"}[text[0]]
    parts: list[_Part] = []
    at = _after_white(text, 1)
    while parts or not text.startswith(close, at):
        begin = at
        if pairs:
            key, at = _READ(text, at)
            if not isinstance(key, str):
                raise ValueError("a key is no string")
            at = _after(":", text, at)
        value = at
        _, end = _READ(text, at)
        parts.append(_Part(begin, value, end))
        at = _after_white(text, end)
        if text.startswith(close, at):
            break
        at = _after(",", text, at)
    return parts, at + 1


def _after(sign: str, text: str, at: int) -> int:
    """Return where what follows a sign begins; ValueError when it does not stand there."""
    at = _after_white(text, at)
    if not text.startswith(sign, at):
        raise ValueError(f"no {sign!r}")
    return _after_white(text, at + 1)


def _after_white(text: str, at: int) -> int:
    found = _WHITE.match(text, at)
    assert found is not None
    return found.end()
