"""Policies, which decide in a replay, and the replay of a conversation, always through a `Session`.

An optimiser is a session's own solver. A rule by age decides what its session is offered: an item that
it keeps is pinned to one level, an item that it drops has none. So the session's ledger binds both alike: a
rule that broke the budget, or asked for a level that is lost, would be an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.ladders import Ladder
from benchmarks.locomo import Count
from benchmarks.recency import Rule, cascade, cascade_by_shares, fifo, uniform
from memopt.session.config import Config
from memopt.session.session import Session

REFRESH_EVERY = 5

Texts = dict[str, dict[str, str]]
"""Texts by item and level, the richest level first."""


@dataclass(frozen=True)
class Policy:
    """A way to decide; a rule, if there is one, is asked in place of the session's solver.

    Attributes
    ----------
    refreshes
        Whether all levels are made anew, and opened, after every fifth session.
    """

    name: str
    config: Config
    rule: Rule | None
    refreshes: bool


_DECIDERS: tuple[tuple[str, Config, Rule | None], ...] = (
    ("FIFO recency (raw)", Config(), fifo),
    ("uniform summary, newest first", Config(), uniform),
    ("recency cascade", Config(), cascade),
    ("recency cascade, fixed shares", Config(), cascade_by_shares),
    ("greedy upgrade", Config(solver="greedy"), None),
    ("exact, price 0", Config(), None),
    ("exact, c = 2", Config(gain=2.0), None),
)
POLICIES = tuple(Policy(*decider, refreshes) for decider in _DECIDERS for refreshes in (False, True))


@dataclass(frozen=True)
class Survived:
    """What a replay ends with.

    Attributes
    ----------
    levels
        Level that each session is held at, by session number.
    texts
        Text that is left of each session, by session number; empty when it is deleted.
    session
        The session with all its events.
    """

    levels: dict[int, str]
    texts: dict[int, str]
    session: Session


def replay(ladder: Ladder, policy: Policy, budget: int, count: Count) -> Survived:
    """Let the sessions of a conversation arrive one after the other.

    Each arrives as its original, and from that turn on is worth the fidelity of its level: a session
    counts as much as any other, for nobody knows what will be asked.

    Parameters
    ----------
    ladder
        The conversation and its levels.
    policy
        Who decides.
    budget
        Hard capacity of every turn, in tokens.
    count
        Token counter.
    """
    session = Session(policy.config)
    texts: Texts = {}
    for seen, (number, original) in enumerate(ladder.originals.items(), start=1):
        item = _id(number)
        session.put({item: original})
        made = {level: compress(original) for level, compress in ladder.compressors(seen).items()}
        texts[item] = {"raw": original} | made
        session.turn(_offered(session, ladder, policy, texts, budget, count), budget)
        if policy.refreshes and seen % REFRESH_EVERY == 0:
            texts |= session.refresh(ladder.compressors(seen)).texts
    held = session.state.ledger.held
    levels = {number: held[_id(number)].level for number in ladder.originals}
    left = {number: texts[_id(number)].get(level, "") for number, level in levels.items()}
    return Survived(levels, left, session)


def _offered(
    session: Session, ladder: Ladder, policy: Policy, texts: Texts, budget: int, count: Count
) -> list[dict[str, Any]]:
    """Return the candidates of a turn."""
    sizes = {item: {level: count(text) for level, text in levels.items()} for item, levels in texts.items()}
    if policy.rule is None:
        return [_candidate(item, options, ladder, pinned=False) for item, options in sizes.items()]
    state = session.state
    newest = list(reversed(sizes))
    open_ = [state.ledger.admit(state.queue.turn, item, sizes[item]).sizes for item in newest]
    kept = dict(zip(newest, policy.rule(open_, budget), strict=False))
    return [
        _candidate(item, {kept[item]: options[kept[item]]} if item in kept else {}, ladder, item in kept)
        for item, options in sizes.items()
    ]


def _candidate(item: str, sizes: Mapping[str, int], ladder: Ladder, pinned: bool) -> dict[str, Any]:
    levels = {level: {"tokens": tokens, "utility": ladder.fidelity[level]} for level, tokens in sizes.items()}
    return {"id": item, "order": int(item), "levels": levels, "pinned": pinned}


def _id(number: int) -> str:
    return f"{number:02d}"
