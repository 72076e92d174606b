"""Solution files of other solvers: names and values as they stand there, nothing judged yet.

Read are the files of HiGHS (all its styles but the pretty one), CBC (``solution``), GLPK (``--write``, which
counts columns instead of naming them, and ``-o``), and plain lines of a name and a value with ``#``
comments, as Gurobi writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memopt.errors import Fault, InvalidSolution, as_read

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|[+-]?(nan|inf(inity)?)$", re.IGNORECASE)
_COUNT = re.compile("[0-9]{1,9}")
_OBJECTIVE = re.compile(
    r"\bobjective( value|:\s+\S+)?( =)?\s+(?P<value>[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)(?=\s|$)",
    re.IGNORECASE,
)
_CBC = re.compile(r"(?P<status>\S.*?) - objective value ")
_OPTIMAL = {"optimal", "integer optimal"}
_INFEASIBLE = {"infeasible", "integer infeasible", "integer empty"}
_NONE = {"integer undefined", "undefined"}
_GLPK_STATUS = {
    "o": "INTEGER OPTIMAL", "f": "INTEGER NON-OPTIMAL", "n": "INTEGER EMPTY", "u": "INTEGER UNDEFINED",
}  # fmt: skip

Row = tuple[int, str, str, list[str]]
"""Number from 1, line, variable, and the words from where its value should stand."""


@dataclass(frozen=True)
class Entry:
    """A line that gives a variable a value: its number from 1, the name, and the value as text."""

    line: int
    name: str
    value: str


@dataclass(frozen=True)
class SolutionFile:
    """What a solution file says.

    Attributes
    ----------
    kind
        ``highs``, ``cbc``, ``glpk-write``, ``glpk-output`` or ``names``.
    claimed
        The solver's own status words; empty if the file has none.
    entries
        Variables with their values; solvers may leave out zeros.
    faults
        Lines that could not be read.
    objective
        The objective as the file states it, if it does.
    """

    kind: str
    claimed: str
    entries: tuple[Entry, ...]
    faults: tuple[Fault, ...]
    objective: float | None = None

    @property
    def claims_optimal(self) -> bool:
        """Whether the solver says that nothing better exists."""
        return self.claimed.lower() in _OPTIMAL

    @property
    def claims_infeasible(self) -> bool:
        """Whether the solver says that there is no solution."""
        return self.claimed.lower() in _INFEASIBLE

    @property
    def is_empty(self) -> bool:
        """Whether there is no solution in the file, for whatever reason."""
        return self.claimed.lower() in _NONE or not (self.entries or self.faults)


def read_solution(content: bytes, variables: Sequence[str]) -> SolutionFile:
    """Read a solution file of any known kind.

    Parameters
    ----------
    content
        The file's bytes.
    variables
        Names of the model's variables in its order, for a file that counts instead of naming.

    Raises
    ------
    InvalidSolution
        With code ``not_utf8``, ``empty`` or ``unknown_format``.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _invalid("not_utf8", f"the file is not UTF-8: byte {error.start} cannot be read") from None
    lines, ended = text.splitlines(), text.endswith(("\n", "\r"))
    first = next((line.strip() for line in lines if line.strip()), None)
    if first is None:
        raise _invalid("empty", "the file is empty")
    if first == "Columns":
        message = "the file is of HiGHS's pretty style (1): write its raw style, writeSolution(file, 0)"
        raise _invalid("unknown_format", message)
    stated = _OBJECTIVE.search(text)
    objective = None if stated is None else float(stated["value"])
    return replace(_of_its_kind(lines, first, ended, variables), objective=objective)


def _of_its_kind(lines: list[str], first: str, ended: bool, variables: Sequence[str]) -> SolutionFile:
    if first == "Model status":
        return _highs(lines, ended)
    cbc = _CBC.match(first)
    if cbc:
        return _cbc(lines, ended, cbc["status"])
    if first.startswith(("c ", "s mip ", "s bas ", "s ipt ")):
        return _glpk_write(lines, variables)
    if first.startswith("Problem:"):
        return _glpk_output(lines)
    return _names(lines)


def _invalid(code: str, message: str) -> InvalidSolution:
    return InvalidSolution([Fault(code, message)])


