"""Compressors keep what tells most, within their share, in any script, the same every time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memopt.session.refresh import Compressor
from memopt.text.compress import SHARES, SHORTER, IdfSentences, TfIdfKeywords, compressors, levels
from memopt.text.idf import StreamingIdf
from memopt.text.units import record_units
from memopt.text.words import LONGEST, jieba_terms, join, restricts, sentences, terms

TALK = """Ann: Hi there! How are you? I'm fine.
Ann: I adopted a greyhound called Biscuit from the shelter in Leeds. She is lovely.
Bob: Great! That is great news. I moved to Leeds in March 2023 and work as a nurse now.
Ann: Nice. Really nice."""

ZH = (
    "我昨天去了杭州。西湖的龙井茶很好喝！“你喜欢龙井茶吗？”她问道。"
    "明天我们去灵隐寺，然后坐高铁回上海。西湖很美。"
)


texts_that_repeat = st.lists(
    st.sampled_from(["Rome. ", "The plan is to go to Rome. ", "Anna comes, too. ", "西湖很美。", "龙井茶\n"]),
    max_size=30,
).map("".join)


def texts_of(*texts: str) -> StreamingIdf:
    idf = StreamingIdf()
    for text in texts:
        idf.observe(text)
    return idf


def test_sentences_end_where_people_end_them() -> None:
    text = 'He said "Stop!" Then left. Dr. Smith paid $3.50, e.g. for tea (or not.) OK...  fine\nNext line'
    assert [sentence[:2] for sentence in sentences(text)] == [
        ('He said "Stop!"', 0),
        ("Then left.", 0),
        ("Dr. Smith paid $3.50, e.g. for tea (or not.)", 0),
        ("OK...", 0),
        ("fine", 0),
        ("Next line", 1),
    ]


def test_chinese_sentences_keep_their_closing_quotes() -> None:
    assert [sentence.text for sentence in sentences(ZH)] == [
        "我昨天去了杭州。", "西湖的龙井茶很好喝！", "“你喜欢龙井茶吗？”", "她问道。",
        "明天我们去灵隐寺，然后坐高铁回上海。", "西湖很美。",
    ]  # fmt: skip


@given(st.text(max_size=400))
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    found = sentences(text)
    assert "".join("".join(sentence.text.split()) for sentence in found) == "".join(text.split())
    assert all(sentence.text == sentence.text.strip() != "" for sentence in found)
    assert max((len(sentence.text) for sentence in found), default=0) <= LONGEST
    assert sentences(join(found)) == sentences(join(sentences(join(found))))


def test_texts_without_full_stops_are_cut_at_commas_and_spaces() -> None:
    log = ", ".join(f"field{number}=value{number}" for number in range(60))
    pieces = [sentence.text for sentence in sentences(log)]
    assert len(pieces) > 4
    assert all(piece.endswith(",") for piece in pieces[:-1])
    assert [len(sentence.text) for sentence in sentences("x" * 500)] == [LONGEST, LONGEST, 500 - 2 * LONGEST]


def test_joining_keeps_lines_and_puts_no_spaces_into_chinese() -> None:
    assert join(sentences(TALK)) == TALK
    assert join(sentences(ZH)) == ZH
    assert join(sentences("好。 Fine. Yes.")) == "好。Fine. Yes."


def test_terms_are_content_words_and_chinese_bigrams() -> None:
    assert terms("Caroline's max_tokens don't run; 7 e-mails to foo.py, don’t they?") == [
        "caroline", "max_tokens", "run", "7", "e-mails", "foo.py",
    ]  # fmt: skip
    assert terms("龙井茶的price，茶") == ["龙井", "井茶", "price", "茶"]
    assert terms("ＡＢＣ ２０２３") == ["abc", "2023"]
    assert terms("서울에서 만나요 🎉") == ["서울에서", "만나요"]


def test_idf_knows_only_what_it_has_seen_in_any_order() -> None:
    seen = ["red fox", "red hen", "red cat red"]
    idf = texts_of(*seen)
    assert idf("red") < idf("fox") < idf("unseen")
    assert idf("red") > 0
    assert idf.to_dict() == {"texts": 3, "spread": {"cat": 1, "fox": 1, "hen": 1, "red": 3}}
    for order in permutations(seen):
        assert texts_of(*order).to_dict() == idf.to_dict()
    IdfSentences(0.5, idf)("A new text. With new words.")
    assert idf.texts == 3  # compressing is not seeing
    again = StreamingIdf.from_dict(json.loads(json.dumps(idf.to_dict())))
    assert [again(term) for term in ("red", "fox")] == [idf("red"), idf("fox")]


def test_the_sentences_that_tell_most_are_kept_in_their_order() -> None:
    kept = IdfSentences(0.6)(TALK)
    assert kept.splitlines() == [
        "Ann: I adopted a greyhound called Biscuit from the shelter in Leeds.",
        "Bob: Great! I moved to Leeds in March 2023 and work as a nurse now.",
    ]


def test_a_repeated_sentence_is_kept_once() -> None:
    text = "The code is 4711. " * 5 + "The door is green."
    assert IdfSentences(0.5)(text) == "The code is 4711. The door is green."


def test_what_is_common_in_the_stream_gives_way_to_what_is_rare() -> None:
    text = "Weather report follows today. Volcano erupted near Grindavik."
    common = texts_of(*["weather report follows today"] * 20, "other")
    assert IdfSentences(0.55, common)(text) == "Volcano erupted near Grindavik."
    rare = texts_of(*["volcano erupted near grindavik"] * 20, "other")
    assert IdfSentences(0.55, rare)(text) == "Weather report follows today."


def dearer_joined(text: str) -> int:
    """Count a text as some tokenizers do: the whole costs more than its parts."""
    return len(text) + 4 * text.count("\n")


@given(
    st.text(alphabet=st.sampled_from("ab. \n,。茶龙井!?"), max_size=300),
    st.sampled_from([0.1, 0.3, 0.8, 1.0]),
)
def test_a_summary_never_exceeds_its_share_and_only_quotes(text: str, share: float) -> None:
    for length in (len, lambda part: len(part.encode()), dearer_joined):
        kept = IdfSentences(share, length=length)(text)
        assert length(kept) <= share * length(text)
        said = {sentence.text for sentence in sentences(text)}
        assert all(any(line in one or one in line for one in said) for line in kept.splitlines())


def test_nothing_is_kept_where_nothing_fits() -> None:
    assert IdfSentences(0.2)("One single sentence that does not fit its share.") == ""
    assert IdfSentences(0.2)("") == TfIdfKeywords(3)("") == TfIdfKeywords(3)("of the!") == ""


def test_keywords_are_frequent_here_and_rare_elsewhere() -> None:
    idf = texts_of("a ship took cargo", "a parrot took off", "a harbour")
    text = "The ship, the ship! Pirates took the ship; pirates, and a parrot."
    assert TfIdfKeywords(2, idf)(text) == "pirates, ship"
    assert TfIdfKeywords(99, idf)(text) == "pirates, ship, parrot, took"


def test_chinese_keywords_are_stretches_of_the_text() -> None:
    assert TfIdfKeywords(1)("西湖龙井的。西湖龙井！") == "西湖龙井"
    assert TfIdfKeywords(4)("西湖的美，西湖的大，龙井的香，龙井的贵") == "西湖、龙井"
    common = texts_of(*["快递一千个包裹送来"] * 5)
    assert TfIdfKeywords(1, common)("快递员一千个包裹送来") == "快递员"
    assert TfIdfKeywords(9)("快递员 in Leeds sold biscuits") == "快递员, leeds, sold, biscuits"


def test_words_of_a_dictionary_are_not_joined() -> None:
    idf = StreamingIdf(lambda text: ["上海", "喝", "龙井茶"] if text else [])
    assert TfIdfKeywords(3, idf)("上海喝龙井茶") == "上海, 喝, 龙井茶"


def test_chinese_is_summarised_by_whole_sentences() -> None:
    kept = IdfSentences(0.5)(ZH)
    assert kept
    assert {sentence.text for sentence in sentences(kept)} <= {sentence.text for sentence in sentences(ZH)}
    assert len(kept) <= len(ZH) / 2


def test_jieba_cuts_chinese_into_words_where_it_is_installed() -> None:
    pytest.importorskip("jieba")
    found = jieba_terms()("我昨天去了上海，喝龙井茶 with Ann's")
    assert " ".join(found) == "昨天 去 上海 喝 龙井茶 ann"


def test_without_jieba_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['jieba'] = None\n"
        "from memopt.text.words import jieba_terms\n"
        "try: jieba_terms()\nexcept ImportError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'memopt[chinese]'" in told


def test_a_function_of_the_users_is_a_compressor() -> None:
    def shout(text: str) -> str:
        return text.upper()[:4]

    ladder: dict[str, Compressor] = {**compressors(StreamingIdf()), "summary": shout}
    assert ladder["summary"]("hello") == "HELL"
    assert set(ladder) == {"summary", "abstraction", "keywords"}


def test_a_list_of_json_is_summarised_by_whole_elements_each_once() -> None:
    flight = {"number": "HAT1", "from": "Leeds", "note": "Late. Few seats"}
    flights = [flight, flight, {**flight, "number": "HAT2", "to": "Rome"}, flight, flight]
    kept = levels(json.dumps(flights, indent=1), StreamingIdf(), shares={"summary": 0.5})["summary"]
    assert json.loads(kept) == [flights[0], flights[2]]


def test_a_log_is_summarised_by_whole_lines_each_once() -> None:
    lines = ["ok. Session 1.5 opened by mia", "WARN pool full. Growing"]
    text = "\n".join([lines[0]] * 4 + [lines[1]] + [lines[0]] * 2)
    kept = levels(text, StreamingIdf(), shares={"summary": 0.5})["summary"]
    assert kept.splitlines() == [lines[0], "…", lines[1]]


LADDER = {"summary": 0.5, "abstraction": 0.2, "keywords": 0.5}


@pytest.mark.parametrize(
    "text",
    [
        "Hi! Send my refund of 59 euros to my card by Friday, as a voucher, please.",
        "Good. Now write me a table of the total costs: hotel, train, food and museum for three people.",
        "Yes, please proceed with that booking. Thank you!",
        "谢谢。请再告诉我杭州到上海的高铁票价和时间，还有西湖附近的酒店推荐，明天早上九点出发。",
    ],
)
def test_a_sentence_that_says_little_is_no_level_and_takes_no_room_from_the_keywords(text: str) -> None:
    made = levels(text, StreamingIdf(), shares=LADDER)
    assert made == levels(text, StreamingIdf(), shares={"keywords": 0.5})
    assert len(made["keywords"]) > len(text) // 4


def test_a_few_of_the_keywords_are_no_level() -> None:
    text = "Thanks. 请再告诉我杭州到上海的高铁票价和时间，还有西湖附近的酒店推荐。"
    assert levels(text, StreamingIdf(), shares=LADDER, mark="[{}] ") == {}


TASK = (
    "Find out why the parser fails on empty input in the file reader.py. {}Write down what you found, mend "
    "it and add a case for every fault, so that all cases pass again by Friday. Thank you for your help."
)


def test_what_is_restricted_keeps_its_restriction_and_its_request_or_has_no_level() -> None:
    made = levels(TASK.format("Do not change the tests. "), StreamingIdf(), shares=LADDER)
    assert list(made) == ["summary"]
    assert "Do not change the tests." in made["summary"]
    assert "Find out why" in made["summary"] or "Write down" in made["summary"]
    short = "Find out why the parser fails on empty input. Do not change the tests."
    assert levels(short, StreamingIdf(), shares=LADDER) == {}


REST = (
    "Remove old logs in /var/log, compress what is older than a week, and restart the server when the disk "
    "is full. Write a report about it to the team. Thank you for your help with the machines in Leeds."
)


@pytest.mark.parametrize(
    "rule",
    [
        "Do not delete:\n- /var/backups\n- /etc/nginx. Anna needs it.\n- /home/anna\n",
        "**Do not delete:**\n1. /var/backups\n2. /etc/nginx:\n/etc/nginx/conf.d\n* /home/anna\n",
        "Never touch these:\n/var/backups, /etc/nginx and /home/anna\n",
        "不要删除：\n- /var/backups\n- /home/anna\n",
    ],
)
def test_a_restriction_keeps_the_list_that_it_is_about(rule: str) -> None:
    text = f"Clean the server. {rule}{REST}"
    short = 0
    for share in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        kept = levels(text, StreamingIdf(), shares={"summary": share})
        assert all(rule in summary for summary in kept.values())
        short += len(kept)
    assert short


def test_lists_below_equal_words_are_all_kept() -> None:
    rules = "Not here:\n- the red chair\n" + REST + "\nNot here:\n- the blue table\n"
    kept = levels(rules + REST, StreamingIdf(), shares={"summary": 0.8})["summary"]
    assert "Not here:\n- the red chair" in kept
    assert "Not here:\n- the blue table" in kept


def test_a_long_sentence_that_restricts_is_kept_whole() -> None:
    rule = (
        ", ".join(f"remove the file of room {number}" for number in range(18)) + ", but do not remove others."
    )
    assert len(sentences(rule)) > 2
    kept = [
        levels(f"{rule} {REST}", StreamingIdf(), shares={"summary": share})
        for share in (0.1, 0.4, 0.6, 0.8, 0.95)
    ]
    assert kept[0] == {}
    assert kept[2]["summary"].startswith(rule)
    assert all(rule in summary for made in kept for summary in made.values())


def test_the_count_of_a_list_is_told_where_its_longest_element_is_cut() -> None:
    beta = (
        "Guests may park behind the house. Breakfast is served from seven in the big room. "
        "Dogs sleep in the garden house. Keys hang at the desk."
    )
    hotels = [
        {"title": "Alpha Inn", "body": "Sold out."},
        {"title": "Beta Lodge", "body": beta},
        {"title": "Gamma House", "body": "From 59 euros."},
    ]
    kept = levels(json.dumps(hotels), StreamingIdf(), shares={"summary": 0.5}, mark="[{}] ")["summary"]
    assert kept.startswith("[summary: 2 of 3 records] [")


def test_what_does_not_fit_together_is_searched_by_halves() -> None:
    counted = 0

    def dear(text: str) -> int:
        nonlocal counted
        counted += 1
        return len(text) + 9 * text.count("\n")

    lines = [f"item {number} of house {number * 7 % 1000}" for number in range(1_000)]
    kept = IdfSentences(0.5, length=dear, units=record_units)("\n".join(lines))
    assert 0.49 < dear(kept) / dear("\n".join(lines)) <= 0.5
    assert counted < len(lines) + 50


MIGRATE = (
    "Migrate the billing service from MySQL to PostgreSQL by Friday. Anna has the passwords of both servers. "
    "Write the steps down in the wiki, with the time that each one took. Tell the team in Leeds when it runs."
)
RULE = (
    "At least two of the four workers have to go on with the payments of all customers while the tables "
    "are copied, without a single lost row and only with the old keys."
)


def test_one_long_restriction_leaves_the_rest_its_shorter_levels() -> None:
    text = f"{RULE} {MIGRATE} {REST}"
    assert len(RULE) > 0.25 * len(text)
    made = levels(text, StreamingIdf())
    assert list(made) == ["summary", "abstraction"]
    rest = len(text) - len(RULE)
    for level, kept in made.items():
        assert kept.startswith(f"{RULE} ")
        assert SHARES[level] / 2 * rest < len(kept) - len(RULE) <= SHARES[level] * rest


@pytest.mark.parametrize("share", [0.9, 0.99, 1.0])
def test_a_level_that_is_hardly_shorter_is_none(share: float) -> None:
    text = f"{MIGRATE} {REST}"
    made = levels(text, StreamingIdf(), shares={"summary": share, "abstraction": 0.98 * share})
    sizes = [len(text), *map(len, made.values())]
    assert len(sizes) == 3
    assert all(shorter <= SHORTER * richer for richer, shorter in pairwise(sizes))


@pytest.mark.parametrize(
    "courtesy", ["No problem, my friend!", "Don’t worry, my friend!", "没问题，my friend!"]
)
def test_of_no_problem_no_problem_becomes_a_keyword(courtesy: str) -> None:
    text = f"{courtesy} The train to Rome leaves at nine from the north."
    assert levels(text, StreamingIdf(), shares={"keywords": 0.8}) == {
        "keywords": "friend, train, rome, leaves, nine, north"
    }


def test_what_a_refresh_makes_forbids_what_the_memory_forbids() -> None:
    allergy = (
        "The user is allergic to peanuts and must not be given any dish that contains nuts or nut oil. "
        "She likes walks by the river with her dog, old films and tea in the garden. Her sister lives in "
        "Leeds and works as a nurse."
    )
    made = {level: make(allergy) for level, make in compressors(texts_of(allergy)).items()}
    assert made["summary"].startswith("The user is allergic to peanuts and must not be given any dish")
    assert len(made["summary"]) < len(allergy)
    assert made["keywords"] == ""
    rule = (
        "Do not touch the payments table before Friday. Migrate the service to PostgreSQL without downtime."
    )
    assert not any(make(rule) for make in compressors(texts_of(rule)).values())


def test_the_levels_of_a_refresh_are_those_of_a_chat() -> None:
    made = {level: make(MIGRATE) for level, make in compressors(StreamingIdf()).items()}
    assert made == levels(MIGRATE, StreamingIdf())
    assert SHARES["abstraction"] * len(MIGRATE) < len(made["summary"]) <= SHARES["summary"] * len(MIGRATE)


def test_the_first_of_a_list_is_kept() -> None:
    flat = [{"rank": 1, "hotel": "Inn", "price": 9}]
    long = [{"rank": rank, "hotel": f"House {rank * 7} of Anna", "price": 9 * rank} for rank in range(2, 13)]
    for text in (json.dumps(flat + long), json.dumps({"ok": True, "hotels": flat + long})):
        made = levels(text, texts_of(*["1 inn 9"] * 9), guarded=False, failing=True)
        for level in ("summary", "abstraction"):
            assert '{"rank":1,"hotel":"Inn","price":9}' in made[level]
            assert "…" not in made[level]


def test_a_log_keeps_its_first_and_last_line_and_shows_its_gaps() -> None:
    lines = [f"12:{n:02} house {n * 7} of {n * 11} bricks stands in Leeds" for n in range(20)]
    begin, end = "begin " * 8 + "begin", "end " * 12 + "end"
    text = "\n".join([begin, *lines, end])
    kept = levels(text, texts_of(*["begin, end"] * 9), shares={"summary": 0.3}, mark="[{}] ")["summary"]
    mark, _, told = kept.partition("] ")
    shown = told.splitlines()
    assert (shown[0], shown[-1]) == (begin, end)
    assert mark == f"[summary: {len(shown) - shown.count('…')} of 22 lines"
    assert len(kept) <= 0.3 * len(text)
    numbers = [text.splitlines().index(line) for line in shown if line != "…"]
    gaps = sum(after - before > 1 for before, after in pairwise(numbers))
    assert shown.count("…") == gaps > 0


def test_a_restriction_that_is_repeated_is_needed_once() -> None:
    text = "Do not wait. " * 5 + "Book the hotel in Leeds."
    kept = levels(text, StreamingIdf(), shares={"summary": 0.5})["summary"]
    assert kept == "Do not wait. Book the hotel in Leeds."


def test_a_level_says_how_many_of_the_records_it_has() -> None:
    flights = [{"flight": f"HAT{number:03}", "price": 100 + number} for number in range(20)]
    made = levels(json.dumps({"ok": True, "flights": flights}), StreamingIdf(), shares=LADDER, mark="[{}] ")
    for level in ("summary", "abstraction"):
        mark, _, kept = made[level].partition("] ")
        found = len(json.loads(kept)["flights"])
        assert 0 < found < 20
        assert mark == f"[{level}: {found} of 20 records"
    assert made["keywords"].startswith("[keywords] ")


def test_keywords_of_json_have_no_letters_of_its_escapes() -> None:
    text = json.dumps({"page": "Anna\nBiscuit\tLeeds " * 9})
    assert levels(text, StreamingIdf(), shares={"keywords": 0.5}) == {
        "keywords": "anna, biscuit, leeds, page"
    }


@given(texts_that_repeat, st.sampled_from([SHARES, {"gist": 0.7, "keywords": 0.5}, {"gist": 1.0}]))
def test_a_mark_counts_as_part_of_a_level(text: str, shares: dict[str, float]) -> None:
    made = levels(text, texts_of(text), shares=shares, mark="[{}] ")
    assert all(re.match(rf"\[{level}(: \d+ of \d+ lines)?\] .", kept) for level, kept in made.items())
    sizes = [len(text), *map(len, made.values())]
    assert sizes == sorted(set(sizes), reverse=True)
    for level, kept in made.items():
        assert len(kept) <= shares[level] * len(text)


@given(texts_that_repeat, st.sampled_from([len, lambda part: len(part.encode())]))
def test_every_level_is_shorter_than_the_richer_ones_or_absent(
    text: str, length: Callable[[str], int]
) -> None:
    made = compressors(texts_of(text), length)
    assert list(made) == ["summary", "abstraction", "keywords"]
    sizes = [length(text), *(length(kept) for make in made.values() if (kept := make(text)))]
    assert sizes == sorted(set(sizes), reverse=True)


def test_a_short_text_has_as_few_keywords_as_leave_them_the_shortest() -> None:
    made = compressors(texts_of(TALK))
    abstraction, keywords = made["abstraction"](TALK), made["keywords"](TALK)
    whole = TfIdfKeywords(12, texts_of(TALK))(TALK)
    assert whole.startswith(f"{keywords}, ")
    more = whole.split(", ")[keywords.count(", ") + 1]
    assert len(keywords) < len(abstraction) <= len(f"{keywords}, {more}")
    assert made["keywords"]("Yes") == made["keywords"]("rome") == ""


def test_the_same_text_gives_the_same_levels_in_every_process() -> None:
    code = (
        "from memopt.text.compress import *\nfrom memopt.text.idf import *\nimport sys\n"
        "text = sys.stdin.buffer.read().decode()\nidf = StreamingIdf(); idf.observe(text)\n"
        "print(ascii([make(text) for make in compressors(idf).values()]))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=(TALK + ZH).encode(),
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1])
def test_settings_out_of_range_are_refused(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        IdfSentences(share)
    with pytest.raises(ValueError, match="count"):
        TfIdfKeywords(0)


def test_real_dialogues_in_two_languages_shrink_to_their_shares(shared: Path) -> None:
    folder = shared / "data" / "memorybank"
    if not folder.is_dir():
        pytest.skip("memorybank does not lie beside the repository")
    for name in ("memory_bank_cn.json", "memory_bank_en.json"):
        people = json.loads((folder / name).read_text(encoding="utf-8"))
        days = [
            "\n".join(f"{turn['query']}\n{turn['response']}" for turn in turns)
            for person in people.values()
            for turns in person["history"].values()
        ]
        idf = texts_of(*days)
        made = compressors(idf)
        for day in days[:40]:
            summary, abstraction, keywords = (
                made[level](day) for level in ("summary", "abstraction", "keywords")
            )
            sizes = [len(day), *(len(text) for text in (summary, abstraction, keywords) if text)]
            assert all(shorter <= SHORTER * richer for richer, shorter in pairwise(sizes))
            assert keywords.count(", ") + keywords.count("、") <= 11
            assert bool(keywords) is not restricts(day)
            for level, text in (("summary", summary), ("abstraction", abstraction)):
                assert restricts(day) or len(text) <= SHARES[level] * len(day)
                assert restricts(text) or not text or not restricts(day)


TABLE = "| name | age |\n|---|---|\n" + "".join(
    f"| Guest {number} | {number * 7} |\n" for number in range(60)
)


@pytest.mark.parametrize(
    "text", [TABLE, "name,age,city\n" + "".join(f"Ann{n},{n},Rome\n" for n in range(60))]
)
def test_the_rows_of_a_table_keep_its_header(text: str) -> None:
    header = text[: 25 if text is TABLE else 13]
    made = levels(text, StreamingIdf(), shares={"summary": 0.5, "abstraction": 0.3}, mark="[{}] ")
    assert list(made) == ["summary", "abstraction"]
    for level, kept in made.items():
        mark, rows = kept.split("] ", 1)
        assert rows.startswith(header)
        count = len(rows.splitlines()) - len(header.splitlines())
        assert mark == f"[{level}: {count} of 60 rows"
    tiny = 10 / len(text)
    assert levels(text, StreamingIdf(), shares={"summary": tiny}) == {}


def test_what_tells_of_a_failure_comes_first() -> None:
    lines = [f"step {number} of house {number * 7}: {number * 11} bricks" for number in range(8)]
    text = "\n".join([*lines, "Error: no", *lines[:2]])
    for failing in (False, True):
        kept = levels(text, StreamingIdf(), shares={"summary": 0.3}, guarded=False, failing=failing)[
            "summary"
        ]
        assert ("Error: no" in kept) is failing
        assert kept.count("step") >= 2
