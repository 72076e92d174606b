"""What the Markdown and the LaTeX file show: the figures, the links and the table of the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memopt.allocation import Allocation, decimal_text
from memopt.program import Program


@dataclass(frozen=True)
class Cell:
    """One option: its tokens, its value in utility as an exact decimal, and whether it is chosen."""

    tokens: int
    value: str
    chosen: bool

    @property
    def text(self) -> str:
        """What the cell shows."""
        return f"{self.tokens} / {self.value}"


def rows(allocation: Allocation) -> Iterator[tuple[str, list[Cell | None]]]:
    """Yield each item's id and its cells, a level each; None = the level is no candidate."""
    program = allocation.compiled.program
    chosen = set() if allocation.selection is None else set(allocation.selection.tolist())
    level, tokens, value = program.level.tolist(), program.tokens.tolist(), program.value.tolist()
    for item in range(len(program)):
        cells: list[Cell | None] = [None] * len(program.ladder)
        for option in program.options(item):
            worth = decimal_text(value[option], program.scale)
            cells[level[option]] = Cell(tokens[option], worth, option in chosen)
        yield program.ids[item], cells


def figures(allocation: Allocation) -> Iterator[tuple[str, str]]:
    """Yield what is to be said of the whole, by name."""
    program = allocation.compiled.program
    yield "items", f"{len(program)}"
    yield "budget", f"{program.budget} tokens"
    yield "price", f"{allocation.price}"
    yield "program", program.digest
    yield "status", allocation.status
    if allocation.selection is None:
        yield "why", f"{allocation.message}"
    else:
        yield "tokens", f"{allocation.tokens}"
        yield "value", f"{allocation.value}"
        yield "bound", f"{allocation.bound}"


def links(program: Program) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each link: its kind, and the ids of its units (of a group: one unit)."""
    for members in program.groups:
        yield "group", [[program.ids[item] for item in members]]
    for units in program.exclusives:
        yield "exclusive", [[program.ids[item] for item in unit] for unit in units]
