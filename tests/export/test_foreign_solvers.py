"""LP and MPS files mean the same to GLPK, CBC and HiGHS, whatever the ids, and their answers come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign import CONFLICT, EMPTY, FREE, RUNS, STUCK, TEN

from memopt import Instance, compile, solve
from memopt.export import Export
from memopt.export.solution import import_solution


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("form", ["lp", "mps"])
@pytest.mark.parametrize("name", TEN)
def test_every_solver_finds_the_optimum_in_the_file(name: str, form: str, run: str, tmp_path: Path) -> None:
    instance = Instance.model_validate(TEN[name])
    compiled = compile(instance)
    model = tmp_path / f"model.{form}"
    model.write_bytes(Export(compiled).write(form))
    imported = import_solution(compiled, RUNS[run](model).read_bytes())
    best = solve(instance)
    assert imported.file.claims_optimal
    assert imported.audit is not None
    assert (imported.audit.value, imported.audit.broken) == (best.units, ())
    assert (imported.verdict, imported.wrong) == ("optimal", False)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("form", ["lp", "mps"])
@pytest.mark.parametrize("declared", [STUCK, CONFLICT], ids=["stuck", "conflict"])
def test_every_solver_finds_an_infeasible_program_infeasible(
    declared: dict, form: str, run: str, tmp_path: Path
) -> None:
    compiled = compile(Instance.model_validate(declared))
    model = tmp_path / f"model.{form}"
    model.write_bytes(Export(compiled).write(form))
    imported = import_solution(compiled, RUNS[run](model).read_bytes())
    assert (imported.verdict, imported.wrong) == ("infeasible", False)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("form", ["lp", "mps"])
@pytest.mark.parametrize("declared", [EMPTY, FREE], ids=["empty", "free"])
def test_every_solver_reads_a_program_without_items_or_without_costs(
    declared: dict, form: str, run: str, tmp_path: Path
) -> None:
    compiled = compile(Instance.model_validate(declared))
    model = tmp_path / f"model.{form}"
    model.write_bytes(Export(compiled).write(form))
    imported = import_solution(compiled, RUNS[run](model).read_bytes())
    assert (imported.verdict, imported.wrong) == ("optimal", False)
