"""Escapes of JSON are read as the characters they stand for."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memopt.text import escapes
from memopt.text.escapes import unescaped


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r"{\u9152\u5E97}", "{酒店}"),
        (r"\ud83d\uDE00", "😀"),
        (r"a\ud83db\ude00\u4e0d", "a b 不"),
        (r'{"a": "one\nThe\tend"}', '{"a": "one The end"}'),
        (r"cd C:\new", r"cd C:\new"),
        (r"C:\users \u12g4", r"C:\users \u12g4"),
    ],
)
def test_escapes_are_what_they_stand_for(text: str, read: str) -> None:
    assert unescaped(text) == read


@given(st.text(alphabet="a酒😀é", max_size=20))
def test_json_in_json_is_read_as_well(text: str) -> None:
    assert unescaped(json.dumps(json.dumps([text]))) == json.dumps(
        json.dumps([text], ensure_ascii=False), ensure_ascii=False
    )


@pytest.mark.parametrize("before", ["", '["', "a\\u0041"])
def test_a_long_run_of_backslashes_is_read_once(before: str) -> None:
    run = "\\" * 300_000  # would take an hour if each of them began anew
    assert unescaped(before + run + "x").endswith(run + "x")


@settings(max_examples=300)
@given(st.text(alphabet="\\unrdD89abC0 ["))
def test_the_same_as_by_the_plain_patterns(text: str) -> None:
    def plain(said: str) -> str:
        pair = re.compile(r"\\+u(d[89ab][0-9a-f]{2})\\+u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
        said = re.sub(r"\\+u([0-9a-fA-F]{4})", escapes._character, pair.sub(escapes._pair, said))
        return re.sub(r"\\+[nrt]", " ", said) if said.lstrip()[:1] in ("{", "[", '"') else said

    assert unescaped(text) == plain(text)
