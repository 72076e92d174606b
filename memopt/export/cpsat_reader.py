"""CP-SAT models read by protobuf's classes, their JSON form as plain JSON."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from memopt.export.reading import Constraint, Read, RereadDiffers, canonical
from memopt.signals import held_back

_LEAST, _MOST = -(2**63), 2**63 - 1
"""How CP-SAT writes that a side is unlimited."""


def read_cpsat(kind: str, content: bytes) -> Read:
    """Return what a file holds; ``kind`` is ``cpsat-text``, ``cpsat-binary`` or ``cpsat-json``.

    Raises
    ------
    RereadDiffers
        When it has other variables than Booleans, or an objective that is not simply maximised.
    """
    document = json.loads(content) if kind == "cpsat-json" else _message(kind, content)
    variables = document.get("variables", [])
    domains = [list(map(int, variable["domain"])) for variable in variables]
    fixed = {at: domain[0] for at, domain in enumerate(domains) if domain == [domain[0]] * 2}
    if any(domain != [0, 1] for at, domain in enumerate(domains) if at not in fixed):
        raise RereadDiffers(kind, "a variable is no Boolean")
    names = [variable.get("name", "") for at, variable in enumerate(variables) if at not in fixed]
    objective = document.get("objective", {})
    if "floatingPointObjective" in document or objective.get("offset", 0):
        raise RereadDiffers(kind, "the objective is of floats, or has a constant")
    if objective.get("scalingFactor") != -1:
        raise RereadDiffers(kind, "the objective is not maximised")
    values: list[float] = [0] * len(names)
    for variable, cost in zip(objective.get("vars", []), objective.get("coeffs", []), strict=True):
        values[variable] = -int(cost)
    rows = [(each.get("name", ""), _row(each, fixed)) for each in document.get("constraints", [])]
    return Read(names, values, rows)


def _message(kind: str, content: bytes) -> Any:
    with held_back():
        models: Any = import_module("ortools.sat.cp_model_pb2")
    message = models.CpModelProto()
    if kind == "cpsat-text":
        import_module("google.protobuf.text_format").Parse(content, message)
    else:
        message.ParseFromString(content)
    return import_module("google.protobuf.json_format").MessageToDict(message)


def _row(constraint: Any, fixed: dict[int, int]) -> Constraint:
    """Return a constraint as a linear one; a negated literal is written -x - 1 and means 1 - x."""
    if "linear" in constraint:
        form = constraint["linear"]
        lower, upper = map(int, form["domain"])
        terms = list(zip(form.get("vars", []), map(int, form.get("coeffs", [])), strict=True))
    else:
        literals = constraint.get("exactlyOne", constraint.get("atMostOne"))["literals"]
        upper = 1 - sum(literal < 0 for literal in literals)
        lower = upper if "exactlyOne" in constraint else _LEAST
        terms = [(literal, 1) if literal >= 0 else (-literal - 1, -1) for literal in literals]
    constant = sum(factor * fixed[variable] for variable, factor in terms if variable in fixed)
    return canonical(
        None if lower == _LEAST else lower - constant,
        None if upper == _MOST else upper - constant,
        [(variable, factor) for variable, factor in terms if variable not in fixed],
    )
