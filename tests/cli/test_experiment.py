from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memopt.experiments.registry import NAMES

NAME = "worth-calibration"
SMALL = ("--seeds", "2", "--set", "episodes=300", "--set", "checkpoints=100,300")
PNG = b"\x89PNG\r\n\x1a\n"


def test_every_experiment_is_listed_with_its_seeds_and_parameters(run: Any, strict_json: Any) -> None:
    listed = strict_json(run("experiment", "list", "--json").stdout)
    assert [each["name"] for each in listed] == list(NAMES)
    assert listed[0]["seeds"] == list(range(20))
    assert listed[0]["parameters"]["checkpoints"] == [2_000, 5_000, 10_000]
    shown = run("experiment", "list").stdout
    assert "0-19" in shown
    assert "checkpoints=2000,5000,10000" in shown
    assert all(name in shown for name in NAMES)


def test_a_run_shows_published_beside_ours_and_what_it_claims(run: Any) -> None:
    done = run("experiment", "run", NAME, "--seeds", "2", "--set", "episodes=2000")
    assert done.exit_code == 0, done.stderr
    assert "2 seeds: 0, 1; parameters changed: episodes=2000" in done.stdout
    rows = [line.split("│")[1:-1] for line in done.stdout.splitlines() if line.startswith("│")]
    cells = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}
    assert cells["rho, no feedback, 2,000"] == ["0.000", "0.000", "0.000", "+0.000", "yes"]
    assert cells["rho, uniform, 2,000"][0] == "0.660"
    assert cells["rho, uniform, 2,000"][-1] in ("yes", "no")
    assert cells["range of true p+"][-1] == "-"
    for said in ("Component only", "Diagnostic only", "Shows:", "Does not show:"):
        assert said in done.stdout
    assert "never" in done.stdout or "consistent with them" in done.stdout


def test_a_result_and_a_picture_are_written_into_a_folder_that_is_made(
    run: Any, tmp_path: Path, strict_json: Any
) -> None:
    out, plot = tmp_path / "runs" / "deep" / "a.json", tmp_path / "pictures" / "a.png"
    done = run("experiment", "run", NAME, *SMALL, "--out", out, "--plot", plot)
    assert done.exit_code == 0, done.stderr
    assert f"{out}: written\n{plot}: written\n" in done.stdout
    assert plot.read_bytes().startswith(PNG)
    document = strict_json(out.read_bytes())
    assert document["seeds"] == [0, 1]
    assert document["parameters"]["episodes"] == 300
    assert document["parameters"]["success_model"] == "sigmoid"
    assert [path.name for path in out.parent.iterdir()] == ["a.json"]


def test_the_same_seeds_give_the_same_bytes(run: Any, tmp_path: Path) -> None:
    paths = []
    for turn in "ab":
        paths.append((tmp_path / f"{turn}.json", tmp_path / f"{turn}.png"))
        out, plot = paths[-1]
        assert run("experiment", "run", NAME, *SMALL, "--out", out, "--plot", plot).exit_code == 0
    (a_out, a_plot), (b_out, b_plot) = paths
    assert a_out.read_bytes() == b_out.read_bytes()
    assert a_plot.read_bytes() == b_plot.read_bytes()


def test_json_is_the_document_that_is_written(run: Any, tmp_path: Path, strict_json: Any) -> None:
    out = tmp_path / "a.json"
    done = run("experiment", "run", NAME, *SMALL, "--json", "--out", out)
    assert done.stdout.count("\n") == 1
    assert strict_json(done.stdout) == strict_json(out.read_bytes())


def test_seeds_may_be_listed(run: Any) -> None:
    done = run("experiment", "run", NAME, "--seeds", "7,", *SMALL[2:], "--json")
    assert json.loads(done.stdout)["seeds"] == [7]


@pytest.mark.parametrize("option", ["--out", "--plot"])
def test_what_exists_is_never_overwritten(option: str, run: Any, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_bytes(b"mine")
    done = run("experiment", "run", NAME, option, taken)
    assert done.exit_code == 2
    assert done.stderr == f"memopt: '{taken}': it exists already; it is never overwritten\n"
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"mine"]


def test_nothing_is_left_where_one_of_two_files_is_refused(run: Any, tmp_path: Path) -> None:
    taken = tmp_path / "taken.png"
    taken.write_bytes(b"mine")
    done = run("experiment", "run", NAME, "--out", tmp_path / "new" / "a.json", "--plot", taken)
    assert done.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["taken.png"]


def test_every_fault_is_in_one_report(run: Any) -> None:
    done = run(
        "experiment", "run", NAME, "--seeds", "1,1", "--set", "colour=red", "--set", "memories=1",
        "--set", "checkpoints=5,x", "--set", "gain", "--out", "-", "--plot", "-",
    )  # fmt: skip
    assert (done.exit_code, done.stdout) == (2, "")
    first, *reasons = done.stderr.splitlines()
    assert first == "memopt: 8 faults in what is asked"
    assert len(reasons) == 8
    for expected in ("seed 1 is named 2 times", "no parameter 'colour'", "memories must be", "number 2"):
        assert sum(expected in reason for reason in reasons) == 1


def test_an_unknown_experiment_names_those_there_are(run: Any) -> None:
    done = run("experiment", "run", "worth", "--seeds", "x,2")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "memopt: 2 faults in what is asked\n  there is no experiment 'worth'; there are"
    )
    assert ", ".join(NAMES) in done.stderr


def test_result_and_picture_are_two_files(run: Any, tmp_path: Path) -> None:
    done = run("experiment", "run", NAME, "--out", tmp_path / "a", "--plot", f"{tmp_path}/./a")
    assert done.exit_code == 2
    assert "--out and --plot name the same file" in done.stderr


def test_a_picture_without_matplotlib_names_the_extra_before_the_run(tmp_path: Path) -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from memopt_cli.main import run; run()"
    arguments = [
        "experiment",
        "run",
        NAME,
        "--out",
        tmp_path / "new" / "a.json",
        "--plot",
        tmp_path / "a.png",
    ]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "memopt: plots need matplotlib, which is not installed: pip install 'memopt[plot]'\n"
    )
    assert list(tmp_path.iterdir()) == []
