"""Levels depend on what was said before, on nothing after, and are made once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chats import chats, texts
from hypothesis import given
from hypothesis import strategies as st

from memopt.text.compress import levels
from memopt.text.idf import StreamingIdf
from memopt.text.ladders import MARK, Ladder, Ladders
from memopt.text.messages import Message, read_messages

SAID = [
    "Ann adopted a greyhound called Biscuit in Leeds. She is lovely. Weather is fine today. Trains run late.",
    "The train to Leeds leaves at nine. The hotel is full. Ann waits at the north gate. Bring the map.",
    "西湖的龙井茶很好喝。我昨天去了杭州。明天我们去灵隐寺，然后坐高铁回上海。西湖很美。",
] * 3  # fmt: skip


def told(*said: str, role: str = "user") -> tuple[Message, ...]:
    return read_messages([{"role": role, "content": text} for text in said])


def seen(ladders: list[Ladder]) -> list[Any]:
    return [(ladder.texts, ladder.mass, ladder.shares) for ladder in ladders]


def test_the_default_levels_are_the_extractive_ones_by_what_was_said_so_far() -> None:
    messages = told(*SAID)
    idf = StreamingIdf()
    for message, ladder in zip(messages, Ladders()(messages), strict=True):
        idf.observe(message.text())
        made = levels(message.content.text, idf, mark=MARK)
        assert made
        assert ladder.texts == {"raw": message.content.text} | made
        assert ladder.mass == pytest.approx(sum(idf(term) for term in set(idf.terms(message.text()))))


@given(st.lists(texts, max_size=8), st.integers(0, 8))
def test_a_chat_that_goes_on_keeps_every_level_it_had(said: list[str], cut: int) -> None:
    kept = Ladders()
    first = seen(kept(told(*said[:cut])))
    whole = seen(kept(told(*said)))
    assert whole[: len(first)] == first
    assert whole == seen(Ladders()(told(*said))) == seen(kept(told(*said)))


@given(st.lists(st.lists(st.sampled_from(SAID), max_size=6), max_size=6))
def test_what_is_remembered_of_other_chats_changes_nothing(several: list[list[str]]) -> None:
    kept = Ladders()
    for said in several:
        assert seen(kept(told(*said))) == seen(Ladders()(told(*said)))


@given(chats())
def test_shares_never_rise_with_poorer_levels(chat: list[dict[str, Any]]) -> None:
    for ladder in Ladders()(read_messages(chat)):
        shares = list(ladder.shares.values())
        assert list(ladder.shares) == list(ladder.texts)
        assert shares == sorted(shares, reverse=True)
        assert shares[0] == 1.0
        assert min(shares) >= 0.0 <= ladder.mass


def test_a_compressor_of_the_users_is_asked_once_a_text_and_never_for_what_stays() -> None:
    asked: list[str] = []

    def shorter(text: str) -> str:
        asked.append(text)
        return text[:3]

    kept = Ladders({"summary": shorter})
    messages = told("one two", "three four", "one two")
    found = kept(messages, fixed={"m1"})
    assert [ladder.texts for ladder in found] == [
        {"raw": "one two", "summary": "one"}, {"raw": "three four"}, {"raw": "one two", "summary": "one"},
    ]  # fmt: skip
    kept(messages[1:])
    assert asked == ["one two", "three four"]


def test_built_in_levels_say_what_they_are_and_given_ones_what_they_want() -> None:
    [ladder] = Ladders()(told(" ".join(SAID)))
    assert list(ladder.texts) == ["raw", "summary", "abstraction", "keywords"]
    for level, text in list(ladder.texts.items())[1:]:
        assert text.startswith(f"[{level}] ")
    [other] = Ladders({"summary": lambda text: text[:3]})(told(SAID[0]))
    assert other.texts["summary"] == "Ann"


def test_a_mark_tells_nothing_of_a_message() -> None:
    [ladder] = Ladders()(told("A summary is what I want. " + SAID[0]))
    [other] = Ladders()(told("A synonym is what I want. " + SAID[0]))
    assert "summary is" not in ladder.texts["summary"]
    assert ladder.shares == other.shares


def test_the_count_of_records_in_a_mark_tells_nothing_of_a_message() -> None:
    [ladder] = Ladders()(told("\n".join(f"job {number} done in Leeds" for number in range(100))))
    found = [line for line in ladder.texts["abstraction"].splitlines() if line != "…"]
    assert found[0] == f"[abstraction: {len(found)} of 100 lines] job 0 done in Leeds"
    assert ladder.shares["abstraction"] == pytest.approx((4 + len(found)) / 104)  # role, job, done, leeds


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_there_are_no_keywords_of_what_is_negated_or_restricted(role: str) -> None:
    order = "Please book the blue suit at the shop in Leeds and send it to my office by courier on Thursday."
    said = [
        order,
        order + " Not before Thursday.",
        order.replace("and", "only if cheap, and"),
        SAID[2] + "不要茶。",
    ]
    found = ["keywords" in ladder.texts for ladder in Ladders()(told(*said, role=role))]
    assert found == [True, False, False, False]


def returned(result: str) -> Ladder:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    return Ladders()(read_messages([asked, {"role": "tool", "tool_call_id": "c", "content": result}]))[1]


ORDER = "Order W237 of Ann Lee was{} cancelled and the payment was{} refunded to the card in Leeds."


@pytest.mark.parametrize("flag", [False, True])
def test_what_a_tool_denies_has_no_keywords(flag: bool) -> None:
    denied = "" if flag else " not"
    assert ("keywords" in returned(ORDER.format(denied, denied)).texts) is flag
    order = {"cancelled": flag, "refunded": flag, "name": "Ann Lee of Leeds", "address": "12 Mill Lane"}
    for result in (json.dumps(order), json.dumps(order, separators=(",", ":")), str(order)):
        assert ("keywords" in returned(result).texts) is flag


def test_the_records_of_what_a_tool_denies_stay_free_to_go() -> None:
    found = returned("\n".join(f"job {number} not done in Leeds" for number in range(50))).texts
    assert list(found) == ["raw", "summary", "abstraction"]


TRACEBACK = """Traceback (most recent call last):
  File "/srv/shop/main.py", line 41, in <module>
    serve(queue, workers=4, timeout=30)
  File "/srv/shop/serve.py", line 112, in serve
    handle(queue.get(), store, mailer)
  File "/srv/shop/handle.py", line 77, in handle
    order = store.orders[message.order]
  File "/srv/shop/store.py", line 19, in __getitem__
    return self.rows[self.index[key]]
