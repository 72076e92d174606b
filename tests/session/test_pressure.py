"""The queue keeps its identities on long traces, to the last unit, and survives a restart to the last bit."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memopt import Instance, solve
from memopt.columns import Columns
from memopt.session.errors import InvalidState
from memopt.session.pressure import FLAGS, PressureQueue, suggest_gain

ALPHA = Fraction(4, 5)
TURNS, BUDGET = 3_000, 120


def run(tokens: list[int], budgets: list[int], gain: float = 1.0, alpha: float = 0.8) -> list[PressureQueue]:
    """Return every state of a trace, the first included."""
    states = [PressureQueue(gain=gain, alpha=alpha)]
    for kept, budget in zip(tokens, budgets, strict=True):
        states.append(states[-1].after(kept, budget))
    return states


def restored(queue: PressureQueue) -> PressureQueue:
    return PressureQueue.from_dict(json.loads(json.dumps(queue.to_dict())))


@pytest.mark.parametrize(
    "case",
    [
        "48-queue-rises-and-drains",
        "49-refresh-keeps-queue-and-clock",
        "50-resume-mid-trace-equals-uninterrupted",
    ],
)
def test_the_rows_of_a_published_trace(shared: Path, case: str) -> None:
    told = json.loads((shared / "cases" / f"{case}.json").read_text())
    given_, rows = told["input"], told["expect"]["rows"]
    budgets = [given_["budget"]] * len(given_["tokens"])
    states = run(given_["tokens"], budgets, given_["c"], given_["alpha"])
    for before, after, row in zip(states, states[1:], rows, strict=False):
        assert before.turn == row["t"]
        assert before.pressure == row["Q"]
        assert before.price == pytest.approx(row["price"], abs=1e-12)
        assert after.pressure == row["Q_next"]
    assert restored(states[-1]) == states[-1]


def test_sums_of_decimals_are_exact() -> None:
    queue = run([1000, 1000, 950, 200], [1000] * 4)[-1]
    assert queue.to_dict()["clipped"] == "0.050000000000000000"  # in doubles 0.55 + 0.2 - 0.8 is not -0.05
    assert queue.to_dict()["pressure"] == "0.000000000000000000"


@dataclass(frozen=True)
class Trace:
    """What happened on the long trace under one gain."""

    states: list[PressureQueue]
    tokens: list[int]
    utilities: list[Fraction]


Turn = tuple[NDArray[np.int64], NDArray[np.float64]]


@pytest.fixture(scope="module")
def drifting() -> list[Turn]:
    """Return 3,000 turns of twelve items whose importance drifts up and down, tokens and utilities."""
    bits, made = np.random.PCG64(7), []
    for turn in range(TURNS):
        size, chance = ((bits.random_raw(24) >> np.uint64(11)) / 2**53).reshape(2, 12)
        raw = (8 + 40 * size).astype(np.int64)
        worth = (0.2 + chance) * (1 + 0.8 * math.sin(2 * math.pi * turn / 700))
        tokens = np.stack([raw, raw * 2 // 5 + 1, raw // 5 + 1, raw // 12 + 1], axis=1)
        made.append((tokens, worth[:, None] * np.array([1.0, 0.7, 0.45, 0.2])))
    return made


@pytest.fixture(scope="module")
def comparator(drifting: list[Turn]) -> list[Fraction]:
    """Return the best utility of each turn within alpha * B: the comparator of the certificate."""
    return [kept_utility(Instance.from_arrays(*turn, math.floor(ALPHA * BUDGET)))[0] for turn in drifting]


@pytest.fixture(scope="module", params=[0.3, 1.0, 3.0])
def trace(request: pytest.FixtureRequest, drifting: list[Turn]) -> Trace:
    states, tokens, utilities = [PressureQueue(gain=request.param)], [], []
    for turn in drifting:
        queue = states[-1]
        utility, kept, slack = kept_utility(Instance.from_arrays(*turn, BUDGET, queue.price))
        states.append(queue.after(kept, BUDGET, slack=slack))
        tokens.append(kept)
        utilities.append(utility)
    return Trace(states, tokens, utilities)


def kept_utility(columns: Columns) -> tuple[Fraction, int, float]:
    """Return the optimum's exact utility, its tokens, and how far it may be from the declared optimum."""
    allocation = solve(columns)
    assert allocation.status == "optimal"
    assert allocation.tokens is not None
    held = [(item, level) for item, level in enumerate(allocation.levels.tolist()) if level < 4]
    utility = sum((Fraction(float(columns.utility[place])) for place in held), Fraction(0))
    assert sum(int(columns.tokens[place]) for place in held) == allocation.tokens
    return utility, allocation.tokens, 2 * allocation.error_bound


