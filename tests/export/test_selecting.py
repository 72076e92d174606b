from __future__ import annotations

import pytest
from foreign import EMPTY, PAIR

from memopt import Instance, Program, compile
from memopt.errors import InvalidSolution
from memopt.export.names import names_of
from memopt.export.selecting import select
from memopt.export.solution_files import read_solution

PROGRAM = compile(Instance.model_validate(PAIR)).program
RIGHT = {"x_a_b__raw": "1", "x_c__raw": "1", "x_d__raw": "1"}


def _select(values: dict[str, str], program: Program = PROGRAM, extra: str = "") -> list[int]:
    names = names_of(program)
    text = "# made by hand\n" + "".join(f"{name} {value}\n" for name, value in values.items()) + extra
    return select(program, names, read_solution(text.encode(), names.options)).tolist()


def _codes(values: dict[str, str], extra: str = "") -> list[str]:
    with pytest.raises(InvalidSolution) as caught:
        _select(values, extra=extra)
    return [fault.code for fault in caught.value.faults]


def test_zeros_may_be_left_out_or_stand_there():
    assert _select(RIGHT) == [0, 3, 5]
    assert _select(RIGHT | {"x_a_b__delete": "0", "x_c__delete": "-0.0"}) == [0, 3, 5]


@pytest.mark.parametrize("value", ["1", "1.0", "0.999991", "1.000009", "1e0", "+1"])
def test_a_value_near_one_is_one(value: str):
    assert _select(RIGHT | {"x_c__raw": value, "x_c__delete": "9e-6"}) == [0, 3, 5]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ({"x_e__raw": "1"}, ["unknown_variable"]),
        ({"x_e__raw": "0"}, ["unknown_variable"]),
        ({"x_c__raw": "0.5", "x_c__delete": "0.5"}, ["fractional", "fractional"]),
        ({"x_c__raw": "0.9999"}, ["fractional"]),
        ({"x_c__raw": "2"}, ["not_binary"]),
        ({"x_c__raw": "-1"}, ["not_binary"]),
        ({"x_c__raw": "nan"}, ["not_finite"]),
        ({"x_c__raw": "1e999"}, ["not_finite"]),
        ({"x_c__delete": "1"}, ["several_options"]),
        ({"x_c__raw": "0"}, ["no_option"]),
    ],
)
def test_each_fault_has_its_code(values: dict[str, str], codes: list[str]):
    assert _codes(RIGHT | values) == codes


def test_all_faults_stand_in_one_report_with_their_places():
    with pytest.raises(InvalidSolution) as caught:
        _select(
            {"x_a_b__raw": "1", "x_a_b__keywords": "1", "x_c__raw": "0.25", "x_e__raw": "1", "value": "3"},
            extra="x_a_b__raw 1\nnonsense\n",
        )
    faults = {(fault.code, fault.item, fault.level, fault.field) for fault in caught.value.faults}
    assert faults == {
        ("unreadable_line", None, None, None),
        ("unknown_variable", None, None, "x_e__raw"),
        ("unknown_variable", None, None, "value"),
        ("repeated_variable", "a b", "raw", "x_a_b__raw"),
        ("fractional", "c", "raw", "x_c__raw"),
        ("several_options", "a b", None, None),
        ("no_option", "d", None, None),
    }
    assert str(caught.value).startswith("7 faults in the solution file")


def test_a_variable_given_twice_is_a_fault_even_if_the_values_agree():
    assert _codes(RIGHT, extra="x_c__raw 1\n") == ["repeated_variable"]
    unknown = _codes(RIGHT, extra="x_e__raw 1\nx_e__raw 1\n")
    assert unknown == ["unknown_variable", "unknown_variable", "repeated_variable"]


def test_many_faults_of_a_kind_are_counted():
    codes = _codes(RIGHT, extra="nonsense\n" * 50 + "# x\n" + "x_a_b__delete 0\n" * 50)
    assert codes == ["unreadable_line"] * 21 + ["repeated_variable"] * 21


@pytest.mark.parametrize(
    ("ours", "said"), [(0, "none of its 4 variables are"), (1, "only 1 of its 5 variables is")]
)
def test_the_solution_of_another_model_is_one_fault(ours: int, said: str):
    with pytest.raises(InvalidSolution) as caught:
        _select({f"x_m{number}__raw": "1" for number in range(4)} | dict([*RIGHT.items()][:ours]))
    (fault,) = caught.value.faults
    assert fault.code == "another_model"
    assert fault.message == f"{said} of this model: it looks like the solution of another model"


def test_a_file_without_values_is_one_fault():
    assert _codes({}) == ["no_solution"]


def test_of_a_program_without_items_the_empty_selection_is_taken():
    empty = compile(Instance.model_validate(EMPTY)).program
    assert _select({}, empty) == []
    assert _select({"nothing": "0"}, empty) == []


def test_a_file_that_counts_one_column_too_many_is_of_another_model():
    names = names_of(PROGRAM)
    lines = [f"j {number} 0" for number in range(1, len(names.options) + 2)]
    file = read_solution("\n".join(["s mip 1 1 o 0", *lines, "e o f"]).encode(), names.options)
    with pytest.raises(InvalidSolution, match="another_model: only 6 of its 7 variables are of this model"):
        select(PROGRAM, names, file)
