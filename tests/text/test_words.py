"""Negations, restrictions and failures are seen, and numbered lines stay with their numbers."""

from __future__ import annotations

import pytest

from memopt.text.words import LONGEST, fails, restricts, sentences, stretches


@pytest.mark.parametrize(
    "text",
    [
        "Not before Thursday, please.", "Buy it ONLY if it is cheap", "Don't book it", "I don’t fly",
        "dont call", "Nobody comes", "Fly without bags", "unless it rains", "wait until May",
        "all except Bob", "NO", "不要送货", "别打电话", "未付款不发货", "只要红色", "仅限今天", "除了周一",
        "Avoid the centre", "Stop sending mails", "at most two", "On second thought, stay", "I’d rather walk",
        "Heute nicht", "keine Nüsse", "nur rot", "Ohne Zucker", "außer Montag",
        "je n’aime que ça", "Pas de sucre", "sauf lundi", "sin gluten", "sólo rojo", "Nunca",
        "я не хочу", "Только красный", "без сахара", "لا أريد", "لم يصل", "فقط اليوم",
        "三点之前到", "没有辣椒", "切勿外出", "肉なしでお願い", "赤だけ", "行きません",
        "必须周五到", "至少三人", "no more than two",
        "Stay away from the payments table", "Keep the kids away from it", "Keep out of my room",
        "Hands off the payments table", "Peanuts are off limits", "off-limits", "Leave the old logs alone",
        "Refrain from pushing to main", "Leave it untouched", "Keep it under 300 words", "below $50",
        "You must pay first", "at least two", "fewer than nine", "limited to two", "max. 3",
        "No problem, but call only Ann", "Don't worry, I will not fly", "It is not only red but not round",
    ],
)  # fmt: skip
def test_negations_and_restrictions_are_seen(text: str) -> None:
    assert restricts(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Book the northern hotel",
        "I want a knot",
        "The notes beforehand",
        "Donut and tilt",
        "Fly nonstop to Lincoln, NE 68501, or solo with one stop in Rome",
        "Ann's stop is at the most northern gate",
        "Rock n' roll",
        "Der Hotelpass ist da",
        "Алло, нетто",
        "非常好",
        "我要红色的",
        "ok 👍",
        "No problem, happy to help!",
        "Don't worry",
        "Don’t worry, do not hesitate to ask",
        "It is not only red but round",
        "Why not?",
        "不客气，没问题，别担心",
        "It stands under the bridge at Keep 3, off the road; Max Lee stays alone, most at hand",
    ],
)
def test_other_texts_are_not_taken_for_any(text: str) -> None:
    assert not restricts(text)


@pytest.mark.parametrize(
    "text",
    ["KeyError: 'a'", "2 failed", "10 errors", "FAILED a.py", '"ok":false', "'success': False",
     '"error": "no"', "error: 404", "Timed out",
     "Error: None of these is yours", "Gateway timeout", "Card declined", "WARNING disk", "支付失败"],
)  # fmt: skip
def test_failures_are_seen(text: str) -> None:
    assert fails(text)


@pytest.mark.parametrize(
    "text",
    ["", "Booked", '"ok":true', '"error":null', '"errors": []', "'error': None", "failed=0", "0 failed",
     "No errors found", "timeout=30", '"timeout_ms": 500', "支付成功"],
)  # fmt: skip
def test_empty_errors_are_no_failures(text: str) -> None:
    assert not fails(text)


def test_a_numbered_line_stays_with_its_number() -> None:
    assert [sentence.text for sentence in sentences("1. Fly to Rome. 2 days.\n12. Rest. In 2023. Then.")] == [
        "1. Fly to Rome.", "2 days.", "12. Rest.", "In 2023.", "Then.",
    ]  # fmt: skip


def test_stretches_end_at_function_characters() -> None:
    assert stretches("快递员把包裹放在门口的鞋柜，是4号。OK") == ["快递员", "包裹放", "门口", "鞋柜"]


def test_long_lines_are_cut_in_one_walk():
    assert len(sentences("a. " * 200_000)) == 3 * 200_000 // LONGEST
    assert {len(each.text) for each in sentences("😀" * (2_000 * LONGEST))} == {LONGEST}
