"""Every way a declaration can be wrong: its code, its place, and all of them in one report."""

from __future__ import annotations

import copy
import json
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memopt import Instance, InvalidInstance
from memopt.compile import compile as compiled
from memopt.families import FAMILIES, generate
from memopt.faults import declaration_warnings


def declared(**changes: Any) -> dict[str, Any]:
    return {"budget": 10, "items": []} | changes


def item(**changes: Any) -> dict[str, Any]:
    return {"id": "a", "levels": {"raw": {"tokens": 1, "utility": 1}}} | changes


def option(**changes: Any) -> dict[str, Any]:
    return declared(items=[item(levels={"raw": {"tokens": 1, "utility": 1} | changes})])


def with_item(**changes: Any) -> dict[str, Any]:
    return declared(items=[item(**changes)])


def faults_of(data: Any) -> tuple[Any, ...]:
    with pytest.raises(InvalidInstance) as error:
        Instance.model_validate(data)
    return error.value.faults


def place(fault: Any) -> tuple[Any, ...]:
    return (fault.item, fault.level, fault.field, fault.index)


HUGE = 2**53
TOP = {
    "missing": [({"budget": 1}, "items"), ({"items": []}, "budget"), (declared(budget={}), "budget.window")],
    "not_object": [([], None), ("x", None), (None, None), (3, None)],
    "unknown_key": [(declared(colour=1), "colour"), (declared(budget={"window": 1, "x": 1}), "budget.x")],
    "memopt_unknown_value": [(declared(memopt=2), "memopt"), (declared(memopt="1"), "memopt")],
    "repair_unknown_value": [(declared(repair="all"), "repair"), (declared(repair=None), "repair")],
    "budget_negative": [
        (declared(budget=-1), "budget"),
        (declared(budget={"window": 5, "reserved": {"a": 4, "b": 2}}), "budget"),
    ],
    "budget_not_integer": [(declared(budget=bad), "budget") for bad in (1.0, "1", None, True, [], math.nan)],
    "budget_too_large": [(declared(budget=HUGE), "budget")],
    "window_not_integer": [(declared(budget={"window": bad}), "budget.window") for bad in (1.5, None, False)],
    "window_negative": [(declared(budget={"window": -1}), "budget.window")],
    "window_too_large": [(declared(budget={"window": HUGE}), "budget.window")],
    "reserved_not_object": [(declared(budget={"window": 1, "reserved": 3}), "budget.reserved")],
    "reserved_not_integer": [(declared(budget={"window": 1, "reserved": {"a": "3"}}), "budget.reserved.a")],
    "reserved_negative": [(declared(budget={"window": 1, "reserved": {"a": -3}}), "budget.reserved.a")],
    "reserved_empty": [(declared(budget={"window": 1, "reserved": {"": 1}}), "budget.reserved.")],
    "price_negative": [(declared(price=bad), "price") for bad in (-0.1, "-1", "-1e-400")],
    "price_not_number": [(declared(price=bad), "price") for bad in ("dear", None, True, [])],
    "price_not_finite": [(declared(price=bad), "price") for bad in (math.nan, math.inf, "inf", "1e400")],
    "ladder_not_list": [(declared(ladder=bad), "ladder") for bad in ("raw", None, 3, {})],
    "ladder_not_text": [(declared(ladder=["raw", 3]), "ladder.1")],
    "ladder_empty": [(declared(ladder=[]), "ladder"), (declared(ladder=["raw", ""]), "ladder.1")],
    "items_not_list": [(declared(items=bad), "items") for bad in (None, {}, "x", 3)],
}
ITEM = {
    "not_object": [(declared(items=[bad]), "item") for bad in (None, [], "x", 3)],
    "missing": [(declared(items=[{"levels": {}}]), "id")],
    "unknown_key": [(with_item(tokens=1), "tokens")],
    "id_not_text": [(with_item(id=bad), "id") for bad in (None, 3, "\ud800")],
    "id_empty": [(with_item(id=""), "id")],
    "order_not_integer": [(with_item(order=bad), "order") for bad in (1.0, "1", True)],
    "pinned_not_boolean": [(with_item(pinned=bad), "pinned") for bad in (1, "true", None)],
    "pinned_without_level": [
        (with_item(pinned=True, levels={}), "pinned"),
        (with_item(pinned=True, levels={"raw": None, "summary": {"utility": 1}}), "pinned"),
        (with_item(pinned=True, current="summary"), "pinned"),
        (with_item(pinned=True, current="delete"), "pinned"),
        (with_item(pinned=True, current="summary", min_level="raw"), "pinned"),
    ],
    "min_level_without_pinned": [(with_item(min_level="raw"), "min_level")],
    "current_not_text": [(with_item(current=3), "current")],
    "current_empty": [(with_item(current=""), "current")],
    "min_level_not_text": [(with_item(pinned=True, min_level=3), "min_level")],
    "min_level_empty": [(with_item(pinned=True, min_level=""), "min_level")],
    "group_not_text": [(with_item(group=3), "group")],
    "group_empty": [(with_item(group=""), "group")],
    "exclusive_not_text": [(with_item(exclusive=3), "exclusive")],
    "exclusive_empty": [(with_item(exclusive=""), "exclusive")],
    "levels_not_object": [(with_item(levels=bad), "levels") for bad in (None, [], 3, "raw")],
    "unknown_level": [
        (with_item(current="rwa"), "current"),
        (with_item(pinned=True, min_level="rwa"), "min_level"),
        (with_item(pinned=True, min_level="delete"), "min_level"),
    ],
}
LEVEL = {
    "level_not_object": [(with_item(levels={"raw": bad}), "level") for bad in (3, "x", [])],
    "level_empty": [(with_item(levels={"": None}), "level")],
    "level_not_text": [(with_item(levels={"\ud800": None}), "level")],
    "unknown_level": [(with_item(levels={bad: None}), "level") for bad in ("rwa", "delete", "[key]")],
    "unknown_key": [(option(token=1), "token")],
    "tokens_negative": [(option(tokens=-1), "tokens")],
    "tokens_not_integer": [(option(tokens=bad), "tokens") for bad in (2.5, 3.0, True, "3", math.nan, [])],
    "tokens_too_large": [(option(tokens=bad), "tokens") for bad in (HUGE, 10**30)],
    "utility_not_number": [(option(utility=bad), "utility") for bad in (None, True, "much", "", [])],
    "utility_not_finite": [
        (option(utility=bad), "utility") for bad in (math.nan, -math.inf, "nan", "inf", "-Infinity", 10**400)
    ],
    "utility_missing": [(with_item(levels={"raw": {"tokens": 1}}), "utility")],
    "text_not_text": [(option(text=bad), "text") for bad in (3, "\ud800")],
}  # fmt: skip
ELSEWHERE = {"duplicate_id", "duplicate_level", "reserved_level", "links_cross", "duplicate_key"}
PARSED = {"not_json", "not_utf8", "too_deep", "empty"}
COMPILED = {"tokens_sum_too_large", "utility_sum_too_large", "price_too_large", "never_fits"}
WARNED = {"same_after_nfc", "no_level", "current_absent", "empty_text"}
RARE = {
    "memopt_too_large",
    "repair_not_text",
    "order_too_large",
    "reserved_too_large",
    "reserved_not_text",
    "not_text",
}
CODES = {*TOP, *ITEM, *LEVEL, *ELSEWHERE, *PARSED, *COMPILED, *WARNED, *RARE}


