r"""What JSON writes as escapes, as the text it stands for: ``\u9152`` is a character, not a word."""

from __future__ import annotations

import re

# A run of backslashes is tried once, from its first one and whole: from each of them takes time squared.
_RUN = r"(?<!\\)\\++"
_PAIR = re.compile(rf"{_RUN}u(d[89ab][0-9a-f]{{2}}){_RUN}u(d[c-f][0-9a-f]{{2}})", re.IGNORECASE)
_CHARACTER = re.compile(rf"{_RUN}u([0-9a-fA-F]{{4}})")
_WHITE = re.compile(rf"{_RUN}[nrt]")


def unescaped(text: str) -> str:
    r"""Return a text to be read for its words, not to be sent.

    Characters that JSON writes as ``\uXXXX`` are themselves, in strings of JSON in JSON as well, and a half
    of a surrogate pair is a space. Line breaks and tabs that JSON writes as letters are spaces: ``\nThe``
    is no word. But ``C:\new`` has one: they stay in a text that begins neither as JSON nor as a pair of it.
    """
    if "\\" not in text:
        return text
    if "\\u" in text:
        text = _CHARACTER.sub(_character, _PAIR.sub(_pair, text))
    return _WHITE.sub(" ", text) if text.lstrip()[:1] in ("{", "[", '"') else text


def _pair(found: re.Match[str]) -> str:
    return chr(0x10000 + ((int(found[1], 16) - 0xD800) << 10) + int(found[2], 16) - 0xDC00)


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return " " if 0xD800 <= code < 0xE000 else chr(code)
