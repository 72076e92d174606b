"""The entry point of ``memopt`` and of ``python -m memopt``: light, so that Ctrl-C is heard at once."""

from __future__ import annotations

import os
import signal
import sys

from .exits import INTERRUPTED, Exit


def run() -> None:
    """Run the command line.

    An interrupt is one sentence wherever it comes; a termination still removes temporary files and
    ends the processes of a batch. What the caller ignores (``nohup``) stays ignored.
    """
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, _end_at_once)
    if os.environ.get("COLUMNS", "").strip("0") == "":  # of width 0 a terminal would show nothing
        os.environ.pop("COLUMNS", None)
    from .app import app

    for name in ("SIGTERM", "SIGHUP"):  # there is no SIGHUP on Windows
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, lambda number, frame: sys.exit(Exit.TERMINATED))
    try:
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        app(prog_name="memopt")
    except KeyboardInterrupt:
        _end_at_once()
    finally:
        # `python -m` forgets the exit status, and kills itself, after an interrupt that passed through the
        # `exec` of a text (a dataclass that is being made), until another text is executed.
        exec("")


def _end_at_once(*_: object) -> None:
    """Say so and end: no file is open, and a module that is loading may turn an exception into another."""
    try:
        os.write(2, f"memopt: {INTERRUPTED}\n".encode())
    finally:
        os._exit(Exit.INTERRUPTED)
