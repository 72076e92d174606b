"""Questions are read with all their quirks, and scored as the definitions say."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.locomo_questions import Question, Stems, coverage, evidence, load, recall

TURNS = frozenset(["D4:4", "D4:6", "D8:6", "D9:1", "D9:17", "D11:26", "D30:5"])


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["D8:6", "D9:1"], ["D8:6", "D9:1"]),
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D9:1 D4:4 D4:6"], ["D9:1", "D4:4", "D4:6"]),
        (["D:11:26"], ["D11:26"]),
        (["D30:05"], ["D30:5"]),
        (["D", "D4:36"], []),
        ([], []),
    ],
)
def test_evidence_is_read_as_it_was_meant(written: list[str], read: list[str]) -> None:
    assert evidence(written, TURNS) == read


def test_the_questions_of_the_data_set(data: Path) -> None:
    questions = load(data)
    assert next(iter(questions)) == "conv-26"
    assert len(questions) == 10
    asked = [question for found in questions.values() for question in found]
    assert len(asked) == 1_540 - 4  # four of categories 1 to 4 name no evidence
    assert all(isinstance(question.answer, str) and question.sessions for question in asked)
    assert Question("2022", (1,)) in questions["conv-26"]  # an int in the file


def test_coverage_is_the_mean_over_questions_of_the_mean_over_turns() -> None:
    asked = [Question("a", (1, 1, 2)), Question("b", (3,))]
    assert coverage(asked, {1: 1.0, 2: 0.4, 3: 0.0}) == pytest.approx((2.4 / 3 + 0) / 2)


def test_recall_is_the_share_of_stems_found_in_the_evidence_sessions(stems: Stems) -> None:
    asked = [Question("Paintings of the sunset", (1, 2)), Question("7 May 2023", (3,)), Question("You", (4,))]
    surviving = {1: "she painted", 2: "", 3: "[8 May, 2023]\nwe met", 4: "you"}
    assert recall(asked, surviving, stems) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert recall(asked, {**surviving, 2: "one more sunset"}, stems) == pytest.approx((1 + 2 / 3) / 2)
