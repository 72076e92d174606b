"""Sentences and terms of a text in any script, by rules alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import lru_cache
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

Terms = Callable[[str], list[str]]
"""Returns the terms of a text in order, with repeats."""

LONGEST = 240
"""Longer sentences (in characters) are cut at a comma or a space: logs have no full stops."""

HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Characters written without spaces between words: Chinese ideographs and Japanese kana."""

CLOSERS = "\"'”’」』)）]*_"
"""Signs that may stand after the end of a sentence."""

_RUN = re.compile(rf"[{HAN}]+|[^\W{HAN}]+(?:[.'-][^\W{HAN}]+)*")
_ASCII_RUN = re.compile(r"\w+(?:[.'-]\w+)*", re.ASCII)
_IS_HAN = re.compile(rf"[{HAN}]")
# A space that follows an end: a pattern that begins with what is rare is searched for many times faster.
_WESTERN_END = r"\s(?:(?<=[.!?]\s)|(?<=[.!?][\"'”’)\]]\s))\s*"
_END = re.compile(_WESTERN_END)
_HAN_MARK = re.compile("[。！？；…]")
_ANY_END = re.compile(_WESTERN_END + r"|(?<=[。！？；…])(?![。！？；…”’」』）])|(?<=[。！？…][”’」』）])")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Za-z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|No|Fig|e\.g|i\.e|approx)|^\d{1,3})\.$"
)
_ENDS_IN = 9
"""Characters at the end of a sentence that decide whether it ends in an abbreviation."""
_CUT = re.compile(r"[,;:，、；：\s](?=[^,;:，、；：\s]*$)")

_ENDING = re.compile(r"(?:n't|'(?:s|d|ll|ve|re|m))$")
_ENGLISH = """
a about after again all also am an and any are as at be because been before being but by ca can could did
do does doing down each few for from further get got had has have having he her here hers him his how i
if in into is it its just let like me more most my no nor not now of off on once only or other our out
over own really same she should so some such than that the their them then there these they this those
through to too under until up very was we were what when where which while who whom why will with wo
would yeah yes you your
"""
_FUNCTION_WORDS = frozenset(_ENGLISH.split())
_CHINESE = "的了着吗呢吧啊么们是在和与我你他她它这那就也都很把被但而或のはがをにでとも"
_FUNCTION_CHARACTERS = frozenset(_CHINESE)
_STRETCH = re.compile(rf"(?:(?![{_CHINESE}])[{HAN}]){{2,}}")

# One line a language after the English ones. Not those that are common in English, too: ne (NE), solo, stop.
_RESTRICTING = """
aint after arent avoid before cannot cant couldnt didnt doesnt dont except exclude excluding forbid forbidden
hardly ignore instead isnt must neither never no nobody none nor not nothing nowhere only prohibited rather
refrain refuse shouldnt skip til till unless until untouched wasnt without wont wouldnt
nicht kein keine keinem keinen keiner nur erst außer ohne nie niemals
pas jamais sauf seulement sans
nunca sin sólo excepto
не нет только кроме без
لا لم لن فقط
"""
_RESTRICTS = frozenset(_RESTRICTING.split())
_WORD = re.compile(r"\w+")
_BETWEEN_WORDS = {code: " " for code in range(128) if not _WORD.match(chr(code))}
_AWAY = r"\b(?:stay|keep|steer)(?: [\w']+){0,4} (?:away|out of|off|clear of)\b"
_BELOW = r"\b(?:under|below) \W?\d"
_PHRASES = {
    word: re.compile(phrase)
    for word, phrase in {
        "t": "n't",
        "n": r"\bn'(?=[^\W\d])",
        "most": r"\bat most\b",
        "least": r"\bat least\b",
        "thought": r"\bon second thought",
        "stop": r"\bstop \w+ing\b",
        "stay": _AWAY,
        "keep": _AWAY,
        "steer": _AWAY,
        "hands": r"\bhands[ -]off\b",
        "limits": r"\boff[ -]limits\b",
        "limited": r"\blimited to\b",
        "alone": r"\b(?:leave|let)(?: [\w']+){1,6} alone\b",
        "less": r"\bless than\b",
        "fewer": r"\bfewer than\b",
        "under": _BELOW,
        "below": _BELOW,
        "max": r"\bmax\W+\d",
        "maximum": r"\bmaximum\W+(?:of )?\d",
    }.items()
}
"""What restricts in several words, by the rarest of them."""
_TELLING = _RESTRICTS | _PHRASES.keys()
_HARMLESS = re.compile(
    r"\bno (?:problem|worries)\b|\bnot (?:only|a problem)\b|\bwhy not\b"
    r"|\b(?:don['’]?t|do not) (?:worry|hesitate)\b"
    "|不客[气氣]|不用[谢謝]|不[错錯]|不好意思|不[仅僅只但]|[没沒][问問][题題]|[没沒][关關][系係]|[别別][担擔]心",
    re.IGNORECASE,
)
_OF_HARMLESS = (
    *("no problem", "worr", "hesitate", "not only", "not a problem", "why not", "不客", "不用", "不好意思"),
    *("不错", "不錯", "不仅", "不僅", "不只", "不但", "没问", "沒問", "没关", "沒關", "担心", "擔心"),
)
"""One of these is in all of those, and is found much faster."""
_RESTRICTS_HAN = re.compile(
    "[不没沒別别勿未无無只仅僅除禁莫]|非(?!常)|[之以]前|[之以][后後内內]|直到|必[须須]|至[少多]|最多"
    "|ない|ません|なし|だけ|のみ|しか"
)

