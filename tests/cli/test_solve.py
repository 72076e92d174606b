from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from memopt_cli.render import MOST_ROWS

from memopt import Instance, solve
from memopt.solvers import SOLVERS

RESULT_KEYS = {
    "status", "choices", "tokens", "budget", "value", "scale", "objective", "bound", "gap", "error_bound",
    "price", "solver", "proof", "digest", "seconds", "dominated", "repaired", "warnings", "errors",
}  # fmt: skip


def _option(tokens: int, utility: float) -> dict[str, Any]:
    return {"tokens": tokens, "utility": utility}


PAIR = {
    "budget": 10,
    "price": 0.5,
    "items": [
        {"id": "a", "order": 2, "levels": {"raw": _option(8, 3), "keywords": _option(2, 1)}},
        {"id": "b", "order": 1, "levels": {"raw": _option(9, 2), "keywords": _option(2, 0.5)}},
    ],
}
STUCK = {
    "budget": 3,
    "items": [
        {"id": "rule", "pinned": True, "levels": {"raw": {"tokens": 5, "utility": 1}}},
        {"id": "x", "levels": {"raw": {"tokens": 1, "utility": 1}}},
    ],
}


def _one(item: dict[str, Any], **top: Any) -> dict[str, Any]:
    return {"budget": 10, "items": [item]} | top


