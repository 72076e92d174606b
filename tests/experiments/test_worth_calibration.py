from __future__ import annotations

import io
from itertools import combinations

import numpy as np
import pytest
from pydantic import ValidationError

from memopt.experiments.calibration_run import (
    ARMS,
    ORACLE,
    SCORE,
    SHUFFLED,
    SILENT,
    UNIFORM,
    CalibrationParameters,
    _judge,
    credit,
    draw,
    named,
    true_worth,
)
from memopt.experiments.experiment import Run
from memopt.experiments.plotting import drawing
from memopt.experiments.worth_calibration import EXPERIMENT
from memopt.session.counters import MINUS, PLUS, RETRIEVALS, new_table, ratio, record

SMALL = CalibrationParameters(memories=20, retrieved=4, episodes=600, checkpoints=(150, 600, 9_000))


def run(parameters: CalibrationParameters = SMALL, seeds: tuple[int, ...] = (0, 1)) -> list[Run]:
    return EXPERIMENT.run(parameters, seeds, lambda share: None)


def test_a_small_run_has_every_figure_and_tells_how_far_it_is() -> None:
    told: list[float] = []
    runs = EXPERIMENT.run(SMALL, (0, 1), told.append)
    assert told == [0.5, 1.0]
    rows = {row.name: row for row in EXPERIMENT.figures(SMALL, runs)}
    assert all(row.ours is not None for row in rows.values())
    assert 0.3 < rows[named("rho, uniform", 600)].ours <= 1
    assert all(row.met is None for row in rows.values()), "nothing is published for 150 and 600 episodes"
    for one in runs:
        assert one.values.keys() == rows.keys()
        assert {len(curve) for curve in one.trajectories.values()} == {100}
        assert one.trajectories["uniform"][-1] == one.values[named("rho, uniform", 600)]


def test_without_feedback_the_order_is_unknown_and_rho_is_0() -> None:
    for one in run():
        assert one.trajectories[SILENT] == [0.0] * 100
        assert one.values[named(f"rho, {SILENT}", 600)] == 0.0
        assert any(one.trajectories[UNIFORM])


def test_without_feedback_memories_are_retrieved_all_the_same() -> None:
    random = np.random.default_rng(5)
    utility, retrieved = random.random(20), draw(random, 50, 20, 4)
    table = new_table(len(ARMS) * 20)
    won = random.random(50) < 0.5
    credit(table, retrieved, won, won, np.ones(retrieved.shape), utility)
    silent, uniform = table.reshape(len(ARMS), 20, -1)[[ARMS.index(SILENT), ARMS.index(UNIFORM)]]
    assert silent[:, RETRIEVALS].tolist() == uniform[:, RETRIEVALS].tolist()
    assert silent[:, RETRIEVALS].sum() == 200
    assert not silent[:, [PLUS, MINUS]].any()
    assert set(ratio(silent)) == {0.5}
    assert len(set(ratio(uniform))) > 5


def test_arms_are_credited_as_the_sessions_credit_them() -> None:
    random = np.random.default_rng(6)
    utility, retrieved = random.random(20), draw(random, 50, 20, 4)
    scores, won = random.random(retrieved.shape), random.random(50) < 0.5
    table = new_table(len(ARMS) * 20)
    credit(table, retrieved, won, won, scores, utility)
    for arm, numbers in ((UNIFORM, np.ones((50, 4))), (SCORE, scores), (ORACLE, utility[retrieved])):
        alone = new_table(20)
        for episode in range(50):
            share = numbers[episode] / numbers[episode].sum()
            record(alone, retrieved[episode], share, bool(won[episode]))
        assert table.reshape(len(ARMS), 20, -1)[ARMS.index(arm)] == pytest.approx(alone)


@pytest.mark.parametrize("seed", [1, 19])
def test_a_run_depends_on_its_seed_alone(seed: int) -> None:
    (alone,), both = run(seeds=(seed,)), run(seeds=(3, seed))
    assert alone.values == both[1].values
    assert alone.trajectories == both[1].trajectories
    assert both[0].values != both[1].values


def test_no_score_spread_is_uniform_weights() -> None:
    (one,) = run(SMALL.model_copy(update={"score_spread": 0.0}), (2,))
    assert one.trajectories[SCORE] == one.trajectories[UNIFORM]


