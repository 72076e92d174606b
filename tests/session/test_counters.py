"""One update serves a session and a whole experiment, to the last bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from memopt.session import counters
from memopt.session.counters import LABELS, MINUS, PLUS, RETRIEVALS, WorthRule
from memopt.session.worth import Worth

WORLDS, MEMORIES, EPISODES, K = 3, 12, 400, 4


def simulated(seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return retrieved memories, their scores (both ``[EPISODES, WORLDS, K]``) and successes."""
    draw = np.random.Generator(np.random.PCG64(seed))
    retrieved = draw.random((EPISODES, WORLDS, MEMORIES)).argsort(axis=-1)[..., :K]
    scores = draw.random((EPISODES, WORLDS, K))
    return retrieved, scores, draw.random((EPISODES, WORLDS)) < 0.4


@pytest.mark.parametrize("half_life", [None, 20.0])
def test_all_at_once_step_by_step_and_by_id_give_the_same_bits(half_life: float | None) -> None:
    retrieved, scores, success = simulated(3)
    rows = retrieved + MEMORIES * np.arange(WORLDS)[:, None]
    weights = counters.retrieval_weights(scores)
    at_once, stepwise = counters.new_table(WORLDS * MEMORIES), counters.new_table(WORLDS * MEMORIES)
    counters.record(at_once, rows, weights, success[..., None], half_life)
    for step in range(EPISODES):
        counters.record(stepwise, rows[step], weights[step], success[step][:, None], half_life)
    assert at_once.tobytes() == stepwise.tobytes()
    for world in range(WORLDS):
        names = [f"m{memory}" for memory in range(MEMORIES)]
        session = Worth(WorthRule(weights="score", half_life=half_life), names)
        for step in range(EPISODES):
            session.record(
                [names[memory] for memory in retrieved[step, world]],
                bool(success[step, world]),
                scores[step, world].tolist(),
            )
        assert session.table.tobytes() == stepwise.reshape(WORLDS, MEMORIES, 4)[world].tobytes()


def test_the_ratio_is_the_share_of_weight_that_won() -> None:
    table = counters.new_table(3)
    counters.record(table, [0, 1, 0], [0.5, 0.25, 0.5], [True, False, False])
    assert counters.ratio(table).tolist() == [0.5, 0.0, 0.5]
    assert table[:, PLUS].tolist() == [0.5, 0.0, 0.0]
    assert table[:, MINUS].tolist() == [0.5, 0.25, 0.0]
    assert table[:, RETRIEVALS].tolist() == [2.0, 1.0, 0.0]


def test_scores_are_scaled_to_sum_to_one() -> None:
    assert counters.retrieval_weights([1, 3]).tolist() == [0.25, 0.75]
    assert counters.retrieval_weights([[0, 0], [1e308, 1e308]]).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    for wrong in ([-1, 2], [math.nan, 1], [math.inf, 1]):
        with pytest.raises(ValueError, match="finite and >= 0"):
            counters.retrieval_weights(wrong)


def test_boundaries_are_inclusive_even_where_weights_do_not_add_up() -> None:
    table = counters.new_table(2)
    for row, wins in ((0, 30), (1, 20)):
        counters.record(table, [row] * 50, 1 / 27, [True] * wins + [False] * (50 - wins))
    assert counters.ratio(table)[0] < 0.6  # by the last bits only
    assert counters.ratio(table)[1] > 0.4
    assert [LABELS[code] for code in counters.classify(table, WorthRule())] == ["high", "low"]


def test_evidence_counts_retrievals_or_weight() -> None:
    table = counters.new_table(1)
    counters.record(table, [0] * 10, 1 / 8, [True] * 10)
    labels = {how: counters.classify(table, WorthRule(evidence=how))[0] for how in ("retrievals", "weight")}
    assert {how: LABELS[code] for how, code in labels.items()} == {
        "retrievals": "high",
        "weight": "uncertain",
    }
    counters.record(table, [0] * 70, 1 / 8, [True] * 70)
    assert LABELS[counters.classify(table, WorthRule(evidence="weight"))[0]] == "high"


def test_unequal_weights_are_worth_fewer_retrievals() -> None:
    table = counters.new_table(2)
    counters.record(table, [0] * 8, 0.125, [True, False] * 4)
    counters.record(table, [1] * 8, [1.0, *[0.001] * 7], [True, False] * 4)
    assert counters.effective(table) == pytest.approx([8, 1.014], rel=1e-3)
    low, high = counters.interval(table, WorthRule())
    assert high[0] - low[0] < high[1] - low[1]


def test_lift_is_over_the_base_rate() -> None:
    table = counters.new_table(2)
    counters.record(table, [0, 0], 1.0, [True, False])
    assert counters.lift(table, 0.4)[0] == 1.25
    assert np.isnan(counters.lift(table, 0.4)[1])
    assert np.isnan(counters.lift(table, 0.0)).all()


def turns_to_cross(tenure: int, half_life: float | None) -> int:
    """Return how many failures after `tenure` successes bring the ratio to .40."""
    table = counters.new_table(1)
    counters.record(table, [0] * tenure, 1.0, True, half_life)
    for failures in range(1, 10_000):
        counters.record(table, [0], 1.0, False, half_life)
        if counters.ratio(table)[0] <= 0.4 + 1e-9:
            return failures
    raise AssertionError("never crossed")


def test_detection_lags_with_tenure_unless_counters_fade() -> None:
    undecayed = [turns_to_cross(tenure, None) for tenure in (100, 200, 400)]
    assert undecayed == [150, 300, 600]  # t0 * (p1 - theta) / (theta - p2) at p1 = 1, p2 = 0
    faded = [turns_to_cross(tenure, 20.0) for tenure in (200, 400, 800)]
    assert faded == [27, 27, 27]  # half-life * log2((p1 - p2) / (theta - p2)) = 26.4, whatever the tenure


@pytest.mark.parametrize(
    "wrong",
    [
        {"high": 0.4, "low": 0.6},
        {"half_life": 0.0},
        {"half_life": math.nan},
        {"confidence": 1.0},
        {"overlap": 0.0},
    ],
)
def test_a_rule_out_of_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"read "):
        WorthRule(**wrong)  # type: ignore[arg-type]  # keyword names vary


def test_a_weight_that_fades_to_a_half_is_a_quarter_among_the_squares() -> None:
    table = counters.new_table(1)
    counters.record(table, [0, 0], 1.0, True, half_life=1.0)
    assert table[0].tolist() == [1.5, 0.0, 1.25, 2.0]
    assert counters.effective(table)[0] == 1.8
