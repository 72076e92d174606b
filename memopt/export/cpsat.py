"""CP-SAT's own model format: the very model that `memopt.solvers.cpsat` solves, with names.

OR-Tools writes text and binary without loss; the JSON form is protobuf's of the same message.
"""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from memopt.export.linear import Linear
from memopt.program import Program
from memopt.signals import held_back
from memopt.solvers import cpsat

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel


def named_model(program: Program, model: Linear) -> CpModel:
    """Return the CP-SAT model of a program, its variables and constraints named as in other formats.

    Raises
    ------
    SolverMissing, SolverLimit
        When OR-Tools is not installed, or CP-SAT cannot decide the program exactly.
    """
    built, _ = cpsat.build(program)
    built.name = f"memopt program {model.digest}{_counted_in(cpsat.token_step(program))}"
    for variable, name in zip(built.proto.variables, model.names.options, strict=False):
        variable.name = name  # constants may follow the options
    budget, *others = model.rows
    items, links = others[: len(program)], others[len(program) :]
    for constraint, row in zip(built.proto.constraints, [*items, budget, *links], strict=True):
        constraint.name = row.name
    return built


def _counted_in(step: int) -> str:
    return "" if step == 1 else f"; tokens and budget in units of {step}"


def write(built: CpModel, ending: str) -> bytes:
    """Return the content of a model file; ``ending`` is ``pb`` for binary, ``pbtxt`` for text."""
    with tempfile.TemporaryDirectory(prefix="memopt-") as folder:
        path = Path(folder, f"model.{ending}")
        if not built.export_to_file(str(path)):
            raise OSError(f"OR-Tools could not write {path}")
        return path.read_bytes()


def as_json(binary: bytes) -> bytes:
    """Return the JSON form of a binary model."""
    with held_back():
        models, json_format = map(import_module, ("ortools.sat.cp_model_pb2", "google.protobuf.json_format"))
    text: str = json_format.MessageToJson(models.CpModelProto.FromString(binary), indent=1)
    return f"{text}\n".encode()
