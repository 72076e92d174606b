"""A search that another library runs in one long call, and that Ctrl-C can still end."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Found = TypeVar("Found")


def beside(search: Callable[[], Found], stop: Callable[[], object]) -> Found:
    """Search beside the main thread, which alone hears a signal, and only between two steps of Python.

    Parameters
    ----------
    search
        Runs in a thread of its own.
    stop
        Called when this thread is interrupted: it makes the search end soon.
    """
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(search)
        try:
            return found.result()
        except BaseException:
            stop()
            raise
