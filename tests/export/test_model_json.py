from __future__ import annotations

import json

import numpy as np
import pytest
from foreign import CONFLICT, EMPTY, PAIR, TEN
from hypothesis import given, settings
from strategies import Declared, declarations

from memopt import Instance, Program, compile
from memopt.export import Export
from memopt.families import generate_columns


def _written(declared: Declared) -> tuple[Program, bytes]:
    made = Export(compile(Instance.model_validate(declared)))
    return made.program, made.write("json")


def _read(content: bytes) -> Program:
    """Return the program that a model file holds, as anybody may build it."""
    document = json.loads(content)
    options = [option for item in document["items"] for option in item["options"]]
    rank = {level: index for index, level in enumerate(document["ladder"])}
    columns = [[rank[each["level"]], each["tokens"], each["value"]] for each in options]
    level, tokens, value = np.array(columns, dtype=np.int64).reshape(-1, 3).T.copy()
    return Program(
        budget=document["budget"],
        scale=document["scale"],
        ladder=tuple(document["ladder"]),
        ids=tuple(item["id"] for item in document["items"]),
        start=np.cumsum([0, *(len(item["options"]) for item in document["items"])], dtype=np.int64),
        level=level,
        tokens=tokens,
        value=value,
        groups=tuple(map(tuple, document["groups"])),
        exclusives=tuple(tuple(map(tuple, units)) for units in document["exclusives"]),
    )


@pytest.mark.parametrize("declared", [*TEN.values(), CONFLICT, EMPTY], ids=[*TEN, "conflict", "empty"])
def test_the_whole_program_comes_back(declared: Declared):
    program, content = _written(declared)
    read = _read(content)
    assert (read.digest, read.ids, read.groups) == (program.digest, tuple(program.ids), program.groups)


@settings(max_examples=60)
@given(declarations())
def test_any_program_comes_back(declared: Declared):
    program, content = _written(declared)
    assert _read(content).digest == program.digest


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
