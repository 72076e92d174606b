"""Tables for a person: rows of text in, text for standard output out."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memopt.errors import visible

from .output import standard_output

if TYPE_CHECKING:
    from rich.console import RenderableType

_UNLIMITED = 10**6
"""Characters in a line, to measure what a table would need."""
_KEPT = "\xa0"
"""A space at which no line breaks; text made visible has none of its own."""


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1, whole: bool = False
) -> str:
    """Return a table; all but the first ``left`` columns are numbers, aligned to the right.

    Where it is too wide, the last column wraps, and so does the first. Kept ``whole``, no word is broken:
    the table closes up, and where that is not enough, a row becomes a paragraph.
    """
    from rich.table import Table  # not loaded where nobody sees a table
    from rich.text import Text

    shown = [[visible(str(cell)) for cell in row] for row in rows]

    def made(padding: int) -> Table:
        grid = Table(padding=(0, padding))
        for index, name in enumerate(columns):
            kept = (whole or index > 0) and index < len(columns) - 1
            grid.add_column(name, justify="left" if index < left else "right", overflow="fold", no_wrap=kept)
        for row in shown:
            grid.add_row(*map(Text, row))
        return grid

    for padding in (1, 0) if whole else ():
        if _fits(made(padding)):
            return printed(made(padding))
    return "".join(_paragraphs(columns, shown)) if whole else printed(made(1))


def _fits(part: RenderableType) -> bool:
    """Whether a part can be printed without breaking a word or leaving something out."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(file=standard_output())
    unlimited = console.options.update(max_width=_UNLIMITED)
    return Measurement.get(console, unlimited, part).minimum <= console.width


def _paragraphs(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield each row as text, its first cell before the others, which their columns name."""
    width = shutil.get_terminal_size().columns
    names = [" ".join(name.split()) for name in columns]
    for first, *others in rows:
        told = "; ".join(f"{name}{_KEPT}{cell}" for name, cell in zip(names[1:], others, strict=True))
        lines = textwrap.wrap(
            told, width, initial_indent="  ", subsequent_indent="  ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        yield "".join(f"{line}\n" for line in (first, *lines)).replace(_KEPT, " ")


def printed(*parts: RenderableType) -> str:
    """Return parts, one below the other, as text fit for standard output (its width, its colours)."""
    from rich.console import Console, Group

    console = Console(file=standard_output(), highlight=False)
    with console.capture() as captured:
        console.print(Group(*parts))
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def figures(pairs: Iterable[tuple[str, object]]) -> str:
    """Return names and values, one pair per line."""
    listed = [(name, visible(str(value))) for name, value in pairs]
    width = max((len(name) for name, _ in listed), default=0)
    return "".join(f"{name.ljust(width)}  {value}\n" for name, value in listed)
