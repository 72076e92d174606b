"""Drawings of the worth experiments name what they show, and nothing of them is cut."""

from __future__ import annotations

import io
from typing import Any

import pytest

from memopt.experiments.co_retrieval_run import CoRetrievalParameters
from memopt.experiments.difficulty_run import DifficultyParameters
from memopt.experiments.experiment import Experiment, Parameters
from memopt.experiments.feedback_run import FeedbackParameters
from memopt.experiments.plotting import drawing
from memopt.experiments.worth_co_retrieval import EXPERIMENT as CO_RETRIEVAL
from memopt.experiments.worth_difficulty import EXPERIMENT as DIFFICULTY
from memopt.experiments.worth_feedback_loop import EXPERIMENT as FEEDBACK

pytest.importorskip("matplotlib")


@pytest.mark.parametrize(
    ("experiment", "parameters"),
    [
        (DIFFICULTY, DifficultyParameters(episodes=200)),
        (FEEDBACK, FeedbackParameters(episodes=100)),
        (CO_RETRIEVAL, CoRetrievalParameters(episodes=100)),
    ],
    ids=lambda part: getattr(part, "name", ""),
)
def test_axes_have_labels_and_a_legend_inside_the_drawing(
    experiment: Experiment[Any], parameters: Parameters
) -> None:
    runs = experiment.run(parameters, (0, 1), lambda _: None)
    figure = drawing()
    experiment.plot(parameters, runs, figure)
    figure.savefig(io.BytesIO(), format="png")
    whole = figure.bbox
    assert len(figure.axes) == 2
    for axes in figure.axes:
        assert axes.get_title()
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        legend = axes.get_legend()
        assert legend is not None
        assert len(legend.get_texts()) >= 2
        used = axes.get_tightbbox()
        assert used is not None
        assert used.x0 >= whole.x0
        assert used.x1 <= whole.x1
        assert used.y0 >= whole.y0
        assert used.y1 <= whole.y1
