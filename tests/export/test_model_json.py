from __future__ import annotations

import json

import pytest
from foreign import CONFLICT, EMPTY, PAIR, TEN
from hypothesis import given, settings
from strategies import Declared, declarations

from memopt import Instance, Program, compile
from memopt.export import Export, model_json
from memopt.families import generate_columns


def _written(declared: Declared) -> tuple[Program, bytes]:
    made = Export(compile(Instance.model_validate(declared)))
    return made.program, made.write("json")


@pytest.mark.parametrize("declared", [*TEN.values(), CONFLICT, EMPTY], ids=[*TEN, "conflict", "empty"])
def test_the_whole_program_comes_back(declared: Declared):
    program, content = _written(declared)
    read = model_json.read(content)
    assert (read.digest, read.ids, read.groups) == (program.digest, tuple(program.ids), program.groups)


@settings(max_examples=60)
@given(declarations())
def test_any_program_comes_back(declared: Declared):
    program, content = _written(declared)
    assert model_json.read(content).digest == program.digest


def test_a_program_of_columns_is_known_by_positions():
    made = Export(compile(generate_columns("linked", 30, 1)))
    assert [item["id"] for item in json.loads(made.write("json"))["items"]] == [str(n) for n in range(30)]


def test_the_file_says_what_the_program_says():
    program, content = _written(PAIR)
    document = json.loads(content)
    assert {key: document[key] for key in ("memopt_program", "budget", "scale", "groups", "exclusives")} == {
        "memopt_program": 1, "budget": 9, "scale": 9, "groups": [[0, 1]], "exclusives": [],
    }  # fmt: skip
    assert document["digest"] == program.digest
    assert document["items"][2] == {
        "id": "d",
        "name": "d",
        "options": [{"level": "raw", "tokens": 0, "value": 0, "variable": "x_d__raw"}],
    }
