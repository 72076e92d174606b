"""The result of an experiment as a document: the same seeds give the same bytes, so it holds no time."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

import memopt
from memopt.experiments.experiment import Experiment, Figure, Parameters, Run
from memopt.jsontext import in_lines
from memopt.provenance import sources_digest

_DIGITS = 6
"""Significant digits of a curve's points; figures are kept to the last bit."""


def result(experiment: Experiment[Any], parameters: Parameters, runs: Sequence[Run]) -> dict[str, Any]:
    """Return everything that is known of some runs, ready for JSON.

    What is not finite is null there, for JSON has no NaN.
    """
    notes = experiment.notes(runs)
    seeds = [run.seed for run in runs]
    return {
        "format": "memopt experiment 1",
        "experiment": experiment.name,
        "title": experiment.title,
        "source": source(experiment),
        "parameters": plain(parameters.model_dump()),
        "seeds": seeds,
        "made_by": {
            "memopt": memopt.__version__,
            "sources": sources_digest(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "machine": f"{platform.system()} {platform.machine()}",
        },
        "inputs": dict(sorted(experiment.inputs(parameters).items())),
        "claims": plain(asdict(experiment.claims))
        | {
            "hold_for": "the default parameters and seeds",
            "this_run_differs_in": differences(experiment, parameters, seeds, notes),
        },
        "notes": plain(notes),
        "table": [_row(figure) for figure in judged(experiment, parameters, runs)],
        "runs": [
            {
                "seed": run.seed,
                "values": plain(run.values),
                "trajectories": {name: _curve(points) for name, points in run.trajectories.items()},
                "kept": plain(run.kept),
            }
            for run in runs
        ],
    }


def judged(experiment: Experiment[Any], parameters: Parameters, runs: Sequence[Run]) -> list[Figure]:
    """Return the rows of the table, each judged where it may be.

    Where a parameter was changed or there is a note, no published figure is judged, for it belongs to another
    setup; what theory demands is judged in every setup.
    """
    figures = experiment.figures(parameters, runs)
    if parameters.changed or experiment.notes(runs):
        figures = [replace(figure, band=None) for figure in figures]
    return figures


def source(experiment: Experiment[Any]) -> dict[str, Any]:
    """Return the paper an experiment is from, and which of its experiments it is (null: none of them)."""
    return asdict(experiment.paper) | {"its_experiment": experiment.number}


def differences(
    experiment: Experiment[Any], parameters: Parameters, seeds: Sequence[int], notes: Iterable[str]
) -> list[str]:
    """Return the names of parameters not at their defaults, of notes, and ``seeds`` if others were run."""
    others = ["seeds"] if sorted(seeds) != sorted(experiment.seeds) else []
    return list(dict.fromkeys([*parameters.changed, *notes, *others]))


def to_bytes(document: Mapping[str, Any]) -> bytes:
    """Return a result as JSON text, one run per line."""
    head = {name: part for name, part in document.items() if name != "runs"}
    return in_lines(head, "runs", document["runs"])


def plain(value: Any) -> Any:
    """Return data as JSON knows it: numpy's numbers and arrays become Python's, what is not finite None.

    Raises
    ------
    TypeError
        When it is of another kind: a set has no order, and would not give the same bytes again.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"a result cannot hold a {type(value).__name__}")


def _row(figure: Figure) -> dict[str, Any]:
    """Return a row of the table; difference and verdict are written out."""
    return {
        "name": figure.name,
        "unit": figure.unit,
        "published": plain(figure.published),
        "expected": plain(figure.expected),
        "ours": plain(figure.ours),
        "spread": plain(figure.spread),
        "seeds_with_value": figure.seeds_with_value,
        "difference": plain(figure.difference),
        "band": plain(figure.band),
        "met": None if figure.met is None else bool(figure.met),
    }


def _curve(points: Sequence[float]) -> list[float | None]:
    return [None if point is None else float(f"{point:.{_DIGITS}g}") for point in plain(list(points))]
