"""Every public case of kind `allocate` and `validate`, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parents[3] / "shared" / "cases"


def _named(kind: str) -> list[str]:
    paths = sorted(CASES.glob("*.json"))
    return [path.stem for path in paths if json.loads(path.read_bytes())["kind"] == kind]


@pytest.fixture
def case(request: pytest.FixtureRequest, shared: Path) -> dict[str, Any]:
    return json.loads((shared / "cases" / f"{request.param}.json").read_bytes())


def test_the_cases_are_found(shared: Path) -> None:
    assert len(_named("allocate")) == 18
    assert len(_named("validate")) == 5


@pytest.mark.parametrize("case", _named("allocate"), indirect=True)
def test_allocate(case: dict[str, Any], run: Any, strict_json: Any) -> None:
    declared, expected = case["input"], case["expect"]
    done = run("solve", "-", "--json", data=declared)
    result = strict_json(done.stdout)
    assert done.exit_code == (3 if expected["status"] == "infeasible" else 0)
    assert result["status"] == expected["status"]
    for key in ("choices", "tokens", "code", "minimum_tokens", "pinned"):
        if key in expected:
            assert result[key] == expected[key], key
    if "objective" in expected:
        assert result["objective"] == pytest.approx(
            expected["objective"], abs=expected.get("tolerance", 1e-9)
        )
    if result["status"] == "optimal":
        assert result["gap"] == "0"
        _check_constraints(declared, result["choices"], result["tokens"])
    if "raw_tokens" in expected:
        assert sum(item["levels"]["raw"]["tokens"] for item in declared["items"]) == expected["raw_tokens"]
    for said in expected.get("properties", []):
        _check_property(said, declared, result, run)
    if "repair" in expected:
        _check_repair(expected, declared, result, run)


@pytest.mark.parametrize("case", _named("validate"), indirect=True)
def test_validate(case: dict[str, Any], run: Any, strict_json: Any) -> None:
    declared, expected = case["input"], case["expect"]
    if "window" in declared:
        declared = {"budget": declared, "items": []}
    done = run("solve", "-", "--json", data=declared)
    result = strict_json(done.stdout)
    if "status" not in expected:
        assert done.exit_code == 0
        assert result["budget"] == expected["budget"]
        return
    assert done.exit_code == 2
    for key in ("status", "code", "shortfall"):
        if key in expected:
            assert result[key] == expected[key]
    if "errors" in expected:
        assert _places(result["errors"]) == [tuple(map(_frozen, error)) for error in expected["errors"]]
    if "warnings" in expected:
        found = _places(result["warnings"])
        assert found == [tuple(map(_frozen, warning)) for warning in expected["warnings"]]


@pytest.mark.parametrize("name", ["01-tool-pair-leading-result", "36-nan-utility", "15-pinned-over-budget"])
def test_in_a_process_of_its_own(
    name: str, shared: Path, run: Any, run_process: Any, strict_json: Any
) -> None:
    case = json.loads((shared / "cases" / f"{name}.json").read_bytes())
    text = json.dumps(case["input"]).encode()
    here, there = run("solve", "-", "--json", data=text), run_process("solve", "-", "--json", data=text)
    assert there.returncode == here.exit_code
    results = [strict_json(done.stdout) for done in (here, there)]
    for result in results:
        result.pop("seconds", None)
    assert results[0] == results[1]


def _check_constraints(declared: dict[str, Any], choices: dict[str, str], tokens: int) -> None:
    used = 0
    present: dict[str, set[bool]] = {}
    held: dict[str, list[str]] = {}
    for item in declared["items"]:
        level = choices[item["id"]]
        used += item["levels"][level]["tokens"] if level != "delete" else 0
        assert level != "delete" or not item.get("pinned")
        if "group" in item:
            present.setdefault(item["group"], set()).add(level != "delete")
        if "exclusive" in item and level != "delete":
            held.setdefault(item["exclusive"], []).append(item["id"])
    assert used == tokens <= declared["budget"]
    assert all(len(states) == 1 for states in present.values()), "a group is split"
    assert all(len(items) == 1 for items in held.values()), "an exclusive set is present twice"


def _check_property(said: str, declared: dict[str, Any], result: dict[str, Any], run: Any) -> None:
    if said == "no group is split":  # `_check_constraints` has looked; there must be one to look at
        assert any("group" in item for item in declared["items"])
    elif said == "idempotent":
        assert [warning["item"] for warning in result["warnings"]] == ["paste"]
        items = [item | {"current": result["choices"][item["id"]]} for item in declared["items"]]
        again = json.loads(run("solve", "-", "--json", data=declared | {"items": items}).stdout)
        assert again["choices"] == result["choices"]
        assert again["value"] == result["value"]
    elif said.startswith("reported as dominated: "):
        listed = said.removeprefix("reported as dominated: ").split(", ")
        assert [".".join(entry) for entry in result["dominated"]] == listed
    else:
        pytest.fail(f"a property no check knows: {said}")


def _check_repair(
    expected: dict[str, Any], declared: dict[str, Any], result: dict[str, Any], run: Any
) -> None:
    declared_utility = {
        level: option["utility"] for item in declared["items"] for level, option in item["levels"].items()
    }
    repaired = dict(declared_utility)
    for _, level, before, after in result["repaired"]:
        assert before == declared_utility[level]
        repaired[level] = after
    assert repaired == expected["repair"]
    without = json.loads(run("solve", "-", "--json", data=declared | {"repair": "none"}).stdout)
    assert without["repaired"] == []
    assert without["choices"] == expected["without_repair"]


def _places(faults: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return the faults as the cases list them: item, level or positions, field or code."""
    return [
        (fault["item"], fault["level"], fault["field"])
        if fault["level"] is not None
        else (fault["item"], _frozen(fault["index"]), fault["code"])
        for fault in faults
    ]


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
