from __future__ import annotations

import itertools

import numpy as np
import pytest

from memopt.experiments.ranks import ranks, spearman


def by_definition(x, y):
    """Pearson's correlation of ranks counted pair by pair."""
    a, b = ([sum(o < v for o in side) + sum(o == v for o in side) / 2 for v in side] for side in (x, y))
    if len(set(a)) == 1 or len(set(b)) == 1:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    assert ranks([3, 1, 3, 2]).tolist() == [2.5, 0.0, 2.5, 1.0]
    assert ranks([[5, 5, 5], [2, 1, 0]]).tolist() == [[1, 1, 1], [2, 1, 0]]


def test_every_short_row_with_ties_is_as_by_definition() -> None:
    rows = list(itertools.product(range(3), repeat=4))
    y = np.array([0.3, 0.1, 0.2, 0.2])
    expected = [by_definition(row, y) for row in rows]
    assert spearman(rows, y) == pytest.approx(expected, abs=1e-12)


def test_worlds_are_apart_and_a_monotone_map_changes_nothing() -> None:
    random = np.random.default_rng(3)
    x, y = random.random((4, 5, 20)), random.random((5, 20))
    found = spearman(x, y)
    assert found.shape == (4, 5)
    assert found[2, 3] == pytest.approx(by_definition(x[2, 3], y[3]), abs=1e-12)
    assert spearman(np.exp(x), -y) == pytest.approx(-found, abs=1e-12)
    assert spearman(x, x) == pytest.approx(np.ones((4, 5)))


def test_a_constant_orders_nothing() -> None:
    assert spearman([0.5, 0.5, 0.5], [1, 2, 3]) == 0.0
    assert spearman([1, 2, 3], [7, 7, 7]) == 0.0
    assert spearman([4], [4]) == 0.0


def test_nan_has_no_rank() -> None:
    with pytest.raises(ValueError, match="NaN"):
        spearman([1, float("nan")], [1, 2])
