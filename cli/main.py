"""The entry point of ``memopt`` and of ``python -m memopt``: light, so that Ctrl-C is heard at once."""

from __future__ import annotations

import signal
import sys

from .output import say_interrupted
from .status import Exit


def run() -> None:
    """Run the command line.

    An interrupt is one sentence wherever it comes; a termination still removes temporary files and
    ends the processes of a batch.
    """
    for name in ("SIGTERM", "SIGHUP"):  # there is no SIGHUP on Windows
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, frame: sys.exit(Exit.TERMINATED))
    try:
        from .app import app

        app(prog_name="memopt")
    except KeyboardInterrupt:
        say_interrupted()
        sys.exit(Exit.INTERRUPTED)
