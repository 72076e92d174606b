from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from memopt_cli import verification
from memopt_cli.app import app
from memopt_cli.export import FILES
from mutate import mutated
from typer.main import get_command

from memopt import Instance, solvers, verify
from memopt.campaign import verify_tasks
from memopt.families import FAMILIES, generate
from memopt.report import Report

pytest.importorskip("ortools")
BUILT = get_command(app)
COMMAND = [sys.executable, "-m", "memopt", "verify"]
STUCK = {"budget": 1, "items": [{"id": "a", "pinned": True, "levels": {"raw": {"tokens": 3, "utility": 1}}}]}
EMPTY = {"budget": 1, "items": []}


@pytest.fixture(autouse=True)
def _built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not build all the commands anew for each of thousands of runs."""
    monkeypatch.setattr("typer.testing._get_command", lambda built: BUILT)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``milp`` be a greedy one that calls its selection optimal."""
    monkeypatch.setitem(solvers._MODULES, "milp", ("wrong", "PosingGreedy"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def untimed(path: Path) -> dict[str, Any]:
    document = json.loads(path.read_bytes())
    document.pop("timing")
    for row in document["rows"]:
        row.pop("seconds", None)
    return dict(document)


# One instance


def test_one_instance_is_shown_side_by_side_with_the_verdict_in_words(run: Any, examples: Path) -> None:
    done = run("verify", examples / "trip.json", "--against", "cpsat,exhaustive")
    verdict = verify(Instance.model_validate_json((examples / "trip.json").read_text()))
    assert done.exit_code == 0
    for name in ("status", "value", "tokens", "bound", "seconds"):
        assert name in done.stdout
    assert done.stdout.count(verdict.value) >= 4
    assert "dp 0.1.0: dual multiplier" in done.stdout
    assert re.search(r"cpsat [\d.]+: CP-SAT: optimal, integer bound \d+", done.stdout)
    assert "unproven: solver 'exhaustive' refuses this program: selections is " in done.stdout
    assert done.stderr == ""


def test_one_instance_that_all_agree_on(run: Any) -> None:
    done = run("verify", "-", data=EMPTY)
    assert done.exit_code == 0
    assert "equal: dp and cpsat prove the same optimum, 0.000000000 in 0 tokens\n" in done.stdout


def test_one_instance_as_json(run: Any, examples: Path, strict_json: Any) -> None:
    done = run("verify", examples / "coding.json", "--json")
    told = strict_json(done.stdout)
    assert (done.exit_code, told["verdict"], len(told["answers"])) == (0, "equal", 2)
    assert {
        "solver",
        "version",
        "value",
        "tokens",
        "status",
        "bound",
        "proof",
        "seconds",
        "parameters",
    } <= set(told["answers"][0])


def test_one_instance_that_is_infeasible(run: Any) -> None:
    done = run("verify", "-", data=STUCK)
    assert done.exit_code == 3
    assert "infeasible: dp and cpsat prove that there is no selection" in done.stdout
    assert done.stderr.startswith(
        "memopt: infeasible (pinned_exceeds_budget): what must stay needs at least 3"
    )


def test_one_instance_that_is_invalid(run: Any, strict_json: Any) -> None:
    done = run("verify", "-", data={"budget": -1, "items": []})
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "memopt: standard input declares no valid instance: 1 fault\n  budget_negative"
    )
    told = run("verify", "-", "--json", data=b"nonsense")
    assert (told.exit_code, strict_json(told.stdout)["errors"][0]["code"]) == (2, "not_json")


def test_a_time_limit_is_passed_on(run: Any, strict_json: Any) -> None:
    done = run("verify", "-", "--json", "--time-limit", "7", data=EMPTY)
    assert strict_json(done.stdout)["answers"][1]["parameters"]["time_limit"] == 7


# Many instances


def test_files_folders_and_lines_are_counted_by_path(run: Any, here: Path, examples: Path) -> None:
    Path("many.jsonl").write_text("\n".join(map(json.dumps, [EMPTY, STUCK, EMPTY])))
    done = run("verify", examples, "many.jsonl")
    assert done.exit_code == 0
    cells = [re.split(r"\s*│\s*", line)[1:-1] for line in done.stdout.splitlines() if line.startswith("│")]
    assert ["many.jsonl", "3", "2", "0", "0", "0", "1"] in cells
    assert ["total", "8", "7", "0", "0", "0", "1"] in cells
    assert done.stderr == ""


def test_a_bad_input_is_counted_and_named_and_not_the_end(run: Any, here: Path) -> None:
    Path("many.jsonl").write_text("\n".join([json.dumps(EMPTY), "nonsense", json.dumps(STUCK)]))
    done = run("verify", "many.jsonl")
    assert done.exit_code == 2
    assert "rejected, many.jsonl, line 2: 1 fault\n  not_json: the text is no JSON" in done.stdout


def test_random_instances_of_all_families(run: Any) -> None:
    done = run("verify", "--random", len(FAMILIES) * 3, "--seed", "2", "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert told["asked"] == {"random": 36, "families": list(FAMILIES), "seed": 2, "against": ["cpsat"]}
    assert [sum(counts.values()) for counts in told["groups"].values()] == [3] * len(FAMILIES)
    assert (told["counts"]["differ"], told["counts"]["invalid"]) == (0, 0)
    unproven = told["groups"]["huge-weights"]["unproven"]
    assert unproven > 0
    assert told["unproven"] == {"cpsat refuses a program beyond its limit tokens_sum": unproven}
    assert "rows" not in told


def test_random_instances_of_one_family_in_a_table(run: Any) -> None:
    done = run("verify", "--random", "8", "--family", "huge-weights")
    assert done.exit_code == 0
    assert re.search(r"huge-weights +│ +8 │ +6 │ +0 │ +2 │ +0 │ +0 ", done.stdout)
    assert done.stdout.endswith(
        "unproven, cpsat refuses a program beyond its limit tokens_sum: 2\n"
        "  huge-weights, seed 1, 1 item\n  huge-weights, seed 7, 7 items\n"
    )
    assert "total" not in done.stdout


def test_no_more_than_ten_are_named(run: Any) -> None:
    done = run("verify", "--random", "14", "--family", "tight", "--against", "greedy")
    first, *listed, last = done.stdout[done.stdout.index("unproven, ") :].splitlines()
    named = re.fullmatch(r"unproven, greedy proves no optimum: (1\d)", first)
    assert named is not None
    assert all(re.fullmatch(r"  tight, seed \d+, \d+ items?", line) for line in listed)
    assert (len(listed), last) == (10, f"  and {int(named[1]) - 10} more")


def _cells(shown: str) -> dict[str, dict[str, str]]:
    """Return what a table or its paragraphs say, by row and column."""
    lines = [re.split(r"\s*[│┃]\s*", line)[1:-1] for line in shown.splitlines() if line[0] in "│┃"]
    if lines:
        names, *rows = lines
        return {row[0]: dict(zip(names[1:], row[1:], strict=True)) for row in rows}
    found = re.findall(r"^(\S+)\n((?:  .*\n)+)", shown, re.MULTILINE)
    return {
        first: dict(pair.rsplit(" ", 1) for pair in " ".join(told.split()).split("; "))
        for first, told in found
    }


@pytest.mark.parametrize("columns", ["80", "72", "64", "50"])
def test_narrow_terminals_break_no_word_and_lose_no_column(
    columns: str, run: Any, here: Path, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("many.jsonl").write_text("\n".join([json.dumps(EMPTY), json.dumps(STUCK)]))
    asked = [
        ["--random", "24", "--family", "zero-budget,strongly-correlated"],
        [str(examples / "trip.json"), "--against", "cpsat,greedy"],
        ["many.jsonl"],
    ]
    for arguments in asked:
        with monkeypatch.context() as patched:
            patched.setenv("COLUMNS", "200")
            wide = _cells(run("verify", *arguments).stdout)
            patched.setenv("COLUMNS", columns)
            shown = run("verify", *arguments).stdout
        narrow = _cells(shown)
        for told in (*wide.values(), *narrow.values()):
            told.pop("seconds", None)
        assert narrow == wide != {}
        assert all(len(line) <= int(columns) for line in shown.splitlines() if line[0] in "│┃ ")


def test_several_families_in_turn(run: Any) -> None:
    told = json.loads(run("verify", "--random", "5", "--family", "tight, duplicates", "--json").stdout)
    assert told["asked"]["families"] == ["tight", "duplicates"]
    assert {family: sum(counts.values()) for family, counts in told["groups"].items()} == {
        "tight": 3, "duplicates": 2,
    }  # fmt: skip


def test_other_solvers_to_compare_with(run: Any) -> None:
    done = run("verify", "--random", "6", "--family", "huge-weights", "--against", "exhaustive", "--json")
    assert json.loads(done.stdout)["counts"]["equal"] == 6


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "give either files or --random N"),
        (["x.json", "--random", "3"], "give either files or --random N"),
        (["x.json", "--family", "linked"], "--family and --seed go with --random"),
        (["x.json", "--seed", "0"], "--family and --seed go with --random"),
        (["--random", "3", "--family", "hard"], "there is no family 'hard'; known are uncorrelated"),
        (["--random", "3", "--against", "magic"], "there is no solver 'magic'; known are dp, cpsat"),
        (["--random", "3", "--against", ""], "there is no solver ''"),
        (["--random", "3", "--against", "dp"], "name the others, and not dp itself"),
        (["--random", "3", "--against", "cpsat,cpsat"], "with each name once"),
        (["--random", "3", "--against", "cpsat", "--against", "milp"], "give it once"),
        (["--random", "3", "--family", "tight", "--family", "linked"], "give it once"),
        (["--random", "3", "--family", "tight,tight"], "with each name once"),
        (["--random", "3", "--family", "tight,hard"], "there is no family 'hard'; known are uncorrelated"),
        (["--random", "0"], "--random"),
        (["--random", "3", "--seed", "-1"], "--seed"),
        (["--random", "3", "--jobs", "0"], "--jobs"),
        (["--random", "3", "--out", "-"], "a report goes to a file"),
        (["--resume", "none.json"], "'none.json': No such file or directory"),
        (["--resume", "none.json", "--seed", "0"], "the report to resume says what is verified"),
        (["--resume", "none.json", "x.json"], "the report to resume says what is verified"),
        (["--resume", "-"], "a report is a file: it is written anew"),
        (["a\udcff.json"], "a report cannot hold a name that is no UTF-8"),
        (["none.json"], "'none.json': No such file or directory"),
        (["."], "it holds no .json, .jsonl or .ndjson file"),
    ],
)
def test_wrong_usage_is_said_and_nothing_is_written(
    arguments: list[str], sentence: str, run: Any, here: Path
) -> None:
    done = run("verify", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert names(here) == []


def test_no_bar_without_a_terminal(run: Any) -> None:
    assert run("verify", "--random", "3", "--family", "tight").stderr == ""


# Reports


def test_a_report_is_written_and_only_overwritten_with_force(run: Any, here: Path) -> None:
    asked = ["verify", "--random", "12", "--out", "r.json"]
    assert run(*asked).exit_code == 0
    report = Report.read((here / "r.json").read_bytes())
    assert (len(report.rows), report.total, report.timing.jobs) == (12, 12, 1)
    first = (here / "r.json").read_bytes()
    refused = run(*asked)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == "memopt: 'r.json': it exists already; --force overwrites it\n"
    assert (here / "r.json").read_bytes() == first
    assert run(*asked, "--force").exit_code == 0
    assert names(here) == ["r.json"]


def test_two_runs_write_the_same_but_for_their_times(run_process: Any, tmp_path: Path) -> None:
    for name, jobs in (("one.json", "1"), ("two.json", "2")):
        assert run_process("verify", "--random", "40", "--out", name, "--jobs", jobs).returncode == 0
    assert untimed(tmp_path / "one.json") == untimed(tmp_path / "two.json")


def stop_after(rows: int, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let a verification be stopped by an error after so many rows."""
    real = verification.verify_tasks

    def stopping(*arguments: Any) -> Any:
        for done, some in enumerate(real(*arguments)):
            if done == rows:
                raise error
            yield some

    monkeypatch.setattr(verification, "verify_tasks", stopping)


def test_ctrl_c_keeps_what_is_done_and_resume_goes_on(
    run: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run("verify", "--random", "30", "--out", "whole.json")
    assert whole.exit_code == 0
    with monkeypatch.context() as patched:
        stop_after(13, patched, KeyboardInterrupt())
        done = run("verify", "--random", "30", "--out", "r.json")
    assert done.exit_code == 130
    assert (
        done.stderr == "memopt: interrupted; 13 of 30 are verified; 'r.json' keeps them, --resume goes on\n"
    )
    assert "total" in done.stdout
    kept = Report.read((here / "r.json").read_bytes())
    assert (len(kept.rows), kept.total) == (13, 30)
    with monkeypatch.context() as patched:
        stop_after(5, patched, KeyboardInterrupt())
        assert run("verify", "--resume", "r.json").exit_code == 130
    assert len(Report.read((here / "r.json").read_bytes()).rows) == 18
    resumed = run("verify", "--resume", "r.json", "--jobs", "2")
    assert resumed.exit_code == 0
    assert resumed.stdout == whole.stdout
    assert untimed(here / "r.json") == untimed(here / "whole.json")
    timing = json.loads((here / "r.json").read_bytes())["timing"]
    assert timing["jobs"] == 2
    assert run("verify", "--resume", "r.json").stdout == whole.stdout  # nothing is left to do
    assert json.loads((here / "r.json").read_bytes())["timing"] == timing
    assert names(here) == ["r.json", "whole.json"]


def test_ctrl_c_without_a_report_says_so(run: Any, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after(2, monkeypatch, KeyboardInterrupt())
    done = run("verify", "--random", "30")
    assert done.exit_code == 130
    assert done.stderr == "memopt: interrupted; 2 of 30 are verified; no report was asked for (--out FILE)\n"
    assert names(here) == []


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (ChildProcessError("a process of the batch ended"), 2, "memopt: a process of the batch ended\n"),
        (
            SystemExit(143),  # what SIGTERM becomes
            143,
            "memopt: interrupted; 4 of 30 are verified; 'r.json' keeps them, --resume goes on\n",
        ),
    ],
)
def test_whatever_ends_it_what_is_done_is_kept(
    error: BaseException, status: int, sentence: str, run: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(4, monkeypatch, error)
    done = run("verify", "--random", "30", "--out", "r.json")
    assert (done.exit_code, done.stderr) == (status, sentence)
    assert len(Report.read((here / "r.json").read_bytes()).rows) == 4


def test_files_are_resumed_only_if_they_are_as_they_were(
    run: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [generate("linked", 5, seed).model_dump_json(exclude_defaults=True) for seed in range(6)]
    Path("many.jsonl").write_text("\n".join(lines))
    with monkeypatch.context() as patched:
        stop_after(3, patched, KeyboardInterrupt())
        assert run("verify", "many.jsonl", "--out", "r.json").exit_code == 130
    before = (here / "r.json").read_bytes()
    Path("many.jsonl").write_text("\n".join([*lines[:1], lines[0], *lines[2:]]))
    changed = run("verify", "--resume", "r.json")
    assert (changed.exit_code, changed.stderr) == (
        2,
        "memopt: 'r.json': 'many.jsonl' has changed since it was verified\n",
    )
    Path("many.jsonl").write_text("\n".join([*lines, lines[0]]))
    more = run("verify", "--resume", "r.json")
    assert (more.exit_code, more.stderr) == (2, "memopt: 'r.json': there were 6 instances and are 7 now\n")
    Path("many.jsonl").write_text("\n".join(lines[:2]))
    assert run("verify", "--resume", "r.json").exit_code == 2
    assert (here / "r.json").read_bytes() == before
    Path("many.jsonl").write_text("\n".join(lines))
    assert run("verify", "--resume", "r.json").exit_code == 0
    assert len(Report.read((here / "r.json").read_bytes()).rows) == 6
    assert names(here) == ["many.jsonl", "r.json"]


def test_a_report_of_other_sources_or_versions_is_not_gone_on_with(
    run: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("verify", "--random", "3", "--out", "r.json").exit_code == 0
    report = Report.read((here / "r.json").read_bytes())
    for changes in ({"sources": "sha256:0"}, {"solvers": {}}):
        other = report.model_copy(update={"made_by": report.made_by.model_copy(update=changes)})
        (here / "r.json").write_bytes(other.to_bytes())
        done = run("verify", "--resume", "r.json")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "made by other versions or sources: start a new one" in done.stderr


def test_a_second_ctrl_c_does_not_cost_the_report(
    run: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Report.to_bytes

    def interrupted(report: Report) -> bytes:
        os.kill(os.getpid(), signal.SIGINT)
        return real(report)

    with monkeypatch.context() as patched:
        stop_after(5, patched, KeyboardInterrupt())
        patched.setattr(Report, "to_bytes", interrupted)
        done = run("verify", "--random", "12", "--out", "r.json")
        assert done.exit_code == 130
        patched.setattr(verification, "verify_tasks", verify_tasks)
        assert run("verify", "--resume", "r.json").exit_code == 130
    assert len(Report.read((here / "r.json").read_bytes()).rows) == 12
    assert names(here) == ["r.json"]


@pytest.mark.parametrize("part", range(5))
def test_a_report_that_was_changed_is_no_traceback_and_no_half_written_file(
    part: int, run: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        stop_after(14, patched, KeyboardInterrupt())
        assert run("verify", "--random", "15", "--out", "r.json").exit_code == 130
    content, chance = (here / "r.json").read_bytes(), random.Random(part)
    refused = 0
    for _ in range(100):
        broken = mutated(content, chance)
        (here / "r.json").write_bytes(broken)
        done = run("verify", "--resume", "r.json")
        if done.exit_code == 2:
            assert (here / "r.json").read_bytes() == broken
            assert done.stderr.startswith("memopt: ")
            assert (done.stdout, done.stderr.count("\n")) == ("", 1)
            refused += 1
        else:  # what was changed does not matter: white space, a time
            assert done.exit_code == 0
            assert len(Report.read((here / "r.json").read_bytes()).rows) == 15
        assert names(here) == ["r.json"]
    assert refused > 80


# Interrupts and terminals, in processes of their own


def watched(arguments: list[str], folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start the command with a terminal for standard error; returns our end of it, too."""
    ours, theirs = os.openpty()
    child = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=theirs, cwd=folder, start_new_session=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )  # fmt: skip
    os.close(theirs)
    return child, ours


def read_until(terminal: int, pattern: bytes) -> bytes:
    """Read a terminal until something is shown on it, or it is closed."""
    shown = b""
    while not re.search(pattern, shown):
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            break
    return shown


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_on_a_terminal(jobs: str, tmp_path: Path, run_process: Any) -> None:
    asked = ["--random", "600", "--family", "zero-budget", "--out", "r.json", "--jobs", jobs]
    child, terminal = watched(asked, tmp_path)
    shown = read_until(terminal, rb"[1-9]\d* equal")
    assert b"0 differ, 0 unproven, 0 invalid, 0 infeasible" in shown
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does it: to the workers, too
    shown = read_until(terminal, rb"--resume goes on")
    assert re.search(
        rb"interrupted; [\d,]+ of 600 are verified; 'r.json' keeps them, --resume goes on", shown
    )
    assert b"zero-budget" in child.communicate()[0]
    os.close(terminal)
    assert child.returncode == 130
    assert 0 < len(Report.read((tmp_path / "r.json").read_bytes()).rows) < 600
    assert names(tmp_path) == ["r.json"]
    assert run_process("verify", "--resume", "r.json", "--jobs", "2").returncode == 0
    report = Report.read((tmp_path / "r.json").read_bytes())
    assert report.totals() == {"equal": 600}


def test_a_hard_instance_can_be_interrupted(tmp_path: Path) -> None:
    hard = generate("priced", 200, 1).model_dump_json(exclude_defaults=True)
    (tmp_path / "hard.jsonl").write_text(f"{json.dumps(EMPTY)}\n{hard}\n")
    child, terminal = watched(["hard.jsonl", "--out", "r.json"], tmp_path)
    read_until(terminal, rb"1 equal")
    time.sleep(0.2)  # into the search of CP-SAT
    child.send_signal(signal.SIGINT)
    read_until(terminal, rb"--resume goes on")
    assert child.wait(timeout=60) == 130
    os.close(terminal)
    child.stdout.close()
    assert len(Report.read((tmp_path / "r.json").read_bytes()).rows) == 1


# Disagreements


def test_a_disagreement_is_shrunk_and_written_with_both_selections(
    run: Any, here: Path, wrong: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "MOST_WITNESSES", 4)
    done = run("verify", "--random", "25", "--family", "memory-like", "--against", "milp", "--out", "r.json")
    assert done.exit_code == 4
    report = Report.read((here / "r.json").read_bytes())
    assert report.totals()["differ"] > len(report.witnesses) == 4
    assert "differ, memory-like, seed" in done.stdout
    assert f"memopt: {report.totals()['differ'] - 4} more were not shrunk\n" in done.stderr
    for name in report.witnesses:
        assert f"shrunk and written to '{name}' (differ: dp selects " in done.stderr
        small = Instance.model_validate_json((here / name).read_bytes())
        assert len(small.items) <= 4
        told = json.loads((here / name.replace(".json", ".verdict.json")).read_bytes())
        assert (told["verdict"], told["refuted"]) == ("differ", [["posing", "bound"]])
        assert told["shrunk_from"]["group"] == "memory-like"
        mine, other = told["answers"]
        assert mine["choices"] != other["choices"]
        assert set(mine["choices"]) == set(other["choices"]) == {item.id for item in small.items}
        assert (mine["version"], mine["parameters"]["most_states"]) == ("0.1.0", 2_000_000)
        again = run("verify", name, "--against", "milp", "--json")
        assert (again.exit_code, json.loads(again.stdout)["verdict"]) == (4, "differ")
        assert run("solve", name).exit_code == 0
    assert names(here) == sorted(
        {"r.json", *report.witnesses, *(name.replace(".json", ".verdict.json") for name in report.witnesses)}
    )


def test_a_witness_that_is_there_already_stays(run: Any, here: Path, wrong: None) -> None:
    asked = ["verify", "--random", "8", "--family", "memory-like", "--against", "milp"]
    assert run(*asked).exit_code == 4
    before = {path: path.stat().st_mtime_ns for path in here.iterdir()}
    assert len(before) >= 2
    assert run(*asked).exit_code == 4
    assert {path: path.stat().st_mtime_ns for path in here.iterdir()} == before


def test_one_instance_that_is_disagreed_on(run: Any, here: Path, wrong: None) -> None:
    declared = generate("memory-like", 12, 3).model_dump(mode="json", exclude_defaults=True)
    done = run("verify", "-", "--against", "milp", data=declared)
    assert done.exit_code == 4
    assert "differ: dp selects " in done.stdout
    witness = re.search(r"memopt: shrunk and written to '(witness-\w+\.json)'", done.stderr)
    assert witness is not None
    assert len(json.loads((here / witness[1]).read_bytes())["items"]) < 12


def test_what_was_refuted_before_an_interrupt_is_shrunk_by_resume(
    run: Any, here: Path, wrong: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        stop_after(10, patched, KeyboardInterrupt())
        asked = [
            "verify",
            "--random",
            "12",
            "--family",
            "memory-like",
            "--against",
            "milp",
            "--out",
            "r.json",
        ]
        assert run(*asked).exit_code == 130
    assert names(here) == ["r.json"]
    assert run("verify", "--resume", "r.json").exit_code == 4
    assert len(Report.read((here / "r.json").read_bytes()).witnesses) >= 1


def test_a_witness_that_cannot_be_written_costs_neither_the_report_nor_the_status(
    run: Any, here: Path, wrong: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(verification, "write_witness", full)
    done = run("verify", "--random", "10", "--family", "memory-like", "--against", "milp", "--out", "r.json")
    sentence = "memopt: no witness was written to '.': No space left on device\n"
    assert (done.exit_code, done.stderr) == (4, sentence)
    report = Report.read((here / "r.json").read_bytes())
    assert (len(report.rows), report.witnesses) == (10, [])
    declared = generate("memory-like", 12, 3).model_dump(mode="json", exclude_defaults=True)
    done = run("verify", "-", "--against", "milp", data=declared)
    assert (done.exit_code, done.stderr) == (4, sentence)
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert names(here) == ["r.json"]


# Fuzz


def fuzz(run: Any, here: Path, seeds: range) -> set[int]:
    """Verify or export mutated instance files, some of them with files that are written.

    Every exit status must be one that an input can cause, no part of a file may stay, and enough of the
    inputs must be valid for solvers and writers to be reached.
    """
    originals = [
        generate(family, items, items).model_dump_json(exclude_defaults=True).encode()
        for family, items in (("linked", 5), ("tight", 4), ("memory-like", 3), ("huge-weights", 1))
    ]
    commands = (("verify", "-"), ("verify", "-", "--out", "r.json"), ("export", "-", "--all", "models"))
    statuses, valid, refused = set(), [0, 0, 0], 0
    for seed in seeds:
        chance = random.Random(seed)
        content = mutated(chance.choice(originals), chance)
        how = 1 if seed % 20 == 0 else 2 if seed % 4 == 1 else 0
        done = run(*commands[how], data=content)
        statuses.add(done.exit_code)
        assert done.exit_code in (0, 2, 3), (seed, done.output)
        if how == 1:
            (row,) = Report.read((here / "r.json").read_bytes()).rows
            assert done.exit_code == (2 if row.verdict == "rejected" else 0)
            valid[how] += row.verdict != "rejected"
            (here / "r.json").unlink()
        elif how == 2:
            limited = "refuses this program" in done.stderr  # by CP-SAT, when LP and MPS are written already
            refused += limited
            valid[how] += done.exit_code == 0 or limited
            if done.exit_code == 0:
                assert names(here / "models") == sorted([*FILES.values(), "names.json"])
                shutil.rmtree(here / "models")
        else:
            assert done.stderr.startswith("memopt: ") == (done.exit_code != 0)
            assert (done.stdout == "") == (done.exit_code == 2)
            valid[how] += done.exit_code != 2
        assert names(here) == ["scratch"], seed  # not even a part of a file
        assert names(here / "scratch") == [], seed
    assert sum(valid) >= 0.08 * len(seeds), valid
    assert min(*valid, refused) > 0, (valid, refused)
    return statuses


@pytest.fixture
def scratch(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for temporary files that is seen by the test."""
    (here / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(here / "scratch"))


def test_a_thousand_mutated_instance_files(run: Any, here: Path, scratch: None) -> None:
    assert fuzz(run, here, range(1000)) == {0, 2, 3}


@pytest.mark.slow
def test_four_thousand_more_mutated_instance_files(run: Any, here: Path, scratch: None) -> None:
    assert fuzz(run, here, range(1000, 5000)) == {0, 2, 3}
