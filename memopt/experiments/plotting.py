"""Curves with error bands over seeds. Only drawing needs matplotlib, and nothing needs a display."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from memopt.errors import MemoptError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class PlotMissing(MemoptError):
    """matplotlib is not installed."""

    def __init__(self) -> None:
        super().__init__("plots need matplotlib, which is not installed: pip install 'memopt[plot]'")


def drawing(width: float = 10.0, height: float = 5.5) -> Figure:
    """Return an empty drawing of that many inches; its parts are laid out so that nothing is cut.

    Raises
    ------
    PlotMissing
        When matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # loaded where something is drawn, not before
    except ImportError:
        raise PlotMissing from None
    return Figure(figsize=(width, height), dpi=120, layout="constrained")


def band(
    axes: Axes, x: ArrayLike, curves: ArrayLike, label: str, color: str | None = None, style: str = "-"
) -> None:
    """Draw the mean of curves over seeds, and one standard deviation to either side of it.

    Parameters
    ----------
    axes
        Where to draw.
    x
        Shape ``[points]``.
    curves
        One curve per seed, shape ``[seeds, points]``; NaN where a seed has no value.
    label
        For the legend, which adds of how many seeds the points are where some have no value.
    color
        Of the line; matplotlib's next one if not given.
    style
        Of the line, as matplotlib names it; it tells apart curves that coincide.
    """
    place, given = np.asarray(x, dtype=np.float64), np.asarray(curves, dtype=np.float64)
    there = np.isfinite(given)
    count = there.sum(axis=0)
    mean = np.where(there, given, 0.0).sum(axis=0) / np.where(count > 0, count, np.nan)
    label += behind(count.tolist(), len(given))
    (line,) = axes.plot(place, mean, linestyle=style, label=label, color=color)
    if len(given) > 1:
        squares = np.where(there, given - mean, 0.0) ** 2
        half = np.sqrt(squares.sum(axis=0) / np.maximum(count - 1, 1))
        axes.fill_between(place, mean - half, mean + half, color=line.get_color(), alpha=0.18, linewidth=0)


def behind(counts: Sequence[int], seeds: int) -> str:
    """Return for a legend how many seeds stand behind the points of a curve; empty where all do."""
    least, most = min(counts), max(counts)
    if least == seeds:
        return ""
    return f" ({least} of {seeds} seeds)" if least == most else f" ({least} to {most} of {seeds} seeds)"


def finish(axes: Axes, title: str, x_label: str, y_label: str) -> None:
    """Give axes their title, their labels with units, a light grid, and a legend of what was drawn."""
    axes.set_title(title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(visible=True, alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize="small")