def flat(table):
    return [(code, data, field) for code, listed in table.items() for data, field in listed]


@pytest.mark.parametrize(("code", "data", "field"), flat(TOP))
def test_a_fault_of_the_instance_has_its_code_and_field(code, data, field):
    [fault] = faults_of(data)
    assert (fault.code, *place(fault)) == (code, None, None, field, None)


@pytest.mark.parametrize(("code", "data", "field"), flat(ITEM))
def test_a_fault_of_an_item_has_its_code_id_position_and_field(code, data, field):
    [fault] = faults_of(data)
    only = data["items"][0]
    name = only.get("id") if isinstance(only, dict) else None
    name = "\\ud800" if name == "\ud800" else name if isinstance(name, str) else None
    assert (fault.code, fault.item, fault.field, fault.index) == (code, name, field, 0)


@pytest.mark.parametrize(("code", "data", "field"), flat(LEVEL))
def test_a_fault_of_a_level_has_its_code_and_whole_place(code, data, field):
    [fault] = faults_of(data)
    [level] = data["items"][0]["levels"]
    level = "\\ud800" if level == "\ud800" else level
    assert (fault.code, *place(fault)) == (code, "a", level, field, 0)


@pytest.mark.parametrize(("code", "data", "field"), flat(TOP) + flat(ITEM) + flat(LEVEL))
def test_a_fault_is_a_sentence_and_json(code, data, field):
    [fault] = faults_of(data)
    json.dumps(fault.to_dict(), allow_nan=False, ensure_ascii=False).encode()
    assert fault.message


