from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from memopt import campaign, solvers, verify
from memopt.campaign import MOST_ITEMS, Drawn, Given, draw, verify_task, verify_tasks
from memopt.families import FAMILIES, generate
from memopt.instance import Instance

pytest.importorskip("ortools")


def rows(tasks: Any, jobs: int = 1, against: Any = ("cpsat",)) -> list[Any]:
    return [row for some in verify_tasks(tasks, against, jobs=jobs) for row in some]


def test_random_instances_take_families_sizes_and_seeds_in_turn() -> None:
    tasks = list(draw(60, ("linked", "tight"), 7))
    assert tasks[:4] == [
        Drawn("linked", 7, 0),
        Drawn("tight", 7, 0),
        Drawn("linked", 8, 1),
        Drawn("tight", 8, 1),
    ]
    assert {task.items for task in tasks} == set(range(MOST_ITEMS + 1))
    assert len(set(tasks)) == 60
    assert list(draw(10, ("linked", "tight"), 7)) == tasks[:10]


def test_a_random_instance_is_the_one_of_its_family_size_and_seed() -> None:
    for family in FAMILIES:
        text = Drawn(family, 5, 9).text
        assert Instance.model_validate_json(text) == generate(family, 9, 5)


def test_a_row_says_where_the_instance_is_from_and_what_was_found() -> None:
    task = Drawn("linked", 3, 8)
    row, verdict = verify_task(task, ["cpsat"], None), verify(generate("linked", 8, 3))
    assert (row.group, row.seed, row.items, row.path, row.line) == ("linked", 3, 8, None, None)
    assert row.sha256 == hashlib.sha256(task.text).hexdigest()
    assert row.digest == verdict.program.digest
    assert (row.verdict, row.reason, row.value, row.tokens) == ("equal", None, verdict.value, verdict.tokens)
    assert [(said.solver, said.status, said.proved) for said in row.answers] == [
        ("dp", "optimal", True), ("cpsat", "optimal", True),
    ]  # fmt: skip
    assert {said.value for said in row.answers} == {said.bound for said in row.answers} == {verdict.value}
    assert set(row.seconds) == {"dp", "cpsat"}
    assert min(row.seconds.values()) > 0
    assert row.text is row.errors is None


def test_several_processes_find_the_same() -> None:
    tasks = list(draw(len(FAMILIES) * 4, FAMILIES, 11))
    alone, together = rows(tasks), rows(iter(tasks), jobs=2)
    assert len(alone) == len(tasks)
    without_seconds = [[row.model_dump(exclude={"seconds"}) for row in some] for some in (alone, together)]
    assert without_seconds[0] == without_seconds[1]
    assert {row.verdict for row in alone} >= {"equal", "unproven"}


def test_instances_are_only_asked_for_as_rows_leave() -> None:
    asked = []

    def tasks() -> Any:
        for task in draw(5, ("tight",), 1):
            asked.append(task)
            yield task

    for number, some in enumerate(verify_tasks(tasks(), ["cpsat"]), 1):
        assert (len(some), len(asked)) == (1, number)


def test_an_instance_that_is_none_is_a_row_with_its_faults() -> None:
    given = [
        Given("many.jsonl", "many.jsonl", 1, b'{"budget": 3, "items": [{"id": "a", "levels": {}}]}'),
        Given("many.jsonl", "many.jsonl", 4, b'{"budget": -3, "items": []}'),
        Given("x", "x/one.json", None, b"\xff"),
    ]
    found = rows(given)
    assert [row.verdict for row in found] == ["equal", "rejected", "rejected"]
    assert [(row.group, row.path, row.line) for row in found[1:]] == [
        ("many.jsonl", "many.jsonl", 4), ("x", "x/one.json", None),
    ]  # fmt: skip
    assert [row.errors[0]["code"] for row in found[1:]] == ["budget_negative", "not_utf8"]
    assert all(row.answers == [] and row.digest is None for row in found[1:])


def test_a_path_that_is_no_text_can_still_be_reported() -> None:
    row = verify_task(Given("a\udcff", "a\udcff/b", None, b"{}"), ["cpsat"], None)
    assert json.loads(row.model_dump_json())["path"] == "a\\udcff/b"


def test_a_solver_that_is_wrong_leaves_the_instance_in_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(solvers._MODULES, "milp", ("wrong", "PosingGreedy"))
    found = rows(draw(30, ("memory-like",), 1), against=("milp", "cpsat"))
    refuted = [row for row in found if row.verdict == "differ"]
    assert len(refuted) > 5
    assert {row.verdict for row in found} == {"equal", "differ"}
    for row in refuted:
        assert row.text is not None
        assert hashlib.sha256(row.text.encode()).hexdigest() == row.sha256
        assert "refutes posing's claim" in row.reason
        assert verify(Instance.model_validate_json(row.text), ["cpsat"]).tokens == row.tokens
    assert all(row.text is None for row in found if row.verdict == "equal")


def test_a_limit_is_named_in_the_row() -> None:
    row = verify_task(Drawn("huge-weights", 4, 6), ["cpsat"], None)
    assert (row.verdict, row.answers[1].status, row.answers[1].limit, row.answers[1].proved) == (
        "unproven", "refused", "tokens_sum", False,
    )  # fmt: skip


@pytest.mark.slow
def test_a_thousand_random_instances_without_a_difference() -> None:
    found = rows((task for task in draw(1000, FAMILIES, 500) if task.items <= 10), jobs=2)
    assert {row.verdict for row in found} == {"equal", "unproven", "infeasible"}
    assert {row.group for row in found if row.verdict == "unproven"} == {"huge-weights"}


def test_the_solver_is_compiled_ahead_only_of_what_may_be_large(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    monkeypatch.setattr(campaign.jit, "prepare", lambda: compiled.append("once"))
    small = list(draw(len(FAMILIES) * 21, FAMILIES, 1))
    assert list(campaign._compiled_for(small)) == small
    assert compiled == []
    large = generate("memory-like", 130, 1)
    assert sum(len(item.levels) for item in large.items) > campaign.jit.PLAIN_OPTIONS
    text = large.model_dump_json(exclude_defaults=True).encode()
    list(campaign._compiled_for([*small[:3], Given("x", "x", None, text)]))
    assert compiled == ["once"]
