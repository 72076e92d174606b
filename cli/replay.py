"""`memopt replay`: every turn of a log decided again, and compared to the last bit."""

from __future__ import annotations

from typing import Annotated

import typer

from memopt.session import replay as replaying

from . import files
from .output import emit, emit_text, json_bytes
from .sessions import AsJson
from .status import Exit


def replay(
    file: Annotated[
        str, typer.Argument(metavar="LOG", help="JSON Lines of `log` or `simulate`, or - for standard input.")
    ],
    as_json: AsJson = False,
) -> None:
    """Decide every turn of a log again: same selections, same Q, same price, to the last bit.

    Exit status 4 when anything differs; every difference is named with its line.
    """
    with files.reading(file) as lines:
        done = replaying.replay(lines)
    if as_json:
        emit(json_bytes(done.to_dict()))
    else:
        count = f"{done.events:,} events, {done.turns:,} of them turns"
        emit_text(f"{count}: {'identical' if done.identical else 'NOT identical'}\n")
        emit_text("".join(f"{finding.told()}\n" for finding in done.findings))
    if not done.identical:
        raise typer.Exit(Exit.REFUTED)
