"""The model as a Markdown page: formulas, figures and the table of the numbers, chosen cells in bold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memopt.allocation import Allocation
from memopt.errors import visible
from memopt.export import report
from memopt.export.formulas import DISPLAYED

_SPECIAL = re.compile(r"([\\`*_\[\]<>&|~$#:@!])")


def write(allocation: Allocation) -> bytes:
    """Return the page."""
    return "".join(f"{line}\n" for line in _lines(allocation)).encode()


def _lines(allocation: Allocation) -> Iterator[str]:
    program = allocation.compiled.program
    yield "# A memopt program"
    yield ""
    for sentence, formula in DISPLAYED:
        yield sentence
        yield from ("", "$$", formula, "$$", "") if formula else ("",)
    yield from ("| | |", "|---|---|")
    for name, text in report.figures(allocation):
        yield f"| {name} | {_safe(text)} |"
    yield ""
    for kind, units in report.links(program):
        yield f"- {kind}: {'; '.join(' + '.join(map(_safe, unit)) for unit in units)}"
    yield ""
    yield "Each cell: tokens / value in utility. Chosen cells are bold."
    yield ""
    yield f"| item | {' | '.join(map(_safe, program.ladder))} |"
    yield f"|---{'|---:' * len(program.ladder)}|"
    for item, cells in report.rows(allocation):
        yield f"| {_safe(item)} | {' | '.join(map(_cell, cells))} |"


def _cell(cell: report.Cell | None) -> str:
    if cell is None:
        return ""
    return f"**{cell.text}**" if cell.chosen else cell.text


def _safe(text: str) -> str:
    """Return text that shows as it is: no character formats, none breaks the line or the cell."""
    return _SPECIAL.sub(r"\\\1", visible(text))
