"""All experiments of the papers at full size: how long each takes, and what it meets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.clock import Stopwatch
from benchmarks.report import Column, Report, Row, verdict
from memopt.experiments.experiment import Figure
from memopt.experiments.registry import NAMES, experiment
from memopt.experiments.result import judged, plain

TOGETHER, CALIBRATION = 180.0, 30.0
"""Targets in seconds on two cores: all experiments together, and `worth-calibration` alone."""


def measure(seeds: int | None, names: Sequence[str] = NAMES, say: Callable[[str], object] = print) -> Report:
    """Run experiments with their defaults, one after the other.

    Parameters
    ----------
    seeds
        How many of each experiment's default seeds; None = all of them, and only then are targets judged.
    names
        Experiments to run.
    say
        Called with a line on what is run next.
    """
    made = [_run(name, seeds, say) for name in names]
    runs = [row for row, *_ in made]
    together = {
        "experiment": "together",
        "wall": sum(row["wall"] for row in runs),
        "cpu": sum(row["cpu"] for row in runs),
        "target": TOGETHER if seeds is None else None,
    }
    for row in (*runs, together):
        row["met"] = None if row["target"] is None else row["wall"] <= row["target"]
    notes = (
        "`memopt experiment run NAME` without plot and file, in this process. Below each experiment stands "
        "what is judged: as published, or as theory expects, beside ours, the mean over the seeds. CPU time "
        "is that of this process alone, memprice works in two more.",
    )
    rows = [row for each in made for row in each]
    return Report("experiments", [*rows, together], COLUMNS, notes)


def _run(name: str, seeds: int | None, say: Callable[[str], object]) -> list[Row]:
    """Return a row on an experiment and one on each of its figures that is judged."""
    say(f"{name} ...")
    asked = experiment(name)
    parameters = asked.parameters()
    watch = Stopwatch()
    runs = asked.run(parameters, asked.seeds[:seeds], lambda share: None)
    passed = watch.lap()
    figures = [figure for figure in judged(asked, parameters, runs) if figure.met is not None]
    row = {
        "experiment": name,
        "seeds": len(runs),
        "wall": passed.wall,
        "cpu": passed.cpu,
        "figures_met": sum(bool(figure.met) for figure in figures),
        "figures_judged": len(figures),
        "target": CALIBRATION if name == "worth-calibration" and seeds is None else None,
    }
    return [row, *map(_judged, figures)]


def _judged(figure: Figure) -> Row:
    aim = figure.published if figure.expected is None else figure.expected
    row = {
        "figure": figure.name,
        "published": aim,
        "band": figure.band,
        "ours": figure.ours,
        "met": figure.met,
    }
    return {name: plain(value) for name, value in row.items()}


def _published(row: Row) -> str:
    if "published" not in row:
        return ""
    ends = row["published"] if isinstance(row["published"], list) else [row["published"]]
    return "-".join(f"{end:g}" for end in ends) + (f" ± {row['band']:g}" if row["band"] else "")


def _ours(row: Row) -> str:
    return "" if "ours" not in row else "-" if row["ours"] is None else f"{row['ours']:.4g}"


def _figures(row: Row) -> str:
    return f"{row['figures_met']} of {row['figures_judged']}" if "figures_met" in row else ""


COLUMNS = (
    Column("experiment", lambda row: str(row.get("experiment", f"  {row.get('figure')}")), right=False),
    Column("seeds", lambda row: str(row.get("seeds", ""))),
    Column("wall s", lambda row: f"{row['wall']:.1f}" if "wall" in row else ""),
    Column("cpu s", lambda row: f"{row['cpu']:.1f}" if "cpu" in row else ""),
    Column("figures met", _figures),
    Column("published", _published),
    Column("ours", _ours),
    Column("target", lambda row: f"<= {row['target']:g} s" if row.get("target") else ""),
    Column("", lambda row: "" if row["met"] is None else verdict(row["met"]), right=False),
)
