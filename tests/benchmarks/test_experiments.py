"""The benchmark of the experiments judges its targets at full size only."""

from __future__ import annotations

from benchmarks import experiments


def test_rows_tell_time_and_what_is_met() -> None:
    report = experiments.measure(1, ("worth-co-retrieval",), lambda what: None)
    one, together = report.rows
    assert (one["experiment"], one["seeds"], one["met"]) == ("worth-co-retrieval", 1, None)
    assert 0 < one["figures_judged"] >= one["figures_met"]
    assert together["wall"] == one["wall"] > 0
    assert together["met"] is None
