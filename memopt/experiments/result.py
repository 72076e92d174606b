"""The result of an experiment as a document: the same seeds give the same bytes, so it holds no clock."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

import memopt
from memopt.experiments.experiment import Experiment, Figure, Parameters, Run
from memopt.provenance import sources_digest

_DIGITS = 6
"""Significant digits of a curve's points; figures are kept to the last bit."""


def result(experiment: Experiment[Any], parameters: Parameters, runs: Sequence[Run]) -> dict[str, Any]:
    """Return everything that is known of some runs, ready for JSON.

    What is not finite is null there, for JSON has no NaN.
    """
    return {
        "format": "memopt experiment 1",
        "experiment": experiment.name,
        "title": experiment.title,
        "parameters": plain(parameters.model_dump()),
        "seeds": [run.seed for run in runs],
        "made_by": {
            "memopt": memopt.__version__,
            "sources": sources_digest(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "machine": f"{platform.system()} {platform.machine()}",
        },
        "inputs": dict(sorted(experiment.inputs(parameters).items())),
        "claims": plain(asdict(experiment.claims)),
        "table": [_row(figure) for figure in experiment.figures(parameters, runs)],
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


def to_bytes(document: Mapping[str, Any]) -> bytes:
    """Return a result as JSON text, a run a line."""
    head = {name: part for name, part in document.items() if name != "runs"}
    text = json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
    runs = ",\n".join(json.dumps(run, ensure_ascii=False, allow_nan=False) for run in document["runs"])
    return f'{text},\n "runs": [\n{runs}\n]}}\n'.encode("utf-8", "backslashreplace")


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
        "published": plain(figure.published),
        "ours": plain(figure.ours),
        "spread": plain(figure.spread),
        "difference": plain(figure.difference),
        "band": plain(figure.band),
        "met": None if figure.met is None else bool(figure.met),
    }


def _curve(points: Sequence[float]) -> list[float | None]:
    return [None if point is None else float(f"{point:.{_DIGITS}g}") for point in plain(list(points))]
