"""Escapes of JSON are read as the characters they stand for."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
