"""Levels of real sessions: their sizes, their dates, and that nothing of the future is in them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.ladders import KEYWORD_TOKENS, SENTENCE_TOKENS, LlmFree, Shipped
from benchmarks.locomo import Conversation, Count


def test_an_original_begins_with_its_day(conversations: list[Conversation], count: Count) -> None:
    ladder = Shipped(conversations[0], count)
    assert list(ladder.originals) == list(range(1, 20))
    assert ladder.originals[1].startswith("[8 May, 2023]\nCaroline: Hey Mel!")


def test_shipped_levels(conversations: list[Conversation], count: Count) -> None:
    ladder = Shipped(conversations[0], count)
    made = {level: make(ladder.originals[1]) for level, make in ladder.compressors(1).items()}
    assert list(made) == ["summary", "abstraction", "keywords"]
    assert made["summary"].startswith("[8 May, 2023]\nCaroline attended an LGBTQ support group")
    assert made["abstraction"].startswith("Caroline and Melanie had a conversation on 8 May 2023")
    assert made["keywords"].startswith("[8 May, 2023] ")


@pytest.mark.parametrize("kind", [Shipped, LlmFree])
def test_no_level_is_longer_than_its_cap(
    conversations: list[Conversation], count: Count, kind: type[Shipped] | type[LlmFree]
) -> None:
    ladder = kind(conversations[1], count)
    caps = {"keywords": KEYWORD_TOKENS} | (SENTENCE_TOKENS if kind is LlmFree else {})
    for seen, original in enumerate(ladder.originals.values(), start=1):
        for level, most in caps.items():
            text = ladder.compressors(seen)[level](original)
            assert most // 2 < count(text) <= most
            assert text.startswith(original.partition("\n")[0])


def test_levels_made_without_a_language_model_know_nothing_of_later_sessions(
    conversations: list[Conversation], count: Count
) -> None:
    whole = conversations[0]
    begun = replace(whole, sessions=whole.sessions[:3])
    one, other = LlmFree(whole, count), LlmFree(begun, count)
    original = one.originals[3]
    early = {level: make(original) for level, make in one.compressors(3).items()}
    assert early == {level: make(original) for level, make in other.compressors(3).items()}
    assert early != {level: make(original) for level, make in one.compressors(19).items()}
