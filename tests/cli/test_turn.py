"""`memopt turn`: what it prints, refuses and leaves behind."""

from __future__ import annotations

from typing import Any

import pytest
from session_inputs import ITEM, PIN, TURN, told


def test_turn_prints_the_result_object_and_what_the_session_adds(run: Any, db: list[str]) -> None:
    result = told(run("turn", "-", *db, "--json", "--id", "t1", data=TURN))
    assert result["choices"] == {"a": "keywords", "p": "raw"}
    assert (result["status"], result["tokens"], result["budget"]) == ("optimal", 55, 100)
    assert (result["event"], result["recorded"], result["turn"]) == ("t1", True, 1)
    assert (result["pressure"], result["next_pressure"]) == ("0.000000000000000000",) * 2
    solved = told(run("solve", "-", "--json", data=TURN))
    assert set(solved) - {"seconds"} <= set(result)


def test_turn_tells_price_per_token_and_certificate_of_its_own(run: Any, db: list[str]) -> None:
    full = {"budget": 50, "items": [PIN]}
    run("turn", "-", *db, "--gain", "3", data=full)
    second = told(run("turn", "-", *db, "--json", "--id", "second", data=full))
    price = second["price"]
    assert price > 0
    assert second["price_per_token"] == price / 50
    assert second["certificate"] == pytest.approx(price * (0.8 - 1))
    assert (
        f"price               {price:.6g} ({price / 50:.3g} a token)"
        in run("turn", "-", *db, "--id", "second", data=full).stdout
    )
    run("turn", "-", *db, data=full)
    again = told(run("turn", "-", *db, "--json", "--id", "second", data=full))
    assert again == second | {"recorded": False}


def test_turn_for_a_person(run: Any, db: list[str]) -> None:
    done = run("turn", "-", *db, data=TURN)
    assert "│ a    │ keywords │      5 │       1 │" in done.stdout
    assert "55 of 100 (55.0%)" in done.stdout
    longer = {"id": "a", "levels": {"keywords": {"tokens": 9, "utility": 1}}}
    refused = "refused: 'a' at keywords: 9 tokens are more than it holds"
    assert (
        f"{refused}; the text held stays\n"
        in run("turn", "-", *db, data={"budget": 100, "items": [longer, PIN]}).stdout
    )
    again = run("turn", "-", *db, data={"budget": 50, "items": [longer, PIN]})
    assert f"{refused}\n" in again.stdout
    assert "pinned_above_target" in again.stdout


def test_what_solve_warns_of_a_turn_shows_as_well(run: Any, db: list[str]) -> None:
    big = {"id": "b", "levels": {"raw": {"tokens": 500, "utility": 9}}}
    raw, keywords = {"tokens": 9, "utility": 1}, {"tokens": 3, "utility": 2}
    falling = {"id": "f", "levels": {"raw": raw, "keywords": keywords}}
    growing = {"id": "g", "levels": {"raw": raw, "summary": raw}}
    offered = {"budget": 100, "items": [big, falling, growing, {"id": "n", "levels": {}}]}
    turn, solved = run("turn", "-", *db, data=offered).stdout, run("solve", "-", data=offered).stdout
    shown = turn.rpartition("\n\n")[2].splitlines()
    assert [line.partition(": ")[0] for line in shown] == [
        "warning, no_level",
        "warning, never_fits",
        "repaired",
        "dominated",
    ]
    assert " ".join(shown) in " ".join(solved.split())


def test_a_level_held_that_is_not_declared_shows(run: Any, db: list[str]) -> None:
    assert run("turn", "-", *db, data=TURN | {"budget": 200}).exit_code == 0
    poorer = ITEM | {"levels": {"keywords": ITEM["levels"]["keywords"]}}
    done = run("turn", "-", *db, data={"budget": 200, "items": [poorer]})
    assert "\nwarning, current_absent: item 'a' holds 'raw' now" in done.stdout


def test_turn_twice_with_one_id(run: Any, begun: list[str]) -> None:
    done = run("turn", "-", *begun, "--id", "t1", data=TURN)
    assert done.exit_code == 0
    assert done.stderr == "memopt: event 't1' was recorded before: nothing is changed\n"
    other = run("turn", "-", *begun, "--id", "t1", data={"budget": 1, "items": []})
    assert (other.exit_code, other.stdout) == (0, done.stdout)
    assert other.stderr == "memopt: event 't1' was recorded before with other content: nothing is changed\n"
    again = told(run("turn", "-", *begun, "--id", "t1", "--json", data=TURN))
    assert (again["recorded"], again["same"]) == (False, True)
    assert told(run("status", *begun, "--json"))["turns"] == 1


def test_an_infeasible_turn_is_exit_status_3_and_leaves_the_session_as_it_was(
    run: Any, begun: list[str]
) -> None:
    before = told(run("status", *begun, "--json"))
    done = run("turn", "-", *begun, "--json", data={"budget": 20, "items": [PIN]})
    assert done.exit_code == 3
    assert (told(done)["status"], told(done)["shortfall"]) == ("infeasible", 30)
    done = run("turn", "-", *begun, data={"budget": 20, "items": [PIN]})
    assert done.exit_code == 3
    assert "shortfall: 30" in done.stderr
    assert told(run("status", *begun, "--json")) == before


def test_a_pin_that_was_deleted_is_named(run: Any, db: list[str]) -> None:
    assert run("turn", "-", *db, data={"budget": 0, "items": [ITEM]}).exit_code == 0
    done = run("turn", "-", *db, "--json", data={"budget": 99, "items": [ITEM | {"pinned": True}]})
    assert done.exit_code == 2
    (error,) = told(done)["errors"]
    assert (error["code"], error["item"]) == ("pinned_without_level", "a")
    assert "refresh" in error["message"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (TURN | {"price": 1}, "no price of its own"),
        (TURN | {"ladder": ["raw"]}, "a turn has no key 'ladder'"),
        ([], "a turn is an object"),
        (TURN | {"id": 3}, "the id of a turn is text"),
        (TURN | {"id": "#1"}, "may not be empty or begin with"),
        (b"nonsense", "not_json"),
        ({"budget": 10}, "items"),
        ({"budget": 10, "items": [ITEM, ITEM]}, "duplicate_id"),
    ],
)
def test_a_wrong_turn_is_exit_status_2(data: Any, said: str, run: Any, begun: list[str]) -> None:
    before = told(run("status", *begun, "--json"))
    done = run("turn", "-", *begun, data=data)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert told(run("status", *begun, "--json")) == before
