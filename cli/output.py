"""What reaches the terminal: standard JSON as UTF-8, text made safe to show, sentences on standard error."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from memopt.errors import visible

from . import files
from .exits import INTERRUPTED


def json_bytes(data: Any, indent: int | None = None) -> bytes:
    """Return data as standard JSON in UTF-8, on one line unless indented."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
    return f"{text}\n".encode("utf-8", "backslashreplace")


def standard_output() -> TextIO:
    """Return standard output.

    Raises
    ------
    OSError
        When the process was started with standard output closed.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    return sys.stdout


def emit(content: bytes) -> None:
    """Write bytes to standard output at once, whatever the encoding of the terminal."""
    out = standard_output()
    out.flush()
    out.buffer.write(content)
    out.buffer.flush()


@contextlib.contextmanager
def writing_to(out: str | None, force: bool) -> Iterator[Callable[[bytes], object]]:
    """Give what writes bytes: to standard output (``-`` or None), or to a new file; see `files.writing`."""
    if out is None or out == files.STANDARD:
        yield emit
    else:
        with files.writing(out, force) as file:
            yield file.write


def emit_text(text: str) -> None:
    """Write text to standard output at once; what its encoding lacks is written as escapes."""
    out = standard_output()
    out.write(text.encode(out.encoding, "backslashreplace").decode(out.encoding))
    out.flush()


def say(*lines: str) -> None:
    """Write lines to standard error, the first one signed; if nobody listens there, that is no error."""
    text = "\n".join(map(visible, lines))
    with contextlib.suppress(OSError, AttributeError):
        print(f"memopt: {text}", file=sys.stderr, flush=True)


def say_text(text: str) -> None:
    """Write text to standard error, beside the results that standard output holds."""
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(text.encode(sys.stderr.encoding, "backslashreplace").decode(sys.stderr.encoding))
        sys.stderr.flush()


def say_interrupted() -> None:
    """Say that Ctrl-C, or a signal to end, was heard."""
    say(INTERRUPTED)


def abandon_output() -> None:
    """Send the rest of standard output nowhere: its reader is gone, and the exit must not complain."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