def test_two_items_of_one_id_are_reported_once_with_all_their_positions():
    items = [item(id="a"), item(id="b"), item(id="a"), item(id="a")]
    [fault] = faults_of(declared(items=items))
    assert (fault.code, *place(fault), fault.read) == ("duplicate_id", "a", None, "id", (0, 2, 3), "a")


def test_ids_that_are_no_text_are_not_compared():
    assert [fault.code for fault in faults_of(declared(items=[item(id=3), item(id=3)]))] == [
        "id_not_text"
    ] * 2


def test_a_level_named_twice_by_the_ladder_is_reported_once():
    [fault] = faults_of(declared(ladder=["raw", "x", "raw", "raw"]))
    assert (fault.code, fault.level, fault.field) == ("duplicate_level", "raw", "ladder")


def test_the_ladder_may_not_name_delete():
    [fault] = faults_of(declared(ladder=["raw", "delete"]))
    assert (fault.code, fault.level, fault.field) == ("reserved_level", "delete", "ladder")


def test_a_faulty_ladder_makes_no_level_of_the_items_unknown():
    data = declared(ladder="raw", items=[item(current="summary", pinned=True)])
    assert [fault.code for fault in faults_of(data)] == ["ladder_not_list"]


def test_a_group_in_two_exclusive_sets_is_reported_with_one_position_for_each():
    sets = ("x", None, "y", "x")
    items = [item(id=str(index), group="g", exclusive=name) for index, name in enumerate(sets)]
    [fault] = faults_of(declared(items=items))
    assert (fault.code, *place(fault), fault.read) == ("links_cross", None, None, "exclusive", (0, 2), "g")


def test_a_group_whose_members_name_one_exclusive_set_or_none_is_valid():
    items = [item(id="a", group="g", exclusive="x"), item(id="b", group="g"), item(id="c", exclusive="x")]
    assert len(Instance.model_validate(declared(items=items)).items) == 3


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"budget": 1, "budget": 2, "items": []}', (None, None, "budget", None)),
        ('{"budget": {"window": 1, "window": 2}, "items": []}', (None, None, "window", None)),
        ('{"budget": {"window": 9, "reserved": {"a": 1, "a": 1}}, "items": []}', (None, None, "a", None)),
        ('{"budget": 1, "items": [{"id": "a", "id": "b", "levels": {}}]}', ("b", None, "id", 0)),
        (
            '{"budget": 1, "items": [{"id": "a", "levels": {"raw": null, "raw": null}}]}',
            ("a", None, "raw", 0),
        ),
        (
            '{"budget": 1, "items": [{"id": "a", "levels": {"raw": {"tokens": null, "tokens": null}}}]}',
            ("a", "raw", "tokens", 0),
        ),
    ],
)
def test_a_repeated_key_is_a_fault_even_where_all_else_is_right(text, where):
    with pytest.raises(InvalidInstance) as error:
        Instance.model_validate_json(text)
    [fault] = error.value.faults
    assert (fault.code, *place(fault)) == ("duplicate_key", *where)


def test_a_repeated_key_is_not_hidden_by_another_fault_of_its_place():
    text = (
        '{"budget": 1, "items": [{"id": "a", "levels": {"raw": {"tokens": 1, "tokens": -2, "utility": 1}}}]}'
    )
    with pytest.raises(InvalidInstance) as error:
        Instance.model_validate_json(text)
    assert [fault.code for fault in error.value.faults] == ["tokens_negative", "duplicate_key"]


def test_the_reserved_parts_are_named_with_the_shortfall():
    [fault] = faults_of(
        declared(budget={"window": 512, "reserved": {"system": 133, "tools": 0, "reply": 404}})
    )
    assert fault.read == -25
    assert "system 133 + tools 0 + reply 404" in fault.message
    assert "25 tokens" in fault.message


