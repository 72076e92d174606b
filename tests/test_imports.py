"""An agent's process can allocate without the heavy or optional packages."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ["ortools", "pulp", "highspy", "matplotlib", "sqlalchemy", "numba", "rich", "typer", "pandas"]
HEAVY += ["pydantic_ai", "mcp", "anyio"]
SOLVE = """
import json, memopt
instance = memopt.Instance.model_validate_json(json.dumps(
    {"budget": 5, "items": [{"id": "a", "levels": {"raw": {"tokens": 4, "utility": 1}}}]}
))
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )


def test_importing_memopt_and_declaring_an_instance_loads_nothing_heavy():
    code = SOLVE + f"import sys; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    finished = run(code)
    assert finished.stderr == ""
    assert json.loads(finished.stdout) == []


def test_solving_works_where_no_solver_package_is_installed():
    blocked = f"import sys\nfor name in {['ortools', 'pulp', 'highspy']}: sys.modules[name] = None\n"
    finished = run(blocked + SOLVE + "print(memopt.solve(instance).to_json())")
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout)["choices"] == {"a": "raw"}


def test_solving_with_the_dp_loads_no_other_solver():
    code = (
        SOLVE + "memopt.solve(instance)\nimport sys; print('ortools' in sys.modules, 'pulp' in sys.modules)"
    )
    assert run(code).stdout.split() == ["False", "False"]


@pytest.mark.parametrize(("solver", "package"), [("cpsat", "ortools"), ("milp", "pulp")])
def test_asking_for_a_solver_that_is_not_installed_names_the_extra(solver, package):
    blocked = f"import sys\nsys.modules[{package!r}] = None\n"
    ask = f"""
try:
    memopt.solve(instance, {solver!r})
except memopt.SolverMissing as error:
    print(error)
"""
    finished = run(blocked + SOLVE + ask)
    assert finished.returncode == 0, finished.stderr
    assert "pip install 'memopt[solvers]'" in finished.stdout
    assert solver in finished.stdout


def test_every_public_name_is_there():
    finished = run(
        "import memopt; print([n for n in memopt.__all__ if not hasattr(memopt, n)], memopt.__version__)"
    )
    assert finished.stdout.startswith("[] ")