def _file(kind: str, claimed: str, rows: Iterator[Row], whole: bool = True) -> SolutionFile:
    """Return the file with these rows, those that make no sense as faults.

    A file that is not whole may end within a number: 1e-12 cut to 1 is another selection.
    """
    entries, faults = [], []
    for number, line, name, words in rows:
        if name and words and _NUMBER.match(words[0]):
            entries.append(Entry(number, name, words[0]))
        else:
            message = f"line {number} gives no variable a value: {as_read(line.strip())}"
            faults.append(Fault("unreadable_line", message, read=as_read(line)))
    if entries and not whole:
        faults.append(Fault("cut_off", "the file is cut off: it lacks what its solver writes at the end"))
    return SolutionFile(kind, claimed, tuple(entries), tuple(faults))


def _highs(lines: list[str], ended: bool) -> SolutionFile:
    said = [line.strip() for line in lines]
    claimed = "".join(said[said.index("Model status") + 1 :][:1])

    def rows() -> Iterator[Row]:
        begun = False
        for number, line in enumerate(said, 1):
            if line.startswith("#"):
                if begun:
                    return
                begun = line.startswith("# Columns")
            elif begun and line:
                name, *words = line.split()
                yield number, line, name, words

    found = list(rows())
    announced = next((line.split()[2:3] for line in said if line.startswith("# Columns")), [])
    counted = bool(announced) and announced[0].lstrip("-") == str(len(found))  # minus: zeros are left out
    goes_on = bool(found) and any(line.startswith("#") for line in said[found[-1][0] :])
    return _file("highs", claimed, iter(found), counted and (goes_on or ended))


def _cbc(lines: list[str], ended: bool, claimed: str) -> SolutionFile:
    def rows() -> Iterator[Row]:
        for number, line in enumerate(lines, 1):
            words = line.removeprefix("**").split()  # marks a value outside its bounds
            if words and not _CBC.match(line.strip()):
                yield number, line, "".join(words[1:2]), words[2:]

    return _file("cbc", claimed, rows(), ended)


def _glpk_write(lines: list[str], variables: Sequence[str]) -> SolutionFile:
    head = next((line.split() for line in lines if line.startswith("s ")), [])
    claimed = _GLPK_STATUS.get(head[4], "") if head[1:2] == ["mip"] and len(head) > 4 else ""
    begin = 3 if head[1:2] == ["bas"] else 2  # a basic solution names the status before the value

    def rows() -> Iterator[Row]:
        for number, line in enumerate(lines, 1):
            if line.startswith("j "):
                words = line.split()
                index = int(words[1]) if words[1:] and _COUNT.fullmatch(words[1]) else 0
                known = 0 < index <= len(variables)
                yield number, line, variables[index - 1] if known else f"column {index}", words[begin:]

    return _file("glpk-write", claimed, rows(), any(line.split() == ["e", "o", "f"] for line in lines))


def _glpk_output(lines: list[str]) -> SolutionFile:
    claimed = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("Status:")), "")

    def rows() -> Iterator[Row]:
        begun, held = False, ""
        for number, line in enumerate(lines, 1):
            words = line.split()
            if not begun:
                begun = "Column name" in line
            elif held:  # a long name pushes its values to the next line
                yield number, line, held, _values(words)
                held = ""
            elif not words:
                return
            elif len(words) == 2:
                held = words[1]
            elif not line.startswith("---"):
                yield number, line, "".join(words[1:2]), _values(words[2:])

    heads = [number for number, line in enumerate(lines) if "Column name" in line]
    return _file("glpk-output", claimed, rows(), any("" in lines[number:] for number in heads))


def _values(words: list[str]) -> list[str]:
    """Return the words from the value on, without the mark of an integer or a variable's status."""
    return words if words and _NUMBER.match(words[0]) else words[1:]


def _names(lines: list[str]) -> SolutionFile:
    def rows() -> Iterator[Row]:
        for number, line in enumerate(lines, 1):
            words = line.partition("#")[0].split()
            if words:
                yield number, line, words[0], words[1:] if len(words) == 2 else []

    found = _file("names", "", rows())
    nothing = not found.entries and not any(line.startswith("#") for line in lines)
    if nothing or len(found.faults) > len(found.entries):
        raise _invalid("unknown_format", "the file is no solution of HiGHS, CBC, GLPK or Gurobi")
    return found