_FAILS = re.compile(
    r"(?<!\b0 )(?<!\bno )(?:error|fail|exception)"
    r"""(?!\w{0,20}["']?\s*[:=]\s*(?:(?:null|none|false)\b(?! \w)|0\b|""|\[\]|\{\}))"""
    r"""|timed?[ -]?out(?!\w{0,20}["']?\s*[:=]\s*\d)|["'](?:ok|success)["']:\s*false"""
    r"|denied|declined|refused|rejected|warning|fatal|not found|失败|失敗|错误|錯誤|拒绝|拒絕"
)
_OF_FAILURES = (
    *("error", "fail", "exception", "time", "false", "denied", "declined", "refused", "rejected", "warning"),
    *("fatal", "not found", "失", "误", "誤", "拒"),
)
"""One of these is in all that tells of a failure, and is found much faster."""


class Joint(IntEnum):
    """What a piece of a text begins."""

    LINE = 0
    SENTENCE = 1
    NOTHING = 2
    """It goes on with a sentence that was too long."""


class Sentence(NamedTuple):
    """A sentence, the number of the line it stands in, and what it begins."""

    text: str
    line: int
    joint: Joint = Joint.LINE


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text in order, stripped, none empty; a line break always ends one."""
    return [
        Sentence(piece, number, Joint.NOTHING if again else Joint.SENTENCE if within else Joint.LINE)
        for number, line in enumerate(text.splitlines())
        for within, sentence in enumerate(_of_line(line))
        for again, piece in enumerate(_no_longer_than(sentence, LONGEST))
    ]


def join(kept: list[Sentence]) -> str:
    """Return sentences as a text: lines as they were, a space between sentences unless in Chinese."""
    parts: list[str] = []
    for before, sentence in zip([None, *kept], kept, strict=False):
        if before is not None:
            parts.append("\n" if before.line != sentence.line else _between(before.text, sentence.text))
        parts.append(sentence.text)
    return "".join(parts)


def terms(text: str) -> list[str]:
    """Return the terms of a text in order: lower-case words, and bigrams of Chinese characters.

    Words that carry no content (English, Chinese and Japanese function words) are left out.
    """
    if text.isascii():
        return list(chain.from_iterable(map(_content, _ASCII_RUN.findall(text.lower()))))
    found: list[str] = []
    for run in _RUN.findall(_normal(text)):
        if not _IS_HAN.match(run):
            found += _content(run)
        elif len(run) == 1:
            found += [] if run in _FUNCTION_CHARACTERS else [run]
        else:
            found += [
                run[at : at + 2]
                for at in range(len(run) - 1)
                if _FUNCTION_CHARACTERS.isdisjoint(run[at : at + 2])
            ]
    return found


def stretches(text: str) -> list[str]:
    """Return the longest stretches of two or more Chinese characters without a function character."""
    return _STRETCH.findall(text)


def is_han(term: str) -> bool:
    """Return whether a term is written without spaces between words."""
    return _IS_HAN.match(term) is not None


def restricts(text: str) -> bool:
    """Return whether a text negates or restricts: its content words alone may say the contrary.

    By words of English ("not", "only", "must", "before", "hands off", "under 300"), Chinese, Japanese,
    German, French, Spanish, Russian and Arabic, rather once too often; but "no problem", "don't worry",
    "not only", "why not" and their like in Chinese forbid nothing.
    """
    plain = without_courtesies(_normal(text))
    ascii_only = plain.isascii()  # then its words are found several times faster than by searching
    words = plain.translate(_BETWEEN_WORDS).split() if ascii_only else _WORD.findall(plain)
    found = _TELLING.intersection(words)
    return (
        not _RESTRICTS.isdisjoint(found)
        or any(_PHRASES[word].search(plain) for word in found)
        or (not ascii_only and _RESTRICTS_HAN.search(plain) is not None)
    )


def without_courtesies(text: str) -> str:
    """Return a text without what is negated and forbids nothing: "no problem" would leave "problem"."""
    lower = text.lower()
    return _HARMLESS.sub(" ", text) if any(sign in lower for sign in _OF_HARMLESS) else text


def fails(text: str) -> bool:
    """Return whether a text tells of a failure, in English or Chinese.

    What is empty, ``"error": null`` or ``0 errors``, tells of none, nor does how long to wait.
    """
    lower = text.lower()
    return any(sign in lower for sign in _OF_FAILURES) and _FAILS.search(lower) is not None


def jieba_terms() -> Terms:
    """Return a function like `terms` that cuts Chinese into words by jieba.

    Raises
    ------
    ImportError
        When jieba is not installed; the message names the extra.
    """
    try:
        jieba: Any = import_module("jieba")
    except ImportError:
        raise ImportError("cutting by jieba needs it installed: pip install 'memopt[chinese]'") from None
    jieba.setLogLevel("WARNING")  # it would report the loading of its dictionary on stderr
    cutter = jieba.Tokenizer()

    def cut(text: str) -> list[str]:
        found: list[str] = []
        for run in _RUN.findall(_normal(text)):
            if _IS_HAN.match(run):
                found += [word for word in cutter.lcut(run) if not _FUNCTION_CHARACTERS.issuperset(word)]
            else:
                found += _content(run)
        return found

    return cut


def _normal(text: str) -> str:
    """Return a text in which one term is written one way: folded width and case, plain apostrophes."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower().replace("’", "'")


