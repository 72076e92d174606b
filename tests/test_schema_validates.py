"""The printed schema, judged by an independent validator."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memopt_cli.schema import problem_schema

jsonschema = pytest.importorskip("jsonschema")

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.json"))
BROKEN: dict[str, Callable[[Any], Any]] = {
    "no items": lambda problem: problem.pop("items"),
    "negative budget": lambda problem: problem.update(budget=-1),
    "fractional tokens": lambda problem: problem["items"][0]["levels"]["raw"].update(tokens=2.5),
    "negative tokens": lambda problem: problem["items"][0]["levels"]["raw"].update(tokens=-1),
    "utility in words": lambda problem: problem["items"][0]["levels"]["raw"].update(utility="much"),
    "no utility": lambda problem: problem["items"][0]["levels"]["raw"].update(utility=None),
    "unknown key": lambda problem: problem["items"][0].update(colour="red"),
    "empty id": lambda problem: problem["items"][0].update(id=""),
    "pinned in words": lambda problem: problem["items"][0].update(pinned="yes"),
    "unknown repair": lambda problem: problem.update(repair="maybe"),
    "another version": lambda problem: problem.update(memopt=2),
}


@pytest.fixture
def validator() -> Any:
    jsonschema.Draft202012Validator.check_schema(problem_schema())
    return jsonschema.Draft202012Validator(problem_schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_valid(path: Path, validator: Any) -> None:
    assert list(validator.iter_errors(json.loads(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize("fault", BROKEN)
def test_what_breaks_the_shape_is_invalid(fault: str, validator: Any) -> None:
    problem = copy.deepcopy(json.loads(EXAMPLES[0].read_text(encoding="utf-8")))
    BROKEN[fault](problem)
    assert not validator.is_valid(problem)
