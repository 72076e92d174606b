"""Signals that come at a bad moment, heard a little later."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # there is no SIGHUP on Windows


@contextmanager
def held_back() -> Iterator[None]:
    """Let an interrupt or a termination that comes inside be raised at the end; it is not lost.

    Starting processes and loading compiled modules are such moments: an exception inside would leave a
    process alone, or look as if the module were not installed. Only the main thread hears signals: in
    another one there is nothing to hold back.
    """
    if current_thread() is not main_thread():
        yield
        return
    heard: list[int] = []
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    before = {number: handler for number, handler in before.items() if handler is not None}
    try:
        for number in before:
            signal.signal(number, lambda number, frame: heard.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in dict.fromkeys(heard):
            signal.raise_signal(number)
