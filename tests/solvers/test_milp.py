"""CBC and HiGHS against enumeration, silent and clean, and the faults that the limits keep out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from peers import check, item, near_tie, program, program_of, regression, unless_measured
from strategies import declarations

from memopt import SolverFailed, SolverLimit, SolverMissing
from memopt.compile import compile as compiled
from memopt.families import generate_columns
from memopt.solve import solve
from memopt.solvers import backends, get
from memopt.solvers.exhaustive import Exhaustive
from memopt.solvers.milp import Milp, _Search

pulp = pytest.importorskip("pulp")
pytest.importorskip("highspy")

EACH = pytest.mark.parametrize("backend", ["cbc", "highs"])
TIES = [item(f"t{i}", (9 - i, 1), (3, 0.5)) for i in range(6)]
HARD = compiled(generate_columns("priced", 200, 1))


@EACH
@settings(max_examples=100)
@given(declared=declarations())
def test_agrees_with_enumeration_on_value_tokens_and_bound(backend, declared):
    check(Milp(backend), program_of(declared))


@EACH
@pytest.mark.parametrize("seed", range(20))
def test_tells_selections_apart_that_differ_by_one_unit_of_value(backend, seed):
    assert check(Milp(backend), near_tie(seed, 4 * 10**11)) is not None


@EACH
@pytest.mark.parametrize("seed", range(10))
def test_a_budget_one_token_short_is_kept_at_the_limit(backend, seed):
    most = backends.find(backend).most_tokens
    random = np.random.default_rng(seed)
    raw = random.integers(most // 16, most // 5, 8).tolist()
    items = [item(f"m{i}", (size, 1 + size / most), (size // 2, 0.7)) for i, size in enumerate(raw)]
    full = program(most // 2, *items)
    short = full.audit(Exhaustive().solve(full).selection).tokens - 1
    assert check(Milp(backend), replace(full, budget=short)) is not None


@EACH
@pytest.mark.parametrize("budget", range(8, 30, 3))
def test_fewest_tokens_among_the_optima(backend, budget):
    assert "fewest tokens proved" in check(Milp(backend), program(budget, *TIES)).proof


def test_the_second_pass_can_be_left_out():
    given_program = program(20, *TIES)
    answer = Milp("highs", fewest_tokens=False).solve(given_program)
    assert answer.bound == Exhaustive().solve(given_program).bound
    assert "tokens" not in answer.proof


@EACH
@pytest.mark.parametrize(
    "declared",
    [
        program(9),
        program(0, item("a", (3, 1)), item("b", (0, 2))),
        program(9, item("a", (3, -1))),
        program(9, item("a", (3, 0)), item("b", (2, 0))),
        program(9, item("a", (0, 1)), item("b", (0, 2))),
        program(2, item("a", (3, 1), pinned=True)),
        program(9, *(item(name, (3, 1), pinned=True, exclusive="x") for name in "ab")),
        program(9, item("a", (3, 1), pinned=True, group="g"), item("b", (3, -5), group="g")),
        program(5, item("a", (3, 1), group="g"), item("b", (30, 5), group="g"), item("c", (4, 1))),
        program(3, *(item(n, (2, 1), (1, 0.5), pinned=True, min_level="summary", group="g") for n in "ab")),
    ],
    ids=[
        "no items", "no budget", "harmful", "worthless", "no tokens", "too large", "contradiction", "dragged",
        "stuck", "both pinned",
    ],
)  # fmt: skip
def test_edges(backend, declared):
    assert check(Milp(backend), declared) is not None


@EACH
def test_two_runs_give_the_same_answer(backend):
    given_program = compiled(generate_columns("duplicates", 30, 3)).program
    first, second = Milp(backend).solve(given_program), Milp(backend).solve(given_program)
    assert np.array_equal(first.selection, second.selection)
    assert (first.proof, first.parameters) == (second.proof, second.parameters)


def test_what_was_set_is_read_back():
    small = program(9, item("a", (3, 1)))
    assert Milp("cbc").solve(small).parameters.items() >= {
        "ratioGap": "0", "allowableGap": "0", "primalTolerance": "1e-09", "backend": "cbc",
    }.items()  # fmt: skip
    assert Milp("highs").solve(small).parameters.items() >= {
        "mip_rel_gap": 0.0, "mip_abs_gap": 0.0, "mip_feasibility_tolerance": 1e-9, "parallel": "off",
    }.items()  # fmt: skip


@EACH
def test_a_time_limit_leaves_a_feasible_selection_and_no_claim_of_optimality(backend):
    answer = Milp(backend).solve(HARD.program, time_limit=3)
    audit, best = HARD.program.audit(answer.selection), solve(HARD.columns).units
    assert answer.claimed == "feasible"
    assert audit.broken == ()
    assert audit.value <= best <= answer.bound
    assert answer.bound > audit.value


@EACH
def test_without_time_there_is_no_selection_and_no_claim(backend):
    answer = Milp(backend).solve(HARD.program, time_limit=0)
    assert answer.selection is None
    assert not answer.infeasible
    assert answer.bound is None
    assert answer.claimed == "unknown"


def test_time_that_ends_before_the_second_pass_keeps_the_first_selection():
    given_program = program(20, *TIES)
    first = Milp("highs", fewest_tokens=False).solve(given_program).selection
    kept, proved = _Search(given_program, backends.find("highs"), deadline=0.0).lighten(first)
    assert np.array_equal(kept, first)
    assert not proved


def test_a_backend_that_contradicts_its_own_proof_is_no_answer():
    given_program = program(20, *TIES)
    search = _Search(given_program, backends.find("highs"), deadline=None)
    poor = given_program.start[1:] - 1  # not the optimum, although the second pass is told so
    poor[0] = 0
    with pytest.raises(SolverFailed, match="more value than it proved"):
        search.lighten(poor)


def test_variables_are_read_within_a_tolerance_and_no_further():
    search = _Search(program(9, item("a", (3, 1))), backends.find("highs"), deadline=None)
    raw, deleted = search.chosen
    raw.varValue, deleted.varValue = 0.9999991, -0.0
    assert search._selection().tolist() == [0]
    raw.varValue, deleted.varValue = None, 1.0
    assert search._selection().tolist() == [1]
    for broken in ((0.6, 0.4), (1.0, 1.0), (0.0, 0.0), (2.0, -1.0)):
        raw.varValue, deleted.varValue = broken
        assert search._selection() is None


@EACH
@pytest.mark.parametrize("release", ["milp-cbc-large-tokens", "milp-highs-large-tokens"])
def test_large_tokens_are_refused_by_name_and_enumeration_is_right(backend, release):
    case = regression(release)
    large = program_of(case["input"])
    assert Exhaustive().solve(large).bound == case["right"] * 10**large.scale
    if backend in release:
        with pytest.raises(SolverLimit) as caught:
            Milp(backend).solve(large)
        assert caught.value.limit == case["limit"]


def test_highs_is_right_where_cbc_is_not():
    case = regression("milp-cbc-large-tokens")
    assert check(Milp("highs"), program_of(case["input"])).bound == case["right"] * 10**9


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("cbc", marks=unless_measured("pulp", "3.3")),
        pytest.param("highs", marks=unless_measured("highspy", "1.16")),
    ],
)
def test_large_tokens_without_the_guard_are_decided_wrong(backend, monkeypatch):
    case = regression(f"milp-{backend}-large-tokens")
    large = program_of(case["input"])
    monkeypatch.setattr(type(backends.find(backend)), "most_tokens", 10**18)
    answer = Milp(backend, fewest_tokens=False).solve(large)
    audit = large.audit(answer.selection)
    assert answer.claimed == "optimal"
    assert audit.value == case["wrong"] * 10**large.scale
    assert bool(audit.broken) == (case["wrong"] > case["right"])


def test_values_beyond_the_contract_are_refused_by_name():
    large = program(9, item("a", (3, 1)), item("b", (2, 1)))
    worth = np.where(large.tokens > 0, 10**13 + large.tokens, 0)
    with pytest.raises(SolverLimit) as caught:
        Milp("highs").solve(replace(large, value=worth))
    assert (caught.value.limit, caught.value.most) == ("value", 10**12)


def test_a_common_divisor_brings_large_tokens_within_the_limit():
    large = program(3 * 10**12, *(item(f"m{i}", (10**12, 1 + i)) for i in range(4)))
    assert check(Milp("cbc"), large) is not None
    assert check(Milp("highs"), large) is not None


def test_an_optimum_that_is_no_selection_is_no_answer(monkeypatch):
    search = _Search(program(9, item("a", (3, 1))), backends.find("highs"), deadline=None)
    monkeypatch.setattr("memopt.solvers.milp._INTEGRAL", -1)  # as if every variable were off
    with pytest.raises(SolverFailed, match="no selection"):
        search.run(9)


def test_nothing_is_printed_and_no_file_is_left(tmp_path):
    code = (
        "from peers import *; from memopt.solvers.milp import Milp\n"
        "p = program(20, *(item(f't{i}', (9 - i, 1), (3, 0.5)) for i in range(6)))\n"
        "for backend in ('highs', 'cbc'): assert check(Milp(backend), p)\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False,
        env={"PYTHONPATH": ":".join(sys.path), "TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@EACH
def test_an_interrupt_ends_the_search_and_leaves_nothing(backend, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    Milp(backend).solve(program(9, item("a", (3, 1))))  # loads what is needed
    interrupt = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            Milp(backend).solve(HARD.program)
    finally:
        interrupt.cancel()
    assert list(tmp_path.iterdir()) == []
    assert not any(os.fsencode(tmp_path) in command for command in _running())


def _running():
    """Yield the command line of every process, where the system shows them."""
    for shown in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            yield shown.read_bytes()


def test_cbc_may_work_in_a_folder_with_an_odd_name(tmp_path, monkeypatch):
    folder = tmp_path / "two words -sec 'quoted'"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert check(Milp("cbc"), program(20, *TIES)) is not None


def test_no_file_is_left_when_cbc_breaks_down(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    broken = replace(backends.find("cbc"), path="/bin/false")
    search = _Search(program(9, item("a", (3, 1))), broken, deadline=None)
    with pytest.raises(SolverFailed, match="CBC"):
        search.run(9)
    assert list(tmp_path.iterdir()) == []


def test_highs_with_other_threads_elsewhere_in_the_process_does_no_harm():
    code = (
        "import highspy; from peers import *; from memopt.solvers.milp import Milp\n"
        "other = highspy.Highs(); other.setOptionValue('threads', 2); other.addVar(0, 1); other.run()\n"
        "p = program(20, *(item(f't{i}', (9 - i, 1), (3, 0.5)) for i in range(6)))\n"
        "assert check(Milp('highs'), p)\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False,
        env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr


def test_the_first_backend_that_is_installed_is_taken(monkeypatch):
    assert backends.find(None).name == "cbc"
    monkeypatch.delattr(pulp, "PULP_CBC_CMD")
    monkeypatch.setenv("PATH", "")
    assert backends.find(None).name == "highs"
    with pytest.raises(SolverMissing, match="CBC"):
        backends.find("cbc")


@pytest.mark.parametrize(("package", "backend"), [("pulp", None), ("pulp", "highs"), ("highspy", "highs")])
def test_without_a_package_the_extra_is_named(package, backend, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SolverMissing, match=r"memopt\[solvers\]") as caught:
        Milp(backend).solve(program(9, item("a", (3, 1))))
    assert (caught.value.solver, caught.value.package) == ("milp", package)


def test_is_asked_for_by_name():
    assert get("milp") == Milp()
