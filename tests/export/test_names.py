from __future__ import annotations

import json
import random
import re

import pytest
from foreign import TEN
from hypothesis import given
from hypothesis import strategies as st
from strategies import declarations

from memopt import Instance, compile
from memopt.export import Export
from memopt.export.names import LONGEST, names_of

SAFE = re.compile(r"x_[A-Za-z0-9]+(_[A-Za-z0-9]+)*__[A-Za-z0-9]+(_[A-Za-z0-9]+)*")
OPTION = {"tokens": 1, "utility": 1}


def _declared(ids: list[str], ladder: list[str] | None = None) -> dict:
    ladder = ladder or ["raw"]
    items = [{"id": name, "levels": dict.fromkeys(ladder, OPTION)} for name in ids]
    return {"budget": 5, "ladder": ladder, "repair": "none", "items": items}


def _options(declared: dict) -> list[str]:
    return list(names_of(compile(Instance.model_validate(declared)).program).options)


def _items(*ids: str) -> dict[str, str]:
    program = compile(Instance.model_validate(_declared(list(ids)))).program
    return dict(zip(program.ids, names_of(program).items, strict=True))


def test_a_plain_id_is_its_own_name():
    assert _options(_declared(["m17"])) == ["x_m17__raw", "x_m17__delete"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a b", "a_b"),
        ("-x--1-", "x_1"),
        ("1st", "1st"),
        ("caf\u00e9", "cafe"),
        ("\u4f60\u597d", "u4F60_u597D"),
        ("\U0001f600 ok", "u1F600_ok"),
        ("stra\u00dfe", "stra_u00DF_e"),
        ("  ", "nameless"),
        ("L" * 300, "L" * 40),
        ("\u2167", "VIII"),
    ],
)
def test_an_id_is_made_safe(text: str, name: str):
    assert _items(text) == {text: name}


def test_ids_that_would_be_the_same_are_numbered_in_canonical_order():
    assert _items("x_1", "x 1", "x-1", "x_1_2") == {
        "x 1": "x_1",
        "x-1": "x_1_2",
        "x_1": "x_1_3",
        "x_1_2": "x_1_2_2",
    }


def test_many_ids_with_one_beginning_stay_short_and_apart():
    names = list(_items(*(f"{'L' * 100}{number}" for number in range(3000))).values())
    assert len(set(names)) == 3000
    assert max(map(len, names)) == 40


def test_item_and_level_cannot_be_confused():
    declared = _declared(["a", "a_b"], ["b", "b_c", "c"])
    assert len(set(_options(declared))) == len(_options(declared))


def test_only_deletion_is_called_delete():
    options = _options(_declared(["a"], ["delete!", "Raw"]))
    assert options[-1] == "x_a__delete"
    assert options[0] == "x_a__delete_2"


@given(st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=12, unique=True), st.randoms())
def test_names_are_safe_short_unique_and_independent_of_the_order(ids: list[str], shuffle: random.Random):
    shuffled = ids[:]
    shuffle.shuffle(shuffled)
    ladder = ["raw text", "\u6458\u8981" * 20, "raw-text"]
    options = _options(_declared(ids, ladder))
    assert all(SAFE.fullmatch(name) and len(name) <= LONGEST for name in options)
    assert len(set(options)) == len(options)
    assert options == _options(_declared(shuffled, ladder))


@pytest.mark.parametrize("name", TEN)
def test_the_names_file_maps_every_variable_and_row_back(name: str):
    made = Export(compile(Instance.model_validate(TEN[name])))
    program = made.program
    document = json.loads(made.names())
    assert document["digest"] == program.digest
    places = [(document["variables"][called]["item"], document["variables"][called]["level"])
              for called in made.model.names.options]  # fmt: skip
    assert places == [
        (program.ids[item], program.ladder[program.level[option]])
        for item in range(len(program))
        for option in program.options(item)
    ]
    assert list(document["rows"]) == [row.name for row in made.model.rows]
    assert document["rows"]["budget"] == []
    assert [document["rows"][f"item_{called}"] for called in made.model.names.items] == [
        [i] for i in program.ids
    ]


def _links(declared: dict) -> dict[str, str]:
    instance = Instance.model_validate(declared)
    return dict(json.loads(Export(compile(instance), instance).names())["links"])


def test_the_names_file_tells_the_declared_names_of_groups_and_exclusive_sets() -> None:
    assert _links(TEN["links"]) == {
        "group_m_1": "a b", "group_m_2": "a b", "group_m_7": "g", "exclusive_m_3": "\u540c",
    }  # fmt: skip


def test_an_exclusive_set_is_named_though_the_first_member_of_its_group_does_not_say_it() -> None:
    declared = _declared(["a", "b", "c"])
    declared["items"][0] |= {"group": "both"}
    declared["items"][1] |= {"group": "both", "exclusive": "one of"}
    declared["items"][2] |= {"exclusive": "one of"}
    assert _links(declared) == {"group_b": "both", "exclusive_a": "one of"}


@given(declarations())
def test_every_link_of_the_model_has_the_name_that_the_items_declare(declared: dict) -> None:
    links = _links(declared)
    instance = Instance.model_validate(declared)
    rows = {row.name for row in Export(compile(instance)).model.rows}
    assert set(links) == {name for name in rows if name.startswith(("group_", "exclusive_"))}
    for row, name in links.items():
        kind = row.partition("_")[0]
        assert name in {getattr(item, kind) for item in instance.items}


def test_the_names_file_tells_the_step_in_which_cpsat_counts_tokens() -> None:
    options = {f"i{tokens}": {"raw": {"tokens": tokens, "utility": 1}} for tokens in (20, 90, 40)}
    items = [{"id": name, "levels": levels} for name, levels in options.items()]
    made = Export(compile(Instance.model_validate({"budget": 101, "items": items})))
    assert json.loads(made.names())["cpsat_token_step"] == 10
    text = made.write("cpsat-text").decode()
    assert f'name: "memopt program {made.program.digest}; tokens and budget in units of 10"' in text
    assert "domain: [-9223372036854775808, 10]" in text
    assert "+ 20 x_i20__raw" in made.write("lp").decode()


def test_a_number_never_makes_a_double_underscore() -> None:
    options = _options(_declared(["a" * 37 + " bb", "a" * 37 + "-bb"]))
    assert all(SAFE.fullmatch(option) for option in options)
    assert len(set(options)) == len(options) == 4
