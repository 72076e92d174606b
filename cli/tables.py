"""Tables for a person: rows of text in, text for standard output out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memopt.errors import visible

from .output import standard_output

if TYPE_CHECKING:
    from rich.console import RenderableType


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1, whole: bool = False
) -> str:
    """Return a table; all but the first ``left`` columns are numbers, aligned to the right.

    Where it is too wide, the last column wraps, and so does the first unless it is kept ``whole``.
    """
    from rich.table import Table  # not loaded where nobody sees a table
    from rich.text import Text

    made = Table()
    for index, name in enumerate(columns):
        kept = (whole or index > 0) and index < len(columns) - 1
        made.add_column(name, justify="left" if index < left else "right", overflow="fold", no_wrap=kept)
    for row in rows:
        made.add_row(*(Text(visible(str(cell))) for cell in row))
    return printed(made)


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
