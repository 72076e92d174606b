"""Estimates from a log with known propensities, against sums done by hand and over all possible logs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from memopt.experiments.off_policy import doubly_robust, ips, snips
from memopt.session.counters import Floats, new_table, ratio, record

EASY, HARD = 0, 1
PROPENSITY = np.array([[0.8, 0.2], [0.25, 0.75]])
"""Chance that an easy and a hard episode retrieves either of two memories, one an episode."""
SUCCESS = np.array([[0.9, 1.0], [0.1, 0.3]])
"""Memory 1 is the better one in both strata, and asked for where success is rare."""
STRATA = np.array([0.5, 0.5])


def log(events: list[tuple[int, int, bool]]) -> tuple[Floats, Floats]:
    """Return the weighed table ``[2, 2, 4]`` and the episodes of each stratum of a log of events."""
    table, episodes = new_table(4), np.zeros(2)
    for stratum, memory, success in events:
        record(table, [2 * stratum + memory], [1 / PROPENSITY[stratum, memory]], success)
        episodes[stratum] += 1
    return table.reshape(2, 2, 4), episodes


def test_sums_done_by_hand() -> None:
    table, episodes = log([(EASY, 0, True), (EASY, 0, False), (HARD, 0, False), (HARD, 1, True)])
    # memory 0: 1/.8 won; 1/.8 + 1/.8 + 1/.25 weighed. memory 1: 1/.75 won and weighed
    assert ips(table, episodes) == pytest.approx([1.25 / 4, (4 / 3) / 4])
    assert snips(table) == pytest.approx([1.25 / 6.5, 1.0])
    # q = .5 in either stratum: .5 + sum of (Y - .5) / e over 4 episodes
    assert doubly_robust(table, episodes, [0.5, 0.5]) == pytest.approx(
        [0.5 + (0.625 - 0.625 - 2.0) / 4, 0.5 + (0.5 / 0.75) / 4]
    )


def test_ips_and_doubly_robust_are_unbiased_whatever_the_model_and_worth_is_not() -> None:
    wanted = STRATA @ SUCCESS
    total, weighed, robust = 0.0, np.zeros(2), {model: np.zeros(2) for model in ((0.0, 0.0), (0.9, 0.4))}
    for events in product(product((EASY, HARD), (0, 1), (True, False)), repeat=2):
        chance = 1.0
        for stratum, memory, success in events:
            won = SUCCESS[stratum, memory]
            chance *= STRATA[stratum] * PROPENSITY[stratum, memory] * (won if success else 1 - won)
        table, episodes = log(list(events))
        total += chance
        weighed += chance * ips(table, episodes)
        for model, mean in robust.items():
            mean += chance * doubly_robust(table, episodes, model)
    assert total == pytest.approx(1.0)
    assert weighed == pytest.approx(wanted)
    for mean in robust.values():
        assert mean == pytest.approx(wanted)
    worth = (STRATA @ (PROPENSITY * SUCCESS)) / (STRATA @ PROPENSITY)
    assert worth[0] > worth[1]
    assert wanted[0] < wanted[1]


def test_snips_nears_the_truth_on_a_long_log_and_is_worth_under_equal_propensities() -> None:
    random = np.random.default_rng(5)
    stratum = random.integers(2, size=40_000)
    memory = (random.random(40_000) < PROPENSITY[stratum, 1]).astype(int)
    success = random.random(40_000) < SUCCESS[stratum, memory]
    table, equal = new_table(4), new_table(4)
    record(table, 2 * stratum + memory, 1 / PROPENSITY[stratum, memory], success)
    record(equal, 2 * stratum + memory, 2.0, success)
    assert snips(table.reshape(2, 2, 4)) == pytest.approx(STRATA @ SUCCESS, abs=0.02)
    assert snips(equal.reshape(2, 2, 4)) == pytest.approx(ratio(equal.reshape(2, 2, 4).sum(axis=0)))


def test_a_memory_without_evidence_is_told_by_the_model_alone() -> None:
    table, episodes = log([(EASY, 0, True), (HARD, 0, False)])
    assert ips(table, episodes)[1] == 0.0
    assert snips(table)[1] == 0.5
    assert doubly_robust(table, episodes, [0.9, 0.1])[1] == pytest.approx(0.5)
