"""Retrieval that follows worth: no harm when mild, collapse when strong, and what exploration restores."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from pydantic import ValidationError

from memopt.experiments.experiment import Run
from memopt.experiments.feedback_run import FeedbackParameters, _told, collapse, named
from memopt.experiments.worth_feedback_loop import EXPERIMENT

SMALL = FeedbackParameters(
    memories=40, retrieved=4, episodes=1_500, betas=(0.0, 2.0, 40.0), epsilons=(0.0, 0.2, 1.0)
)


def silent(_: float) -> None:
    """Nobody looks at the progress."""


@cache
def runs() -> list[Run]:
    return EXPERIMENT.run(SMALL, (0, 1), silent)


def value(run: Run, what: str, beta: float, epsilon: float) -> float:
    found = run.values[named(what, beta, epsilon)]
    assert found is not None
    return found


def test_mild_bias_changes_little_and_strong_bias_collapses() -> None:
    for run in runs():
        free = value(run, "rho", 0, 0)
        assert abs(value(run, "rho", 2, 0) - free) < 0.1
        assert value(run, "rho", 40, 0) < free - 0.3
        assert run.values["least beta that loses 0.1 of rho, epsilon 0"] == 40.0


def test_collapse_comes_from_memories_never_asked_again_and_exploration_asks_them() -> None:
    for run in runs():
        assert value(run, "share uncertain", 0, 0) == 0.0
        assert value(run, "share uncertain", 40, 0) > 0.3
        assert value(run, "share uncertain", 40, 0.2) == 0.0
        assert value(run, "rho", 40, 0.2) > value(run, "rho", 40, 0) + 0.15


def test_bias_gains_successes() -> None:
    for run in runs():
        assert value(run, "success rate", 40, 0) > value(run, "success rate", 0, 0) + 0.02


def test_where_every_episode_explores_the_bias_is_idle() -> None:
    for run in runs():
        for what in ("rho", "share uncertain", "success rate"):
            assert value(run, what, 40, 1) == value(run, what, 0, 0)


def test_mild_bias_without_exploration_is_judged_and_nothing_else() -> None:
    rows = EXPERIMENT.figures(SMALL, runs())
    assert [row.name for row in rows if row.published is not None] == [named("rho", 2, 0)]
    assert len({row.name for row in rows}) == len(rows)


def test_a_seed_gives_the_same_alone_and_among_others_however_many_step_together() -> None:
    few = FeedbackParameters(memories=10, retrieved=2, episodes=250, betas=(0.0, 10.0), epsilons=(0.0, 0.1))
    told: list[float] = []
    many = EXPERIMENT.run(few, range(22), told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    assert [run.seed for run in many] == list(range(22))
    for seed in (0, 19, 20, 21):
        assert many[seed] == EXPERIMENT.run(few, (seed,), silent)[0]


def test_curves_end_at_the_values_and_hold_at_most_200_points() -> None:
    for run in runs():
        assert run.trajectories["x"][-1] == SMALL.episodes
        for beta, epsilon in SMALL.arms:
            curve = run.trajectories[named("rho", beta, epsilon)]
            assert len(curve) == len(run.trajectories["x"]) <= 200
            assert curve[-1] == value(run, "rho", beta, epsilon)


def test_what_does_not_fit_together_is_refused() -> None:
    for wrong in ({"retrieved": 101}, {"betas": ()}, {"betas": (-1.0,)}, {"epsilons": (1.5,)}):
        with pytest.raises(ValidationError):
            FeedbackParameters.model_validate(wrong)


def test_all_that_an_episode_retrieved_is_judged_anew_after_it() -> None:
    parameters = FeedbackParameters(memories=3, retrieved=3, episodes=20, betas=(0.0,), epsilons=(0.0,))
    (one,) = EXPERIMENT.run(parameters, (1,), lambda share: None)
    assert set(one.trajectories[named("rho", 0.0, 0.0)]) == {0.0}  # credited alike, they are worth the same


def test_the_least_of_the_biases_that_lose_is_told() -> None:
    parameters = FeedbackParameters(betas=(0.0, 5.0, 10.0, 20.0), epsilons=(0.0,))
    rho = np.array([[0.9], [0.85], [0.5], [0.1]])
    told = _told(parameters, 1, [10], rho, np.zeros(4), np.zeros(4))
    assert told.values[collapse(0.0)] == 10.0


@pytest.mark.slow
def test_mild_bias_meets_the_published_range_within_its_band_and_strong_bias_collapses() -> None:
    parameters = FeedbackParameters()
    rows = EXPERIMENT.figures(parameters, EXPERIMENT.run(parameters, EXPERIMENT.seeds, silent))
    assert [(row.published, row.met) for row in rows if row.met is not None] == [((0.895, 0.899), True)] * 3
    rho = {arm: next(row.ours for row in rows if row.name == named("rho", *arm)) for arm in parameters.arms}
    for beta in (1.0, 2.0, 5.0):
        assert abs(rho[beta, 0.0] - rho[0.0, 0.0]) < 0.01
    assert rho[20.0, 0.0] < rho[10.0, 0.0] - 0.2 < rho[0.0, 0.0] - 0.3
    for beta in (10.0, 20.0):
        for epsilon in (0.05, 0.2):
            assert rho[beta, epsilon] > rho[beta, 0.0] + 0.1
    some = next(row for row in rows if row.name == collapse(0.05))
    assert 0 < (some.seeds_with_value or 0) < len(EXPERIMENT.seeds)
