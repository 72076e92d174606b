"""`memopt count`: texts, chats and usage; the handed cases of these kinds through the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest


def counted(run: Any, data: Any, *options: str) -> Any:
    result = run("count", "-", "--json", *options, data=data)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
def test_the_zoo_counts_as_published(run: Any, case: Any, encoding: str) -> None:
    zoo = case("55-text-zoo")
    assert counted(run, zoo["input"], "--tokenizer", encoding)["texts"] == zoo["expect"]["counts"][encoding]
    assert counted(run, zoo["input"])["texts"] == zoo["expect"]["utf8_bytes"]


def test_joined_texts_cost_what_they_cost(run: Any, case: Any) -> None:
    joins = case("56-joined-text-costs-more")
    for encoding in ("cl100k_base", "o200k_base"):
        for row, expected in zip(joins["input"]["rows"], joins["expect"]["rows"], strict=True):
            texts = {key: row[key] for key in ("a", "sep", "b")} | {
                "joined": row["a"] + row["sep"] + row["b"]
            }
            found = counted(run, {"texts": texts}, "--tokenizer", encoding)
            assert found["texts"] == expected[encoding]
            assert found["tokenizer"] == encoding.removesuffix("_base")


def test_usage_is_the_latest_prompt_and_no_sum(run: Any, case: Any) -> None:
    usage = case("17-usage-cumulative-not-additive")
    assert counted(run, usage["input"]) == {"tokens": usage["expect"]["context_tokens"]}


def test_a_vocabulary_that_is_not_here_is_an_error_and_bytes_still_work(
    run_process: Any, tmp_path: Any, case: Any
) -> None:
    missing = case("57-tokenizer-missing-offline")
    file = tmp_path / "texts.json"
    file.write_text('{"texts": {"a": "hello"}}', encoding="utf-8")
    empty = {"TIKTOKEN_CACHE_DIR": str(tmp_path / "nothing")}
    asked = f"tiktoken:{missing['input']['encoding']}"
    done = run_process("count", file, "--tokenizer", asked, **empty)
    assert done.returncode == 2
    assert asked.encode() in done.stderr
    assert b"Ways out" in done.stderr
    assert run_process("count", file, "--json", **empty).stdout == (
        b'{"tokens": 5, "tokenizer": "bytes", "texts": {"a": 5}}\n'
    )


def test_shapes_of_content_are_all_counted(run: Any, case: Any) -> None:
    shapes = case("40-message-content-shapes")
    found = list(counted(run, shapes["input"])["messages"].values())
    assert all(found[index] > 3 for index in shapes["expect"]["nonzero"])
    longer = json.loads(json.dumps(shapes["input"]).replace("a long argument", "a much longer argument"))
    assert next(iter(counted(run, longer)["messages"].values())) == found[0] + len("much er")
    unknown = [{"role": "user", "content": [{"type": "hologram"}]}]
    assert run("count", "-", data=unknown).exit_code == 2


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"texts": ["a"]}, "not_texts"),
        ({"texts": {"a": 1}}, "not_texts"),
        ({"calls": [3]}, "not_texts"),
        ([{"role": "nobody"}], "unknown_role"),
        (b"{", "not_json"),
    ],
)
def test_what_is_none_of_these_is_refused_with_its_code(run: Any, data: Any, code: str) -> None:
    result = run("count", "-", "--json", data=data)
    assert result.exit_code == 2
    assert [fault["code"] for fault in json.loads(result.stdout)["errors"]] == [code]


def test_a_person_sees_a_table(run: Any) -> None:
    result = run("count", "-", data=[{"role": "user", "content": "yes"}])
    assert "m0" in result.stdout
    assert "bytes" in result.stdout
    assert run("count", "-", data={"calls": []}).stdout == "tokens  no call\n"


def test_a_tokenizer_that_nobody_knows_is_named(run: Any) -> None:
    result = run("count", "-", "--tokenizer", "o300k", data={"texts": {}})
    assert result.exit_code == 2
    assert "o300k" in result.output


@pytest.mark.parametrize(
    "text", [b'{"texts": {"a": "x", "a": "yy"}}', b'{"calls": [{"prompt_tokens": 1, "prompt_tokens": 2}]}']
)
def test_a_key_that_is_there_twice_is_refused(run: Any, text: bytes) -> None:
    assert run("count", "-", data=text).exit_code == 2
