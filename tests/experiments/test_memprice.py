"""The component diagnostic: all is well where it should be, and each check can fail."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from memopt import Instance, SolverMissing, solve
from memopt.experiments import memprice, memprice_problems
from memopt.experiments.memprice import BOUND, EXPERIMENT, NONE_EXPECTED, REGRET, MemPriceParameters, of
from memopt.experiments.memprice_theory import BROKEN, SEEN, critical_rate, frontier, judge
from memopt.experiments.memprice_trace import Stream, Trace, record, stream
from memopt.experiments.plotting import drawing
from memopt.session.config import Config

SMALL = MemPriceParameters(problems=36, rounds=3, turns=60, gains=(0.0, 3.0), refresh_every=7, check_every=30)
ALONE = SMALL.model_copy(update={"check_every": 0})


def silent(_: float) -> None:
    """Nobody looks at the progress."""


def test_nothing_that_must_not_happen_does_and_what_should_is_seen() -> None:
    pytest.importorskip("ortools")
    told: list[float] = []
    runs = EXPERIMENT.run(SMALL, (42, 43), told.append)
    assert told == pytest.approx([step / 6 for step in range(1, 7)])
    for run in runs:
        assert {name: run.values[name] for name in NONE_EXPECTED} == dict.fromkeys(NONE_EXPECTED, 0)
        assert run.values["turns solved by CP-SAT as well"] == 4
        assert (run.values["levels regained after a refresh"] or 0) > 0
        assert (run.values["problems on which greedy is strictly worse"] or 0) > 0
    table = {figure.name: figure for figure in EXPERIMENT.figures(SMALL, runs)}
    assert all(table[name].met for name in NONE_EXPECTED)
    assert table["last Q, c = 3"].met is None
    for run in runs:
        for what, curve in ((REGRET, "regret"), (BOUND, "certificate")):
            assert table[of(what, 3.0)].unit == "utility"
            assert run.values[of(what, 3.0)] >= run.trajectories[of(curve, 3.0)][-1]
        assert run.values[of(REGRET, 3.0)] == run.trajectories[of("regret", 3.0)][-1]
    assert not any("/" in name for name in table)


def test_the_counter_examples_kept_really_are() -> None:
    (run,) = EXPERIMENT.run(ALONE, (44,), silent)
    for example in json.loads(json.dumps(run.kept["counter_examples"])):
        instance = Instance.model_validate(example["instance"])
        assert solve(instance).value == example["optimum"]["value"]
        assert solve(instance, "greedy").value == example["greedy"]["value"]
        assert float(example["greedy"]["value"]) < float(example["optimum"]["value"])


def test_a_run_depends_on_its_seed_alone() -> None:
    (alone,) = EXPERIMENT.run(ALONE, (43,), silent)
    assert EXPERIMENT.run(ALONE, (42, 43), silent)[1] == alone


@pytest.mark.slow
def test_processes_give_the_same_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    here = EXPERIMENT.run(ALONE, (42, 43), silent)
    monkeypatch.setattr(memprice, "_WORTH_A_PROCESS", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert EXPERIMENT.run(ALONE, (42, 43), silent) == here


def test_without_ortools_the_extra_is_named_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(SolverMissing, match=r"memopt\[solvers\]"):
        EXPERIMENT.run(SMALL, (42,), silent)
    assert EXPERIMENT.run(ALONE, (42,), silent)


def test_a_heuristic_posing_as_the_solver_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = memprice_problems.solve_compiled
    monkeypatch.setattr(
        memprice_problems,
        "solve_compiled",
        lambda compiled, name: honest(compiled, "greedy" if name == "dp" else name),
    )
    assert memprice_problems.against_exhaustive(42, 60, 5).differ > 0


def test_a_fault_of_compiling_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["memopt.compile"], "_rate", lambda columns: Fraction(0))  # no price
    assert memprice_problems.against_exhaustive(42, 60, 5).differ > 0


def test_a_fault_that_is_none_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    harmless = ("tokens_negative", lambda items, row, level: None)
    monkeypatch.setitem(memprice_problems._FAULTS, "harmless", harmless)
    assert memprice_problems.accepted_faults(42) == ["harmless"]


@pytest.fixture(scope="module")
def told() -> tuple[Stream, Trace]:
    made = stream(42, 40, 2, 3)
    return made, record(made, Config(gain=1.0), 40, 120, 10, 0)


def broken(made: Stream, trace: Trace) -> dict[str, int]:
    return {name: count for name, count in judge(made, trace, 120, 0.8, 1.0).broken.items() if count}


def test_an_honest_trace_breaks_nothing(told: tuple[Stream, Trace]) -> None:
    assert broken(*told) == {}


def test_a_queue_off_by_a_hair_is_found(told: tuple[Stream, Trace]) -> None:
    made, trace = told
    moved = replace(trace.queues[9], pressure_units=trace.queues[9].pressure_units + 10**7)
    assert broken(made, replace(trace, queues=[*trace.queues[:9], moved, *trace.queues[10:]])) == {
        BROKEN[1]: 1
    }


def test_a_reset_clock_is_found(told: tuple[Stream, Trace]) -> None:
    made, trace = told
    reset = [replace(queue, turn=1) for queue in trace.queues]
    assert broken(made, replace(trace, queues=reset))[BROKEN[1]] == len(reset)


@pytest.mark.parametrize(
    ("change", "name"),
    [({"tokens": 121}, BROKEN[0]), ({"objective": 0.0}, BROKEN[3]), ({"price": 1e9}, BROKEN[2])],
)
def test_a_wrong_turn_is_found(told: tuple[Stream, Trace], change: dict[str, float], name: str) -> None:
    made, trace = told
    event = replace(trace.events[5], result=trace.events[5].result | change)
    assert name in broken(made, replace(trace, events=[*trace.events[:5], event, *trace.events[6:]]))


def test_a_level_raised_in_a_window_is_counted() -> None:
    made = stream(42, 12, 2, 3)
    told = record(made, Config(gain=1.0), 12, 120, 0, 0)
    assert dict(zip(SEEN, (told.asked, told.regained), strict=True)) == dict.fromkeys(SEEN, 0)
    assert told.raised == 0
    assert any(rank > 0 for held in told.held for rank in held)


def test_the_frontier_is_that_of_enumeration() -> None:
    made = stream(7, 2, 1, 2)
    value = frontier(made, [[0], [2, 0]], 150)[1]
    expected = np.full(151, -np.inf)
    first = [(0, 0.0), *zip(made.tokens[0, 2:], made.utility[0, 2:], strict=True)]
    second = [(0, 0.0), *zip(made.tokens[1], made.utility[1], strict=True)]
    for size, worth in first:
        for more, better in second:
            if size + more <= 150:
                expected[size + more] = max(expected[size + more], worth + better)
    assert value == pytest.approx(expected)


def test_the_critical_rate_is_where_the_optimum_comes_down() -> None:
    made = stream(3, 30, 2, 3)
    value = frontier(made, [[0] * len(made.offered(turn)) for turn in range(30)], 120)
    rate = critical_rate(value, 96)

    def kept(price: np.ndarray) -> np.ndarray:
        return (value - price[:, None] * np.arange(121)).argmax(axis=1)

    assert (kept(rate * (1 + 1e-9)) <= 96).all()
    assert (kept(rate * (1 - 1e-9))[rate > 0] > 96).all()
    assert (rate > 0).any()


def test_the_drawing_has_labels_units_and_a_legend() -> None:
    pytest.importorskip("matplotlib")
    figure = drawing()
    EXPERIMENT.plot(ALONE, EXPERIMENT.run(ALONE, (42, 43), silent), figure)
    figure.savefig(io.BytesIO(), format="png")
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "Q (budgets)",
        "kept tokens / budget",
        "utility, summed over turns",
    ]
    assert all(axes.get_legend() and axes.get_xlabel() == "turn" for axes in figure.axes)
