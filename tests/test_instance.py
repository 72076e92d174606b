from __future__ import annotations

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from pydantic import ValidationError
from strategies import declarations

from memopt import Instance, InvalidInstance, Item, Option, Window
from memopt.errors import InvalidBudget

DECLARED = {
    "memopt": 1,
    "budget": {"window": 8000, "reserved": {"system": 1200, "tools": 3100, "reply": 1024}},
    "price": 0.35,
    "items": [
        {
            "id": "m17",
            "order": 17,
            "levels": {
                "raw": {"tokens": 120, "utility": 0.8, "text": "all of it"},
                "summary": {"tokens": 31, "utility": "0.55"},
                "abstraction": None,
                "keywords": {"utility": 0.1},
            },
            "current": "summary",
            "pinned": True,
            "min_level": "keywords",
            "group": "call-3",
            "exclusive": None,
        },
        {"id": "m18", "levels": {"raw": {"tokens": 4, "utility": 1}}, "group": "call-3", "exclusive": "fact"},
    ],
}


def test_the_example_of_the_format_is_valid():
    instance = Instance.model_validate_json(json.dumps(DECLARED))
    assert instance.capacity == 2676
    assert instance.ladder == ("raw", "summary", "abstraction", "keywords")
    assert instance.repair == "monotone"
    first = instance.items[0]
    assert first.levels["raw"] == Option(tokens=120, utility=0.8, text="all of it")
    assert (first.current, first.pinned, first.min_level, first.group) == (
        "summary",
        True,
        "keywords",
        "call-3",
    )
    assert instance.warnings == ()


def test_only_budget_and_items_are_needed():
    instance = Instance.model_validate({"budget": 5, "items": []})
    assert (instance.capacity, instance.price, instance.items) == (5, 0.0, ())
    assert Instance(budget=5, items=()) == instance


def test_models_declare_what_data_declares():
    made = Instance(
        budget=Window(window=9, reserved={"system": 2}),
        items=(Item(id="a", levels={"raw": Option(tokens=3, utility=0.5), "summary": None}),),
    )
    read = Instance.model_validate(
        {
            "budget": {"window": 9, "reserved": {"system": 2}},
            "items": [{"id": "a", "levels": {"raw": {"tokens": 3, "utility": 0.5}, "summary": None}}],
        }
    )
    assert made == read
    assert made.capacity == 7


@given(declarations())
def test_an_instance_survives_json_and_pickle(declared):
    instance = Instance.model_validate(declared)
    assert Instance.model_validate_json(json.dumps(declared)) == instance
    assert Instance.model_validate_json(instance.model_dump_json(exclude_defaults=True)) == instance
    assert Instance.model_validate_json(instance.model_dump_json()) == instance
    assert Instance.model_validate(instance.model_dump()) == instance
    assert pickle.loads(pickle.dumps(instance)) == instance


def test_a_level_is_written_without_what_it_was_not_given():
    levels = {"raw": {"tokens": None, "text": "x"}, "summary": None}
    instance = Instance.model_validate({"budget": 1, "items": [{"id": "a", "levels": levels}]})
    assert instance.model_dump()["items"][0]["levels"] == {"raw": {"text": "x"}, "summary": None}
    assert Instance.model_validate_json(instance.model_dump_json()) == instance


def test_an_instance_cannot_be_changed():
    instance = Instance.model_validate(DECLARED)
    with pytest.raises(ValidationError):
        instance.price = 3.0
    with pytest.raises(AttributeError):
        instance.items[0].levels["raw"].tokens = 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: Instance(budget=-1, items=()),
        lambda: Instance.model_validate({"budget": -1, "items": []}),
        lambda: Instance.model_validate_json('{"budget": -1, "items": []}'),
        lambda: Instance.from_arrays([[1]], [[1.0]], budget=-1),
    ],
)
def test_every_way_to_make_one_reports_in_the_same_words(make):
    with pytest.raises(InvalidInstance) as error:
        make()
    assert [fault.code for fault in error.value.faults] == ["budget_negative"]


def test_the_report_counts_and_lists_its_faults():
    with pytest.raises(InvalidInstance) as error:
        Instance.model_validate({"budget": -1, "price": -1, "items": []})
    first, *rest = str(error.value).splitlines()
    assert first == "2 faults in the instance"
    assert [line.split(":")[0] for line in rest] == ["  budget_negative", "  price_negative"]


def test_columns_hold_tokens_utilities_and_what_constrains_each_item():
    columns = Instance.model_validate(DECLARED).columns()
    assert columns.tokens.tolist() == [[120, 31, -1, -1], [4, -1, -1, -1]]
    assert columns.utility.tolist() == [[0.8, 0.55, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    assert columns.decimals == {(0, 1): Fraction(55, 100)}
    assert columns.richest is not None
    assert columns.poorest is not None
    assert (columns.richest.tolist(), columns.poorest.tolist()) == ([1, 0], [3, 4])
    assert columns.group is not None
    assert columns.exclusive is not None
    assert (columns.group.tolist(), columns.exclusive.tolist()) == ([0, 0], [-1, 0])


def test_a_pinned_item_without_a_min_level_may_stay_at_its_richest_allowed_level_only():
    levels = {name: {"tokens": 1, "utility": 1} for name in ("summary", "keywords")}
    items = [{"id": "a", "levels": levels, "pinned": True}]
    items.append({"id": "b", "levels": levels, "pinned": True, "current": "abstraction"})
    items.append({"id": "c", "levels": levels})
    columns = Instance.model_validate({"budget": 1, "items": items}).columns()
    assert columns.poorest is not None
    assert columns.poorest.tolist() == [1, 3, 4]


def test_columns_without_links_have_none():
    columns = Instance.model_validate({"budget": 1, "items": [{"id": "a", "levels": {}}]}).columns()
    assert columns.group is None
    assert columns.exclusive is None
    assert np.array_equal(columns.tokens, [[-1, -1, -1, -1]])


def test_the_schema_describes_the_format():
    schema = Instance.model_json_schema()
    assert set(schema["properties"]) == {"memopt", "budget", "price", "ladder", "repair", "items"}
    assert schema["required"] == ["budget", "items"]
    assert schema["additionalProperties"] is False
    option = schema["$defs"]["Option"]
    assert set(option["properties"]) == {"tokens", "utility", "text"}
    assert option["additionalProperties"] is False
    assert {"type": "number"} in option["properties"]["utility"]["anyOf"]


def test_a_budget_alone_is_read_as_a_window_or_told_as_a_budget() -> None:
    assert Window.read(7) == Window(window=7)
    assert Window.read({"window": 9, "reserved": {"reply": 2}}).budget == 7
    with pytest.raises(InvalidBudget) as raised:
        Window.read("x")  # type: ignore[arg-type]  # the mistake under test
    assert "instance" not in str(raised.value)
    assert str(raised.value).startswith("1 fault in the budget")