def test_everything_wrong_is_in_one_report_in_the_order_of_the_items():
    data = {
        "budget": -5,
        "price": -1,
        "ladder": ["raw", "raw"],
        "colour": 0,
        "items": [
            {"id": "a", "levels": {"raw": {"tokens": -1, "utility": "nan"}, "rwa": {"tokens": 1}}},
            {"id": "b", "levels": {"raw": {"tokens": 2.5}}, "pinned": 1, "current": "gone"},
            7,
            {"id": "a", "levels": {}, "pinned": True, "group": "g", "exclusive": "x"},
            {"id": "c", "levels": {}, "min_level": "raw", "group": "g", "exclusive": "y"},
        ],
    }
    assert [(fault.code, fault.item, fault.field) for fault in faults_of(data)] == [
        ("budget_negative", None, "budget"),
        ("unknown_key", None, "colour"),
        ("price_negative", None, "price"),
        ("duplicate_level", None, "ladder"),
        ("tokens_negative", "a", "tokens"),
        ("utility_not_finite", "a", "utility"),
        ("unknown_level", "a", "level"),
        ("utility_missing", "a", "utility"),
        ("duplicate_id", "a", "id"),
        ("tokens_not_integer", "b", "tokens"),
        ("pinned_not_boolean", "b", "pinned"),
        ("utility_missing", "b", "utility"),
        ("unknown_level", "b", "current"),
        ("not_object", None, "item"),
        ("pinned_without_level", "a", "pinned"),
        ("links_cross", None, "exclusive"),
        ("min_level_without_pinned", "c", "min_level"),
    ]


def test_models_and_plain_data_may_be_mixed():
    good = Instance.model_validate(declared(items=[item()])).items[0]
    assert Instance(budget=1, items=(good,)).items[0] is good
    codes = [fault.code for fault in faults_of({"budget": 1, "items": [good, item(id="b", pinned=3), good]})]
    assert codes == ["duplicate_id", "pinned_not_boolean"]


def test_items_from_an_iterator_are_placed_as_far_as_they_can_be():
    assert len(Instance.model_validate(declared(items=iter([item()]))).items) == 1
    [fault] = faults_of(declared(items=iter([item(pinned=3)])))
    assert (fault.code, fault.index, fault.field) == ("pinned_not_boolean", 0, "pinned")


def test_a_long_or_strange_reading_is_shortened():
    [long] = faults_of(declared(price="x" * 10_000))
    assert len(long.read) == 200
    [huge] = faults_of(declared(budget=10**4000))
    assert huge.read == "an integer of 13288 bits"
    [shape] = faults_of(declared(budget=[1, 2, 3]))
    assert shape.read == "a list of 3"


def test_ids_that_differ_in_their_unicode_form_only_are_a_warning():
    data = declared(items=[item(id="é"), item(id="x"), item(id="e\u0301")])
    [warning] = Instance.model_validate(data).warnings
    assert (warning.code, warning.item, warning.field, warning.index) == ("same_after_nfc", "é", "id", (0, 2))
    with pytest.raises(InvalidInstance) as error:
        Instance.model_validate(data | {"price": -1})
    assert [warning.code for warning in error.value.warnings] == ["same_after_nfc"]


ODD = [
    *(
        None,
        True,
        False,
        -1,
        0,
        1.5,
        3.0,
        10**30,
        -(10**30),
        2**53,
        math.inf,
        -math.inf,
        math.nan,
        1e308,
        5e-324,
    ),
    *(
        "",
        "x",
        "raw",
        "delete",
        "nan",
        "1e999",
        "0.1",
        "1_0",
        "\ud800",
        "e\u0301",
        "Window",
        "[key]",
        "1" * 399,
    ),
    *(
        [],
        {},
        [1],
        {"a": 1},
        [[]],
        [{}],
        ["raw", "raw"],
        ["delete"],
        [""],
        ["raw", 3],
        {"raw": None},
        10**4200,
    ),
    *({"window": 5}, {"window": 5, "reserved": {"a": 7}}, {"window": 1, "reserved": {"": -1}}),
    *({"tokens": 1}, {"utility": 1}, {"tokens": 3, "utility": "1e-300"}),
]
KEYS = [
    *(
        "id",
        "levels",
        "raw",
        "summary",
        "tokens",
        "utility",
        "text",
        "current",
        "pinned",
        "min_level",
        "group",
    ),
    *("exclusive", "budget", "price", "ladder", "repair", "items", "memopt", "window", "reserved"),
    *("extra", "", "\ud800", "Window", "[key]", "delete", "a.b"),
]


