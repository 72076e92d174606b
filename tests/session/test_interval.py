"""The intervals satisfy their defining equations, checked without the code that computes them."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from memopt.session.interval import beta_cdf, beta_interval, beta_quantile, wilson_interval

RATES = np.array([0.0, 0.1, 0.5, 0.8, 1.0, 0.42])
TRIALS = np.array([3.0, 40.0, 10.0, 10.0, 7.0, 200.0])


def test_wilson_ends_are_the_rates_at_which_the_score_test_turns() -> None:
    z = NormalDist().inv_cdf(0.975)
    for end in wilson_interval(RATES, TRIALS, 0.95):
        inside = (end > 0) & (end < 1)
        score = np.abs(RATES - end)[inside] / np.sqrt(end * (1 - end) / TRIALS)[inside]
        assert score == pytest.approx(z, rel=1e-9)


def test_wilson_at_a_value_from_the_literature() -> None:
    low, high = wilson_interval(np.array([0.8]), np.array([10.0]), 0.95)
    assert (low[0], high[0]) == (pytest.approx(0.4902, abs=5e-5), pytest.approx(0.9433, abs=5e-5))


def test_without_trials_an_interval_says_nothing() -> None:
    none = np.zeros(1)
    assert [end[0] for end in wilson_interval(np.array([0.5]), none, 0.95)] == [0.0, 1.0]
    assert [end[0] for end in beta_interval(np.array([0.5]), none, 0.95)] == pytest.approx([0.025, 0.975])


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 9), (9, 3), (40, 60), (2, 1), (301, 5)])
def test_beta_is_the_tail_of_a_binomial(a: int, b: int) -> None:
    for x in (0.01, 0.3, 0.5, 0.77, 0.999):
        n = a + b - 1
        tail = math.fsum(math.comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))
        got = float(beta_cdf(np.array([x]), np.array([float(a)]), np.array([float(b)]))[0])
        assert got == pytest.approx(tail, rel=1e-9, abs=1e-15)


def test_a_quantile_is_where_the_probability_is_reached() -> None:
    a, b = np.array([1.5, 8.0, 2000.0]), np.array([4.5, 1.0, 3000.0])
    for probability in (0.025, 0.5, 0.975):
        assert beta_cdf(beta_quantile(probability, a, b), a, b) == pytest.approx(probability, rel=1e-9)


def test_both_intervals_hold_the_rate_and_shrink_with_evidence() -> None:
    for interval in (wilson_interval, beta_interval):
        low, high = interval(np.full(3, 0.3), np.array([10.0, 100.0, 1000.0]), 0.95)
        assert ((low < 0.3) & (high > 0.3)).all()
        assert (np.diff(high - low) < 0).all()


def test_the_fraction_goes_on_until_it_converges() -> None:
    many = np.array([10_000.0])
    assert beta_cdf(np.array([0.5]), many, many)[0] == pytest.approx(0.5, rel=1e-9)