def test_the_hard_budget_holds_in_every_turn_whatever_the_price(trace: Trace) -> None:
    assert max(trace.tokens) <= BUDGET
    assert max(trace.tokens) > ALPHA * BUDGET  # the target is one of the average, not of a turn


def test_the_average_is_what_the_queue_says(trace: Trace) -> None:
    end = trace.states[-1]
    average = Fraction(sum(trace.tokens), BUDGET * TURNS)
    clipped = sum(
        (
            max(Fraction(0), ALPHA - Fraction(kept, BUDGET) - Fraction(state.pressure_units, 10**18))
            for state, kept in zip(trace.states, trace.tokens, strict=False)
        ),
        Fraction(0),
    )
    by_the_queue = ALPHA + (Fraction(end.pressure_units, 10**18) - clipped) / TURNS
    assert abs(average - by_the_queue) < Fraction(1, 10**12)
    assert abs(end.average_occupancy - average) < 1e-12
    assert end.identity == end.average_occupancy
    assert average <= end.average_bound + 1e-12


def test_the_largest_pressure_is_the_largest_excess_of_any_window(trace: Trace) -> None:
    sums = np.concatenate([[0], np.cumsum(5 * np.array(trace.tokens) - 4 * BUDGET)])  # units of 1 / (5 B)
    excess = max(int(sums[first:].max() - sums[first]) for first in range(TURNS + 1))
    reported = Fraction(trace.states[-1].largest_units, 10**18)
    assert abs(reported - Fraction(excess, 5 * BUDGET)) < Fraction(1, 10**12)


def test_regret_is_within_the_certificate(trace: Trace, comparator: list[Fraction]) -> None:
    regret = Fraction(0)
    for best, got, after in zip(comparator, trace.utilities, trace.states[1:], strict=True):
        turn = best - got
        regret += turn
        assert turn <= after.last_certificate + 1e-6  # two grids of 12 * 10^-9 / 2
        assert regret <= after.certificate + after.slack + 1e-9
        assert after.certificate <= after.certificate_bound + 1e-9
    assert any(after.last_certificate > 0 for after in trace.states[1:])


def test_a_larger_gain_holds_the_average_closer(drifting: list[Turn]) -> None:
    averages = []
    for gain in (0.3, 1.0, 3.0):
        queue = PressureQueue(gain=gain)
        for turn in drifting[:300]:
            queue = queue.after(solve(Instance.from_arrays(*turn, BUDGET, queue.price)).tokens or 0, BUDGET)
        averages.append(queue.average_occupancy)
    assert averages == sorted(averages, reverse=True)
    assert averages[-1] > 0.8


def test_the_average_keeps_the_bound_known_beforehand() -> None:
    for price in (0.5, 2.0):  # from this price on, the optimum keeps half the budget; below it all
        queue = PressureQueue(gain=1.0)
        for _ in range(2_000):
            queue = queue.after(50 if queue.price >= price else 100, 100)
            assert queue.average_occupancy <= queue.occupancy_bound(price) + 1e-12


def test_the_suggested_gain_keeps_its_promise() -> None:
    delta, horizon, price = 0.02, 900, 1.5
    gain = suggest_gain(delta, horizon, price)
    assert gain == pytest.approx(1.5 / (0.02 * 30))
    queue = PressureQueue(gain=gain)
    for _ in range(horizon):
        queue = queue.after(40 if queue.price >= price else 100, 100)
    assert queue.average_occupancy <= 0.8 + delta + 0.2 / horizon


@pytest.mark.parametrize(
    ("delta", "horizon", "price"), [(0, 9, 1), (0.1, 0, 1), (0.1, 9, -1), (0.1, 9, math.inf)]
)
def test_a_gain_is_not_suggested_for_nonsense(delta: float, horizon: int, price: float) -> None:
    with pytest.raises(ValueError, match="suggest_gain"):
        suggest_gain(delta, horizon, price)


TRACES = st.lists(
    st.integers(0, 10**7).flatmap(lambda budget: st.tuples(st.integers(0, budget), st.just(budget))),
    max_size=60,
)


@given(TRACES, st.sampled_from([0.5, 0.8, 0.85, 1.0]))
def test_identity_and_window_under_budgets_that_change(turns: list[tuple[int, int]], alpha: float) -> None:
    states = run([kept for kept, _ in turns], [budget for _, budget in turns], 1.7, alpha)
    excesses = [Fraction(kept, budget or 1) - Fraction(str(alpha)) for kept, budget in turns]
    pressure = Fraction(0)
    for excess, state in zip(excesses, states[1:], strict=True):
        pressure = max(Fraction(0), pressure + excess)
        assert abs(Fraction(state.pressure_units, 10**18) - pressure) < Fraction(1, 10**12)
    windows = [sum(excesses[i:j], Fraction(0)) for i in range(len(turns)) for j in range(i, len(turns) + 1)]
    assert states[-1].largest_pressure == pytest.approx(float(max(windows, default=0)), abs=1e-12)
    assert states[-1].identity == states[-1].average_occupancy
    if turns:
        mean = sum(excesses, Fraction(0)) / len(turns) + Fraction(str(alpha))
        assert states[-1].average_occupancy == pytest.approx(float(mean), abs=1e-12)


