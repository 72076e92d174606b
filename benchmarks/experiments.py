"""All experiments of the papers at full size: how long each takes, and what it meets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.clock import Stopwatch
from benchmarks.report import Column, Report, Row, verdict
from memopt.experiments.registry import NAMES, experiment

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
    rows = [_run(name, seeds, say) for name in names]
    rows.append(
        {
            "experiment": "together",
            "wall": sum(row["wall"] for row in rows),
            "cpu": sum(row["cpu"] for row in rows),
            "target": TOGETHER if seeds is None else None,
        }
    )
    for row in rows:
        row["met"] = None if row["target"] is None else row["wall"] <= row["target"]
    notes = (
        "`memopt experiment run NAME` without plot and file, in this process. Published figures that are "
        "met, of those judged; CPU time is that of this process alone, memprice works in two more.",
    )
    return Report("experiments", rows, COLUMNS, notes)


def _run(name: str, seeds: int | None, say: Callable[[str], object]) -> Row:
    say(f"{name} ...")
    asked = experiment(name)
    parameters = asked.parameters()
    watch = Stopwatch()
    runs = asked.run(parameters, asked.seeds[:seeds], lambda share: None)
    passed = watch.lap()
    judged = [figure.met for figure in asked.figures(parameters, runs) if figure.met is not None]
    return {
        "experiment": name,
        "seeds": len(runs),
        "wall": passed.wall,
        "cpu": passed.cpu,
        "figures_met": sum(judged),
        "figures_judged": len(judged),
        "target": CALIBRATION if name == "worth-calibration" and seeds is None else None,
    }


def _figures(row: Row) -> str:
    return f"{row['figures_met']} of {row['figures_judged']}" if "figures_met" in row else ""


COLUMNS = (
    Column("experiment", lambda row: str(row["experiment"]), right=False),
    Column("seeds", lambda row: str(row.get("seeds", ""))),
    Column("wall s", lambda row: f"{row['wall']:.1f}"),
    Column("cpu s", lambda row: f"{row['cpu']:.1f}"),
    Column("figures met", _figures),
    Column("target", lambda row: "" if row["target"] is None else f"<= {row['target']:g} s"),
    Column("", lambda row: "" if row["met"] is None else verdict(row["met"]), right=False),
)
