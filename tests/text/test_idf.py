"""What was seen by its text or by its terms weighs the same, one by one or all at once."""

from __future__ import annotations

import math

from memopt.text.idf import StreamingIdf
from memopt.text.words import terms


def test_weights_are_those_of_the_texts_seen_so_far() -> None:
    by_text, by_terms = StreamingIdf(), StreamingIdf()
    for text in ("red fox", "red hen red", "red cat"):
        by_text.observe(text)
        by_terms.see(terms(text))
        words = ["hen", "red", "unseen"]
        assert by_terms.weights(words) == by_text.weights(words) == {word: by_text(word) for word in words}
    assert by_text("red") == math.log1p((3 - 3 + 0.5) / 3.5)
    assert list(by_text.weights(["fox", "red", "cat"])) == ["fox", "red", "cat"]