@pytest.mark.parametrize(("model", "error"), [("mean", 1e-12), ("sigmoid", 5e-4)])
@pytest.mark.parametrize("retrieved", [1, 3, 9])
def test_true_worth_is_the_chance_over_all_sets_with_the_memory(model, error, retrieved) -> None:
    utility = np.random.default_rng(0).random(9)
    parameters = CalibrationParameters(memories=9, retrieved=retrieved, success_model=model)
    expected = [
        np.mean(
            [
                parameters.chance(utility[[memory, *rest]].mean())
                for rest in combinations([other for other in range(9) if other != memory], retrieved - 1)
            ]
        )
        for memory in range(9)
    ]
    found = true_worth(parameters, np.random.default_rng(1), utility)
    assert found == pytest.approx(np.array(expected), abs=error)


def test_sets_are_drawn_uniformly_without_repetition() -> None:
    sets = draw(np.random.default_rng(7), 6_000, 5, 2)
    found, counts = np.unique(sets, axis=0, return_counts=True)
    assert found.tolist() == [list(pair) for pair in combinations(range(5), 2)]
    assert (np.abs(counts - 600) < 5 * 600**0.5).all()


def test_labels_are_counted_against_the_truth() -> None:
    parameters = SMALL.model_copy(update={"retrieved": 1, "episodes": 4_000, "checkpoints": (4_000,)})
    (one,) = run(parameters, (3,))
    truth, worth = np.array(one.kept["p_plus"]), np.array(one.kept["worth"]["4000"])
    high, low = worth >= 0.6, worth <= 0.4
    right = (high & (truth >= 0.6)) | (low & (truth <= 0.4))
    assert one.values[named("thresholds: called high or low", 4_000)] == (high | low).sum() > 0
    assert one.values[named("thresholds: right, p+ lies beyond", 4_000)] == right.sum() > 0
    off = one.values[named("interval: called off the base rate", 4_000)]
    assert 0 < one.values[named("interval: right side of the base rate", 4_000)] <= off <= 20
    confusion = one.kept["labels_by_true_class"]["4000"]
    assert sum(sum(labels.values()) for labels in confusion.values()) == 20
    assert confusion["high"]["high"] + confusion["low"]["low"] == right.sum()


def test_parameters_must_fit_together() -> None:
    with pytest.raises(ValidationError, match="30 memories cannot be retrieved out of 20"):
        CalibrationParameters(memories=20, retrieved=30)
    with pytest.raises(ValidationError, match="low must lie below high"):
        CalibrationParameters(low=0.6)
    assert CalibrationParameters(episodes=50).stops == (50,)


def test_the_plot_names_every_arm_and_both_axes() -> None:
    made = drawing()
    EXPERIMENT.plot(SMALL, run(), made)
    curves, labels = made.axes
    assert {text.get_text() for text in curves.get_legend().get_texts()} >= set(ARMS)
    for axes in (curves, labels):
        assert axes.get_title()
        assert axes.get_xlabel()
        assert axes.get_ylabel()
    file = io.BytesIO()
    made.savefig(file, format="png")
    assert file.getvalue().startswith(b"\x89PNG")


@pytest.mark.slow
def test_published_figures_are_met_at_full_size() -> None:
    parameters = CalibrationParameters()
    rows = EXPERIMENT.figures(parameters, run(parameters, EXPERIMENT.seeds))
    judged = [row for row in rows if row.published is not None]
    assert len(judged) == 12
    assert [row.name for row in judged if not row.met] == []


def test_the_control_is_credited_with_the_outcomes_it_is_given() -> None:
    random = np.random.default_rng(8)
    utility, retrieved, won = random.random(20), draw(random, 51, 20, 4), np.arange(51) % 2 == 0
    table = new_table(len(ARMS) * 20)
    credit(table, retrieved, won, ~won, np.ones(retrieved.shape), utility)
    control, uniform = table.reshape(len(ARMS), 20, -1)[[ARMS.index(SHUFFLED), ARMS.index(UNIFORM)]]
    assert control[:, [PLUS, MINUS]] == pytest.approx(uniform[:, [MINUS, PLUS]])


def test_an_interval_is_off_the_base_rate_as_a_whole_or_not_at_all() -> None:
    table = new_table(3)
    for row, successes in enumerate((100, 50, 0)):
        record(table, [row] * 100, 1.0, np.arange(100) < successes)
    found = _judge(CalibrationParameters().rule, table, 0.5, np.array([0.9, 0.5, 0.6]))
    assert found["interval: called off the base rate"] == 2
    assert found["interval: right side of the base rate"] == 2
