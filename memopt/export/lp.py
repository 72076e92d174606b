"""The CPLEX LP format, as GLPK, CBC, HiGHS and all commercial solvers read it.

Written here, because PuLP keeps 12 digits and OR-Tools six. `Maximize` and the section `Binaries` are
read alike by all of them. Lines stay short: HiGHS reads no more than 560 characters of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memopt.export.linear import Linear, Row

NOTHING = "nothing"
"""A variable fixed to 0, for a program without any: the format has no empty sum."""
_WIDTH = 90


def write(model: Linear) -> bytes:
    """Return the file's content; variables first occur, and so are counted, in the order of the options."""
    return "".join(f"{line}\n" for line in _lines(model)).encode("ascii")


def _lines(model: Linear) -> Iterator[str]:
    yield f"\\ memopt program {model.digest}"
    yield f"\\ Maximise the value, in units of 10^{-model.scale} utility. A variable is 1 if its item is"
    yield "\\ kept at its level. Only gaps of 0 give the optimum."
    yield "Maximize"
    names = model.names.options or (NOTHING,)
    values = model.values or (0,)
    yield from _wrapped(" value:", map(_term, names, values))
    yield "Subject To"
    for row in model.rows:
        yield from _row(row, names)
    if model.names.options:
        yield "Binaries"
        yield from _wrapped(" ", model.names.options)
    else:
        yield "Bounds"
        yield f" {NOTHING} = 0"
    yield "End"


def _row(row: Row, names: tuple[str, ...]) -> Iterator[str]:
    terms = [_term(names[option], factor) for option, factor in row.terms.items()]
    sense = "<=" if row.lower is None else ">=" if row.upper is None else "="
    side = f"{sense} {row.lower if row.upper is None else row.upper}"
    yield from _wrapped(f" {row.name}:", [*(terms or [_term(names[0], 0)]), side])


def _term(name: str, factor: int) -> str:
    sign, size = "-" if factor < 0 else "+", abs(factor)
    return f"{sign} {name}" if size == 1 else f"{sign} {size} {name}"


def _wrapped(head: str, words: Iterable[str]) -> Iterator[str]:
    line = head
    for word in words:
        if len(line) + len(word) >= _WIDTH:
            yield line
            line = " "
        line += f" {word}"
    yield line
