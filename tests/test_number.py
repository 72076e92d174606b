from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from pydantic_core import PydanticCustomError

from memopt.number import exact, read_number


@pytest.mark.parametrize(
    "value", [0.0, -0.5, 1e308, 5e-324, "0.1", "-7", "+.5", "3.", "1e-300", "2E+3", 10**22]
)
def test_finite_numbers_and_decimal_strings_are_numbers(value):
    assert exact(read_number(value)) == Fraction(value)


def test_an_integer_becomes_a_float_only_where_nothing_is_lost():
    assert read_number(2**53) == float(2**53)
    assert read_number(2**53 + 1) == "9007199254740993"


def test_a_decimal_string_keeps_every_digit():
    assert exact(read_number("0.1")) == Fraction(1, 10)
    assert exact(read_number(0.1)) == Fraction(3602879701896397, 36028797018963968)
    assert read_number(" 0.10000000000000000000001 ") == "0.10000000000000000000001"


@pytest.mark.parametrize("value", [np.float64(0.5), np.float32(0.5), np.int64(3), np.array(2.5)])
def test_numpy_scalars_are_numbers(value):
    assert read_number(value) == value.item()


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -float("inf"), "nan", "-Inf", "Infinity", "1e309", 10**400, np.nan]
)
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(PydanticCustomError) as refused:
        read_number(value)
    assert refused.value.type == "not_finite"


NO_NUMBERS = [
    *(True, False, np.True_, None, b"1", [], {}, np.array([1.0])),
    *("", "abc", "1_000", "0x10", "1,5", "1/3", "--1", "1e", "1e9999", "٣", "1" * 401),
]


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_number_is_refused(value):
    with pytest.raises(PydanticCustomError) as refused:
        read_number(value)
    assert refused.value.type == "not_number"