shop.errors.NoSuchOrderForThisCustomerOfOursError: W237"""
PYTEST = """platform linux -- Python 3.12.3, pytest-8.2.0
rootdir: /srv/shop
configfile: pyproject.toml
tests/test_cart.py ........ [ 40%]
tests/test_tax.py .......F [ 80%]
tests/test_user.py ........ [100%]
FAILED tests/test_store.py::test_index - KeyError: 'W237'
FAILED tests/test_tax.py::test_vat - assert 19 == 20
2 failed, 22 passed in 1.24s"""
BOOKING = {
    "ok": False,
    "error": "card declined, nothing was booked",
    "request": {
        "flight": "HAT136 from Leeds to Rome on 2024-05-17",
        "passengers": ["Ann Lee", "Bob Lee"],
        "card": "Visa ending in 4411, Ann Lee",
        "bags": "two checked, one carried",
        "insurance": "full cover for both",
    },
}


@pytest.mark.parametrize(
    ("result", "failures"),
    [
        (json.dumps(BOOKING), ['"ok":false', '"error":"card declined, nothing was booked"']),
        (TRACEBACK, TRACEBACK.splitlines()[-1:]),
        (PYTEST, PYTEST.splitlines()[-3:]),
    ],
)
def test_what_a_tool_returns_keeps_its_failure(result: str, failures: list[str]) -> None:
    summary = returned(result).texts["summary"]
    assert all(failure in summary for failure in failures)


def test_what_people_say_of_a_failure_does_not_come_first() -> None:
    [ladder] = Ladders()(told(PYTEST))
    assert ladder.texts["summary"] != returned(PYTEST).texts["summary"]


def test_escapes_of_json_are_read_as_what_they_stand_for() -> None:
    order = [{"酒店": "西湖国宾馆", "价": "五百元含早餐"}, {"酒店": "龙井茶馆", "价": "三百元含晚餐"}]
    escaped, plain = returned(json.dumps(order)), returned(json.dumps(order, ensure_ascii=False))
    assert escaped.mass == plain.mass
    assert "酒店" in escaped.texts["keywords"]
    assert "u9152" not in escaped.texts["keywords"]
    order[0]["价"] = "五百元不含早餐"
    assert "keywords" not in returned(json.dumps(order)).texts


def test_a_level_that_the_ladder_does_not_have_is_named() -> None:
    with pytest.raises(ValueError, match="raw, summary, abstraction, keywords has no poorer level 'gist'"):
        Ladders({"gist": str.upper})
    with pytest.raises(ValueError, match="no poorer level 'raw'"):
        Ladders({"raw": str.upper, "summary": str.upper})


def test_a_ladder_may_have_other_names() -> None:
    [ladder] = Ladders({"gist": lambda text: text[:1]}, ladder=("full", "gist", "tags"))(told("word"))
    assert ladder.texts == {"full": "word", "gist": "w"}


def test_a_compressor_that_returns_no_text_is_named() -> None:
    with pytest.raises(TypeError, match="compressor of 'summary' returned NoneType"):
        Ladders({"summary": lambda text: None})(told("word"))  # type: ignore[dict-item, return-value]  # wrong on purpose


def test_content_that_is_more_than_text_has_one_level() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    chat = [{"role": "user", "content": [{"type": "text", "text": SAID[0]}, image]}]
    assert list(Ladders()(read_messages(chat))[0].texts) == ["raw"]


def test_what_utf8_cannot_hold_is_not_taken_for_another_text() -> None:
    kept = Ladders({"summary": lambda text: text[:2]})
    for text in ("a? b c", "a\ud800 b c"):
        assert kept(told(text))[0].texts == {"raw": text, "summary": text[:2]}
