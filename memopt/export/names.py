"""Names for variables and rows: readable, and safe in LP, MPS and CP-SAT files alike.

A variable is called ``x_ITEM__LEVEL``. ITEM and LEVEL are the item's id and the level's name with
every run of other characters than ASCII letters and digits as one underscore, accents taken off, and
letters of other scripts as their code points. They neither begin nor end with an underscore and have
no two in a row, so the double one separates them without doubt; the prefix keeps leading digits and
the keywords of the LP format away. Where two would be the same, the later item in canonical order
(the richer level) gets a number. Names depend on the program alone: a solution file can be read back
without the names file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from memopt.program import Program

LONGEST = 60
"""Characters a variable's name has at most."""
_LONGEST_LEVEL = 16
_LONGEST_ITEM = LONGEST - len("x_" + "__") - _LONGEST_LEVEL
_UNSAFE = re.compile("[^A-Za-z0-9]+")
_FOREIGN = re.compile("[^\x00-\x7f]")


@dataclass(frozen=True)
class Names:
    """Names of a program's parts.

    Attributes
    ----------
    options
        Variable of each option, shape ``[options]``.
    items
        What stands for each item in the names of variables and rows, shape ``[items]``.
    """

    options: tuple[str, ...]
    items: tuple[str, ...]


def names_of(program: Program) -> Names:
    """Return the names of a program's options and items."""
    levels = _distinct(map(_safe, reversed(program.ladder)), _LONGEST_LEVEL)[::-1]
    items = _distinct(map(_safe, program.ids), _LONGEST_ITEM)
    level = program.level.tolist()
    options = tuple(
        f"x_{items[item]}__{levels[level[option]]}"
        for item in range(len(program))
        for option in program.options(item)
    )
    return Names(options, tuple(items))


def _safe(text: str) -> str:
    if not text.isascii():
        plain = unicodedata.normalize("NFKD", text)
        plain = "".join(mark for mark in plain if not unicodedata.combining(mark))
        text = _FOREIGN.sub(lambda found: f"_u{ord(found[0]):04X}_", plain)
    return _UNSAFE.sub("_", text).strip("_") or "nameless"


def _distinct(texts: Iterable[str], longest: int) -> list[str]:
    """Shorten texts to so many characters, and number those that would repeat an earlier one."""
    taken: set[str] = set()
    times: dict[str, int] = {}
    found = []
    for text in texts:
        cut = chosen = text[:longest].rstrip("_")
        while chosen in taken:
            times[cut] = times.get(cut, 1) + 1
            tail = f"_{times[cut]}"
            chosen = cut[: longest - len(tail)].rstrip("_") + tail
        taken.add(chosen)
        found.append(chosen)
    return found
