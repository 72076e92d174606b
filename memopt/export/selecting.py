"""From the names and values of a solution file to one option per item, or every reason why not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from memopt.array_faults import MOST_PLACES
from memopt.errors import Fault, InvalidSolution, as_read, counted
from memopt.export.lp import NOTHING
from memopt.export.names import Names
from memopt.export.solution_files import Entry, SolutionFile
from memopt.program import Program, Selection

_TOLERANCE = 1e-5
"""How far from 0 or 1 a solver may print a binary."""


def select(program: Program, names: Names, file: SolutionFile) -> Selection:
    """Return the selection that a solution file stands for.

    Raises
    ------
    InvalidSolution
        With every fault of a file that gives none: ``unreadable_line``, ``cut_off``, ``unknown_variable``,
        ``repeated_variable``, ``not_finite``, ``fractional``, ``not_binary``, ``several_options``,
        ``no_option``; or ``no_solution`` or ``another_model`` alone.
    """
    return _Selecting(program, names).select(file)


class _Selecting:
    def __init__(self, program: Program, names: Names) -> None:
        self.program, self.names = program, names
        self.option = {called: option for option, called in enumerate(names.options)}
        self.item = np.repeat(np.arange(len(program)), np.diff(program.start)).tolist()

    def select(self, file: SolutionFile) -> Selection:
        entries = [entry for entry in file.entries if entry.name != NOTHING]
        if file.is_empty and len(self.program):
            said = f"; the solver says {file.claimed!r}" if file.claimed else ""
            raise InvalidSolution([Fault("no_solution", f"the file holds no solution{said}")])
        named = {entry.name for entry in entries}
        ours = len(named & self.option.keys())
        counts = file.kind == "glpk-write"  # columns, and all of them: one too many says it
        if 2 * ours < len(named) or (counts and ours < len(named)):
            message = (
                f"{f'only {ours}' if ours else 'none'} of its {counted(len(named), 'variable')} "
                f"{'is' if ours == 1 else 'are'} of this model: it looks like the solution of another model"
            )
            raise InvalidSolution([Fault("another_model", message)])
        faults = [*file.faults, *self._unknown(entries), *self._repeated(entries), *self._values(entries)]
        doubtful = {self.item[self.option[entry.name]] for entry in entries if self._doubtful(entry)}
        held: defaultdict[int, list[int]] = defaultdict(list)
        for entry in entries:
            if entry.name in self.option and not self._doubtful(entry) and round(float(entry.value)) == 1:
                option = self.option[entry.name]
                if option not in held[self.item[option]]:
                    held[self.item[option]].append(option)
        faults += self._not_one(held, doubtful)
        if faults:
            raise InvalidSolution(_shortened(faults))
        return np.array([held[item][0] for item in range(len(self.program))], dtype=np.int64)

    def _doubtful(self, entry: Entry) -> bool:
        """Whether a known variable has a value that is neither 0 nor 1."""
        value = float(entry.value)
        return entry.name in self.option and not min(abs(value), abs(value - 1)) <= _TOLERANCE

    def _unknown(self, entries: list[Entry]) -> Iterator[Fault]:
        for entry in entries:
            if entry.name not in self.option:
                message = f"line {entry.line}: the model has no variable {as_read(entry.name)!r}"
                yield Fault("unknown_variable", message, field=as_read(entry.name), read=entry.value)

    def _repeated(self, entries: list[Entry]) -> Iterator[Fault]:
        first: dict[str, int] = {}
        for entry in entries:
            before = first.setdefault(entry.name, entry.line)
            if before != entry.line:
                message = f"line {entry.line}: {as_read(entry.name)!r} has a value in line {before} already"
                yield self._fault("repeated_variable", message, entry)

    def _values(self, entries: list[Entry]) -> Iterator[Fault]:
        for entry in entries:
            if not self._doubtful(entry):
                continue
            value = float(entry.value)
            if not np.isfinite(value):
                code, what = "not_finite", "is no finite number"
            elif abs(value - round(value)) > _TOLERANCE:
                code, what = "fractional", "is a fraction"
            else:
                code, what = "not_binary", "is neither 0 nor 1"
            yield self._fault(
                code, f"line {entry.line}: the value {entry.value} of {entry.name} {what}", entry
            )

    def _not_one(self, held: dict[int, list[int]], doubtful: set[int]) -> Iterator[Fault]:
        for item in range(len(self.program)):
            levels = [self.program.ladder[self.program.level[option]] for option in held[item]]
            who = self.program.ids[item]
            if len(levels) > 1:
                message = f"item {who!r} is kept at several levels: {', '.join(levels)}"
                yield Fault("several_options", message, item=who, read=as_read(", ".join(levels)))
            elif not levels and item not in doubtful:
                yield Fault("no_option", f"item {who!r} is kept at no level, nor deleted", item=who)

    def _fault(self, code: str, message: str, entry: Entry) -> Fault:
        option = self.option.get(entry.name)
        if option is None:
            return Fault(code, message, field=as_read(entry.name), read=entry.value)
        level = self.program.ladder[self.program.level[option]]
        return Fault(code, message, self.program.ids[self.item[option]], level, entry.name, read=entry.value)


def _shortened(faults: list[Fault]) -> list[Fault]:
    """Keep the first faults of each kind, and the count of the others."""
    kinds: dict[str, list[Fault]] = {}
    for fault in faults:
        kinds.setdefault(fault.code, []).append(fault)
    kept = []
    for code, found in kinds.items():
        kept += found[:MOST_PLACES]
        if len(found) > MOST_PLACES:
            kept.append(Fault(code, f"and {len(found) - MOST_PLACES} more of this kind"))
    return kept
