"""`memopt replay`: every turn of a log decided again, and compared to the last bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from memopt.errors import counted, visible
from memopt.session import replay as replaying
from memopt.session.errors import InvalidLog

from . import files
from .exits import Exit
from .options import AsJson
from .output import emit, emit_text, json_bytes
from .tables import figures


def replay(
    file: Annotated[
        str, typer.Argument(metavar="LOG", help="JSON Lines of `log` or `simulate`, or - for standard input.")
    ],
    as_json: AsJson = False,
) -> None:
    """Decide every turn of a log again: same selections, same Q, same price, to the last bit.

    Exit status 4 when anything differs; the first line that does is told with all its differences,
    with `--json` every line. Whether lines are missing at the end only the session knows: compare
    events and digest with those of `status`.
    """
    with files.reading(file) as lines:
        done = replaying.replay(lines)
    if not (done.events or done.findings):
        raise InvalidLog("this is no log of a session: it is empty")
    if as_json:
        emit(json_bytes(done.to_dict()))
    else:
        emit_text(f"{counted(done.turns, 'turn')}: {'identical' if done.identical else 'NOT identical'}\n")
        emit_text("".join(f"{visible(line)}\n" for line in _told(done.findings)))
        emit_text(figures((("events", f"{done.events:,}"), ("digest", done.digest))))
    if not done.identical:
        raise typer.Exit(Exit.REFUTED)


def _told(findings: Sequence[replaying.Finding]) -> Iterator[str]:
    """Yield what differs in the first line that does: one that was altered alters all that follow from it."""
    first = [finding for finding in findings if finding.line == findings[0].line]
    yield from (finding.told() for finding in first)
    if more := len(findings) - len(first):
        yield f"and {more:,} more behind that line, which may follow from it; --json lists them all"
