"""The benchmark of the experiments judges its targets at full size only."""

from __future__ import annotations

from benchmarks import experiments


def test_rows_tell_time_and_what_is_met() -> None:
    report = experiments.measure(1, ("worth-co-retrieval",), lambda what: None)
    one, *figures, together = report.rows
    assert (one["experiment"], one["seeds"], one["met"]) == ("worth-co-retrieval", 1, None)
    assert 0 < one["figures_judged"] >= one["figures_met"]
    assert len(figures) == one["figures_judged"]
    assert sum(row["met"] for row in figures) == one["figures_met"]
    worth = figures[0]
    assert (worth["figure"], worth["published"]) == ("worth of anchor, k 2, 0 % broken", [0.49, 0.51])
    shown = [column.show(worth) for column in report.columns]
    assert shown[0] == "  worth of anchor, k 2, 0 % broken"
    assert f"{worth['ours']:.4g}" in shown
    assert "0.49-0.51" in shown
    assert together["wall"] == one["wall"] > 0
    assert together["met"] is None
