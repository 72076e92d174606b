"""Refresh: levels made anew from the archive by a fixed procedure, for the turns to come.

Neither the pressure queue nor the turn count takes part: a refresh cannot reset them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol


class Archive(Protocol):
    """Where every original stays; nothing here ever deletes one."""

    def ids(self) -> Iterable[str]:
        """Return the ids of all items that have an original."""
        ...

    def original(self, item: str) -> str | None:
        """Return the original text of an item, or None when there is none."""
        ...


class Compressor(Protocol):
    """Makes one poorer level out of an original; the same text must give the same result."""

    def __call__(self, text: str, /) -> str:
        """Return the compressed text; empty when nothing of it is left."""
        ...


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Levels made anew.

    Attributes
    ----------
    texts
        Item id to its texts by level, richest first; a level that came out empty is absent.
    missing
        Ids asked for that have no original: they stay capped.
    """

    texts: dict[str, dict[str, str]]
    missing: tuple[str, ...]


def reextract(
    archive: Archive,
    compressors: Mapping[str, Compressor],
    ladder: tuple[str, ...],
    items: Iterable[str] | None = None,
) -> Refreshed:
    """Make the levels of items from their originals.

    The richest level is the original; every other one comes from the original, not from a richer
    level, so that nothing accumulates from one refresh to the next.

    Parameters
    ----------
    archive
        Holds the originals.
    compressors
        Level name to its compressor; levels without one are absent.
    ladder
        Level names, richest first, without ``delete``.
    items
        Ids wanted, None = all of the archive.

    Raises
    ------
    ValueError
        When a compressor makes a level that is not a poorer one of the ladder.
    TypeError
        When a compressor returns no text.
    """
    refuse_unknown(compressors, ladder)
    texts: dict[str, dict[str, str]] = {}
    missing = []
    for item in sorted(set(archive.ids() if items is None else items)):
        original = archive.original(item)
        if original is None:
            missing.append(item)
            continue
        texts[item] = {ladder[0]: original} | poorer_levels(original, compressors, ladder)
    return Refreshed(texts, tuple(missing))


def refuse_unknown(compressors: Iterable[str], ladder: tuple[str, ...]) -> None:
    """Raise ValueError when a compressor makes a level that is not a poorer one of the ladder."""
    unknown = [level for level in compressors if level not in ladder[1:]]
    if unknown:
        raise ValueError(
            f"the ladder {', '.join(ladder)} has no poorer level {', '.join(map(repr, unknown))}"
        )


def poorer_levels(
    original: str, compressors: Mapping[str, Compressor], ladder: tuple[str, ...]
) -> dict[str, str]:
    """Return the texts of the levels below the richest, richest first; those that came out empty are absent.

    Raises
    ------
    TypeError
        When a compressor returns no text.
    """
    texts = {}
    for level in ladder[1:]:
        text = compressors[level](original) if level in compressors else ""
        if not isinstance(text, str):
            raise TypeError(f"the compressor of {level!r} returned {type(text).__name__}, not text")
        if text:
            texts[level] = text
    return texts
