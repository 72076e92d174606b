"""`memopt --version`: memopt, what it stands on, and every solver."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

from memopt import __version__
from memopt.solvers import SOLVERS

_PACKAGES = {"cpsat": ("ortools",), "milp": ("pulp", "highspy")}
"""Packages behind a solver; solvers not listed are part of memopt."""


def version_lines() -> Iterator[str]:
    """Yield one line per component, without importing any of them."""
    yield f"memopt {__version__}"
    for package in ("numpy", "numba"):
        yield f"{package} {_installed(package)}"
    for solver in SOLVERS:
        packages = _PACKAGES.get(solver, ())
        told = [f"{package} {_installed(package)}" for package in packages]
        yield f"solver {solver}: {', '.join(told) or f'memopt {__version__}'}"


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
