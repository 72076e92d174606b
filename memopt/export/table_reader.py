"""The table of the numbers in a Markdown or LaTeX file, read without what wrote it."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from memopt.export.reading import RereadDiffers

_MARKDOWN_CELL = re.compile(r" ((?:\\.|[^\\|])*) \|")
_LATEX_HEAD = re.compile(r"\\parbox\[t\]\{[\d.]+cm\}\{\\raggedleft\\ttfamily (.*)\}")
_LATEX_MARK = re.compile(r"\\char(\d+)\{\}|\\uni\{([0-9A-F]+)\}|\\allowbreak\{\}")
_NUMBERS = re.compile(r"(\d+) / (-?\d+(?:\.\d+)?)")
_CHOSEN = {"md": re.compile(r"\*\*(.*)\*\*"), "latex": re.compile(r"\\chosen\{(.*)\}")}


class Entry(NamedTuple):
    """A cell that is not empty: item and level as they are shown, tokens, value in utility, chosen or not."""

    item: str
    level: str
    tokens: int
    value: Decimal
    chosen: bool


class Table(NamedTuple):
    """What the table shows: its levels and its items, each in order, and the cells, row by row."""

    levels: list[str]
    items: list[str]
    entries: list[Entry]


def read_table(kind: str, content: bytes) -> Table:
    """Return the table of the numbers in a file; ``kind`` is ``md`` or ``latex``.

    Raises
    ------
    RereadDiffers
        When it is no such table.
    """
    lines = content.decode().split("\n")
    try:
        (_, *levels), *rows = _markdown(lines) if kind == "md" else _latex(lines)
    except ValueError as error:
        raise RereadDiffers(kind, "the table of the numbers is not there") from error
    entries = []
    for item, *cells in rows:
        if len(cells) != len(levels):
            raise RereadDiffers(kind, f"the row of {item!r} has {len(cells)} cells for {len(levels)} levels")
        for level, cell in zip(levels, cells, strict=True):
            if cell:
                entries.append(_entry(kind, item, level, cell))
    return Table(levels, [row[0] for row in rows], entries)


def _entry(kind: str, item: str, level: str, cell: str) -> Entry:
    marked = _CHOSEN[kind].fullmatch(cell)
    numbers = _NUMBERS.fullmatch(marked[1] if marked else cell)
    if numbers is None:
        raise RereadDiffers(kind, f"{item!r} has the cell {cell!r} at {level!r}")
    return Entry(item, level, int(numbers[1]), Decimal(numbers[2]), marked is not None)


def _markdown(lines: list[str]) -> list[list[str]]:
    """Return the cells of the last table; names lose their escapes, numbers keep their mark."""
    first = max(number for number, line in enumerate(lines) if not line.startswith("|") and line != "") + 2
    head, _, *body = [_MARKDOWN_CELL.findall(line[1:]) for line in lines[first:] if line]
    plain = [[re.sub(r"\\(.)", r"\1", cell) for cell in head]]
    return plain + [[re.sub(r"\\(.)", r"\1", name), *cells] for name, *cells in body]


def _latex(lines: list[str]) -> list[list[str]]:
    """Return the cells of the last table; names lose their escapes, numbers keep their mark."""
    first = max(number for number, line in enumerate(lines) if line.endswith(r"\endhead"))
    head = [
        _LATEX_HEAD.fullmatch(cell) for cell in _cells(lines[first].removesuffix(r" \hline \endhead"))[1:]
    ]
    names = [_spoken(cell[1]) for cell in head if cell is not None]
    end = lines.index(r"\end{longtable}}", first)
    body = [_cells(line) for line in lines[first + 1 : end]]
    return [["item", *names], *([_spoken(name), *cells] for name, *cells in body)]


def _cells(line: str) -> list[str]:
    return line.removesuffix(r" \\").split(" & ")


def _spoken(text: str) -> str:
    def mark(found: re.Match[str]) -> str:
        return chr(int(found[1])) if found[1] else chr(int(found[2], 16)) if found[2] else ""

    return _LATEX_MARK.sub(mark, text)
