from __future__ import annotations

from typing import Any

import pytest
from foreign import CONFLICT, PAIR, STUCK
from hypothesis import given, settings
from hypothesis import strategies as st

from memopt import Instance, compile
from memopt.errors import Fault, InvalidSolution
from memopt.export import solution
from memopt.export.solution import Imported, import_solution
from memopt.families import generate
from memopt.solve import solve_compiled
from memopt.solvers.dp import DynamicProgram

COMPILED = compile(Instance.model_validate(PAIR))
BEST = ["x_a_b__delete", "x_c__delete", "x_d__raw"]


def _imported(held: list[str], claimed: str = "", declared: Any = PAIR) -> Imported:
    lines = [f"{name} 1" for name in held]
    if claimed:
        columns = f"# Columns -{len(held)} sparse"
        lines = ["Model status", claimed, "# Primal solution values", "Feasible", columns, *lines, ""]
    return import_solution(compile(Instance.model_validate(declared)), "\n".join(lines).encode())


def test_an_optimal_selection_is_told_with_its_numbers():
    told = _imported(BEST, "Optimal").to_dict()
    assert told["verdict"] == "optimal"
    assert told["wrong"] is False
    assert told["choices"] == {"a b": "delete", "c": "delete", "d": "raw"}
    assert (told["value"], told["tokens"], told["budget"]) == ("0.000000000", 0, 9)
    assert (told["optimum"], told["distance"], told["tokens_more"]) == ("0.000000000", "0.000000000", 0)
    assert (told["feasible"], told["broken"], told["format"], told["claimed"]) == (
        True,
        [],
        "highs",
        "Optimal",
    )


ROOM = PAIR | {"budget": 10}


@pytest.mark.parametrize(
    ("claimed", "wrong"), [("Optimal", True), ("optimal", True), ("Time limit reached", False), ("", False)]
)
def test_a_worse_selection_is_wrong_only_if_it_is_said_to_be_optimal(claimed: str, wrong: bool):
    imported = _imported(["x_a_b__keywords", "x_c__raw", "x_d__raw"], claimed, ROOM)
    told = imported.to_dict()
    assert (told["verdict"], told["wrong"]) == ("suboptimal", wrong)
    assert (told["value"], told["optimum"], told["distance"]) == ("0.000000000", "4.000000000", "4.000000000")
    assert told["tokens_more"] == 3 - 10


def test_every_broken_constraint_is_named():
    *linked, last = PAIR["items"]
    heavy = PAIR | {"items": [*linked, last | {"levels": {"raw": {"tokens": 5, "utility": 0}}}]}
    told = _imported(["x_a_b__raw", "x_c__delete", "x_d__raw"], "Optimal", heavy).to_dict()
    assert (told["verdict"], told["wrong"], told["feasible"]) == ("broken", True, False)
    assert [broken.partition(":")[0] for broken in told["broken"]] == ["budget", "group"]
    assert (told["value"], told["tokens"]) == ("3.000000000", 13)
    assert told["distance"] is None


def test_a_selection_for_an_infeasible_program_is_broken():
    imported = _imported(["x_rule__raw", "x_x__delete"], "Optimal", STUCK)
    assert (imported.verdict, imported.wrong) == ("broken", True)
    assert imported.to_dict()["optimum"] is None


@pytest.mark.parametrize("declared", [STUCK, CONFLICT], ids=["stuck", "conflict"])
def test_a_solver_that_says_infeasible_may_be_right(declared: Any):
    imported = _imported([], "Infeasible", declared)
    assert (imported.verdict, imported.wrong, imported.to_dict()["choices"]) == ("infeasible", False, {})


def test_a_solver_that_says_infeasible_may_be_wrong():
    imported = _imported([], "Infeasible")
    assert (imported.verdict, imported.wrong) == ("refuted", True)


FILES = [
    f"Model status\nOptimal\n\n# Primal\nFeasible\n# Columns 2\n{BEST[0]} 1\n{BEST[1]} 1\n# Rows\n",
    f"Optimal - objective value 3\n 0 {BEST[0]} 1 0\n** 1 {BEST[1]} 1 0\n 2 {BEST[2]} 1 0\n",
    "c Status\ns mip 5 6 o 3\ni 1 3\nj 1 0\nj 2 0\nj 3 1\nj 4 0\nj 5 1\nj 6 1\ne o f\n",
    "Problem:\nStatus: INTEGER OPTIMAL\n No. Column name\n---\n 1 x_d__raw * 1\n 2 x_c__delete\n * 1 0\n\n",
    "# Gurobi\n" + "".join(f"{name} 1\n" for name in BEST),
]


@settings(max_examples=200)
@given(st.sampled_from(FILES), st.data())
def test_no_mutated_file_gets_past_the_report(text: str, data: st.DataObject):
    """Bytes are dropped, doubled and replaced at random: the answer is an audit or a report."""
    content = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content) - 1))
        piece = data.draw(
            st.sampled_from([b"", b"\n", b"1", b"-", b"e999", b"nan", b" ", b"\xff", b"9" * 5000, b"x_"])
        )
        content[at : at + data.draw(st.integers(0, 9))] = piece
        if not content:
            break
    faults: tuple[Fault, ...] = ()
    try:
        verdict = import_solution(COMPILED, bytes(content)).verdict
    except InvalidSolution as error:
        verdict, faults = "", error.faults
    assert bool(verdict) != bool(faults)
    assert all(fault.code and fault.message for fault in faults)


def test_where_only_a_bound_is_known_nothing_is_called_suboptimal(monkeypatch: pytest.MonkeyPatch):
    """The state limit of the solver is set so low that it stops with a gap."""
    compiled = compile(generate("strongly-correlated", 60, 1))
    monkeypatch.setattr(solution, "solve_compiled", lambda one: solve_compiled(one, DynamicProgram(2)))
    names = [f"x_{name}__delete 1" for name in compiled.program.ids]
    imported = import_solution(compiled, "\n".join(names).encode())
    assert imported.best.status == "feasible"
    assert (imported.verdict, imported.wrong) == ("unproven", False)
    assert imported.to_dict()["distance"] == imported.best.bound


@pytest.mark.parametrize(("stated", "misstated"), [("1e-9", False), ("-0", False), ("1", True)])
def test_an_objective_of_nothing_may_be_stated_with_round_off(stated: str, misstated: bool):
    lines = [f"# Objective value = {stated}", *(f"{name} 1" for name in BEST)]
    imported = import_solution(COMPILED, "\n".join(lines).encode())
    assert imported.audit is not None
    assert (imported.audit.value, imported.misstated) == (0, misstated)


@pytest.mark.parametrize("stated", ["4000000000", "-4000000000"])
def test_the_objective_of_a_file_that_minimises_is_minus_the_value(stated: str):
    held = ["x_a_b__raw", "x_c__raw", "x_d__raw"]
    lines = [f"# Objective value = {stated}", *(f"{name} 1" for name in held)]
    imported = import_solution(compile(Instance.model_validate(ROOM)), "\n".join(lines).encode())
    assert (imported.verdict, imported.misstated) == ("optimal", False)
