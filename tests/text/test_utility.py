"""The default utility falls with age, rises with what a message tells, and asks for no goal."""

from __future__ import annotations

import inspect

import pytest

from memopt.text.ladders import Ladders
from memopt.text.messages import read_messages
from memopt.text.utility import ROLES, RecencyIdfRole, Utility

DEFAULT = RecencyIdfRole()
LONG = (
    "Ann adopted a greyhound in Leeds. The hotel by the north gate is full. Trains leave at nine. Bring maps."
)


def worths(*chat: tuple[str, str], utility: Utility = DEFAULT) -> list[dict[str, float]]:
    ladders = Ladders()(read_messages([{"role": role, "content": text} for role, text in chat]))
    return [dict(worth) for worth in utility(ladders)]


def test_it_is_role_times_recency_times_mass_times_share() -> None:
    chat = [("user", LONG), ("tool", LONG), ("assistant", "yes")]
    ladders = Ladders()(read_messages([{"role": role, "content": text} for role, text in chat]))
    for age, ladder, worth in zip((1, 2, 1), ladders, worths(*chat), strict=True):
        for rung, (level, share) in enumerate(ladder.shares.items()):
            whole = ROLES[ladder.message.role] * age**-0.5 * (1 + ladder.mass)
            expected = whole * share * 0.9**rung
            assert worth[level] == pytest.approx(expected)


def test_newer_rarer_and_human_is_worth_more() -> None:
    answer = ("assistant", "yes")
    task, old, new, _ = worths(("user", "greyhound"), ("user", "greyhound"), ("user", "greyhound"), answer)
    assert new["raw"] > old["raw"]
    assert task["raw"] > new["raw"]  # what the chat is about does not age, and it was new when it was said
    person, tool, _ = worths(("user", LONG), ("tool", LONG), answer, utility=RecencyIdfRole(decay=0))
    assert person["raw"] > tool["raw"]
    assert worths(("user", LONG))[0]["raw"] > worths(("user", "yes"))[0]["raw"] > 0


def test_what_has_no_answer_yet_is_worth_more_than_everything_else() -> None:
    *old, question = worths(("user", LONG), ("assistant", LONG), ("user", "yes"))
    assert question["raw"] > sum(worth["raw"] for worth in old)


def test_a_poorer_level_is_never_worth_more() -> None:
    [worth] = worths(("user", LONG * 3))
    assert len(worth) > 2
    assert list(worth.values()) == sorted(worth.values(), reverse=True)


def test_no_query_can_reach_it() -> None:
    assert list(inspect.signature(RecencyIdfRole().__call__).parameters) == ["ladders"]
