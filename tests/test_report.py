from __future__ import annotations

import json
import random
from typing import Any

import pytest
from mutate import mutated

import memopt
from memopt import SolverMissing
from memopt.campaign import Given, draw, verify_tasks
from memopt.families import FAMILIES
from memopt.provenance import made_by, sources_digest
from memopt.report import OUTCOMES, Asked, Report, Timing, UnusableReport

pytest.importorskip("ortools")
GIVEN = [Given("x", "x/a.json", None, b"{"), Given("x", "x/b.jsonl", 2, b'{"budget": 1, "items": []}')]


def make() -> Report:
    asked = Asked(random=38, families=list(FAMILIES), seed=2, against=["cpsat"])
    report = Report(asked=asked, made_by=made_by(["cpsat"]), total=38, timing=Timing(jobs=1, seconds=2.0))
    for some in verify_tasks([*draw(36, FAMILIES, 2), *GIVEN], ["cpsat"]):
        report.rows += some
    return report


@pytest.fixture(scope="module")
def report() -> Report:
    return make()


def test_a_report_is_read_back_as_it_was(report: Report) -> None:
    content = report.to_bytes()
    assert Report.read(content) == report
    assert Report.read(content).to_bytes() == content
    assert Report.read(report.model_copy(update={"rows": []}).to_bytes()).rows == []


def test_a_report_says_who_answered_and_how_often_what_was_found(report: Report) -> None:
    told = json.loads(report.to_bytes())
    assert told["made_by"]["memopt"] == memopt.__version__
    assert told["made_by"]["sources"] == sources_digest()
    assert set(told["made_by"]["solvers"]) == {"dp", "cpsat"}
    assert told["made_by"]["solvers"]["cpsat"]["parameters"]["num_workers"] == 1
    assert told["made_by"]["solvers"]["cpsat"]["version"]
    assert (told["total"], told["verified"], len(told["rows"])) == (38, 38, 38)
    assert sum(told["counts"].values()) == 38
    assert list(told["counts"]) == list(OUTCOMES)
    assert told["counts"]["rejected"] == 1
    assert set(told["groups"]) == {*FAMILIES, "x"}
    unproven = told["groups"]["huge-weights"]["unproven"]
    assert unproven > 0
    assert told["unproven"] == {"cpsat refuses a program beyond its limit tokens_sum": unproven}
    assert told["first"]["unproven"] == [
        {"group": row["group"], "seed": row["seed"], "items": row["items"]}
        for row in told["rows"]
        if row["verdict"] == "unproven"
    ]
    assert (told["first"]["differ"], told["first"]["invalid"]) == ([], [])
    assert told["timing"]["instances_per_second"] == 19.0
    assert {name: told[name] for name in told if name != "rows"} == report.summary()


def test_a_row_is_a_line(report: Report) -> None:
    lines = report.to_bytes().splitlines()
    assert sum(line.startswith(b'{"group": ') for line in lines) == 38


def test_two_runs_have_the_same_content_and_only_other_times(report: Report) -> None:
    again = make()
    again.timing = Timing(jobs=2, seconds=9.0)
    first, second = report.summary(), again.summary()
    assert first.pop("timing") != second.pop("timing")
    assert first == second
    again.rows[0] = again.rows[0].model_copy(update={"tokens": 1})
    assert again.summary()["content"] != first["content"]


def test_the_sources_digest_changes_with_any_source(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("__init__.py", "part/deep.py", "data.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("one")
    monkeypatch.setattr(memopt, "__file__", str(tmp_path / "__init__.py"))
    before = sources_digest()
    (tmp_path / "data.txt").write_text("two")
    assert sources_digest() == before
    (tmp_path / "part" / "deep.py").write_text("two")
    assert sources_digest() != before


def test_a_missing_solver_is_said_before_anything_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ortools.sat.python", None)
    with pytest.raises(SolverMissing):
        made_by(["cpsat"])


@pytest.mark.parametrize("part", range(5))
def test_a_report_that_was_changed_is_refused(report: Report, part: int) -> None:
    content, chance = report.to_bytes(), random.Random(part)
    for _ in range(100):
        try:
            read = Report.read(mutated(content, chance))
        except UnusableReport:
            continue
        assert _untimed(read) == _untimed(report)


def _untimed(report: Report) -> Any:
    return {name: part for name, part in report.summary().items() if name != "timing"}


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"3", b'"x"', b"{}", b"[" * 100_000, b"\xff\xfe", b'{"format": "memopt verify 1"}'],
)
def test_what_is_no_report_at_all_is_refused(content: bytes) -> None:
    with pytest.raises(UnusableReport, match="no report of memopt verify"):
        Report.read(content)


def test_a_summary_names_the_first_ten_of_an_outcome(report: Report) -> None:
    many = report.model_copy(
        update={"rows": [report.rows[-1].model_copy(update={"line": n}) for n in range(30)]}
    )
    assert [place["line"] for place in many.first(report.rows[-1].verdict)] == [*range(10)]
