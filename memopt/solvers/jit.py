"""Which form of the kernels to run: the plain one at once, or the compiled one.

A small program is solved by the plain loops sooner than the compiler can even be imported, so they
serve small programs until the compiled form is there. `prepare` loads it, and so does the first
program that is large or whose search does not end soon; from then on it serves all. Both are the same
source on the same integers: the answer never depends on which one ran.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from memopt.signals import held_back
from memopt.solvers import kernels

Announce = Callable[[str], None]

PLAIN_OPTIONS = 500
"""Options of a program up to which the plain form serves: some milliseconds of work."""
PLAIN_STATES = 50_000
"""States of one search after which the plain form hands over: some tenths of a second."""
LOAD_SECONDS = 2.0
"""A search that must end sooner stays with the plain form: loading takes about half of that."""
_PLAIN_SLICE, _COMPILED_SLICE = 5_000, 2_000_000
"""States made between two looks at the clock: some ten milliseconds in either form."""

_plain = SimpleNamespace(slice=_PLAIN_SLICE, **{entry.__name__: entry for entry in kernels.ENTRIES})
_loaded: list[Any] = []


def select(options: int, states: int = 0, left: float | None = None) -> Any:
    """Return the kernels for a program.

    Parameters
    ----------
    options
        Of the program.
    states
        That the search has made.
    left
        Seconds that it has left; None = any number.
    """
    if not _loaded:
        hurried = states > 0 and left is not None and left < LOAD_SECONDS
        if hurried or (options <= PLAIN_OPTIONS and states < PLAIN_STATES):
            return _plain
        prepare()
    return _loaded[0]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def prepare(announce: Announce = _say) -> None:
    """Load the compiled kernels; compile them first if this machine never did.

    An agent that can't afford the wait in the middle of a turn calls this once at its start.

    Parameters
    ----------
    announce
        Told in one line when something really has to be compiled (some seconds, once a machine).
        The result is kept on disk where numba keeps its cache (``NUMBA_CACHE_DIR``).
    """
    if _loaded:
        return
    with held_back():
        from numba.core import event
        from numba.extending import register_jitable

    class Listener(event.Listener):
        told = False

        def on_start(self, _: Any) -> None:
            if not self.told:
                Listener.told = True
                announce("memopt: compiling the solver for this machine, once; this takes about ten seconds")

        def on_end(self, _: Any) -> None:
            pass

    for helper in kernels.HELPERS:
        register_jitable(helper)
    compiled = SimpleNamespace(slice=_COMPILED_SLICE)
    with event.install_listener("numba:compile", Listener()):
        for entry in kernels.ENTRIES:
            with held_back():  # a compiler may take an interrupt for a fault of its own
                dispatcher = _dispatcher(entry)
                dispatcher.compile(_signature(entry))
            dispatcher.disable_compile()
            setattr(compiled, entry.__name__, _interruptible(dispatcher))
    _loaded.append(compiled)


def _interruptible(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Raise what a signal's handler raises while results are handed over; Python calls it a SystemError."""

    def call(*arguments: Any) -> Any:
        try:
            return kernel(*arguments)
        except SystemError as error:
            reason: BaseException = error
            while isinstance(reason, SystemError) and reason.__cause__ is not None:
                reason = reason.__cause__
            raise reason from None

    return call


def _dispatcher(entry: Callable[..., Any]) -> Any:
    import numba

    try:
        return numba.njit(cache=True)(entry)
    except RuntimeError:  # no folder to keep the cache in: compile for this process alone
        return numba.njit(entry)


def _signature(entry: Callable[..., Any]) -> tuple[Any, ...]:
    """Return the one signature of an entry point, read off its annotations."""
    from numba import int32, int64

    given = int64[::1].copy(readonly=True)
    types = {"int": int64, "Ints": int64[::1], "Given": given, "Nodes": int32[::1]}
    names = entry.__code__.co_varnames[: entry.__code__.co_argcount]
    return tuple(types[entry.__annotations__[name]] for name in names)
