from __future__ import annotations

import pytest
from foreign import PAIR, largest

from memopt import Instance, compile
from memopt.export import mps
from memopt.export.highs_reader import read_with_highs
from memopt.export.linear import linear_model
from memopt.families import generate_columns


def test_the_file_says_what_the_program_says():
    program = compile(Instance.model_validate(PAIR)).program
    text = mps.write(linear_model(program)).decode()
    comments = [line for line in text.splitlines() if line.startswith("*")]
    assert program.digest in comments[0]
    assert "Minimise minus the value" in comments[1]
    assert [line for line in text.splitlines() if line not in comments] == [
        "NAME memopt FREE",
        "ROWS",
        " N minus_value",
        " L budget",
        " E item_a_b",
        " E item_c",
        " E item_d",
        " E group_c",
        "COLUMNS",
        " MARKER 'MARKER' 'INTORG'",
        " x_a_b__raw minus_value -3000000000 budget 8",
        " x_a_b__raw item_a_b 1",
        " x_a_b__keywords minus_value 1000000000 budget 1",
        " x_a_b__keywords item_a_b 1",
        " x_a_b__delete item_a_b 1 group_c 1",
        " x_c__raw minus_value -1000000000 budget 2",
        " x_c__raw item_c 1",
        " x_c__delete item_c 1 group_c -1",
        " x_d__raw item_d 1",
        " MARKER 'MARKER' 'INTEND'",
        "RHS",
        " RHS budget 9",
        " RHS item_a_b 1",
        " RHS item_c 1",
        " RHS item_d 1",
        "BOUNDS",
        " BV BOUND x_a_b__raw",
        " BV BOUND x_a_b__keywords",
        " BV BOUND x_a_b__delete",
        " BV BOUND x_c__raw",
        " BV BOUND x_c__delete",
        " BV BOUND x_d__raw",
        "ENDATA",
    ]


def test_every_digit_is_kept():
    program = largest()
    read = read_with_highs("mps", mps.write(linear_model(program)))
    assert read.values == program.value.tolist()
    assert read.rows[0] == ("budget", (None, 2**53 - 1, {0: 2**53 - 1, 2: 2**53 - 2}))


@pytest.mark.parametrize("items", [0, 1, 400])
def test_lines_are_short_and_plain(items: int):
    content = mps.write(linear_model(compile(generate_columns("priced", items, 1)).program))
    assert content.isascii()
    assert max(map(len, content.splitlines())) < 200
