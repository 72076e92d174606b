"""Rounding to the grid is the half-even rounding of the exact number, whatever doubles make of it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memopt.grid import COEFFICIENT_BELOW, FINEST, VALUE_SUM_BELOW, round_to_grid

HALF = Fraction(1, 2)


def rounded(utility, tokens, rate, start=None, decimals=None):
    """Round, with each option an item of its own unless `start` says otherwise."""
    start = np.arange(len(utility) + 1) if start is None else np.array(start)
    return round_to_grid(
        np.array(utility, dtype=np.float64),
        np.array(tokens, dtype=np.int64),
        Fraction(rate),
        start.astype(np.int64),
        decimals or {},
    )


def exactly(utility, tokens, rate, scale, decimals=None):
    """Return the same in fractions alone."""
    worths = [(decimals or {}).get(option, Fraction(worth)) for option, worth in enumerate(utility)]
    return [
        round((worth - Fraction(rate) * count) * Fraction(10) ** scale)
        for worth, count in zip(worths, tokens, strict=True)
    ]


def fits(values, start):
    """Whether values keep both limits of the numeric contract."""
    largest = [max(map(abs, values[first:last])) for first, last in itertools.pairwise(start)]
    return max(largest) < COEFFICIENT_BELOW and sum(largest) < VALUE_SUM_BELOW


MAGNITUDES = st.integers(-30, 80).map(lambda exponent: 2.0**exponent)
UTILITIES = st.one_of(
    st.floats(-1e6, 1e6),
    st.floats(-1e200, 1e200),
    st.integers(-(10**12), 10**12).map(lambda n: n / 10**9),
    st.builds(
        lambda sign, size, part: sign * size * part, st.sampled_from([-1, 1]), MAGNITUDES, st.floats(0.5, 1)
    ),
)
RATES = st.one_of(
    st.just(Fraction(0)),
    st.builds(Fraction, st.integers(0, 10**6), st.integers(1, 10**4)),
    st.builds(lambda price, budget: Fraction(price) / budget, st.floats(0, 1e30), st.integers(1, 2**53 - 1)),
)
OPTIONS = st.lists(
    st.tuples(UTILITIES, st.one_of(st.integers(0, 50), st.integers(0, 2**53 - 1))), min_size=1, max_size=12
)


@given(OPTIONS, RATES)
def test_every_value_is_the_exact_half_even_rounding_and_the_grid_the_finest_possible(options, rate):
    utility, tokens = zip(*options, strict=True)
    start = [*range(0, len(options), 3), len(options)]
    grid = rounded(utility, tokens, rate, start)
    assert grid.values.tolist() == exactly(utility, tokens, rate, grid.scale)
    assert fits(grid.values.tolist(), start)
    assert grid.scale <= FINEST
    if grid.scale < FINEST:
        assert not fits(exactly(utility, tokens, rate, grid.scale + 1), start)


@given(
    st.integers(-(10**11), 10**11),
    st.integers(-3, 3),
    st.integers(0, 10**6),
    st.builds(Fraction, st.integers(0, 10**4), st.integers(1, 64)),
)
def test_numbers_at_and_beside_the_middle_of_two_grid_points_are_decided_exactly(unit, ulps, tokens, rate):
    worth = float((unit + HALF) / 10**FINEST + rate * tokens)
    for _ in range(abs(ulps)):
        worth = np.nextafter(worth, np.inf if ulps > 0 else -np.inf).item()
    grid = rounded([worth], [tokens], rate)
    assert grid.values.tolist() == exactly([worth], [tokens], rate, grid.scale)


@given(st.integers(-(10**11), 10**11), st.sampled_from(["", "1", "00000000001"]), st.integers(0, 99))
def test_decimal_strings_are_rounded_by_their_digits_not_by_the_nearest_double(unit, more, tokens):
    sign, size = ("-" if unit < 0 else ""), abs(unit)
    text = f"{sign}{size // 10**9}.{size % 10**9:09d}5{more}"
    decimals = {0: Fraction(text)}
    rate = Fraction(1, 8)
    grid = rounded([float(text)], [tokens], rate, decimals=decimals)
    assert grid.values.tolist() == exactly([float(text)], [tokens], rate, grid.scale, decimals)


def test_ties_go_to_the_even_grid_point():
    texts = ["0.0000000005", "0.0000000015", "0.0000000025", "-0.0000000005", "-0.0000000015"]
    decimals = {option: Fraction(text) for option, text in enumerate(texts)}
    grid = rounded([float(text) for text in texts], [0] * 5, 0, decimals=decimals)
    assert (grid.scale, grid.values.tolist()) == (9, [0, 2, 2, 0, -2])
    beyond = {0: Fraction("0.00000000050000000000000000000000001")}
    assert rounded([5e-10], [0], 0, decimals=beyond).values.tolist() == [1]


def test_a_tie_made_by_the_price_alone_goes_to_the_even_grid_point():
    rate = Fraction("0.0000000005")
    assert rounded([0.0] * 4, [1, 2, 3, 5], rate).values.tolist() == [0, -1, -2, -2]


@pytest.mark.parametrize(
    ("utility", "scale"),
    [
        ([0.0, 0.0], 9),
        ([1.0], 9),
        ([999.9999999994], 9),
        ([999.9999999996], 8),
        ([1000.0], 8),
        ([999_999_999_999.4], 0),
        ([999_999_999_999.6], -1),
        ([-1e12], -1),
        ([9e15], -4),
        ([1e300], -289),
        ([1e-300, -5e-324], 9),
        ([900.0] * 10_007, 9),
        ([900.0] * 10_008, 8),
        ([1e12, 1e-12], -1),
    ],
)
def test_the_grid_is_the_finest_that_keeps_both_limits(utility, scale):
    grid = rounded(utility, [0] * len(utility), 0)
    assert grid.scale == scale
    assert grid.values.tolist() == exactly(utility, [0] * len(utility), 0, scale)


def test_only_the_largest_option_of_an_item_counts_for_the_sum():
    utility = [999.0, -998.0] * 9016
    assert rounded(utility, [0] * 18032, 0, range(0, 18033, 2)).scale == 9
    assert rounded(utility, [0] * 18032, 0).scale == 8


@given(st.floats(1e18, 1e250), st.integers(1, 2**50), st.integers(-3, 3))
def test_a_price_that_cancels_a_huge_utility_leaves_a_fine_grid(worth, tokens, units):
    rate = (Fraction(worth) - units) / tokens
    assume(rate >= 0)
    grid = rounded([worth], [tokens], rate)
    assert (grid.scale, grid.values.tolist()) == (9, [units * 10**9])


@pytest.mark.parametrize("exponent", [20, 150, 180])
def test_huge_numbers_that_cancel_only_partly_still_end_on_the_finest_grid(exponent):
    utility, tokens = [1e200, 3.0], [3, 0]
    rate = (Fraction(1e200) - 10**exponent) / 3
    grid = rounded(utility, tokens, rate)
    assert grid.values.tolist() == exactly(utility, tokens, rate, grid.scale)
    assert not fits(exactly(utility, tokens, rate, grid.scale + 1), range(3))


def test_no_options_are_on_the_finest_grid():
    grid = rounded([], [], 0)
    assert (grid.scale, len(grid.values)) == (9, 0)


def test_many_items_are_rounded_like_few():
    draws = np.random.Generator(np.random.PCG64(5))
    utility = (draws.integers(-(10**9), 10**9, 30_000) / 10**6).tolist()
    tokens = draws.integers(0, 10**5, 30_000).tolist()
    rate = Fraction(0.35) / 1_234_567
    start = [0, 1, *range(4, 30_000, 4), 30_000]
    grid = rounded(utility, tokens, rate, start)
    assert grid.values.tolist() == exactly(utility, tokens, rate, grid.scale)
    assert fits(grid.values.tolist(), start)
    assert not fits(exactly(utility, tokens, rate, grid.scale + 1), start)
