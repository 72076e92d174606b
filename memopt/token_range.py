"""The fewest and the most tokens that any selection has, if only the links and pins bind."""

from __future__ import annotations

from memopt.program import Program, Unit


def token_range(program: Program) -> tuple[int, int] | None:
    """Return the fewest and the most tokens of a selection that keeps all links, whatever the budget.

    None when the links forbid what the pins demand, so that there is no selection at all.
    """
    least = most = 0
    for alternatives in program.alternatives():
        spans = [_Span(program, unit) for unit in alternatives]
        ways = [
            span.present for span in spans if span.present and all(s is span or s.may_leave for s in spans)
        ]
        if all(span.may_leave for span in spans):
            ways.append((0, 0))
        if not ways:
            return None
        least += min(way[0] for way in ways)
        most += max(way[1] for way in ways)
    return least, most


class _Span:
    """A unit: whether it may be deleted, and its fewest and most tokens when present (None = it can't be)."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.may_leave = True
        self.present: tuple[int, int] | None = (0, 0)
        for item in unit:
            options = program.options(item)
            held = [int(program.tokens[o]) for o in options if program.level[o] != program.deleted]
            self.may_leave &= len(held) < len(options)
            if not held:
                self.present = None
            elif self.present is not None:
                self.present = self.present[0] + min(held), self.present[1] + max(held)
