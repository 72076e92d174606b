"""A bar on standard error, where a person watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from . import files


@contextmanager
def progress(what: str, file: str, out: str) -> Iterator[Callable[[int], object]]:
    """Show a bar when a person sees it and no results scroll through it; told how many bytes are read."""
    if not _watched() or (out == files.STANDARD and sys.stdout is not None and sys.stdout.isatty()):
        yield lambda read: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), redirect_stdout=False, transient=True) as shown:
        task = shown.add_task(what, total=files.size(file))
        yield lambda read: shown.advance(task, read)


@contextmanager
def tally(total: int) -> Iterator[Callable[[int, Mapping[str, int]], object]]:
    """Show a bar with counts by name when a person sees it; told how much is done and the counts."""
    if not _watched():
        yield lambda done, counts: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False, transient=True) as shown:
        task = shown.add_task("", total=total)

        def show(done: int, counts: Mapping[str, int]) -> None:
            said = ", ".join(f"{count:,} {name}" for name, count in counts.items())
            shown.update(task, completed=done, description=said)

        yield show


@contextmanager
def share(what: str) -> Iterator[Callable[[float], object]]:
    """Show a bar when a person sees it; told the share that is done, 0 to 1."""
    if not _watched():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), redirect_stdout=False, transient=True) as shown:
        task = shown.add_task(what, total=1.0)
        yield lambda done: shown.update(task, completed=done)


def _watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
