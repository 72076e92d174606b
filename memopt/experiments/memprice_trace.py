"""A long trace through a real session: memories come, are downgraded and refreshed, and go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memopt.allocation import decimal_text
from memopt.checked import ask
from memopt.columns import DEFAULT_LADDER, DELETE
from memopt.compile import compile
from memopt.program import Program
from memopt.session.config import Config
from memopt.session.counters import Floats, Ints
from memopt.session.events import TurnEvent
from memopt.session.pressure import PressureQueue
from memopt.session.session import Session
from memopt.session.turn import declare

_RANK = {level: rank for rank, level in enumerate((*DEFAULT_LADDER, DELETE))}
_WORTH = np.array([1.0, 0.7, 0.4, 0.15])
_SIZE = np.array([1.0, 0.4, 0.17, 0.07])


@dataclass(frozen=True)
class Stream:
    """Memories that come and go: a turn offers the last `arrivals` times `life` of them.

    Attributes
    ----------
    tokens, utility
        Shape ``[memories, levels]``; both fall with the level. The typical utility rises and falls by
        half, over a thousand turns.
    arrivals, life
        Memories that come in a turn, and turns for which each is offered.
    """

    tokens: Ints
    utility: Floats
    arrivals: int
    life: int

    def offered(self, turn: int) -> range:
        """Return the memories offered in a turn, counted from 0."""
        return range(max(0, turn + 1 - self.life) * self.arrivals, (turn + 1) * self.arrivals)

    def item(self, memory: int) -> dict[str, Any]:
        """Return a memory as a candidate."""
        options = zip(
            DEFAULT_LADDER, self.tokens[memory].tolist(), self.utility[memory].tolist(), strict=True
        )
        levels = {level: {"tokens": size, "utility": worth} for level, size, worth in options}
        return {"id": f"m{memory}", "order": memory, "levels": levels}


def stream(seed: int, turns: int, arrivals: int, life: int) -> Stream:
    """Return the memories of a seed, with raw texts of 30 to 90 tokens."""
    rng = np.random.default_rng([seed, 4])
    count = turns * arrivals
    raw = rng.integers(30, 91, count)
    season = 1 + 0.5 * np.sin(2 * np.pi * np.repeat(np.arange(turns), arrivals) / 1000)
    worth = season * rng.uniform(0.0, 1.0, count)
    tokens = np.maximum(raw[:, None] * _SIZE, 1).astype(np.int64)
    return Stream(tokens, worth[:, None] * _WORTH, arrivals, life)


@dataclass
class Trace:
    """What a session did; one entry per turn.

    Attributes
    ----------
    events
        The turns.
    queues
        The queue after each turn.
    held
        Rank of the level that each offered memory was bound to, 0 where nothing bound it.
    moved
        Refreshes after which queue or clock were not what they had been.
    raised
        Choices richer than the level that bound them.
    regained
        Choices richer than the level before, which a refresh had opened.
    asked, disagreed
        Turns given to CP-SAT, and those on which it proves another value or other tokens, or which
        are not the program that the session solved.
    """

    events: list[TurnEvent] = field(default_factory=list)
    queues: list[PressureQueue] = field(default_factory=list)
    held: list[list[int]] = field(default_factory=list)
    moved: int = 0
    raised: int = 0
    regained: int = 0
    asked: int = 0
    disagreed: int = 0


def record(
    made: Stream, config: Config, turns: int, budget: int, refresh_every: int, check_every: int
) -> Trace:
    """Take all turns of a stream.

    Parameters
    ----------
    made, config, turns, budget
        The stream, the session's configuration, how many turns, and the tokens of each.
    refresh_every
        Turns from one refresh of everything offered to the next; 0 = no refresh.
    check_every
        Turns from one that CP-SAT solves as well to the next; 0 = none.
    """
    session, trace = Session(config), Trace()
    for turn in range(turns):
        state = session.state
        items = [made.item(memory) for memory in made.offered(turn)]
        bound = [state.ledger.holding(item["id"], turn + 1) for item in items]
        event = session.turn(items, budget).event
        assert isinstance(event, TurnEvent)
        trace.events.append(event)
        trace.held.append([0 if held is None else _RANK[held.level] for held in bound])
        for item, rank in zip(items, trace.held[-1], strict=True):
            chosen = _RANK[event.choices[item["id"]]]
            trace.raised += chosen < rank
            before = state.ledger.held.get(item["id"])
            trace.regained += before is not None and chosen < _RANK[before.level] and chosen >= rank
        if check_every and (turn + 1) % check_every == 0:
            capped = [
                item if held is None else item | {"current": held.level}
                for item, held in zip(items, bound, strict=True)
            ]
            trace.asked += 1
            trace.disagreed += not _agrees(compile(declare(state, capped, budget)).program, event)
        trace.queues.append(session.state.queue)
        if refresh_every and (turn + 1) % refresh_every == 0:
            _refresh(session, made, turn)
            trace.moved += session.state.queue != trace.queues[-1]
    return trace


def _refresh(session: Session, made: Stream, turn: int) -> None:
    ids = {f"m{memory}": "word " * int(made.tokens[memory, 0]) for memory in made.offered(turn)}
    session.put(ids)
    session.refresh({}, ids)


def _agrees(program: Program, event: TurnEvent) -> bool:
    """Whether CP-SAT proves the value and the tokens of a turn for the program that the session solved."""
    answer = ask(program, "cpsat")
    told = (event.result["digest"], event.result["value"], event.tokens)
    return answer.proved and told == (
        program.digest,
        None if answer.value is None else decimal_text(answer.value, program.scale),
        answer.tokens,
    )
