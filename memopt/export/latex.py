r"""The model as a LaTeX document: formulas, figures and the table of the numbers, chosen cells framed.

Plain enough for any engine and the smallest installation. The file is ASCII: a character of another
script is written ``\uni{4F60}``, which shows the character where the engine reads Unicode and the font
has it, and ``U+4F60`` everywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator

from memopt.allocation import Allocation
from memopt.errors import visible
from memopt.export import report
from memopt.export.formulas import DISPLAYED

_ITEM_CM, _MARGIN_CM, _CHARACTER_CM = 5.0, 2.0, 0.19
_NARROWEST_CM, _WIDEST_CM = 2.8, 500.0
"""Of a column, and of the page: TeX knows no length above 575 cm."""
_BREAK_AFTER = 12
"""Characters of a word after which a line may break."""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;()/+=")
_HEAD = r"""\documentclass{{article}}
\usepackage[paperwidth={width:.1f}cm,paperheight=29.7cm,margin={margin}cm]{{geometry}}
\usepackage{{amsmath,array,longtable}}
\ifdefined\Umathchar
  \newcommand\uni[1]{{\iffontchar\font"#1 \char"#1\relax\else\code{{#1}}\fi}}
\else
  \newcommand\uni[1]{{\code{{#1}}}}
\fi
\newcommand\code[1]{{{{\scriptsize U+#1}}}}
\newcommand\chosen[1]{{\fbox{{\bfseries #1}}}}
\newcolumntype{{I}}{{>{{\raggedright\arraybackslash\ttfamily}}p{{{item}cm}}}}
\setlength\tabcolsep{{2pt}}
\setlength\fboxsep{{1.5pt}}
\renewcommand\arraystretch{{1.2}}
\setlength\parindent{{0pt}}
\setlength\parskip{{4pt}}
\begin{{document}}
\section*{{A memopt program}}"""


def write(allocation: Allocation) -> bytes:
    """Return the document."""
    return "".join(f"{line}\n" for line in _lines(allocation)).encode("ascii")


def _lines(allocation: Allocation) -> Iterator[str]:
    program = allocation.compiled.program
    levels = len(program.ladder)
    table = list(report.rows(allocation))
    column = _column_width([cell for _, cells in table for cell in cells if cell])
    width = min(max(21.0, 2 * _MARGIN_CM + _ITEM_CM + levels * column), _WIDEST_CM)
    yield _HEAD.format(width=width, margin=_MARGIN_CM, item=_ITEM_CM - 0.2)
    for sentence, formula in DISPLAYED:
        yield sentence
        if formula:
            yield rf"\[ {formula} \]"
    yield ""
    yield r"\begin{longtable}{@{}l>{\ttfamily}p{12cm}@{}}"
    for name, text in report.figures(allocation):
        yield rf"{name} & {_safe(text)} \\"
    yield r"\end{longtable}"
    for kind, units in report.links(program):
        listed = "; ".join(" + ".join(rf"\texttt{{{_safe(item)}}}" for item in unit) for unit in units)
        yield rf"{{\raggedright {kind}: {listed}\par}}"
    yield "Each cell: tokens / value in utility. Chosen cells are framed."
    yield rf"{{\footnotesize\begin{{longtable}}{{@{{}}I*{{{levels}}}{{r}}@{{}}}}"
    heads = (
        rf"\parbox[t]{{{column - 0.2:.1f}cm}}{{\raggedleft\ttfamily {_safe(level)}}}"
        for level in program.ladder
    )
    yield rf"\normalfont item & {' & '.join(heads)} \\ \hline \endhead"
    for item, cells in table:
        yield rf"{_safe(item)} & {' & '.join(map(_cell, cells))} \\"
    yield r"\end{longtable}}"
    yield r"\end{document}"


def _column_width(cells: list[report.Cell]) -> float:
    longest = max((len(cell.text) for cell in cells), default=0)
    return max(_NARROWEST_CM, 0.3 + longest * _CHARACTER_CM)


def _cell(cell: report.Cell | None) -> str:
    if cell is None:
        return ""
    return rf"\chosen{{{cell.text}}}" if cell.chosen else cell.text


def _safe(text: str) -> str:
    r"""Return text that shows as it is, in any font; words may break after some characters."""
    shown, run = [], 0
    for mark in visible(text):
        run = 0 if mark == " " else run + 1
        shown.append(mark if mark in _PLAIN else _escaped(mark))
        if run == _BREAK_AFTER:
            shown.append(r"\allowbreak{}")
            run = 0
    return "".join(shown)


def _escaped(mark: str) -> str:
    if mark.isascii():
        return rf"\char{ord(mark)}{{}}"  # apart from its neighbours, so that no ligature joins them
    return rf"\uni{{{ord(mark):04X}}}"
