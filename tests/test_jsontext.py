from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memopt import InvalidInstance
from memopt.jsontext import RepeatedKeys, parse

INSTANCE = {
    "budget": {"window": 9, "reserved": {"system": 1}},
    "items": [
        {
            "id": 'a":b\\',
            "levels": {"raw": {"tokens": 3, "utility": 0.5, "text": 'say: "x":\\'}, "summary": None},
        },
        {"id": "é", "levels": {}},
    ],
}


def refused(text):
    with pytest.raises(InvalidInstance) as error:
        parse(text)
    [fault] = error.value.faults
    return fault


@pytest.mark.parametrize(
    "text",
    [json.dumps(INSTANCE), json.dumps(INSTANCE, ensure_ascii=False, indent=3), "[1, 2]", "3", '"x"', "null"],
)
def test_text_is_read_as_the_standard_reader_reads_it(text):
    for given_as in (
        text,
        text.encode(),
        bytearray(text.encode()),
        b"\xef\xbb\xbf" + text.encode(),
        "\ufeff" + text,
    ):
        assert parse(given_as) == json.loads(text)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
))  # fmt: skip
def test_any_document_is_read_as_the_standard_reader_reads_it(document):
    text = json.dumps(document, ensure_ascii=False)
    assert parse(text) == json.loads(text)


def test_numbers_are_read_to_the_last_bit():
    texts = [
        "0.1",
        "1e400",
        "-1e400",
        "4.9406564584124654e-324",
        "123456789012345678901234567890",
        "1E5",
        "-0.0",
    ]
    assert [repr(parse(text)) for text in texts] == [repr(json.loads(text)) for text in texts]
    assert math.isnan(parse("NaN"))
    assert parse("[Infinity, -Infinity]") == [math.inf, -math.inf]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"budget": 1', "line 1, column 13"),
        ('{"a": 1}\n}', "line 2, column 1"),
        ("{'a': 1}", "line 1, column 2"),
        ("[1,]", "line 1, column 4"),
        ("plain words", "line 1, column 1"),
        ('"\x01"', "line 1, column 2"),
    ],
)
def test_broken_text_is_reported_with_its_place(text, place):
    fault = refused(text)
    assert (fault.code, fault.field) == ("not_json", place)


@pytest.mark.parametrize("text", ["", "  \n", b"", b"\xef\xbb\xbf"])
def test_an_empty_text_is_named_so(text):
    assert refused(text).code == "empty"


def test_bytes_that_are_no_utf8_are_named_with_their_place():
    fault = refused(b'{"a": "\xff"}')
    assert fault.code == "not_utf8"
    assert "byte 7" in fault.message


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_deep_nesting_is_a_fault_and_no_crash(text):
    assert refused(text).code in {"too_deep", "not_json"}


def test_an_integer_of_too_many_digits_is_a_fault():
    assert refused('{"budget": ' + "9" * 5000 + "}").code == "not_json"


def test_half_a_surrogate_pair_is_let_through_for_the_validation_to_place():
    assert parse('["\\ud800"]') == ["\ud800"]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": 2, "a": 3}',
        '{"items": [], "a": 1, "a" : 2}',
        '{"items": [], "a": ":", "a": "\\":"}',
        '{"items": [], "a": "\\\\", "a": 1}',
    ],
)
def test_a_repeated_key_is_marked_however_it_is_written(text):
    document = parse(text)
    assert isinstance(document, RepeatedKeys)
    assert document.repeated == ("a",)
    assert document == json.loads(text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (["items", 0], '{"items": [{"id": 1, "id": 2, "levels": {}}]}'),
        (["items", 0, "levels"], '{"items": [{"levels": {"raw": null, "raw": null}}]}'),
        (["items", 0, "levels", "raw"], '{"items": [{"levels": {"raw": {"tokens": 1, "tokens": 1}}}]}'),
        (["budget"], '{"budget": {"window": 1, "window": 2}, "items": []}'),
        (["budget", "reserved"], '{"budget": {"reserved": {"a": 1, "a": 2}}, "items": []}'),
    ],
)
def test_a_repeated_key_is_marked_at_every_depth(path, text):
    found = parse(text)
    for key in path:
        found = found[key]
    assert isinstance(found, RepeatedKeys)


def test_many_repeated_keys_take_no_quadratic_time():
    keys = ", ".join(f'"k{index}": 0' for index in range(100_000))
    document = parse("{" + keys + ', "k7": 1, "k3": 2}')
    assert document.repeated == ("k3", "k7")
