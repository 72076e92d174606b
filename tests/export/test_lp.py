from __future__ import annotations

import pytest
from foreign import PAIR, largest

from memopt import Instance, compile
from memopt.export import lp
from memopt.export.highs_reader import read_with_highs
from memopt.export.linear import linear_model
from memopt.families import generate_columns


def test_the_file_says_what_the_program_says():
    program = compile(Instance.model_validate(PAIR)).program
    text = lp.write(linear_model(program)).decode()
    comments = [line for line in text.splitlines() if line.startswith("\\")]
    assert program.digest in comments[0]
    assert [line for line in text.splitlines() if line not in comments] == [
        "Maximize",
        " value: + 3000000000 x_a_b__raw - 1000000000 x_a_b__keywords + 0 x_a_b__delete",
        "  + 1000000000 x_c__raw + 0 x_c__delete + 0 x_d__raw",
        "Subject To",
        " budget: + 8 x_a_b__raw + x_a_b__keywords + 2 x_c__raw <= 9",
        " item_a_b: + x_a_b__raw + x_a_b__keywords + x_a_b__delete = 1",
        " item_c: + x_c__raw + x_c__delete = 1",
        " item_d: + x_d__raw = 1",
        " group_c: + x_a_b__delete - x_c__delete = 0",
        "Binaries",
        "  x_a_b__raw x_a_b__keywords x_a_b__delete x_c__raw x_c__delete x_d__raw",
        "End",
    ]


def test_every_digit_is_kept():
    program = largest()
    read = read_with_highs("lp", lp.write(linear_model(program)))
    assert read.values == program.value.tolist()
    assert read.rows[0] == ("budget", (None, 2**53 - 1, {0: 2**53 - 1, 2: 2**53 - 2}))


@pytest.mark.parametrize("items", [0, 1, 400])
def test_lines_are_short_and_plain(items: int):
    program = compile(generate_columns("priced", items, 1)).program
    content = lp.write(linear_model(program))
    assert content.isascii()
    assert max(map(len, content.splitlines())) < 200
