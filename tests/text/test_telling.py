"""A reader is told terms that can be looked for in the text, none cut out of a time or a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memopt.text.compress import TfIdfKeywords
from memopt.text.idf import StreamingIdf
from memopt.text.telling import as_written
from memopt.text.words import terms


def seen(*texts: str) -> StreamingIdf:
    idf = StreamingIdf()
    for text in texts * 5:
        idf.observe(text)
    return idf


def test_a_chinese_term_inside_of_a_stretch_is_told_with_what_it_may_be_cut_from() -> None:
    common = seen("王子", "亚洲酒店")
    assert TfIdfKeywords(1, common)("住王子亚洲酒店的人") == "住王子亚洲酒店"
    common = seen("我们坐高铁回到王子", "亚洲酒店看西湖")
    assert TfIdfKeywords(1, common)("坐高铁回到王子亚洲酒店看西湖") == "王子亚洲"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"open": "11:00-21:00"}', "open, 11:00-21:00"),
        ("Due 2024-05-17T11:00:05Z, then.", "due, 2024-05-17T11:00:05Z"),
        ("job=7F3A02 at src/Reader.py:12", "job, 7F3A02, src, reader.py, src/Reader.py:12"),
        ("costs $1,250.50 (-5%)", "costs, $1,250.50, -5%"),
        ("[1000,2000]", "1000, 2000"),
        ("call +44 113 496 0999.", "call, +44 113 496 0999"),
        ("价格 ¥388.50，2024年5月17日", "价格, ¥388.50, 2024年5月17日"),
        ("v10, 10, ２０", "v10, 10, 20"),
        ("0" * 50 + ":1", "0" * 50 + ", 1"),
        ("İ 11:00", "11, 00"),
        ("a7b7 7-7b 7", "a7b7, 7-7b"),
    ],
)
def test_a_keyword_with_a_digit_is_told_as_it_stands(text: str, told: str) -> None:
    assert TfIdfKeywords(9)(text).replace("、", ", ") == told


@given(st.text(alphabet=st.sampled_from("aB19:.-+/,$%年月茶İ ２²\n"), max_size=60))
def test_what_is_told_of_a_term_stands_in_the_text_and_has_the_term_in_it(text: str) -> None:
    for term, told in as_written(terms(text), text).items():
        assert told == term or (told in text and term in told.lower())
