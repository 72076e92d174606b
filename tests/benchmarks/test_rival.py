"""CP-SAT beside other work: when its time refutes a target, and what happens without it."""

from __future__ import annotations

import sys

import pytest

from benchmarks.clock import Timing
from benchmarks.peers import Dp, Outcome
from benchmarks.rival import COLUMNS, TARGET, against_cpsat, rival_row
from memopt.compile import compile as compiled
from memopt.families import generate
from memopt.program import Program


@pytest.fixture
def program() -> Program:
    return compiled(generate("memory-like", 20, 1)).program


@pytest.mark.parametrize(
    ("status", "times", "met", "shown"),
    [
        ("optimal", TARGET, True, "20.0 x"),
        ("optimal", TARGET / 2, False, "10.0 x"),
        ("feasible", TARGET, True, ">20.0 x"),
        ("none", TARGET / 2, None, ">10.0 x"),
    ],
)
def test_a_rival_at_its_limit_refutes_no_target(
    status: str, times: float, met: bool | None, shown: str
) -> None:
    outcome = Outcome(status, None, 7 if status == "optimal" else None)  # type: ignore[arg-type]  # a str
    row = rival_row(1, outcome, 7, Timing(9.0, times), Timing(9.0, 1.0))
    assert (row["met"], row["lower_bound"]) == (met, status != "optimal")
    assert shown in [column.show(row) for column in COLUMNS]


def test_another_proved_value_is_an_error() -> None:
    with pytest.raises(ValueError, match="CP-SAT proved 8, memopt 7"):
        rival_row(1, Outcome("optimal", None, 8), 7, Timing(1.0, 1.0), Timing(1.0, 1.0))


def test_cpsat_takes_turns_with_the_others(program: Program) -> None:
    pytest.importorskip("ortools")
    ours = Dp(program, 20.0)
    timings, outcome = against_cpsat({"dp": ours}, program, 20.0, 1)
    assert list(timings) == ["dp", "cpsat"]
    assert outcome is not None
    assert (outcome.status, outcome.value) == ("optimal", ours.outcome().value)


def test_without_cpsat_the_others_are_measured_alone(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    timings, outcome = against_cpsat({"dp": Dp(program, 20.0)}, program, 20.0, 1)
    assert (list(timings), outcome) == (["dp"], None)
