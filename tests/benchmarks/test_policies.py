"""A conversation replayed: budgets hold, levels only fall, refreshes open, and no question plays a part."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks import locomo
from benchmarks.ladders import LlmFree
from benchmarks.locomo import Conversation, Count
from benchmarks.policies import POLICIES, REFRESH_EVERY, Policy, Survived, replay
from memopt.session.events import RefreshEvent, TurnEvent

LADDER = ("raw", "summary", "abstraction", "keywords", "delete")
BUDGET = 2_000


@pytest.fixture(scope="module")
def ladder(conversations: list[Conversation], count: Count) -> LlmFree:
    return LlmFree(conversations[0], count)


def turns(survived: Survived) -> list[TurnEvent]:
    return [made.event for made in survived.session.events() if isinstance(made.event, TurnEvent)]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{policy.name}-{policy.refreshes}")
def test_every_turn_is_within_the_budget_and_levels_rise_after_a_refresh_alone(
    ladder: LlmFree, count: Count, policy: Policy
) -> None:
    survived = replay(ladder, policy, BUDGET, count)
    taken = turns(survived)
    assert [len(turn.choices) for turn in taken] == list(range(1, 20))
    assert all(turn.tokens <= turn.budget == BUDGET for turn in taken)
    risen = {
        now.turn
        for before, now in pairwise(taken)
        if any(LADDER.index(now.choices[item]) < LADDER.index(held) for item, held in before.choices.items())
    }
    assert risen <= ({6, 11, 16} if policy.refreshes else set())


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{policy.name}-{policy.refreshes}")
def test_what_survives_is_what_the_last_turn_kept(ladder: LlmFree, count: Count, policy: Policy) -> None:
    survived = replay(ladder, policy, BUDGET, count)
    last = turns(survived)[-1]
    assert survived.levels == {int(item): level for item, level in last.choices.items()}
    assert {number: count(text) for number, text in survived.texts.items() if text} == {
        int(item): tokens for item, tokens in last.sizes.items()
    }
    assert survived.texts.keys() == ladder.originals.keys()


def test_a_refresh_comes_after_every_fifth_session(ladder: LlmFree, count: Count) -> None:
    policy = next(each for each in POLICIES if each.name == "exact, price 0" and each.refreshes)
    events = [made.event for made in replay(ladder, policy, BUDGET, count).session.events()]
    refreshes = [event for event in events if isinstance(event, RefreshEvent)]
    assert [event.turn for event in refreshes] == [5, 10, 15]
    assert [len(event.opened) for event in refreshes] == [5, 10, 15]
    assert REFRESH_EVERY == 5


def test_a_replay_is_the_same_without_questions_and_the_same_again(
    data: Path, conversations: list[Conversation], count: Count, tmp_path: Path
) -> None:
    entry = json.loads(data.read_bytes())[0]
    silent = tmp_path / "silent.json"
    silent.write_text(json.dumps([entry | {"qa": []}]))
    (unasked,) = locomo.load(silent)
    for policy in POLICIES[-4:]:
        digests = [
            [made.digest for made in replay(LlmFree(each, count), policy, BUDGET, count).session.events()]
            for each in (conversations[0], unasked, conversations[0])
        ]
        assert digests[0] == digests[1] == digests[2]
