"""The exit statuses of commands that did not succeed."""

from __future__ import annotations

from enum import IntEnum

INTERRUPTED = "interrupted; no file was left half-written"


class Exit(IntEnum):
    """What an exit status other than 0 says."""

    FAILED = 1
    """A solver gave no usable answer."""
    INVALID = 2
    """The input, the usage, a file or the choice of solver is at fault."""
    INFEASIBLE = 3
    REFUTED = 4
    """A solver's answer is wrong, or solvers disagree."""
    INTERRUPTED = 130
    """Ctrl-C, as shells count it."""
    READER_GONE = 141
    """Nobody reads standard output any more, as shells count it."""
    TERMINATED = 143
    """Asked to end by a signal, as shells count it."""
