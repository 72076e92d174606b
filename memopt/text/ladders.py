"""The levels of messages, made when a message comes and the same ever after."""

from __future__ import annotations

import json
import math
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from memopt.columns import DEFAULT_LADDER
from memopt.session.refresh import Compressor, poorer_levels, refuse_unknown
from memopt.text.compress import SHARES
from memopt.text.compress import levels as extractive
from memopt.text.escapes import unescaped
from memopt.text.idf import StreamingIdf
from memopt.text.messages import Message
from memopt.text.tokens import TokenCounter
from memopt.text.words import restricts, terms

REMEMBERED = 2**14
"""Messages whose levels are remembered; their own texts are not."""

MARK = "[{}] "
"""What a level begins with that the built-in compressors made, its name in it, and of how many records it
has how many: a text that has gaps and does not say so is read as complete."""

_WORDLESS = {level: share for level, share in SHARES.items() if level != "keywords"}
_FALSE = re.compile(r"[:=,\[(]\s*[Ff]alse\b")
_MARKED = re.compile(r"\[(\w+)(?:: \d+ of \d+ \w+)?\] ")
_STREAMS = 8


@dataclass(frozen=True, slots=True)
class Ladder:
    """A message at every level, and what is said at each: all that a utility may look at.

    Attributes
    ----------
    message
        The message.
    texts
        Level name to the text of the content, richest first; only the first for a message whose
        content is not text alone.
    mass
        Idf mass in nats: the sum of the idf of its distinct terms, tool calls included, by what
        had been said in the chat up to it.
    shares
        Level name to the share of the mass it still tells, 0 to 1; a richer level tells at least
        what a poorer one does.
    digests
        Level name to a digest of all that is sent of the message at it, images and tool calls included.
    counted
        The counter that counted its texts last, and the tokens of each level; empty before.
    """

    message: Message
    texts: Mapping[str, str]
    mass: float
    shares: Mapping[str, float]
    digests: Mapping[str, str] = field(default_factory=dict)
    counted: list[tuple[TokenCounter, dict[str, int]]] = field(default_factory=list, compare=False)

    def tokens(self, counter: TokenCounter) -> dict[str, int]:
        """Return the tokens of the message as text at each level; counted once for a counter."""
        if not self.counted or self.counted[0][0] is not counter:
            told = [None, *list(self.texts.values())[1:]]
            sizes = [counter.count(self.message.text(content)) for content in told]
            self.counted[:] = [(counter, dict(zip(self.texts, sizes, strict=True)))]
        return self.counted[0][1]


class _Made(NamedTuple):
    """What is remembered of a ladder."""

    poorer: dict[str, str]
    mass: float
    shares: dict[str, float]
    digests: dict[str, str]
    counted: list[tuple[TokenCounter, dict[str, int]]]


