"""Association suppresses, only randomised contrast deprecates, both can be undone, draws are replayable."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from benchmarks import governed_world as world
from memopt.columns import DELETE
from memopt.session.contrast import Contrast
from memopt.session.errors import InvalidState
from memopt.session.governance import MOST_CONTRASTED, Assignment, GovernanceRule, Governor, Transition
from memopt.session.worth import MemoryWorth, Worth

SEEDS = range(world.SEEDS)
GOVERN = GovernanceRule("govern", show=0.2, withhold=0.1)


def report(plus: int, minus: int, name: str = "m") -> MemoryWorth:
    """Return what is known of a memory with these two counters."""
    state = Worth().to_dict() | {"memories": {name: [plus, minus]}}
    return Worth.from_dict(state).reports()[0]


def contrast(withheld: tuple[int, int], shown: tuple[int, int]) -> Contrast:
    """Return the evidence of a fair coin: ``(won, lost)`` of each arm, the arms evenly mixed."""
    outcomes = [
        (index / len(won), arm, success)
        for arm, (wins, losses) in (("withheld", withheld), ("shown", shown))
        for won in [[True] * wins + [False] * losses]
        for index, success in enumerate(won)
    ]
    evidence = Contrast()
    for _, arm, success in sorted(outcomes):
        evidence = evidence.after(arm, 0.5, 0.5, success)
    return evidence


HARM, HELP = contrast((160, 40), (80, 120)), contrast((80, 120), (160, 40))


def judged(governor: Governor, *reports: MemoryWorth, base: float = 0.5) -> tuple[Governor, list[Transition]]:
    return governor.judge(reports, base)


def restored(governor: Governor) -> Governor:
    return Governor.from_dict(json.loads(json.dumps(governor.to_dict())))


def test_a_memory_is_suppressed_when_its_whole_interval_is_low() -> None:
    governor, (change,) = judged(Governor(), report(2, 28))
    assert (change.before, change.after, change.causal) == ("normal", "suppressed", False)
    assert "association only" in change.reason
    assert governor.state("m") == "suppressed"


@pytest.mark.parametrize(
    ("plus", "minus", "base", "why"),
    [
        (0, 9, 0.5, "uncertain, whatever the ratio"),
        (7, 13, 0.5, "the ratio is low but its interval is not"),
        (2, 28, 0.1, "the base rate is as low"),
        (15, 15, 0.9, "below the base rate but not below the threshold"),
    ],
)
def test_a_memory_is_not_suppressed_on_less(plus: int, minus: int, base: float, why: str) -> None:
    governor, changes = judged(Governor(), report(plus, minus), base=base)
    assert (governor.states, changes) == ({}, []), why


@pytest.mark.parametrize("before", ["normal", "suppressed"])
def test_contrast_evidence_deprecates_from_any_state(before: str) -> None:
    states: Any = {} if before == "normal" else {"m": before}
    governor, (change,) = judged(Governor(states=states, contrasts={"m": HARM}), report(50, 50))
    assert (change.after, change.causal) == ("deprecated", True)
    assert "160 of 200" in change.reason
    assert governor.cap(Assignment("withheld", 0.2, 0.8)) == DELETE


def test_without_contrast_evidence_the_worst_worth_never_deprecates() -> None:
    governor, changes = judged(Governor(), report(0, 10_000))
    assert [change.after for change in changes] == ["suppressed"]
    assert judged(governor, report(0, 20_000))[1] == []


def test_a_few_withheld_episodes_say_nothing() -> None:
    few = contrast((19, 0), (0, 200))
    assert few.interval(0.95)[0] > 0
    assert judged(Governor(contrasts={"m": few}), report(50, 50))[1] == []


def test_contrast_evidence_of_help_outranks_a_low_worth() -> None:
    assert judged(Governor(contrasts={"m": HELP}), report(2, 28))[1] == []
    _, (change,) = judged(Governor(states={"m": "suppressed"}, contrasts={"m": HELP}), report(2, 28))
    assert (change.after, change.causal) == ("normal", True)


def test_a_suppressed_memory_recovers_when_its_worth_is_back() -> None:
    suppressed = Governor(states={"m": "suppressed"})
    assert judged(suppressed, report(11, 19))[1] == []  # the interval has left the bar, the ratio has not
    governor, (change,) = judged(suppressed, report(12, 18))
    assert (change.after, governor.states) == ("normal", {})


def test_a_deprecated_memory_recovers_step_by_step_when_the_contrast_turns() -> None:
    evidence = HARM
    for _ in range(500):
        evidence = evidence.after("shown", 0.5, 0.5, True).after("withheld", 0.5, 0.5, False)
    governor = Governor(states={"m": "deprecated"}, contrasts={"m": evidence})
    governor, (first,) = judged(governor, report(2, 28))
    governor, (second,) = judged(governor, report(2, 28))
    assert (first.after, second.after, first.causal, second.causal) == ("suppressed", "normal", True, True)
    assert judged(Governor(states={"m": "deprecated"}, contrasts={"m": HARM}), report(50, 0))[1] == []


def test_pinned_memories_are_exempt() -> None:
    assert Governor().judge([report(2, 28)], 0.5, {"m": "it is pinned"})[1] == []
    _, (change,) = Governor(states={"m": "deprecated"}).judge([report(2, 28)], 0.5, {"m": "it is pinned"})
    assert (change.after, change.reason) == ("normal", "it is pinned")
    assert Governor(GOVERN, {"m": "deprecated"}).assign(1, ["m"], {"m"}) == {}


def test_a_group_is_withheld_as_a_whole_with_one_propensity() -> None:
    governor, groups, turns = Governor(GOVERN), dict.fromkeys("abc", "g"), 2_000
    withheld = 0
    for turn in range(1, turns + 1):
        assigned = governor.assign(turn, "dcba", groups=groups)
        assert len({assigned[memory] for memory in "abc"}) == 1
        assert (assigned["a"].shown, assigned["a"].withheld) == (0.9, 0.1)
        withheld += assigned["a"].arm == "withheld"
    assert withheld / turns == pytest.approx(0.1, abs=4 * (0.1 * 0.9 / turns) ** 0.5)


def test_mates_of_a_deprecated_memory_are_counted_as_withheld_with_it() -> None:
    states: Any = {"bad": "deprecated", "dull": "suppressed"}
    governor = Governor(GovernanceRule("govern", show=0.2), states)
    groups = dict.fromkeys(["bad", "call", "dull"], "g")
    arms = set()
    for turn in range(1, 300):
        assigned = governor.assign(turn, ["bad", "call", "dull", "other"], groups=groups)
        assert list(assigned) == ["bad", "call", "dull"]
        assert {each.withheld for each in assigned.values()} == {0.8}
        assert all(each.shown == pytest.approx(0.2) for each in assigned.values())
        arms.add(tuple(each.arm for each in assigned.values()))
        governor = governor.record(turn, assigned, True)
    assert arms == {("shown",) * 3, ("withheld",) * 3}
    counted = {(each.shown, each.withheld) for each in governor.contrasts.values()}
    assert len(governor.contrasts) == 3
    assert len(counted) == 1


def test_mates_of_a_suppressed_memory_stay_as_they_are() -> None:
    governor = Governor(GovernanceRule("govern", show=0.2), {"dull": "suppressed"})
    for turn in range(1, 100):
        assigned = governor.assign(turn, ["call", "dull"], groups={"call": "g", "dull": "g"})
        assert list(assigned) == ["dull"]
        assert assigned["dull"].withheld == 0


def test_a_group_named_like_a_memory_is_not_its_group() -> None:
    governor = Governor(GovernanceRule("govern", show=0.2, withhold=0.5))
    drawn = [governor.assign(turn, ["a", "b"], groups={"b": "a"}) for turn in range(1, 40)]
    assert any(assigned["a"].arm != assigned["b"].arm for assigned in drawn)


def test_states_of_memories_not_looked_at_stay() -> None:
    governor, _ = judged(Governor(states={"other": "deprecated"}), report(2, 28))
    assert governor.states == {"other": "deprecated", "m": "suppressed"}


def test_observing_reports_verdicts_and_touches_nothing() -> None:
    governor, changes = judged(Governor(), report(2, 28))
    assert governor.rule.mode == "observe"
    assert len(changes) == 1
    assert governor.assign(1, ["m", "n"]) == {}


def test_by_default_nothing_normal_is_withheld() -> None:
    governor = Governor(GovernanceRule("govern"), {"bad": "suppressed"})
    for turn in range(1, 200):
        assigned = governor.assign(turn, ["a", "b", "bad"])
        assert list(assigned) == ["bad"]
        assert assigned["bad"].withheld == 0.0
        assert governor.record(turn, assigned, True).contrasts == {}


def test_draws_follow_their_propensities() -> None:
    states: Any = {"s": "suppressed", "d": "deprecated"}
    governor, turns = Governor(GOVERN, states), 4_000
    drawn = [governor.assign(turn, ["s", "d", "n"]) for turn in range(1, turns + 1)]
    expected = {"n": (0.9, 0.1), "s": (0.2, 0.1), "d": (0.2, 0.8)}
    for memory, (shown, withheld) in expected.items():
        arms = [assigned[memory] for assigned in drawn]
        assert {(arm.shown, arm.withheld) for arm in arms} == {(shown, withheld)}
        for arm, rate in (("shown", shown), ("withheld", withheld)):
            share = sum(assigned.arm == arm for assigned in arms) / turns
            assert share == pytest.approx(rate, abs=4 * (rate * (1 - rate) / turns) ** 0.5)
    assert governor.cap(Assignment("capped", 0.2, 0.1)) == "keywords"
    assert governor.cap(Assignment("shown", 0.2, 0.1)) is None


def test_suppressing_to_delete_is_withholding_at_random() -> None:
    governor = Governor(GovernanceRule("govern", suppressed_level=DELETE, show=0.25), {"m": "suppressed"})
    drawn = [governor.assign(turn, ["m"])["m"] for turn in range(1, 50)]
    assert {(arm.shown, arm.withheld) for arm in drawn} == {(0.25, 0.75)}
    assert {arm.arm for arm in drawn} == {"shown", "withheld"}


def test_draws_depend_on_seed_turn_and_ids_alone() -> None:
    governor = Governor(GOVERN)
    names = [f"m{number}" for number in range(50)]
    first = governor.assign(7, names)
    assert governor.assign(8, names) != first
    assert Governor(GovernanceRule("govern", show=0.2, withhold=0.1, seed=1)).assign(7, names) != first
    assert restored(governor).assign(7, names[::-1]) == first
    withheld = sorted(name for name, assigned in first.items() if assigned.arm == "withheld")
    assert withheld == ["m13", "m17", "m25", "m28", "m3", "m35", "m37", "m4"]  # on every platform


def test_contrast_corrects_for_propensities_that_moved_with_the_tasks() -> None:
    """Withheld mostly while tasks are easy: the plain rates favour withholding, the memory does nothing."""
    evidence = Contrast()
    for shown, withheld, won in ((0.1, 0.9, 0.9), (0.9, 0.1, 0.3)):
        for step in range(1_000):
            arm = "shown" if step % 10 < shown * 10 else "withheld"
            success = (step // 10 * 7 + step) % 10 < won * 10
            evidence = evidence.after(arm, shown, withheld, success)
    assert evidence.withheld_won / evidence.withheld - evidence.shown_won / evidence.shown > 0.4
    assert abs(evidence.effect) < 0.05
    least, most = evidence.interval(0.95)
    assert least < 0 < most


def test_an_arm_without_a_chance_teaches_nothing() -> None:
    assert Contrast().after("shown", 1.0, 0.0, True) == Contrast()
    assert Contrast().interval(0.95) == (-1.0, 1.0)


def test_the_interval_narrows_with_evidence_and_widens_with_confidence() -> None:
    evidence, widths = Contrast(), []
    for size in range(1, 4_001):
        evidence = evidence.after("shown" if size % 2 else "withheld", 0.5, 0.5, size % 4 < 2)
        if size in (100, 400, 1_600, 4_000):
            low, high = evidence.interval(0.95)
            widths.append(high - low)
    assert all(before > after for before, after in pairwise(widths))
    assert evidence.interval(0.99)[0] < evidence.interval(0.95)[0] < evidence.effect


@pytest.fixture(scope="module")
def lives() -> list[world.Life]:
    return [
        world.live(Governor(GovernanceRule("govern", show=0.2, withhold=0.1, seed=seed)), seed)
        for seed in SEEDS
    ]


def test_a_harmful_memory_is_deprecated(lives: list[world.Life]) -> None:
    missed = sum(life.governor.state(world.HARMFUL) != "deprecated" for life in lives)
    print(f"harmful memory not deprecated: {missed} of {len(lives)} seeds")
    assert missed <= 1


def test_a_good_memory_of_hard_tasks_is_never_deprecated(lives: list[world.Life]) -> None:
    wrongly = sum(life.ever(world.GOOD, "deprecated") for life in lives)
    suppressed = sum(life.ever(world.GOOD, "suppressed") for life in lives)
    print(f"good memory ever deprecated: {wrongly}, ever suppressed: {suppressed} of {len(lives)} seeds")
    assert wrongly == 0
    assert all(life.reports[world.GOOD].lift < 1 for life in lives)  # type: ignore[operator]  # it has evidence
    assert sum(life.governor.state(world.GOOD) == "normal" for life in lives) >= 18


def test_idle_memories_are_deprecated_as_rarely_as_the_confidence_says(lives: list[world.Life]) -> None:
    wrongly = sum(life.ever(name, "deprecated") for life in lives for name in world.IDLE)
    of = len(lives) * len(world.IDLE)
    print(f"idle memory ever deprecated: {wrongly} of {of}")
    assert wrongly <= 0.05 * of


def test_ten_outcomes_of_a_turn_are_one_draw() -> None:
    """Counted ten times over, the same draws would deprecate idle memories more often than 1 in 20."""
    rules = [GovernanceRule("govern", show=0.2, withhold=0.1, seed=seed) for seed in SEEDS]
    lives = [world.live(Governor(rule), rule.seed, outcomes=10, turns=700) for rule in rules]
    wrongly = sum(life.ever(name, "deprecated") for life in lives for name in world.IDLE)
    of = len(lives) * len(world.IDLE)
    print(f"idle memory ever deprecated with ten outcomes a turn: {wrongly} of {of}")
    assert wrongly <= 0.05 * of
    assert sum(life.governor.state(world.HARMFUL) == "deprecated" for life in lives) > len(lives) / 2


def test_the_first_outcome_of_a_turn_counts() -> None:
    drawn = {"m": Assignment("withheld", 0.5, 0.5)}
    once = Governor(GOVERN).record(7, drawn, True)
    assert once.record(7, drawn, False) is once
    assert restored(once).record(7, drawn, False) == once
    assert once.record(8, drawn, False).contrasts["m"].withheld == 2


def test_turns_counted_are_remembered_up_to_a_number() -> None:
    drawn = {"m": Assignment("shown", 0.5, 0.5)}
    governor = Governor(GOVERN)
    for turn in range(2, MOST_CONTRASTED + 3):
        governor = governor.record(turn, drawn, True)
    assert (min(governor.contrasted), len(governor.contrasted)) == (3, MOST_CONTRASTED)
    assert governor.record(2, drawn, True) is governor
    assert governor.record(1, drawn, True) is governor
    assert governor.contrasts["m"].shown == MOST_CONTRASTED + 1


def test_turns_without_a_chance_of_both_are_not_remembered() -> None:
    assert Governor(GOVERN).record(1, {"m": Assignment("capped", 0.2, 0.0)}, True) == Governor(GOVERN)


def test_without_randomised_withholding_not_even_a_harmful_memory_is_deprecated() -> None:
    life = world.live(Governor(GovernanceRule("govern", show=0.2)), seed=3)
    assert not any(change.after == "deprecated" or change.causal for change in life.transitions)


@pytest.mark.parametrize(
    "change",
    [
        {"states": {"m": "gone"}},
        {"contrasts": {"m": [1] * 8}},
        {"rule": {"mode": "rule"}},
        {"states": None},
    ],
)
def test_a_broken_state_is_refused(change: dict[str, Any]) -> None:
    governor = Governor(GOVERN, {"m": "suppressed"}, {"m": HARM})
    assert restored(governor) == governor
    with pytest.raises(InvalidState, match="governance"):
        Governor.from_dict(governor.to_dict() | change)


@pytest.mark.parametrize("wrong", [{"show": 0.7, "withhold": 0.4}, {"show": -0.1}, {"confidence": 1.0}])
def test_a_rule_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="read "):
        GovernanceRule(**wrong)


def test_an_interval_that_reaches_the_bar_does_not_lie_below_it() -> None:
    reaches = replace(report(2, 28), high=GovernanceRule().threshold)
    assert judged(Governor(), reaches)[1] == []
    assert "lie wholly below 0.40" in Governor().reason(reaches, 0.5)


def test_the_least_arm_is_enough() -> None:
    (change,) = judged(Governor(contrasts={"m": contrast((20, 0), (0, 200))}), report(50, 50))[1]
    assert change.after == "deprecated"


def test_a_contrast_of_nothing_deprecates_no_longer() -> None:
    (change,) = judged(Governor(states={"m": "deprecated"}), report(50, 50))[1]
    assert (change.after, change.causal) == ("suppressed", True)


def test_it_is_said_why_a_memory_of_low_worth_is_spared() -> None:
    assert Governor(contrasts={"m": HELP}).reason(report(2, 28), 0.5) == "shown at random, more succeeds"
    assert "below 0.40" in Governor().reason(report(7, 13), 0.5)
    assert "the base rate 0.10" in Governor().reason(report(2, 28), 0.1)
    assert "not back at 0.40" in Governor(states={"m": "suppressed"}).reason(report(2, 28), 0.5)


def test_the_variance_foretold_is_that_of_each_arm_over_its_own_chance() -> None:
    assert Contrast().after("shown", 0.5, 0.25, True) == Contrast(1, -1.0, 0.25 / 0.25 + 0.25 / 0.5, 1, 1)
    assert Contrast().after("withheld", 0.5, 0.25, True) == Contrast(1, 2.0, 1.5, 0, 0, 1, 1)
    assert Contrast(1, -1.0, 1.5, 1, 1).after("capped", 0.5, 0.25, True) == Contrast(
        2, -1.0 - 0.25, 1.5 + 0.25 / 0.25 + 0.1875 / 0.5, 1, 1
    )


def test_the_interval_is_the_published_sequence_on_both_sides() -> None:
    """Waudby-Smith et al., arXiv 2103.06476: tightest at 200 episodes."""
    alpha, episodes, each = 0.05, 500, 4.0
    rho = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / 200
    grown = episodes * rho + 1
    half = math.sqrt(each * 2 * grown / (episodes**2 * rho) * math.log(math.sqrt(grown) / alpha))
    low, high = Contrast(episodes, 50.0, episodes * each).interval(1 - alpha)
    assert (low, high) == (pytest.approx(0.1 - half), pytest.approx(0.1 + half))
