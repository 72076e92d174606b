"""Units are records where a text has records, and what is kept of them reads as the whole did."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memopt.text.units import DEEPEST, record_units, sentence_units

FLIGHTS = [{"flight": f"HAT{number}", "price": 100.5, "note": "Late. Few seats"} for number in range(5)]
PROSE = "She lives in Leeds. Trains run late.\nThe hotel is full."

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False) | st.text('aé."\\茶。', max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


def test_the_elements_of_a_list_are_kept_whole_one_a_line() -> None:
    units = record_units(json.dumps(FLIGHTS, indent=2))
    compact = [json.dumps(flight, separators=(",", ":")) for flight in FLIGHTS]
    assert units.texts == compact
    assert units.join([1, 3]) == f"[{compact[1]},\n{compact[3]}]"


def test_a_list_that_holds_most_of_an_object_is_opened() -> None:
    units = record_units(json.dumps({"status": "ok", "results": FLIGHTS, "next": None}))
    assert len(units.texts) == len(FLIGHTS) + 2
    assert json.loads(units.join([2, 6])) == {"results": [FLIGHTS[1]], "next": None}
    assert json.loads(units.join([0])) == {"status": "ok"}
    assert units.join([0, 1]).splitlines()[0] == '{"status":"ok",'


def test_a_string_that_holds_most_of_an_object_stays_a_string() -> None:
    units = record_units(json.dumps({"url": "x", "page": f"{PROSE} “Café”"}, ensure_ascii=False))
    assert units.texts[1:] == ["She lives in Leeds.", "Trains run late.", "The hotel is full.", "“Café”"]
    assert json.loads(units.join([1, 3, 4])) == {"page": "She lives in Leeds.\nThe hotel is full. “Café”"}
    inside = record_units(json.dumps({"page": json.dumps(FLIGHTS)}))
    assert json.loads(json.loads(inside.join([4]))["page"]) == FLIGHTS[4:]


@pytest.mark.parametrize(
    ("text", "chosen", "told"),
    [
        (json.dumps(FLIGHTS), [1, 3], "2 of 5 records"),
        (json.dumps({"status": "ok", "results": FLIGHTS, "next": None}), [0, 2, 6], "1 of 5 records"),
        (json.dumps({"page": json.dumps({"found": FLIGHTS})}), [4], "1 of 5 records"),
        ('{"a": 1, "b": 2, "c": 3}', [2], "1 of 3 fields"),
        ("exit code 0\n" + json.dumps(FLIGHTS), [0, 2], "1 of 5 records"),
        ("12:01 GET ok\n12:02 WARN full\nexit 1", [0, 1], "2 of 3 lines"),
        (json.dumps({"url": "x", "page": PROSE}), [0, 1], ""),
        (json.dumps([{"a": 1}, {"title": "x", "page": PROSE}, {"b": 2}]), [2, 3, 5], "2 of 3 records"),
        (json.dumps([{"a": 1}, {"found": FLIGHTS}, {"b": 2}]), [0, 6], "2 of 3 records"),
        (json.dumps({"ok": 1, "found": [{"a": 1}, {"page": PROSE}]}), [0, 3], "1 of 2 records"),
        (json.dumps([{"page": PROSE}]), [0], ""),
        ("12:01 ok\n12:02 Late. " + "Very late. " * 9 + "at\nexit 1", [1, 2, 3], "1 of 3 lines"),
        (PROSE, [0], ""),
    ],
)
def test_whole_records_are_counted_and_sentences_are_not(text: str, chosen: list[int], told: str) -> None:
    assert record_units(text).told(chosen) == told


def test_numbers_and_escapes_stand_as_they_were_written() -> None:
    text = r'{"a": 1.10, "a": 1e999, "b": 12345678901234567890.5, "c": "\ud83d \u00e9", "d": [ ]}'
    units = record_units(text)
    assert units.join(range(5)) == "{" + ",\n".join(units.texts) + "}"
    assert units.join(range(5)).replace(",\n", ", ").replace("[]", "[ ]").replace('":', '": ') == text


@given(values, st.sampled_from([None, 1]), st.booleans())
def test_all_records_together_are_the_same_json(value: Any, indent: int | None, escaped: bool) -> None:
    if isinstance(value, (list, dict)) and value:
        text = json.dumps(value, indent=indent, ensure_ascii=escaped)
        units = record_units(text)
        kept = units.join(range(len(units.texts)))
        assert json.loads(kept) == value
        assert kept.count("\n") < len(units.texts)


@pytest.mark.parametrize(
    "text",
    ["[1 2]", '{"a" 1}', "{1: 2}", "[1,]", '{"a": 1}"', "[" * 5000, "{", "[1] [2]", '{"a": [1, 2}'],
)
def test_what_is_no_json_is_text(text: str) -> None:
    assert record_units(text).texts == sentence_units(text).texts


def test_wrappers_are_opened_to_a_depth_only() -> None:
    value: Any = list(range(100))
    for _ in range(DEEPEST - 1):
        value = {"data": value}
    assert len(record_units(json.dumps(value)).texts) == 100
    assert len(record_units(json.dumps({"data": {"data": value}})).texts) == 1


@pytest.mark.parametrize(
    ("text", "chosen", "kept"),
    [
        ("a\nb\nc\nd\ne", [0, 2, 4], "a\n…\nc\n…\ne"),
        ("a\nb\nc\nd\ne", [1, 2], "b\nc"),
        ("exit code 0\nb\n[1111, 2222, 3333, 4444]\nd\ne", [0, 3, 7], "exit code 0\n…\n[2222]\n…\ne"),
        (
            "12:01 ok\n12:02 Late. " + "Very late. " * 9 + "at\nend",
            [0, 1, 3, 12],
            "12:01 ok\n12:02 Late. Very late.\nend",
        ),
        ("a,b,c\nd,e,f\ng,h,i\nj,k,l", [0, 1, 3], "a,b,c\nd,e,f\nj,k,l"),
        (json.dumps({"x": 1, "page": "a\nb\nc\nd and e and f"}), [1, 3], r'{"page":"a\n\u2026\nc"}'),
    ],
)
def test_lines_that_are_left_out_between_others_show(text: str, chosen: list[int], kept: str) -> None:
    assert record_units(text).join(chosen) == kept


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (json.dumps({"status": "ok", "results": FLIGHTS, "next": None}), [1]),
        (json.dumps(FLIGHTS), [0]),
        ("a\nb\nc", [0, 2]),
        ("exit code 0\n" + json.dumps(FLIGHTS), [1]),
        ("a,b,c\nd,e,f\ng,h,i", [1]),
        ('{"a": 1, "b": 2}', []),
        (PROSE, []),
        ("[]", []),
        ("", []),
    ],
)
def test_the_ends_are_of_what_has_an_order(text: str, ends: list[int]) -> None:
    assert record_units(text).ends == ends


def test_the_lines_of_a_log_are_not_cut_at_stops_within() -> None:
    lines = ["12:01 GET /v1.2 ok. Done in 1.5 s", "12:02 WARN pool full. Growing", "    at main(4)", "exit 1"]
    units = record_units("\n\n".join(lines) + "\n")
    assert units.texts == lines
    assert units.join([1, 2]) == "12:02 WARN pool full. Growing\n    at main(4)"


def test_prose_has_sentences_in_whatever_lines_it_stands() -> None:
    for text in (PROSE, "Hi Ann. I am late", 'He said "No."\nShe left.'):
        assert record_units(text).texts == sentence_units(text).texts
    letter = "Hi Ann\nI come at nine. Bring the map. We go to Leeds\nBob"
    units = record_units(letter)
    assert units.texts == ["Hi Ann", "I come at nine.", "Bring the map.", "We go to Leeds", "Bob"]
    assert units.join([0, 2, 4]) == "Hi Ann\nBring the map.\nBob"


def test_json_below_a_line_of_its_own_is_opened() -> None:
    units = record_units("exit code 0\n" + json.dumps(FLIGHTS))
    assert units.join([0, 2]) == "exit code 0\n[" + json.dumps(FLIGHTS[1], separators=(",", ":")) + "]"


@given(st.text(alphabet=st.sampled_from('[]{}",:\\ \n.a1茶。'), max_size=60))
def test_any_text_has_units_that_join(text: str) -> None:
    units = record_units(text)
    assert all(units.texts)
    assert units.join([]) == ""
    kept = units.join(range(len(units.texts)))
    assert bool(kept) == bool(units.texts)


def test_a_string_with_half_a_surrogate_pair_is_kept_as_it_is_written() -> None:
    text = r'{"a": 1, "page": "\ud83d One is here. Two is here. Café is here."}'
    units = record_units(text)
    units.join(range(len(units.texts))).encode()
    assert r"\ud83d" in units.texts[1]


def test_a_string_of_one_sentence_is_a_record_with_its_key() -> None:
    text = '{"a": 1, "page": "One long sentence it is."}'
    assert record_units(text).texts == ['"a":1', '"page":"One long sentence it is."']


def test_escapes_in_an_opened_string_stay_escapes() -> None:
    text = json.dumps({"a": 1, "page": "Caf\u00e9 is here. Two is here. Three is here."})
    units = record_units(text)
    assert text.isascii()
    assert len(units.texts) == 4
    assert units.join(range(4)).isascii()


def test_lines_of_which_half_end_as_sentences_do_are_prose() -> None:
    text = "Ann left. Bob came.\nWe stay at the pool"  # 19 characters each
    assert record_units(text).texts == ["Ann left.", "Bob came.", "We stay at the pool"]


CSV = "name,age,city\nAnn,30,Leeds\nBob,31,Rome"
ROWS = "| name | age |\n|---|---:|\n| Ann | 30 |\n| Bob | 31 |"


@pytest.mark.parametrize(
    ("text", "header", "told"),
    [
        (CSV, [0], "1 of 2 rows"),
        (CSV.replace(",", "\t"), [0], "1 of 2 rows"),
        (CSV.replace("Leeds", '"Leeds, UK"'), [0], "1 of 2 rows"),
        (ROWS, [0, 1], "1 of 2 rows"),
        ("Found:\n" + ROWS.replace("| Bob | 31 |", "| Bob | 31 |\n" * 9), [1, 2], "1 of 10 rows"),
        (json.dumps({"ok": True, "csv": CSV}), [1], "1 of 2 rows"),
        (json.dumps([{"a": 1}, {"csv": CSV}]), [1], "1 of 2 records"),
    ],
)
def test_the_header_of_a_table_is_told_and_does_not_count(text: str, header: list[int], told: str) -> None:
    units = record_units(text)
    assert list(units.header) == header
    assert units.told([*header, header[-1] + 1]) == told


@pytest.mark.parametrize(
    "text",
    [
        "name,age,city\nAnn,30,Leeds",
        "name,age\nAnn,30\nBob,31",
        "12:01,ok,a\n12:02,ok,b\n12:03,ok,c",
        '{"a": 1, "b": 2, "c": 3}\n' * 3,
        "- eggs, milk, tea\n- ham, oil, rye\n- nuts, figs, jam",
        "Ann, Bob, and I came.\nWe, you, and they left.\nOne, two, and three.",
        "a, b, c\nd\ne, f\ng",
    ],
)
def test_lines_without_names_of_columns_have_no_header(text: str) -> None:
    assert not record_units(text).header