class Ladders:
    """Makes the levels of a chat's messages.

    The levels of a message depend on it and on what stands before it, on nothing after it: the next
    turn, and the next process, find the texts of the last one again, byte for byte, which is what
    keeps the prefix of a prompt. They are remembered, so that a turn costs its new messages.

    Parameters
    ----------
    compressors
        Level name to its compressor; None = those of `memopt.text.compress`, with the idf of the
        chat up to the message, every text marked with its level (`MARK`). Of a text with a negation or
        a restriction in it, and of what tools return with a value that is false, there are no keywords;
        of what people and models say also no level without that. Of what tools return, what tells of a
        failure comes first; a table keeps its header. A function with a language model
        behind it is asked once a text; what it returns is sent as it is.
    ladder
        Level names, richest first, without ``delete``.

    Raises
    ------
    ValueError
        When a compressor makes a level that is not a poorer one of the ladder.
    """

    def __init__(
        self, compressors: Mapping[str, Compressor] | None = None, ladder: Sequence[str] = DEFAULT_LADDER
    ) -> None:
        self.ladder = tuple(ladder)
        self._given: dict[str, Callable[[str], str]] | None = None
        if compressors is not None:
            refuse_unknown(compressors, self.ladder)
            self._given = {level: lru_cache(REMEMBERED)(make) for level, make in compressors.items()}
        self._made: OrderedDict[tuple[bytes, bool], _Made] = OrderedDict()
        self._streams: OrderedDict[bytes, StreamingIdf] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, messages: Sequence[Message], fixed: Collection[str] = ()) -> list[Ladder]:
        """Return a ladder a message, in order.

        Parameters
        ----------
        messages
            What is sent of a chat, in order.
        fixed
            Ids of messages that stay as they are: no compressor is asked for them.

        Raises
        ------
        TypeError
            When a compressor returns no text.
        """
        with self._lock:
            return list(self._all(messages, fixed))

    def _all(self, messages: Sequence[Message], fixed: Collection[str]) -> Iterator[Ladder]:
        idf: StreamingIdf | None = None
        said = b""  # digest of all that has been said
        for position, message in enumerate(messages):
            before, said = said, _link(said, _whole(message))
            key = said, message.content.may_shrink and message.id not in fixed
            made = self._made.pop(key, None)
            if idf is None and made is None:
                idf = self._stream(before, messages[:position])
            if idf is not None:
                idf.see(_terms(message, message.content.text, idf))
                made = made or self._make(message, key[1], idf)
            assert made is not None
            self._made[key] = made
            texts = {self.ladder[0]: message.content.text} | made.poorer
            yield Ladder(message, texts, made.mass, made.shares, made.digests, made.counted)
        if idf is not None:
            self._streams[said] = idf
        while len(self._made) > max(REMEMBERED, len(messages)):
            self._made.popitem(last=False)
        while len(self._streams) > _STREAMS:
            self._streams.popitem(last=False)

    def _stream(self, key: bytes, messages: Sequence[Message]) -> StreamingIdf:
        """Return the idf of what has been said; a chat that goes on goes on with its own."""
        found = self._streams.pop(key, None)
        if found is None:
            found = StreamingIdf(lru_cache(64)(terms))
            for message in messages:
                found.see(_terms(message, message.content.text, found))
        return found

    def _make(self, message: Message, shrinks: bool, idf: StreamingIdf) -> _Made:
        texts = self._shorter(message, idf) if shrinks else {}
        weight = idf.weights(_terms(message, message.content.text, idf))
        mass = math.fsum(weight.values())  # exact, so that the order of a set does not matter
        shares: dict[str, float] = {}
        told = 0.0
        for level, shorter in reversed(texts.items()):
            words = weight.keys() & _terms(message, _unmarked(level, shorter), idf)
            share = math.fsum([weight[term] for term in words]) / mass if mass else 1.0
            shares[level] = told = max(told, min(share, 1.0))
        shares[self.ladder[0]] = 1.0
        digests = {level: _digest(message.text(shorter)) for level, shorter in texts.items()}
        digests[self.ladder[0]] = _digest(_whole(message))
        return _Made(texts, mass, dict(reversed(shares.items())), digests, [])

    def _shorter(self, message: Message, idf: StreamingIdf) -> dict[str, str]:
        """Return the texts of a message's poorer levels by name, richest first."""
        text = message.content.text
        if self._given is None:
            if message.answers is None:
                built_in = extractive(text, idf, mark=MARK)
            else:  # what tools print is full of "not": its records may go, and each says what it is
                denied = restricts(unescaped(text)) or _FALSE.search(text)
                shares = _WORDLESS if denied else SHARES
                built_in = extractive(text, idf, shares=shares, mark=MARK, guarded=False, failing=True)
            return {level: built_in[level] for level in self.ladder[1:] if level in built_in}
        return poorer_levels(text, self._given, self.ladder)


def _terms(message: Message, content: str, idf: StreamingIdf) -> set[str]:
    """Return the terms of a message with some content: those of its role and tool calls, too."""
    return {term for part in (content, message.head, message.tail) for term in idf.terms(unescaped(part))}


def _unmarked(level: str, text: str) -> str:
    """Return the text of a level without its mark."""
    found = _MARKED.match(text)
    return text[found.end() :] if found and found[1] == level else text


def _whole(message: Message) -> str:
    """Return all that is sent of a message as text: what is no text as JSON."""
    said = message.text()
    return said + json.dumps(message.raw["content"], sort_keys=True) if message.content.fixed else said


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _link(before: bytes, text: str) -> bytes:
    """Return the digest of a text and of all that was said before it."""
    return blake2b(text.encode("utf-8", "surrogatepass"), key=before, digest_size=32).digest()


default_ladders = Ladders()
"""Those of this process, with the compressors of `memopt.text.compress`."""
