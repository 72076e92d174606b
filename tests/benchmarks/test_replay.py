"""The table of a replay: its shape, and how near its figures come to the published ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import replay
from benchmarks.locomo import BUDGETS, Conversation, Count
from benchmarks.locomo_questions import Stems, load
from benchmarks.policies import POLICIES
from benchmarks.published import Scores, published
from benchmarks.run import main


def test_every_published_figure_has_its_place() -> None:
    assert published("shipped", "exact, c = 2", False, 4_000) == Scores(0.782, 0.680)
    assert published("shipped", "exact, c = 2", True, 4_000) is None
    places = [
        (ladder, policy.name, policy.refreshes)
        for ladder in ("shipped", "LLM-free")
        for policy in POLICIES
        if all(published(ladder, policy.name, policy.refreshes, budget) for budget in BUDGETS)
    ]
    assert len(places) == 11


def test_quick(
    data: Path, count: Count, stems: Stems, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "replay.json"
    assert main(["replay", "--quick", "--data", str(data), "--out", str(out)]) == 0
    (report,) = json.loads(out.read_bytes())["reports"]
    assert [(row["ladder"], row["policy"], row["refreshes"]) for row in report["rows"]] == [
        (ladder, policy.name, policy.refreshes) for ladder in ("shipped", "LLM-free") for policy in POLICIES
    ]
    for row in report["rows"]:
        assert list(row["figures"]) == ["1000", "4000"]
        for found in row["figures"].values():
            assert found["published"] is None  # they are of all ten conversations
            assert 0 < found["ours"]["ec"] < 1
            assert 0 < found["ours"]["atr"] < 1
    printed = capsys.readouterr().out
    assert "In none of 1,064 turns" in printed
    assert "150 questions" in printed


@pytest.mark.slow
def test_coverage_is_near_what_is_published(
    data: Path, conversations: list[Conversation], count: Count, stems: Stems
) -> None:
    chosen = [policy for policy in POLICIES if policy.name in ("FIFO recency (raw)", "exact, price 0")]
    plain = [policy for policy in chosen if not policy.refreshes]
    report = replay.measure(
        conversations, load(data), count, stems, (1_000,), lambda text: None, policies=plain
    )
    shown = {(row["ladder"], row["policy"]): row["figures"]["1000"] for row in report.rows}
    compared = {place: found["difference"] for place, found in shown.items() if found["difference"]}
    assert list(compared) == [
        ("shipped", "FIFO recency (raw)"), ("shipped", "exact, price 0"), ("LLM-free", "exact, price 0")
    ]  # fmt: skip
    assert all(abs(difference["ec"]) < 0.01 for difference in compared.values())
    assert abs(compared["shipped", "FIFO recency (raw)"]["atr"]) < 0.01
    assert any("6 published figures are met to within 0.02" in note for note in report.notes)
    cells = [column.show(report.rows[0]) for column in report.columns]
    assert cells[3] == "published\nours\ndifference"
    assert cells[4].splitlines()[0] == ".030/.028"


def test_without_the_data_it_is_left_out_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "nowhere.json"
    assert main(["replay", "--data", str(nowhere), "--out", str(tmp_path / "out.json")]) == 0
    assert f"replay is left out: there is no {nowhere}" in capsys.readouterr().err
