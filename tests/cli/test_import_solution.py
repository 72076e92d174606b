from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import PAIR, RUNS, STUCK, TEN

BEST = "# Solution\nx_a_b__delete 1\nx_c__delete 1\nx_d__raw 1\n"


@pytest.fixture
def audit(run: Any, tmp_path: Path) -> Any:
    """Run the command on an instance and the text of a solution file."""

    def call(declared: Any, solution: str, *options: str) -> Any:
        problem, file = tmp_path / "problem.json", tmp_path / "found.sol"
        problem.write_text(json.dumps(declared))
        file.write_text(solution)
        return run("import-solution", problem, file, *options)

    return call


@pytest.mark.parametrize("kind", RUNS)
def test_a_model_goes_out_and_its_solution_comes_back(kind: str, run: Any, tmp_path: Path) -> None:
    problem, model = tmp_path / "problem.json", tmp_path / "model.lp"
    problem.write_text(json.dumps(TEN["links"]))
    assert run("export", problem, "--format", "lp", "--out", model).exit_code == 0
    done = run("import-solution", problem, RUNS[kind](model), "--json")
    assert done.exit_code == 0
    told, solved = json.loads(done.stdout), json.loads(run("solve", problem, "--json").stdout)
    assert (told["verdict"], told["value"], told["digest"]) == ("optimal", solved["value"], solved["digest"])
    assert told["choices"].keys() == solved["choices"].keys()


def test_the_audit_is_told_in_lines(audit: Any) -> None:
    done = audit(PAIR, BEST)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "verdict   optimal: no selection is worth more",
        "solver    no claim (names file)",
        "value     0.000000000",
        "tokens    0 of 9",
        "optimum   0.000000000 with 0 tokens (optimal)",
        "distance  0.000000000 of value, +0 tokens",
    ]


def test_a_false_claim_of_optimality_is_exit_status_4(audit: Any) -> None:
    worse = "Optimal - objective value 0\n 0 x_a_b__keywords 1 0\n 1 x_c__raw 1 0\n 2 x_d__raw 1 0\n"
    done = audit(PAIR | {"budget": 10}, worse)
    assert done.exit_code == 4
    assert "verdict   suboptimal" in done.stdout
    assert "solver    Optimal, which is false (cbc file)" in done.stdout
    assert "distance  4.000000000 of value, -7 tokens" in done.stdout
    assert audit(PAIR | {"budget": 10}, worse.replace("Optimal", "Stopped on time")).exit_code == 0


def test_a_broken_constraint_is_exit_status_4_and_named(audit: Any) -> None:
    done = audit(PAIR, "x_a_b__raw 1\nx_c__raw 1\nx_d__raw 1\n")
    assert done.exit_code == 4
    assert "verdict   broken: it breaks constraints" in done.stdout
    assert "broken    budget: 10 tokens are 1 over 9" in done.stdout
    assert "distance" not in done.stdout


def test_an_infeasible_instance_is_exit_status_3_if_the_solver_says_so(audit: Any) -> None:
    done = audit(STUCK, "Infeasible - objective value 0\n")
    assert done.exit_code == 3
    assert done.stdout.startswith("verdict   infeasible: there is no selection, as the solver says\n")
    done = audit(PAIR, "Infeasible - objective value 0\n")
    assert done.exit_code == 4
    assert "Infeasible, which is false" in done.stdout


def test_a_file_that_gives_no_selection_is_one_report(audit: Any, strict_json: Any) -> None:
    wrong = "x_a_b__raw 0.5\nx_c__raw 1\nx_c__delete 1\nx_e__raw 1\n"
    done = audit(PAIR, wrong)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "gives no selection: 4 faults\n" in done.stderr
    codes = ["unknown_variable", "fractional", "several_options", "no_option"]
    assert [line.split(":")[0].strip() for line in done.stderr.splitlines()[1:]] == codes
    done = audit(PAIR, wrong, "--json")
    result = strict_json(done.stdout_bytes)
    assert (done.exit_code, done.stderr, result["status"]) == (2, "", "invalid")
    assert [error["code"] for error in result["errors"]] == codes


@pytest.mark.parametrize(
    "content", ["", "\0\x1b[31m", "{}", "nothing here", "Model status\n", "Problem:\n", "s mip\n"]
)
def test_what_is_no_solution_is_a_report(content: str, audit: Any) -> None:
    done = audit(PAIR, content)
    assert done.exit_code == 2
    assert "\x1b" not in done.stderr
    assert "gives no selection: 1 fault\n" in done.stderr


def test_an_invalid_instance_is_reported_as_such(audit: Any, strict_json: Any) -> None:
    done = audit({"budget": -1, "items": []}, BEST, "--json")
    assert done.exit_code == 2
    assert strict_json(done.stdout)["code"] == "budget_negative"


def test_a_missing_file_is_a_sentence(run: Any, tmp_path: Path) -> None:
    problem = tmp_path / "problem.json"
    problem.write_text(json.dumps(PAIR))
    done = run("import-solution", problem, tmp_path / "none.sol")
    assert done.exit_code == 2
    assert done.stderr == f"memopt: '{tmp_path / 'none.sol'}': No such file or directory\n"


def test_standard_input_is_one_of_the_two_files_at_most(run: Any) -> None:
    done = run("import-solution", "-", "-", data=PAIR)
    assert done.exit_code == 2
    assert "standard input is one file" in done.stderr


def test_a_file_that_is_cut_off_is_no_selection(audit: Any) -> None:
    """The last value was 1e-12."""
    names = [line.split()[0] for line in BEST.splitlines() if not line.startswith("#")]
    lines = [f" {place} {name} 1 0" for place, name in enumerate(names)]
    done = audit(PAIR, "\n".join(["Optimal - objective value 1", *lines]).removesuffix(" 0"))
    assert done.exit_code == 2
    assert "cut_off: the file is cut off" in done.stderr


STALE = "Optimal - objective value 7000000000\n 0 x_a_b__delete 1 0\n 1 x_c__delete 1 0\n 2 x_d__raw 1 0\n"


def test_a_stated_objective_that_is_not_so_may_be_of_another_version_of_the_file(audit: Any) -> None:
    done = audit(PAIR, STALE)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-2:] == [
        "stated    an objective of 7,000,000,000, which the selection does not have here",
        "perhaps   the solver is wrong, or the model was exported from another version of FILE",
    ]
    assert json.loads(audit(PAIR, STALE, "--json").stdout)["misstated"] is True
    right = audit(PAIR, STALE.replace("7000000000", "0.00000000"))
    assert "stated" not in right.stdout
    assert "perhaps" not in right.stdout


def test_a_false_claim_may_be_of_another_version_of_the_file(audit: Any) -> None:
    done = audit(PAIR, "Infeasible - objective value 0\n")
    assert done.exit_code == 4
    assert done.stdout.endswith("or the model was exported from another version of FILE\n")