def _rows(table: str) -> list[list[str]]:
    """Return the cells of the printed table."""
    return [
        [cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines() if line[:1] == "│"
    ]


def _figures(printed: str) -> dict[str, str]:
    """Return the totals under the table by name."""
    return dict(re.findall(r"^(\w+) {2,}(\S.*)$", printed, re.MULTILINE))


def test_the_table_shows_item_level_tokens_utility_in_the_order_of_the_conversation(run: Any) -> None:
    done = run("solve", "-", data=PAIR)
    assert done.exit_code == 0
    assert _rows(done.stdout) == [["b", "keywords", "2", "0.5"], ["a", "raw", "8", "3"]]
    assert done.stderr == ""


def test_items_without_an_order_come_last_as_they_were_declared(run: Any) -> None:
    levels = {"raw": {"tokens": 1, "utility": 1}}
    items = [{"id": name, "levels": levels} | more for name, more in
             [("late", {}), ("second", {"order": 5}), ("later", {}), ("first", {"order": -1})]]  # fmt: skip
    done = run("solve", "-", data={"budget": 9, "items": items})
    assert [row[0] for row in _rows(done.stdout)] == ["first", "second", "late", "later"]


def test_the_totals_stand_against_the_budget(run: Any) -> None:
    figures = _figures(run("solve", "-", data=PAIR).stdout)
    assert figures["tokens"] == "10 of 10 (100.0%), 0 left"
    assert figures["status"] == "optimal"
    assert figures["value"] == "3.000000000 (declared objective 3)"
    assert figures["bound"] == "3.000000000, gap 0"
    assert figures["price"] == "0.5"
    assert figures["solver"].startswith("dp")
    assert figures["levels"] == "raw 1, summary 0, abstraction 0, keywords 1, delete 0"
    assert figures["rounding"] == "at most 1e-09 from the declared optimum"
    assert "proof" in figures
    assert "ms" in figures["time"]


def test_a_derived_budget_shows_its_parts(run: Any) -> None:
    budget = {"window": 8000, "reserved": {"system": 1200, "tools": 3100, "reply": 1024}}
    figures = _figures(run("solve", "-", data={"budget": budget, "items": []}).stdout)
    assert figures["budget"] == "window 8,000 - system 1,200 - tools 3,100 - reply 1,024 = 2,676"


def test_a_repaired_utility_is_shown_and_explained(run: Any) -> None:
    item = {
        "id": "a",
        "levels": {"raw": {"tokens": 5, "utility": 1}, "keywords": {"tokens": 6, "utility": 3}},
    }
    done = run("solve", "-", data=_one(item))
    assert _rows(done.stdout) == [["a", "raw", "5", "3"]]
    assert "repaired: 'a' at raw is worth 3, not 1" in done.stdout
    assert "dominated: 'a' at keywords" in done.stdout


def test_warnings_are_shown(run: Any) -> None:
    done = run("solve", "-", data=_one({"id": "paste", "levels": {"raw": {"tokens": 99, "utility": 1}}}))
    assert done.exit_code == 0
    assert "warning, never_fits: item 'paste' fits at no level" in done.stdout


def test_no_items_is_an_answer(run: Any) -> None:
    done = run("solve", "-", data={"budget": 0, "items": []})
    assert done.exit_code == 0
    assert _figures(done.stdout)["tokens"] == "0 of 0, 0 left"


def test_markup_and_control_characters_show_as_they_are(run: Any) -> None:
    wild = "[red]x[/red] \x1b[31m\u202e\x00\n"
    done = run("solve", "-", data=_one({"id": wild, "levels": {"raw": {"tokens": 1, "utility": 1}}}))
    assert done.exit_code == 0
    assert _rows(done.stdout)[0][0] == r"[red]x[/red] \x1b[31m\u202e\x00\n"


def test_many_items_are_cut_in_the_table_only(run: Any) -> None:
    count = MOST_ROWS + 1234
    items = [{"id": f"m{n}", "levels": {"raw": {"tokens": 1, "utility": 1}}} for n in range(count)]
    declared = {"budget": 10**6, "items": items}
    done = run("solve", "-", data=declared)
    assert len(_rows(done.stdout)) == MOST_ROWS
    assert "and 1,234 more items; --json has all of them" in done.stdout
    assert len(json.loads(run("solve", "-", "--json", data=declared).stdout)["choices"]) == count


def test_many_notes_of_a_kind_are_cut(run: Any) -> None:
    levels = {"raw": {"tokens": 5, "utility": 1}, "keywords": {"tokens": 5, "utility": 1}}
    items = [{"id": f"m{n}", "levels": levels} for n in range(15)]
    printed = run("solve", "-", data={"budget": 99, "items": items}).stdout
    assert printed.count("dominated: ") == 10
    assert "and 5 more of this kind; --json has all of them" in printed


def test_json_is_the_result_object_alone(run: Any, strict_json: Any) -> None:
    done = run("solve", "-", "--json", data=PAIR)
    result = strict_json(done.stdout)
    assert set(result) == RESULT_KEYS
    assert done.stdout.count("\n") == 1
    expected = solve(Instance.model_validate(PAIR)).to_dict()
    assert result | {"seconds": 0} == expected | {"seconds": 0}


def test_a_file_is_read_like_standard_input(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(PAIR))
    assert _rows(run("solve", path).stdout) == _rows(run("solve", "-", data=PAIR).stdout)


def test_price_and_budget_replace_the_declared_ones(run: Any) -> None:
    given = json.loads(run("solve", "-", "--json", "--price", "2", "--budget", "7", data=PAIR).stdout)
    declared = json.loads(run("solve", "-", "--json", data=PAIR | {"price": 2, "budget": 7}).stdout)
    assert given | {"seconds": 0} == declared | {"seconds": 0}
    assert (given["price"], given["budget"]) == (2, 7)


def test_a_budget_can_be_given_as_a_window(run: Any) -> None:
    window = '{"window": 20, "reserved": {"reply": 9}}'
    assert json.loads(run("solve", "-", "--json", "--budget", window, data=PAIR).stdout)["budget"] == 11


@pytest.mark.parametrize(
    ("option", "text", "code"),
    [
        ("--price", "nan", "price_not_finite"),
        ("--price", "NaN", "price_not_finite"),
        ("--price", "-1", "price_negative"),
        ("--price", "cheap", "price_not_number"),
        ("--price", "1e999", "price_not_finite"),
        ("--budget", "2.5", "budget_not_integer"),
        ("--budget", "many", "budget_not_integer"),
        ("--budget", "-4", "budget_negative"),
        ("--budget", "true", "budget_not_integer"),
        ("--budget", "9" * 5000, "budget_not_integer"),
        ("--budget", "[" * 5000, "budget_not_integer"),
    ],
)
def test_a_given_price_or_budget_is_validated_with_everything_else(
    option: str, text: str, code: str, run: Any, strict_json: Any
) -> None:
    wrong = {"budget": 10, "items": [{"id": "a", "levels": {"raw": {"tokens": -1, "utility": 1}}}]}
    done = run("solve", "-", "--json", option, text, data=wrong)
    assert done.exit_code == 2
    assert [error["code"] for error in strict_json(done.stdout)["errors"]] == [code, "tokens_negative"]


def test_overrides_of_something_that_is_no_object_change_nothing(run: Any) -> None:
    done = run("solve", "-", "--budget", "5", data=b"[1, 2]")
    assert done.exit_code == 2
    assert "object" in done.stderr


def test_faults_are_listed_in_words_on_standard_error(run: Any) -> None:
    items = [{"id": "a", "levels": {"raw": {"tokens": -1, "utility": 1}, "rwa": {"tokens": 1, "utility": 1}}}]
    done = run("solve", "-", data={"budget": 10, "price": -2, "items": items})
    assert done.exit_code == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[0] == "memopt: standard input declares no valid instance: 3 faults"
    assert [line.split(":")[0].strip() for line in lines[1:]] == [
        "price_negative", "tokens_negative", "unknown_level",
    ]  # fmt: skip
    assert "item 'a', level 'raw'" in lines[2]


def test_warnings_of_an_invalid_input_are_listed_too(run: Any) -> None:
    levels = {"raw": {"tokens": 1, "utility": 1}}
    items = [{"id": name, "levels": levels} for name in ("m", "m", "caf\u00e9", "cafe\u0301")]
    done = run("solve", "-", data={"budget": 10, "items": items})
    assert "  duplicate_id: " in done.stderr
    assert "  warning, same_after_nfc: " in done.stderr


@pytest.mark.parametrize("budget", [{"window": 512, "reserved": {"system": 133, "reply": 404}}, -25])
def test_a_negative_budget_says_the_shortfall_at_the_top(budget: Any, run: Any, strict_json: Any) -> None:
    result = strict_json(run("solve", "-", "--json", data={"budget": budget, "items": []}).stdout)
    assert list(result)[:3] == ["status", "code", "shortfall"]
    assert (result["status"], result["code"], result["shortfall"]) == ("invalid", "budget_negative", 25)


def test_infeasible_says_minimum_pinned_and_shortfall(run: Any) -> None:
    done = run("solve", "-", data=STUCK)
    assert done.exit_code == 3
    assert done.stdout == ""
    for words in (
        "infeasible (pinned_exceeds_budget)",
        "minimum tokens: 5",
        "shortfall: 2",
        "pinned: 'rule'",
    ):
        assert words in done.stderr


def test_links_that_forbid_what_pins_demand_are_told_without_tokens(run: Any) -> None:
    items = [
        {"id": name, "pinned": True, "exclusive": "e", "levels": {"raw": {"tokens": 1, "utility": 1}}}
        for name in ("a", "b")
    ]
    done = run("solve", "-", data={"budget": 10, "items": items})
    assert done.exit_code == 3
    assert "pinned_conflict" in done.stderr
    assert "None" not in done.stderr


def test_infeasible_as_json(run: Any, strict_json: Any) -> None:
    done = run("solve", "-", "--json", "--explain", "rule", data=STUCK)
    result = strict_json(done.stdout)
    assert done.exit_code == 3
    assert (result["status"], result["minimum_tokens"], result["shortfall"]) == ("infeasible", 5, 2)
    assert result["pinned"] == ["rule"]
    assert result["choices"] == {}
    assert "explain" not in result


def test_explain_prints_a_sentence_for_every_other_level(run: Any) -> None:
    printed = " ".join(run("solve", "-", "--explain", "a", data=PAIR).stdout.split())
    assert "'a' is kept at raw with 8 tokens" in printed
    assert "- 'a' at keywords would lose" in printed
    assert "- 'a' cannot be kept at summary: the item has no such level." in printed
    assert "- Deleting 'a' would lose" in printed


def test_explain_in_json_is_the_explanation(run: Any, strict_json: Any) -> None:
    result = strict_json(run("solve", "-", "--json", "--explain", "a", data=PAIR).stdout)
    assert set(result) == RESULT_KEYS | {"explain"}
    assert result["explain"] == solve(Instance.model_validate(PAIR)).explain("a").to_dict()


@pytest.mark.parametrize("declared", [PAIR, STUCK])
def test_explaining_an_unknown_item_is_a_sentence(declared: dict[str, Any], run: Any) -> None:
    done = run("solve", "-", "--explain", "nobody", data=declared)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr == "memopt: there is no item 'nobody' in the instance\n"


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_can_be_asked(solver: str, run: Any) -> None:
    result = json.loads(run("solve", "-", "--json", "--solver", solver, data=PAIR).stdout)
    assert result["solver"] == solver
    assert result["value"] == "3.000000000"


@pytest.mark.parametrize("backend", ["cbc", "highs"])
def test_milp_has_two_backends(backend: str, run: Any) -> None:
    result = json.loads(
        run("solve", "-", "--json", "--solver", "milp", "--backend", backend, data=PAIR).stdout
    )
    assert result["status"] == "optimal"
    assert result["value"] == "3.000000000"


def test_a_backend_is_for_milp_only(run: Any) -> None:
    done = run("solve", "-", "--backend", "cbc", data=PAIR)
    assert done.exit_code == 2
    assert "only milp has" in done.stderr


def test_an_unknown_backend_names_the_known_ones(run: Any) -> None:
    done = run("solve", "-", "--solver", "milp", "--backend", "glpk", data=PAIR)
    assert done.exit_code == 2
    assert "cbc" in done.stderr
    assert "highs" in done.stderr


def test_an_unknown_solver_names_the_known_ones(run: Any) -> None:
    done = run("solve", "-", "--solver", "magic", data=PAIR)
    assert done.exit_code == 2
    assert done.stderr == f"memopt: there is no solver 'magic'; known are {', '.join(SOLVERS)}\n"


def test_a_time_limit_never_breaks_the_answer(run: Any, examples: Path) -> None:
    done = run("solve", examples / "trip.json", "--json", "--time-limit", "1e-9")
    result = json.loads(done.stdout)
    assert done.exit_code == 0
    assert result["status"] in ("optimal", "feasible")
    assert (result["status"] == "optimal") == (result["gap"] == "0")
    assert result["tokens"] <= result["budget"]


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_limit_is_a_positive_number(seconds: str, run: Any) -> None:
    done = run("solve", "-", "--time-limit", seconds, data=PAIR)
    assert done.exit_code == 2
    assert "--time-limit" in done.stderr


def _levels(text: bytes) -> bytes:
    return b'{"budget": 5, "items": [{"id": "a", "levels": {"raw": ' + text + b"}}]}"


ILLEGAL = {
    "empty": b"",
    "blank": b" \n\t",
    "no_json": b"{budget: 3}",
    "cut_off": b'{"budget": 3, "items": [',
    "two_documents": b"{} {}",
    "binary": bytes(range(256)) * 4,
    "utf16": '{"budget": 3}'.encode("utf-16"),
    "nul": b"\x00" * 100,
    "number": b"3",
    "null": b"null",
    "list": b"[]",
    "text": b'"budget"',
    "deep_list": b"[" * 100_000,
    "deep_object": b'{"a":' * 100_000,
    "deep_inside": b'{"budget": 5, "items": ' + b"[" * 900 + b"]" * 900 + b"}",
    "nan": _levels(b'{"tokens": 1, "utility": NaN}'),
    "infinity": _levels(b'{"tokens": 1, "utility": -Infinity}'),
    "nan_tokens": _levels(b'{"tokens": NaN, "utility": 1}'),
    "overflow": _levels(b'{"tokens": 1, "utility": 1e999}'),
    "huge_utility": _levels(b'{"tokens": 1, "utility": 1' + b"0" * 400 + b"}"),
    "huge_tokens": _levels(b'{"tokens": 1' + b"0" * 30 + b', "utility": 1}'),
    "endless_tokens": _levels(b'{"tokens": 1' + b"0" * 5000 + b', "utility": 1}'),
    "duplicate_key": b'{"budget": 5, "budget": 6, "items": []}',
    "duplicate_level": _levels(b'{"tokens": 1, "utility": 1}, "raw": null'),
    "surrogate_id": b'{"budget": 5, "items": [{"id": "\\ud800", "levels": {}}]}',
    "surrogate_key": b'{"budget": 5, "\\udfff": 1, "items": []}',
    "surrogate_level": _levels(b'null, "\\ud800": {"tokens": "\\ud801", "utility": 1}'),
    "wrong_everywhere": b'{"memopt": 2, "budget": [], "price": {}, "ladder": 4, "items": {"a": 1}}',
    "items_of_nothing": b'{"budget": 5, "items": [null, 3, [], "a", {}, true]}',
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_input_is_reported_in_words(name: str, run: Any) -> None:
    done = run("solve", "-", data=ILLEGAL[name])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("memopt: standard input declares no valid instance: ")
    assert len(done.stderr.splitlines()) > 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_input_is_reported_as_standard_json(name: str, run: Any, strict_json: Any) -> None:
    done = run("solve", "-", "--json", data=ILLEGAL[name])
    result = strict_json(done.stdout_bytes)
    assert done.exit_code == 2
    assert done.stderr == ""
    assert result["status"] == "invalid"
    assert result["errors"]
    assert all(error["code"] and error["message"] for error in result["errors"])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("utility", ["1e308", "-1e308", "1e-320", '"1e300"'])
def test_extreme_utilities_still_give_standard_json(utility: str, run: Any, strict_json: Any) -> None:
    item = '{{"id": "{}", "levels": {{"raw": {{"tokens": 1, "utility": {}}}}}}}'
    items = ", ".join(item.format(name, utility) for name in "abc")
    done = run("solve", "-", "--json", data=f'{{"budget": 2, "items": [{items}]}}'.encode())
    result = strict_json(done.stdout_bytes)
    assert result["status"] == ("invalid" if done.exit_code else "optimal")


@pytest.mark.parametrize(
    "name",
    [
        "with space.json",
        "gr\u00fc\u00dfe \u4f60\u597d.json",
        "[bold]x[bold].json",
        "a'b\"c.json",
        "-dash.json",
    ],
)
def test_odd_file_names(name: str, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(json.dumps(PAIR))
    assert run("solve", f"./{name}").exit_code == 0
    Path(name).write_text("{")
    failed = run("solve", f"./{name}")
    assert failed.exit_code == 2
    assert name.split(".")[0][-3:] in failed.stderr.replace("\\", "")


def test_a_missing_file_and_a_directory_are_sentences(run: Any, tmp_path: Path) -> None:
    missing = run("solve", tmp_path / "none.json")
    assert missing.exit_code == 2
    assert missing.stderr == f"memopt: '{tmp_path / 'none.json'}': No such file or directory\n"
    folder = run("solve", tmp_path)
    assert folder.exit_code == 2
    assert folder.stderr == f"memopt: '{tmp_path}': Is a directory\n"


def test_a_hundred_megabytes_of_nothing(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "hole.json"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    done = run("solve", path)
    assert done.exit_code == 2
    assert "not_json" in done.stderr


@pytest.mark.slow
def test_a_hundred_megabytes_of_text_are_solved(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    option = {"tokens": 8, "utility": 1, "text": "a" * (100 * 2**20)}
    path.write_text(json.dumps(_one({"id": "a", "levels": {"raw": option}})))
    done = run("solve", path)
    assert done.exit_code == 0
    assert _rows(done.stdout) == [["a", "raw", "8", "1"]]
