"""What answers depend on: the sources, the versions, and every solver's parameters."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

import memopt
from memopt.instance import Instance
from memopt.verify import verify


class Part(BaseModel):
    """A part of a report: read back strictly, or not at all."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Component(Part):
    """A solver that answered."""

    version: str
    parameters: dict[str, Any]


class MadeBy(Part):
    """Everything an answer depends on; ``sources`` is the SHA-256 of the package's source files."""

    memopt: str
    sources: str
    python: str
    machine: str
    solvers: dict[str, Component]

    @property
    def versions(self) -> dict[str, str]:
        """Version of every solver."""
        return {name: solver.version for name, solver in self.solvers.items()}


_SMALLEST = {"budget": 1, "items": [{"id": "a", "levels": {"raw": {"tokens": 1, "utility": 1}}}]}


def made_by(against: Sequence[str], time_limit: float | None = None) -> MadeBy:
    """Return what answers depend on here, by asking every solver about a smallest instance.

    Raises
    ------
    UnknownSolver, SolverMissing
        As `memopt.verify`.
    """
    answers = verify(Instance.model_validate(_SMALLEST), against, time_limit).answers
    return MadeBy(
        memopt=memopt.__version__,
        sources=sources_digest(),
        python=platform.python_version(),
        machine=f"{platform.system()} {platform.machine()}",
        solvers={
            answer.solver: Component(version=answer.version, parameters=answer.parameters)
            for answer in answers
        },
    )


def sources_digest() -> str:
    """Return the SHA-256 of the source files of memopt, each with its name."""
    folder = Path(memopt.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return f"sha256:{digest.hexdigest()}"
