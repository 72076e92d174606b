"""`memopt mcp`: a server of the Model Context Protocol over standard input and output."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from typing import Annotated

import typer

from memopt import __version__
from memopt.errors import MemoptError
from memopt.session.config import Config

from .exits import Exit
from .output import say
from .sessions import ConfigFile, Gain, asked

ABOUT = (
    "memopt decides at which fidelity every memory or message stays in a context, exactly within a token "
    "budget. A session carries levels, a price and the outcomes of memories from turn to turn."
)
_SIGNALS = {"SIGINT": Exit.INTERRUPTED, "SIGTERM": Exit.TERMINATED, "SIGHUP": Exit.TERMINATED}


def mcp(
    db: Annotated[
        str | None,
        typer.Option("--db", metavar="PATH|URL", help="Keep sessions there; without it, in memory."),
    ] = None,
    config: ConfigFile = None,
    gain: Gain = None,
) -> None:
    """Serve allocate, record_outcome, explain and status to an MCP client, until it leaves."""
    try:
        from memopt.adapters.mcp import serve

        from .mcp_tools import tools
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("anyio", "mcp", "mcp_types"):
            raise
        raise MemoptError("a server needs mcp 2, which is not installed: pip install 'memopt[mcp]'") from None
    import anyio

    from memopt.session.store import Store

    from .mcp_sessions import Sessions

    new = Config.from_dict(asked(config, gain))
    with ExitStack() as stack:
        store = None if db is None else stack.enter_context(Store(db))
        _end_on_signals()
        say("serving the Model Context Protocol on standard input and output")
        gone = False
        try:
            anyio.run(serve, "memopt", __version__, ABOUT, tools(Sessions(store, new)))
        except* BrokenPipeError:
            gone = True
        if gone:
            raise BrokenPipeError


def _end_on_signals() -> None:
    """End at once on a signal: a thread waits in a read that nothing else interrupts.

    A turn under way is either recorded or not, as whenever a process is killed.
    """
    for name, status in _SIGNALS.items():
        number = getattr(signal, name, None)  # there is no SIGHUP on Windows
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_, status=status: os._exit(status))