@lru_cache(maxsize=2**16)
def _content(word: str) -> tuple[str, ...]:
    plain = _ENDING.sub("", word)
    short = len(plain) == 1 and not plain.isdigit()
    return () if short or plain in _FUNCTION_WORDS else (plain,)


def _of_line(line: str) -> Iterator[str]:
    begun: list[str] = []
    for piece in (_ANY_END if _HAN_MARK.search(line) else _END).split(line):
        said = f"{begun[-1][-_ENDS_IN:]} {piece}" if begun else piece
        begun += [piece] if piece or begun else []
        if not (said.endswith(".") and _ABBREVIATION.search(said, max(len(said) - _ENDS_IN, 0))):
            yield from filter(None, [" ".join(begun).strip()])
            begun = []
    yield from filter(None, [" ".join(begun).strip()])


def _no_longer_than(sentence: str, longest: int) -> Iterator[str]:
    at, length = 0, len(sentence)
    while length - at > longest:
        cut = _CUT.search(sentence[at : at + longest])
        end = at + (cut.end() if cut and cut.start() else longest)
        yield sentence[at:end].strip()
        while end < length and sentence[end].isspace():
            end += 1
        at = end
    if at < length:
        yield sentence[at:]


def _between(before: str, after: str) -> str:
    """Return what stands between two sentences of a line: a space, but none where Chinese ends."""
    return "" if not before[-1].isascii() and (_IS_HAN.match(after) or before[-1] in "。！？；…") else " "
