"""All experiments by name, in the order of the papers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from memopt.experiments.experiment import Experiment

NAMES = (
    "worth-calibration",
    "worth-difficulty",
    "worth-feedback-loop",
    "worth-co-retrieval",
    "worth-text",
    "memprice",
)


def experiment(name: str) -> Experiment[Any]:
    """Return an experiment; its module is loaded now.

    Raises
    ------
    KeyError
        When there is none of that name.
    """
    if name not in NAMES:
        raise KeyError(name)
    module = import_module(f"memopt.experiments.{name.replace('-', '_')}")
    made: Experiment[Any] = module.EXPERIMENT
    return made
