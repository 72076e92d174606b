from __future__ import annotations

from typing import Any

from foreign import CONFLICT, EMPTY, STUCK, TEN

from memopt import Instance, compile
from memopt.inspection import inspect

DOUBTFUL = {
    "budget": 90,
    "items": [
        {
            "id": f"a{n}\u202e",
            "levels": {"raw": {"tokens": 60, "utility": 1}, "summary": {"tokens": 60, "utility": 3}},
        }
        for n in range(12)
    ],
}


def test_the_findings_are_told_in_lines(run: Any) -> None:
    done = run("inspect", "-", data=TEN["links"])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "items      9 with 31 options, 1 pinned"
    assert lines[1] == "levels     raw 8, summary 7, abstraction 0, keywords 8, delete 8"
    assert lines[2] == "blocks     4, 3 of several items, the largest of 3; 2 groups, 1 exclusive sets"
    assert "solver     dp: takes every program" in lines
    assert lines[-1].startswith("program    sha256:")


def test_json_is_the_findings_alone(run: Any, strict_json: Any) -> None:
    done = run("inspect", "-", "--json", data=TEN["wild"])
    assert strict_json(done.stdout_bytes) == inspect(compile(Instance.model_validate(TEN["wild"])))


def test_a_refusal_is_seen(run: Any) -> None:
    levels = {"raw": {"tokens": 3, "utility": 1}, "keywords": {"tokens": 2, "utility": 0.5}}
    many = {"budget": 20, "items": [{"id": f"m{n}", "levels": levels} for n in range(14)]}
    done = run("inspect", "-", data=many)
    assert "solver     exhaustive: selections 4,782,969, REFUSED, beyond 2,000,000" in done.stdout
    assert "solver     cpsat: tokens_sum 42, within 2,147,483,647" in done.stdout


def test_what_compiling_did_is_listed_up_to_a_point(run: Any) -> None:
    printed = run("inspect", "-", data=DOUBTFUL).stdout
    assert printed.count("dominated  ") == printed.count("repaired   ") == 11
    assert "repaired   'a0\\u202e' at raw: 1 to 3" in printed
    assert "dominated  and 2 more; --json has all of them" in printed


def test_an_infeasible_instance_is_inspected_all_the_same(run: Any) -> None:
    done = run("inspect", "-", data=STUCK)
    assert done.exit_code == 0
    assert "needed     5 tokens at least, 6 at most" in done.stdout
    assert "infeasible (pinned_exceeds_budget): " in done.stdout
    assert "needed     there is no selection at any budget" in run("inspect", "-", data=CONFLICT).stdout


def test_nothing_is_inspected(run: Any) -> None:
    done = run("inspect", "-", data=EMPTY)
    assert done.exit_code == 0
    assert "tokens     none" in done.stdout


def test_an_invalid_instance_is_reported(run: Any, strict_json: Any) -> None:
    done = run("inspect", "-", "--json", data={"budget": -1, "items": []})
    assert done.exit_code == 2
    assert strict_json(done.stdout)["status"] == "invalid"
