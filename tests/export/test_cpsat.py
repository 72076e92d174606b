from __future__ import annotations

from typing import Any

import pytest
from foreign import CONFLICT, EMPTY, PAIR, STUCK, TEN

from memopt import Instance, SolverLimit, compile, solve
from memopt.export import Export
from memopt.families import generate

cp_model = pytest.importorskip("ortools.sat.python.cp_model")


def _solved(text: bytes) -> tuple[str, int | None, set[str]]:
    """Solve a text model as anyone would: status, integer bound, names of the chosen variables."""
    model = cp_model.CpModel()
    assert model.proto.parse_text_format(text.decode())
    assert model.validate() == ""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.status_name(solver.solve(model))
    if status != "OPTIMAL":
        return status, None, set()
    values = solver.response_proto.solution
    chosen = {each.name for each, value in zip(model.proto.variables, values, strict=True) if value}
    return status, -solver.response_proto.inner_objective_lower_bound, chosen


def _made(declared: dict[str, Any]) -> Export:
    return Export(compile(Instance.model_validate(declared)))


@pytest.mark.parametrize("name", TEN)
def test_the_text_model_has_the_same_optimum(name: str):
    made = _made(TEN[name])
    status, bound, chosen = _solved(made.write("cpsat-text"))
    assert (status, bound) == ("OPTIMAL", solve(Instance.model_validate(TEN[name])).units)
    assert len(chosen & set(made.model.names.options)) == len(made.program)


@pytest.mark.parametrize("declared", [STUCK, CONFLICT], ids=["stuck", "conflict"])
def test_an_infeasible_program_is_an_infeasible_model(declared: dict[str, Any]):
    assert _solved(_made(declared).write("cpsat-text"))[0] == "INFEASIBLE"


def test_a_program_without_items_is_a_model_without_variables():
    assert _solved(_made(EMPTY).write("cpsat-text"))[:2] == ("OPTIMAL", 0)


def test_constraints_carry_the_names_of_the_rows():
    text = _made(PAIR).write("cpsat-text").decode()
    for row in ("budget", "item_a_b", "item_c", "item_d", "group_c"):
        assert f'name: "{row}"' in text


def test_text_and_binary_are_the_same_message():
    pb2 = pytest.importorskip("ortools.sat.cp_model_pb2")
    text_format = pytest.importorskip("google.protobuf.text_format")
    made = _made(TEN["links"])
    binary = pb2.CpModelProto.FromString(made.write("cpsat-binary"))
    assert text_format.Parse(made.write("cpsat-text"), pb2.CpModelProto()) == binary


def test_a_program_beyond_its_limits_is_refused_by_name():
    with pytest.raises(SolverLimit, match="tokens_sum"):
        Export(compile(generate("huge-weights", 5, 1))).write("cpsat-binary")