def mutated(data: Any, dice: random.Random) -> Any:
    """Put something odd at a random place, or take the place away."""
    places = [((), data)]
    for path, found in places:
        entries = (
            found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
        )
        places += [((*path, key), inner) for key, inner in entries]
    path, found = dice.choice(places)
    if not path:
        return copy.deepcopy(dice.choice(ODD)) if dice.random() < 0.1 else data
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    act = dice.random()
    if act < 0.2:
        del holder[path[-1]]
    elif act < 0.4 and isinstance(found, dict):
        found[dice.choice(KEYS)] = copy.deepcopy(dice.choice(ODD))
    elif act < 0.4 and isinstance(found, list):
        found.append(copy.deepcopy(dice.choice(ODD)))
    else:
        holder[path[-1]] = copy.deepcopy(dice.choice(ODD))
    return data


def test_whatever_a_file_holds_it_is_valid_or_reported_in_known_words():
    dice = random.Random(20)
    for family in FAMILIES * 150:
        instance = generate(family, dice.randint(0, 3), dice.randint(0, 99), dice.choice([1, 2, 4]))
        data = instance.model_dump(mode="json", exclude_defaults=dice.random() < 0.5)
        for _ in range(dice.randint(1, 4)):
            if isinstance(data, (dict, list)):
                data = mutated(data, dice)
        text = json.dumps(data, ensure_ascii=dice.random() < 0.5)
        try:
            faults = compiled(Instance.model_validate_json(text)).warnings
        except InvalidInstance as error:
            faults = error.faults
            assert faults
        places = [(fault.code, *place(fault)) for fault in faults]
        assert len(set(places)) == len(places)
        assert {fault.code for fault in faults} <= CODES, text
        for fault in faults:
            json.dumps(fault.to_dict(), allow_nan=False, ensure_ascii=False).encode()


@given(st.text() | st.binary())
def test_whatever_a_file_is_only_invalid_instance_comes_out(text):
    with pytest.raises(InvalidInstance):
        Instance.model_validate_json(text)


@pytest.mark.parametrize(
    ("item", "codes"),
    [
        ({"id": "a", "levels": {}}, ["no_level"]),
        ({"id": "a", "levels": {"raw": None, "summary": {"utility": 1}}}, ["no_level"]),
        ({"id": "a", "levels": {}, "current": "delete"}, []),
        (
            {"id": "a", "levels": {"raw": {"tokens": 1, "utility": 1}}, "current": "summary"},
            ["current_absent"],
        ),
        ({"id": "a", "levels": {"raw": {"tokens": 1, "utility": 1}}, "current": "raw"}, []),
        ({"id": "a", "levels": {"raw": {"tokens": 1, "utility": 1, "text": ""}}}, ["empty_text"]),
        ({"id": "a", "levels": {"raw": {"tokens": 1, "utility": 1, "text": " "}}}, []),
    ],
)
def test_levels_that_are_not_there_or_say_nothing_are_warned_of(item, codes):
    assert [warning.code for warning in declaration_warnings({"budget": 9, "items": [item]})] == codes


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (declared(budgte=1), "did you mean 'budget'?"),
        (declared(budget={"window": 1, "reservd": {}}), "did you mean 'reserved'?"),
        (declared(items=[item(exclusiv="x")]), "did you mean 'exclusive'?"),
        (declared(items=[item(levels={"raw": {"token": 1}})]), "did you mean 'tokens'?"),
        (declared(window=8), 'it belongs to the budget: "budget": {"window": ..., "reserved": {...}}'),
        (declared(reserved={}), 'it belongs to the budget: "budget": {"window": ..., "reserved": {...}}'),
        (declared(colour=1), "read 1"),
    ],
)
def test_of_an_unknown_key_it_is_said_what_was_meant(data: Any, hint: str):
    (fault,) = faults_of(data)
    assert fault.code == "unknown_key"
    assert fault.message.endswith(hint)