@given(TRACES, st.data())
def test_a_restart_anywhere_changes_no_bit(turns: list[tuple[int, int]], data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, len(turns)))
    whole = run([kept for kept, _ in turns], [budget for _, budget in turns], 0.7)
    queue = restored(whole[stop])
    for (kept, budget), expected in zip(turns[stop:], whole[stop:], strict=False):
        assert queue.price.hex() == expected.price.hex()
        assert queue == expected
        queue = restored(queue.after(kept, budget))
    assert queue == whole[-1]


def test_the_clock_answers_more_slowly_with_age() -> None:
    young = PressureQueue(gain=2.0).after(100, 100)
    old = run([80] * 99 + [100], [100] * 100, 2.0)[-1]
    assert young.pressure == old.pressure == 0.2
    assert young.price == pytest.approx(old.price * math.sqrt(101 / 2))
    assert old.price_per_token(200) == old.price / 200


def test_without_a_budget_nothing_is_kept_and_the_queue_drains() -> None:
    queue = PressureQueue(gain=1.0).after(10, 10).after(0, 0)
    assert (queue.pressure, queue.turn, queue.price_per_token(0)) == (0.0, 3, 0.0)


def test_what_takes_a_turn_out_of_the_theory_is_flagged() -> None:
    queue = PressureQueue(gain=1.0)
    assert queue.flags(100, pinned=80) == ()
    assert queue.flags(100, pinned=81) == ("pinned_above_target",)
    assert queue.flags(100, pinned=101) == ("pinned_above_target", "pinned_above_budget")
    queue = queue.after(90, 100, pinned=90).after(50, 100, optimal=False, slack=0.25).refused(100, pinned=120)
    assert queue.report()["flags"] == dict(zip(FLAGS, (2, 1, 1), strict=True))
    assert queue.slack == 0.25
    assert queue.turn == 3  # a turn without any allocation is none
    assert restored(queue) == queue


def test_a_report_before_the_first_turn() -> None:
    report = PressureQueue(gain=1.0).report()
    assert (report["turns"], report["price"], report["average_occupancy"]) == (0, 0.0, 0.0)
    assert report["average_bound"] == 0.8
    assert PressureQueue(gain=1.0).occupancy_bound(1.0) == math.inf
    json.dumps(report, allow_nan=False)


@pytest.mark.parametrize("settings", [{"gain": -1.0}, {"gain": math.nan}, {"gain": 1.0, "alpha": 0.0},
                                      {"gain": 1.0, "alpha": 1.1}])  # fmt: skip
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        PressureQueue(**settings)


@pytest.mark.parametrize(("tokens", "budget", "slack"), [(101, 100, 0.0), (-1, 100, 0.0), (1, 2, -0.1),
                                                         (1, 2, math.inf)])  # fmt: skip
def test_a_turn_over_the_budget_is_refused(tokens: int, budget: int, slack: float) -> None:
    with pytest.raises(ValueError, match=r"tokens|slack"):
        PressureQueue(gain=1.0).after(tokens, budget, slack=slack)


@pytest.mark.parametrize(
    "change",
    [
        {"pressure": "0.300000000000000000"},
        {"turn": 5},
        {"largest": "0.1"},
        {"occupied": "x"},
        {"clipped": "0.0000000000000000001"},
        {"flags": {}},
        {"gain": None},
    ],
)
def test_a_broken_state_is_refused(change: dict[str, Any]) -> None:
    state = run([1000, 1000], [1000] * 2)[-1].to_dict()
    with pytest.raises(InvalidState, match="pressure queue"):
        PressureQueue.from_dict(state | change)
    del state["alpha"]
    with pytest.raises(InvalidState, match="alpha"):
        PressureQueue.from_dict(state)


def test_pins_that_fill_the_budget_are_not_above_it() -> None:
    assert PressureQueue(gain=1.0).flags(100, pinned=100) == ("pinned_above_target",)


def test_the_certificate_keeps_its_bound_below_a_target_of_a_half() -> None:
    queue = PressureQueue(gain=1.0, alpha=0.2).after(100, 100).after(0, 100)
    assert queue.certificate_bound == pytest.approx(0.64 * math.sqrt(2))
    assert 0 < queue.certificate <= queue.certificate_bound
