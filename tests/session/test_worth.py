"""Outcomes become counters, counters classes; what counts cannot tell is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import memory_logs as logs
from memopt.session.errors import InvalidOutcome, InvalidState
from memopt.session.worth import MOST_PAIRED, MemoryWorth, Worth, WorthRule


def case(shared: Path, name: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((shared / "cases" / f"{name}.json").read_text())
    return told


def restored(worth: Worth) -> Worth:
    return Worth.from_dict(json.loads(json.dumps(worth.to_dict())))


def replayed(log: logs.Log, rule: WorthRule | None = None) -> Worth:
    worth = Worth(rule, log.memories)
    for retrieved, success in log.episodes:
        worth.record(retrieved, success)
    return worth


def by_id(worth: Worth) -> dict[str, MemoryWorth]:
    return {report.memory: report for report in worth.reports()}


def test_two_counters_tell_much_evidence_from_little(shared: Path) -> None:
    told = case(shared, "42-worth-counters")
    given, expect = told["input"], told["expect"]
    rule = WorthRule(given["theta_high"], given["theta_low"], given["v_min"])
    state = Worth(rule).to_dict() | {"memories": given["counters"]}
    found = by_id(Worth.from_dict(state))
    assert {name: report.ratio for name, report in found.items()} == expect["worth"]
    assert {name: report.label for name, report in found.items()} == expect["class"]
    assert found["A"].high - found["A"].low < found["B"].high - found["B"].low


def test_a_free_rider_is_reported_as_confounded(shared: Path) -> None:
    told = case(shared, "43-co-retrieved-cannot-be-told-apart")
    worth = Worth(known=["rider", "anchor", "other"])
    for episode in told["input"]["episodes"]:
        worth.record(episode["retrieved"], episode["success"])
    found = by_id(worth)
    anchor, rider = told["expect"]["equal_worth"]
    assert found[anchor].ratio == found[rider].ratio == told["expect"]["worth"]
    assert [list(pair) for pair, _ in worth.confounded()] == told["expect"]["confounded_pairs"]
    assert (found[anchor].confounded, found[rider].confounded) == ((rider,), (anchor,))


def test_pairs_that_come_apart_are_no_longer_confounded() -> None:
    worth = Worth(known=["anchor", "rider"])
    for _ in range(18):
        worth.record(["anchor", "rider"], True)
    assert worth.confounded() == [(("anchor", "rider"), 1.0)]
    for _ in range(2):
        worth.record(["anchor"], True)
    assert worth.confounded() == [(("anchor", "rider"), 0.9)]  # inclusive
    worth.record(["rider"], False)
    assert worth.confounded() == []


def test_outcomes_at_the_edge(shared: Path) -> None:
    told = case(shared, "45-outcome-edge-inputs")
    worth, errors = Worth(known=told["input"]["known"]), []
    for episode in told["input"]["episodes"]:
        before = worth.to_dict()
        try:
            worth.record(episode["retrieved"], episode["success"], episode.get("scores"))
        except InvalidOutcome:
            errors.append(episode["event"])
            assert worth.to_dict() == before
        if not episode["retrieved"]:
            assert worth.to_dict() == before
    assert errors == told["expect"]["errors"]
    assert {name: list(worth.counts(name)) for name in worth} == told["expect"]["counters"]


def test_every_fault_of_an_outcome_is_reported_at_once() -> None:
    worth = Worth(known="ab")
    with pytest.raises(InvalidOutcome) as raised:
        worth.record(["a", "ghost", "a", ["b"]], 1, [0.5, -1.0, float("nan")])  # type: ignore[arg-type]
    assert [fault.code for fault in raised.value.faults] == [
        "success_not_boolean", "unknown_memory", "duplicate_memory", "memory_not_text", "scores_length",
        "score_negative", "score_not_number",
    ]  # fmt: skip
    assert raised.value.faults[1].item == "ghost"
    assert raised.value.faults[2].index == (0, 2)


def test_only_what_was_truly_in_the_context_counts() -> None:
    worth = Worth(WorthRule(weights="score"), "abc")
    credited = worth.record(["a", "b", "c"], True, [1.0, 2.0, 3.0], exposed={"a", "c"})
    assert credited.weights == {"a": 0.25, "c": 0.75}
    assert credited.unexposed == ("b",)
    assert worth.pairs == {(worth.number("a"), worth.number("c")): 1}
    assert worth.counts("b") == (0.0, 0.0)
    nothing = Worth(known="a")
    assert nothing.record(["a"], True, exposed=set()).weights == {}
    assert nothing.episodes == 0


def test_uniform_weights_ignore_scores_and_given_weights_must_be_given() -> None:
    uniform = Worth(known="ab")
    assert uniform.record(["a", "b"], True, [1.0, 9.0]).weights == {"a": 0.5, "b": 0.5}
    scored = Worth(WorthRule(weights="score"), "ab")
    assert scored.record(["a", "b"], True).weights == {"a": 0.5, "b": 0.5}
    given = Worth(WorthRule(weights="given"), "ab")
    with pytest.raises(InvalidOutcome, match="scores_missing"):
        given.record(["a", "b"], True)
    assert given.record(["a", "b"], True, [1.0, 3.0]).weights == {"a": 0.25, "b": 0.75}


def test_without_evidence_worth_is_a_half_and_says_nothing() -> None:
    report = Worth(known="a").reports()[0]
    assert report == MemoryWorth("a", 0.0, 0.0, 0, 0.5, 0.0, 1.0, "uncertain", None)
    json.dumps(report.to_dict(), allow_nan=False)


@pytest.mark.parametrize("half_life", [None, 7.0])
def test_a_restart_anywhere_changes_no_bit(half_life: float | None) -> None:
    rule = WorthRule(weights="score", half_life=half_life)
    whole, resumed = Worth(rule), Worth(rule)
    for step in range(60):
        names = [f"m{(step * 7 + offset) % 40}" for offset in range(3)]
        for worth in (whole, resumed):
            worth.know(names)
            worth.record(names, step % 3 == 0, [0.1 + step, 0.7, 1 / 3])
        resumed = restored(resumed)
    assert json.dumps(resumed.to_dict()) == json.dumps(whole.to_dict())
    assert resumed.reports() == whole.reports()


def test_a_part_of_the_memories_is_enough_to_record_one_outcome() -> None:
    whole = Worth(known="abcd")
    whole.record(["a", "b"], True)
    state = whole.to_dict()
    part = Worth.from_dict(
        state | {"memories": {name: state["memories"][name] for name in "bc"}, "pairs": []}
    )
    part.record(["b", "c"], False)
    whole.record(["b", "c"], False)
    assert {name: part.counts(name) for name in part} == {name: whole.counts(name) for name in "bc"}
    assert part.base_rate == whole.base_rate


@pytest.mark.parametrize(
    "change",
    [
        {"memories": {"a": [1, 2, 3]}},
        {"memories": {"a": [-1, 2]}},
        {"memories": {"a": [float("nan"), 2]}},
        {"overall": None},
        {"pairs": [[1, 1]]},
        {"pairs": [[1, 1, 1]]},
        {"pairs": [[1, 2, 1]]},
        {"pairs": [["a", "b", 1]]},
        {"memories": {"a": [1, 2], "b": [1, 2]}, "pairs": [[1, 2, -5]]},
        {"memories": {"a": [1, 2], "b": [1, 2]}, "pairs": [[1, 2, 1.5]]},
        {"rule": {"hi": 1}},
    ],
)
def test_a_broken_state_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidState, match="worth"):
        Worth.from_dict(Worth(known="a").to_dict() | change)


def test_all_reflexion_memories_are_uncertain(shared: Path) -> None:
    worth = replayed(logs.reflexion())
    reports = worth.reports()
    assert [report.label for report in reports] == ["uncertain"] * 200
    assert max(report.retrievals for report in reports) == 3
    assert worth.base_rate == 0.25
    assert worth.confounded() == []  # too little evidence to say even that


def test_tau_bench_rules_get_intervals_and_lift(shared: Path) -> None:
    worth = replayed(logs.airline())
    assert worth.base_rate == 0.42
    reports = [report for report in worth.reports() if report.label != "uncertain"]
    assert len(reports) >= 12
    for report in reports:
        assert report.low <= report.ratio <= report.high
        assert report.lift == pytest.approx(report.ratio / 0.42)
    # Every rule is correct; those that hard tasks ask for come out low all the same.
    low = [report for report in reports if report.label == "low"]
    assert len(low) >= 5
    off_the_base = [report for report in low if report.high < worth.base_rate]
    assert len(off_the_base) < len(low) / 2


def test_cheatsheet_logs_show_that_a_high_worth_may_be_the_base_rate_alone(shared: Path) -> None:
    found = logs.cheatsheets()
    assert len(found) == 9
    for log in found.values():
        worth = replayed(log)
        assert worth.episodes == sum(bool(retrieved) for retrieved, _ in log.episodes)
        sure = [report for report in worth.reports() if report.label != "uncertain"]
        assert all(report.retrievals >= 10 for report in sure)
    (easy,) = [name for name in found if name.startswith("MathEquationBalancer")]
    worth = replayed(found[easy])
    high = [report for report in worth.reports() if report.label == "high"]
    assert worth.base_rate > 0.95
    assert len(high) >= 10
    assert max(report.lift or 0.0 for report in high) < 1.05


@pytest.mark.parametrize(
    ("retrieved", "scores", "codes"),
    [
        ("ab", None, ["retrieved_not_list"]),
        (5, None, ["retrieved_not_list"]),
        ({"a"}, None, ["retrieved_not_list"]),
        (["a"], 5, ["scores_not_list"]),
        (["a"], "1", ["scores_not_list"]),
        ([3], [-1], ["memory_not_text", "score_negative"]),
        (["a"], [10**400], ["score_not_number"]),
    ],
)
def test_what_is_no_list_and_no_float_is_a_fault_like_any_other(
    retrieved: Any, scores: Any, codes: list[str]
) -> None:
    with pytest.raises(InvalidOutcome) as raised:
        Worth(known="ab").record(retrieved, True, scores)
    assert [fault.code for fault in raised.value.faults] == codes


def test_more_memories_than_can_be_paired_are_credited_and_not_paired() -> None:
    names = [f"m{number}" for number in range(MOST_PAIRED + 1)]
    worth = Worth(known=names)
    worth.record(names[:-1], True)
    pairs = MOST_PAIRED * (MOST_PAIRED - 1) // 2
    assert len(worth.pairs) == pairs
    worth.record(names, True)
    assert (len(worth.pairs), set(worth.pairs.values())) == (pairs, {1})
    assert worth.counts(names[-1])[0] == 1 / len(names)


@pytest.mark.parametrize(
    "wrong", [{"interval": "wilsn"}, {"weights": "uniformly"}, {"evidence": "raw"}, {"least_evidence": -3}]
)
def test_a_rule_that_there_is_not_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong)).replace("_", " ").split()[0]):
        WorthRule(**wrong)


def test_a_part_has_the_base_rate_of_all() -> None:
    whole = Worth(known="abc")
    for success in (True, False, False, False):
        whole.record(["a", "b"], success)
    part = whole.part("bc")
    assert (part.base_rate, part.episodes) == (0.25, 4)
    assert part.reports() == [*whole.reports("bc")]


def test_a_pair_is_told_from_the_least_evidence_on() -> None:
    worth = Worth(WorthRule(least_evidence=3), "ab")
    found = []
    for _ in range(3):
        worth.record(["a", "b"], True)
        found.append(len(worth.confounded()))
    assert found == [0, 0, 1]


def test_pairs_come_by_overlap_most_first_then_by_name() -> None:
    worth = Worth(known="badcfe")
    for _ in range(20):
        for pair in ("ab", "dc", "fe"):
            worth.record(list(pair), True)
    worth.record(["a"], True)
    assert worth.confounded() == [(("c", "d"), 1.0), (("e", "f"), 1.0), (("a", "b"), 20 / 21)]
