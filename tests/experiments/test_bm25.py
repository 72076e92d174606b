from __future__ import annotations

import math

import pytest

from memopt.experiments.bm25 import K1, B, bm25

TEXTS = ["red apple", "red red brick wall", "green pear"]


def test_scores_are_those_of_the_formula() -> None:
    (scores,) = bm25(["a red wall"], TEXTS)
    length = 8 / 3

    def part(within: int, texts: int, words: int) -> float:
        idf = math.log(1 + (3 - texts + 0.5) / (texts + 0.5))
        return idf * within * (K1 + 1) / (within + K1 * (1 - B + B * words / length))

    assert scores == pytest.approx([part(1, 2, 2), part(2, 2, 4) + part(1, 1, 4), 0.0])


def test_no_common_word_scores_nothing_and_function_words_are_none() -> None:
    assert bm25(["the plum and the", ""], TEXTS).tolist() == [[0.0] * 3] * 2
    assert bm25([], TEXTS).shape == (0, 3)
    assert bm25(["red"], [""]).tolist() == [[0.0]]
