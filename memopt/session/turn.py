"""One turn decided: caps and worth, price, solve, audit. Reads the state, changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from types import MappingProxyType
from typing import Any

from memopt import tracing
from memopt.allocation import Allocation
from memopt.columns import DELETE
from memopt.compile import Compiled, compile
from memopt.errors import Fault, InvalidInstance
from memopt.instance import Budget, Instance, Item, Option
from memopt.prompt_cache import solve_cached
from memopt.session import offer
from memopt.session.errors import InfeasibleTurn
from memopt.session.events import TurnEvent
from memopt.session.fidelity import Admission, FidelityLedger
from memopt.session.governance import Assignment, Governor, Transition
from memopt.session.state import State, next_queue
from memopt.shortage import least_tokens
from memopt.solve import solve_compiled


def declare(state: State, candidates: Iterable[Item | Mapping[str, Any]], budget: Budget) -> Instance:
    """Return the candidates of a turn as an instance at the price of the turn, before any cap.

    Raises
    ------
    InvalidInstance
        With every fault of the candidates and the budget.
    """
    return Instance.model_validate(
        {
            "budget": budget,
            "price": state.queue.price,
            "ladder": state.config.ladder,
            "repair": state.config.repair,
            "items": list(candidates),
        }
    )


@dataclass(frozen=True, eq=False)
class Solved:
    """A turn solved: what was offered, what of it may be held, and the level each item is given.

    Attributes
    ----------
    items, admissions
        The candidates as capped, and what the ledger says of each.
    transitions, assignments
        What governance changed, and what it does with each candidate.
    compiled, allocation
        The problem that was solved, and its answer.
    """

    items: tuple[Item, ...]
    admissions: list[Admission]
    transitions: list[Transition]
    assignments: dict[str, Assignment]
    compiled: Compiled
    allocation: Allocation


def solved(state: State, offered: Instance, rewritten: Collection[str] = ()) -> Solved:
    """Solve a turn; parameters and errors as of `decide`."""
    rank = _ranks(state)
    governor, transitions, assignments = _governed(state, offered.items)
    caps = {item: governor.cap(assigned) for item, assigned in assignments.items()}
    ledger = state.ledger.rewritten(rewritten)
    admissions = [_admitted(ledger, state.queue.turn, item) for item in offered.items]
    items = tuple(
        _left(_capped(item, admission, rank), caps.get(item.id), rank)
        for item, admission in zip(offered.items, admissions, strict=True)
    )
    _refuse_stuck_pins(items, rank)
    compiled = compile(offered.model_copy(update={"items": items}))
    sent = _unchanged(state, rewritten)
    allocation = _allocation(state, sent, compiled, [item.id for item in _in_order(items)])
    return Solved(items, admissions, transitions, assignments, compiled, allocation)


def _ranks(state: State) -> dict[str, int]:
    return {level: index for index, level in enumerate((*state.config.ladder, DELETE))}


def decide(
    state: State,
    offered: Instance,
    event_id: str,
    texts: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    rewritten: Collection[str] = (),
) -> TurnEvent:
    """Return the event of a turn.

    Parameters
    ----------
    state, offered, event_id
        The state before it, the candidates, and its id.
    texts
        As `Session.turn` takes it.
    rewritten
        Items of the last context whose text at the level they had there is another one now.

    Raises
    ------
    InvalidInstance
        When a pinned item has no level left that it may hold.
    InfeasibleTurn
        When what must stay needs more than the budget.
    """
    queue, rank = state.queue, _ranks(state)
    made = solved(state, offered, rewritten)
    items, admissions, allocation = made.items, made.admissions, made.allocation
    choices = allocation.choices
    context = [item for item in _in_order(items) if choices[item.id] != DELETE]
    sizes = {item.id: _tokens(item, choices[item.id]) for item in context}
    prefix, changed = _compared(state, rewritten, choices, sizes)
    result = allocation.to_dict()
    del result["seconds"]
    least = least_tokens(made.compiled.program) if any(item.pinned for item in items) else 0
    optimal = allocation.status == "optimal"
    after = next_queue(state, result, least, prefix)
    return TurnEvent(
        id=event_id,
        number=state.number + 1,
        turn=queue.turn,
        pressure=queue.to_dict()["pressure"],
        next_pressure=after.to_dict()["pressure"],
        candidates=offer.written(offered),
        assignments={item: [a.arm, a.shown, a.withheld] for item, a in made.assignments.items()},
        transitions=[[t.memory, t.before, t.after, t.reason, t.causal] for t in made.transitions],
        refused=[
            [item.id, level, tokens]
            for item, admission in zip(items, admissions, strict=True)
            for level, tokens in sorted(admission.refused, key=lambda entry: rank[entry[0]])
        ],
        stands=[
            item.id
            for item, admission in zip(items, admissions, strict=True)
            if admission.stands is not None and choices[item.id] == admission.stands
        ],
        sizes=sizes,
        texts={item: texts[item][choices[item]] for item in sizes if choices[item] in texts.get(item, ())},
        rewritten=[item for item in state.context if item in rewritten],
        flags=list(queue.flags(allocation.budget, least, optimal)),
        pinned_tokens=least,
        prefix_tokens_kept=prefix,
        items_changed=changed,
        result=result,
    )


def judged(
    state: State, memories: Iterable[str], exempt: Mapping[str, str] | None = None
) -> tuple[Governor, list[Transition]]:
    """Return what governance makes of memories with the evidence there is now; see `Governor.judge`."""
    part = state.worth.part([memory for memory in memories if state.worth.row(memory) is not None])
    if not len(part):
        return state.governor, []
    return state.governor.judge(part.reports(), part.base_rate, exempt)


def _governed(state: State, items: Sequence[Item]) -> _Governed:
    """Return the governor of a turn, what changed, and what the turn does with each candidate."""
    if state.config.governance.mode == "observe":
        return state.governor, [], {}
    ids, exempt = [item.id for item in items], _exempt(items)
    groups = {item.id: item.group for item in items if item.group is not None}
    governor, transitions = judged(state, ids, exempt)
    return governor, transitions, governor.assign(state.queue.turn, ids, exempt, groups)


def _exempt(items: Sequence[Item]) -> dict[str, str]:
    """Return the items that must be present, each with why."""
    held = {item.group for item in items if item.pinned and item.group is not None}
    mates = {item.id: "a member of its group is pinned" for item in items if item.group in held}
    return mates | {item.id: "it is pinned" for item in items if item.pinned}


_OPEN = Admission(None, {})
"""What the ledger says of an item that nothing binds: no cap, nothing refused."""


def _admitted(ledger: FidelityLedger, turn: int, item: Item) -> Admission:
    if ledger.holding(item.id, turn) is None:
        return _OPEN
    sizes = {
        level: option.tokens
        for level, option in item.levels.items()
        if option is not None and option.tokens is not None
    }
    return ledger.admit(turn, item.id, sizes)


def _capped(item: Item, admission: Admission, rank: Mapping[str, int]) -> Item:
    """Return an item with what it holds and what it may hold."""
    caps = [level for level in (item.current, admission.current) if level is not None]
    if not caps:
        return item
    changed: dict[str, Any] = {"current": max(caps, key=rank.__getitem__)}
    if admission.refused:
        changed["levels"] = {
            level: option if option.tokens == admission.sizes[level] else _of_size(option, admission, level)
            for level, option in item.levels.items()
            if option is not None and level in admission.sizes
        }
    return item.model_copy(update=changed)


def _left(item: Item, cap: str | None, rank: Mapping[str, int]) -> Item:
    """Return what governance leaves of an item.

    A member of a group that has nothing as poor as its cap keeps its poorest level: without any, its
    mates would have to go with it, and a cap is no reason for that.
    """
    if cap is None:
        return item
    caps = [cap if item.current is None else max(cap, item.current, key=rank.__getitem__)]
    if item.group is not None and cap != DELETE:
        caps += sorted(_levels_left(item, rank), key=rank.__getitem__)[-1:]
    return item.model_copy(update={"current": min(caps, key=rank.__getitem__)})


def _of_size(option: Option, admission: Admission, level: str) -> Option:
    return replace(option, tokens=admission.sizes[level], text=None)


def _refuse_stuck_pins(items: Sequence[Item], rank: Mapping[str, int]) -> None:
    faults = []
    for index, item in enumerate(items):
        if item.pinned and not _levels_left(item, rank):
            held = f"it holds {item.current!r}, and only a refresh lifts that"
            message = f"item {item.id!r} is pinned but has no level left that it may stay at: {held}"
            faults.append(Fault("pinned_without_level", message, item.id, None, "pinned", index, True))
    if faults:
        raise InvalidInstance(faults)


def _levels_left(item: Item, rank: Mapping[str, int]) -> list[str]:
    richest = 0 if item.current is None else rank[item.current]
    poorest = rank[DELETE] if item.min_level is None else rank[item.min_level]
    return [
        level
        for level, option in item.levels.items()
        if option is not None and option.tokens is not None and richest <= rank[level] <= poorest
    ]


def _allocation(
    state: State, sent: Mapping[str, tuple[str, int]], compiled: Compiled, order: Sequence[str]
) -> Allocation:
    config = state.config
    with tracing.span() as tell:
        if config.cache_price:
            allocation = solve_cached(compiled, sent, config.cache_price, order, config.solver)
        else:
            allocation = solve_compiled(compiled, config.solver)
        pressure = {"memopt.pressure": state.queue.pressure, "memopt.turn": state.queue.turn}
        tell(lambda: {**tracing.of_allocation(allocation), **pressure})
    if allocation.status == "infeasible":
        raise InfeasibleTurn(allocation)
    return allocation


def _in_order(items: Sequence[Item]) -> list[Item]:
    """Return items in the order of the conversation, those without a place last."""
    return sorted(items, key=lambda item: (item.order is None, item.order or 0))


def _tokens(item: Item, level: str) -> int:
    option = item.levels[level]
    assert option is not None
    assert option.tokens is not None
    return option.tokens


def _unchanged(state: State, rewritten: Collection[str]) -> dict[str, tuple[str, int]]:
    """Return level and tokens of what was sent last, up to the first text that is another one now."""
    leading = takewhile(lambda item: item not in rewritten, state.context)
    return {item: (state.context[item].level, state.context[item].tokens) for item in leading}


def _compared(
    state: State, rewritten: Collection[str], choices: Mapping[str, str], sizes: Mapping[str, int]
) -> tuple[int, int]:
    """Return the tokens of the leading part that is as in the last turn, and how many items differ."""
    was, sent = state.context, _unchanged(state, rewritten)
    prefix = 0
    for before, now in zip(sent, sizes, strict=False):
        if before != now or sent[before] != (choices[now], sizes[now]):
            break
        prefix += sizes[now]
    changed = sum(item not in was or was[item].level != choices[item] for item in sizes)
    return prefix, changed + sum(item not in sizes for item in was)


_Governed = tuple[Governor, list[Transition], dict[str, Assignment]]
