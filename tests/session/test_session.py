from __future__ import annotations

import gc
import json
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memopt import Instance, InvalidInstance, solve
from memopt.families import generate
from memopt.session.config import Config
from memopt.session.counters import WorthRule
from memopt.session.errors import (
    InfeasibleTurn,
    InvalidConfig,
    InvalidEvent,
    InvalidOutcome,
    InvalidPut,
    InvalidState,
    StoreFailed,
)
from memopt.session.events import OutcomeEvent
from memopt.session.governance import GovernanceRule
from memopt.session.log import MemoryLog
from memopt.session.replay import replay
from memopt.session.session import Outcome, Session
from memopt.session.state import State, apply, next_queue
from memopt.text.compress import compressors
from memopt.text.idf import StreamingIdf


def pinned(name, tokens):
    return {"id": name, "pinned": True, "levels": {"raw": {"tokens": tokens, "utility": 1.0}}}


def ladder(name, utility=1.0, **more):
    sizes = {"raw": (60, 1.0), "summary": (24, 0.7), "abstraction": (10, 0.4), "keywords": (4, 0.15)}
    levels = {level: {"tokens": n, "utility": u * utility} for level, (n, u) in sizes.items()}
    return {"id": name, "levels": levels, **more}


FIVE = [ladder(f"m{k}", 1 + k / 10, order=k) for k in range(5)]


def test_a_turn_is_priced_solved_and_remembered():
    session = Session(Config(gain=1.5))
    for t, tokens in enumerate([1000, 1000, 950, 200]):
        told = session.turn([pinned(f"m{t}", tokens)], 1000)
        assert told.new
        assert told.event.turn == t + 1
        assert told.event.tokens == tokens
    assert told.event.pressure == "0.550000000000000000"
    assert told.event.price == pytest.approx(0.4125)
    assert told.event.next_pressure == "0.000000000000000000"
    assert session.state.queue.turns == 4


def test_levels_only_fall_until_a_refresh_and_open_one_turn_later():
    session = Session(Config())
    session.put({"a": "The plan is to go to Rome in June. Anna comes along. We met in May."})
    held = session.turn([ladder("a")], 24).event
    assert held.choices == {"a": "summary"}
    assert session.turn([ladder("a")], 100).event.choices == {"a": "summary"}
    before = session.state.queue
    done = session.refresh(compressors(StreamingIdf()))
    assert list(done.texts) == ["a"]
    assert session.state.queue == before
    assert session.turn([ladder("a")], 100).event.choices == {"a": "raw"}
    assert session.state.queue.turn == before.turn + 1


def test_what_was_deleted_stays_deleted():
    session = Session()
    session.turn([ladder("a")], 0)
    assert session.turn([ladder("a")], 100).event.choices == {"a": "delete"}


def test_an_item_that_vanishes_keeps_what_it_held():
    session = Session()
    session.turn([ladder("a")], 10)
    session.turn([ladder("b")], 100)
    assert session.turn([ladder("a"), ladder("b")], 200).event.choices == {"a": "abstraction", "b": "raw"}


def test_a_longer_text_is_refused_and_the_one_held_stands():
    session = Session()
    for tokens in (1420, 2900, 6100, 12200):
        item = {"id": "story", "levels": {"summary": {"tokens": tokens, "utility": 1}}}
        event = session.turn([item], 20_000).event
        assert event.sizes == {"story": 1420}
        assert event.refused == ([] if tokens == 1420 else [["story", "summary", tokens]])
        assert event.stands == ([] if tokens == 1420 else ["story"])


def test_a_high_price_deletes_everything_that_is_not_pinned():
    session = Session(Config(gain=1e6))
    session.turn([pinned("p", 90)], 100)
    event = session.turn([*FIVE, pinned("p", 90)], 200).event
    assert event.price > 0
    assert set(event.sizes) == {"p"}


def test_nothing_changes_when_nothing_changes():
    session = Session()
    events = [session.turn(FIVE, 150).event for _ in range(3)]
    assert len({json.dumps(event.choices) for event in events}) == 1
    assert events[0].prefix_tokens_kept == 0
    assert [event.prefix_tokens_kept for event in events[1:]] == [events[0].tokens] * 2
    assert [event.items_changed for event in events] == [len(events[0].sizes), 0, 0]


def test_the_prefix_ends_at_the_first_item_that_differs():
    session = Session()
    session.turn(FIVE, 300)
    event = session.turn([FIVE[0], FIVE[1], FIVE[3], FIVE[4]], 300).event
    assert event.prefix_tokens_kept == 120
    assert event.items_changed == 1


def snapshot(session):
    state = session.state
    counted = state.worth.to_dict()
    return (
        state.number,
        state.digest,
        state.queue,
        state.ledger,
        state.governor,
        counted["memories"],
        counted["overall"],
        sorted(counted["pairs"]),
        state.context,
        dict(state.originals),
    )


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda s: s.turn([pinned("p", 101)], 100), InfeasibleTurn),
        (
            lambda s: s.turn([{"id": "a", "levels": {"raw": {"tokens": -1, "utility": 1}}}], 100),
            InvalidInstance,
        ),
        (lambda s: s.turn([ladder("a"), ladder("a")], 100), InvalidInstance),
        (lambda s: s.turn([], -1), InvalidInstance),
        (lambda s: s.turn([ladder("gone", pinned=True)], 100), InvalidInstance),
        (lambda s: s.turn([ladder("a")], 100, "#9"), InvalidEvent),
        (lambda s: s.turn([ladder("a")], 100, "e1"), InvalidEvent),
        (lambda s: s.outcome("x", True, ["nobody"]), InvalidOutcome),
        (lambda s: s.outcome("x", True, ["m0", "m0"]), InvalidOutcome),
        (lambda s: s.outcome("x", True, ["m0"], [-1.0]), InvalidOutcome),
        (lambda s: s.outcome("x", 1, ["m0"]), InvalidOutcome),
        (lambda s: s.outcome("x", True, ["m0"], None, "no turn"), InvalidOutcome),
        (lambda s: s.outcome("", True, ["m0"]), InvalidEvent),
        (lambda s: s.put({"m0": "another text"}), InvalidPut),
        (lambda s: s.put({"m1": 3}), InvalidPut),
        (lambda s: s.refresh({"summary": lambda text: 3}), TypeError),
        (lambda s: s.configure(Config(gain=9.0)), InvalidConfig),
    ],
)
def test_every_error_leaves_the_session_as_it_was(act, error):
    session = Session(Config(gain=1.0))
    session.put({"m0": "a text"})
    session.turn([*FIVE, {"id": "gone", "levels": {"raw": {"tokens": 500, "utility": 9}}}], 150)
    session.outcome("e1", True, ["m4", "m3"])
    before = snapshot(session)
    with pytest.raises(error):
        act(session)
    assert snapshot(session) == before
    assert session.turn(FIVE, 150).event.turn == 2


def test_an_overload_names_the_shortfall():
    session = Session()
    with pytest.raises(InfeasibleTurn) as caught:
        session.turn([pinned("p", 130)], 100)
    assert caught.value.allocation.shortfall == 30
    assert session.state.queue.turn == 1


def test_the_same_id_twice_changes_nothing_and_says_so():
    session = Session()
    session.put({"a": "text"}, "p1")
    session.turn([ladder("a")], 100, "t1")
    session.outcome("e1", True, ["a"])
    before = snapshot(session)
    for again in (
        session.put({"a": "text"}, "p1"),
        session.turn([ladder("a")], 100, "t1"),
        session.outcome("e1", True, ["a"]),
        session.outcome("e1", True, ["a"], turn="t1"),
    ):
        assert (again.new, again.same) == (False, True)
    for again in (
        session.put({}, "p1"),
        session.put({"a": "text", "b": "more"}, "p1"),
        session.turn([ladder("b")], 100, "t1"),
        session.turn([ladder("a")], 99, "t1"),
        session.turn([{"id": "a"}], 100, "t1"),
        session.outcome("e1", True, ["a"], [1.0]),
        session.outcome("e1", True, ["a"], turn="t0"),
        session.outcome("e1", False, ["a"]),
    ):
        assert (again.new, again.same) == (False, False)
    assert again.event.success is True
    assert snapshot(session) == before
    many = session.outcomes([Outcome(True, ["a"], "e2"), Outcome(True, ["a"], "e2")])
    assert [told.new for told in many] == [True, False]


def test_only_what_was_in_the_context_is_credited():
    session = Session()
    session.turn([ladder("a"), {"id": "b", "levels": {"raw": {"tokens": 500, "utility": 9}}}], 100, "t1")
    event = session.outcome("e1", True, ["a", "b"]).event
    assert event.turn == "t1"
    assert (event.weights, event.unexposed) == ({"a": 1.0}, ["b"])
    session.turn([ladder("c")], 100)
    assert session.outcome("e2", False, ["a", "c"], turn="t1").event.weights == {"a": 1.0}
    worth = {report.memory: (report.plus, report.minus) for report in session.worth()}
    assert worth == {"a": (1.0, 1.0), "b": (0.0, 0.0), "c": (0.0, 0.0)}


def test_a_wrong_outcome_does_not_stop_the_others():
    session = Session()
    session.put({"a": "x"})
    told = session.outcomes(
        [Outcome(True, ["a"], "1"), Outcome(True, ["ghost"], "2"), Outcome(False, ["a"], "3")]
    )
    assert isinstance(told[1], InvalidOutcome)
    assert [report.plus + report.minus for report in session.worth()] == [2.0]


def test_governance_caps_and_logs_what_it_did():
    rule = GovernanceRule(mode="govern", show=0.0, withhold=0.2, seed=5)
    session = Session(Config(governance=rule, worth=WorthRule(least_evidence=10)))
    session.turn([ladder("bad"), ladder("good")], 200, "t1")
    exposed = set(session.state.context)
    for k in range(60):
        session.outcome(f"b{k}", False, sorted(exposed & {"bad"}), turn="t1")
        session.outcome(f"g{k}", True, sorted(exposed & {"good"}), turn="t1")
    assert session.verdicts()["bad"][0] == "suppressed"
    assert "association only" in session.verdicts()["bad"][1]
    event = session.turn([ladder("bad"), ladder("good")], 200).event
    assert [change[:3] for change in event.transitions] == [["bad", "normal", "suppressed"]]
    assert event.assignments["bad"][0] in ("capped", "withheld")
    assert event.choices["bad"] in ("keywords", "delete")
    assert session.state.governor.state("bad") == "suppressed"
    assert "is not back at 0.40: association only" in session.verdicts()["bad"][1]


def test_observing_caps_nothing():
    session = Session()
    for t in range(40):
        session.turn([ladder("bad"), ladder("good")], 200)
        session.outcome(f"b{t}", False, ["bad"])
        session.outcome(f"g{t}", True, ["good"])
    assert session.state.ledger.held["bad"].level == "raw"
    assert session.state.governor.states == {}
    assert session.verdicts()["bad"][0] == "suppressed"


def test_a_turn_tightened_twice_is_the_same():
    session = Session()

    def tighten(event):
        return 40 if event.budget > 40 else None

    first = session.turn([ladder("a")], 100, "t1", tighten)
    again = session.turn([ladder("a")], 100, "t1", tighten)
    assert first.event.budget == again.event.budget == 40
    assert (again.new, again.same) == (False, True)


def test_a_configuration_comes_with_the_next_event_or_not_at_all():
    session = Session(log=MemoryLog())
    rule = WorthRule(weights="given")
    assert session.configure(Config(gain=2.0, worth=rule), with_next=True) is None
    with pytest.raises(InfeasibleTurn):
        session.turn([pinned("p", 130)], 100)
    assert isinstance(session.outcomes([Outcome(True, ["ghost"], "e1")])[0], InvalidOutcome)
    assert (session.events(), session.state.config) == ([], Config())
    session.put({"a": "text"})
    assert [made.event.kind for made in session.events()] == ["config", "put"]
    assert session.state.config == Config(gain=2.0, worth=rule)
    session.configure(Config(gain=2.0), with_next=True)
    assert isinstance(session.outcome("e1", True, ["a"]).event, OutcomeEvent)
    session.configure(Config(gain=2.0, worth=rule), with_next=True)
    assert isinstance(session.outcomes([Outcome(True, ["a"], "e2")])[0], InvalidOutcome)  # no weights given
    assert [made.event.kind for made in session.events()] == ["config", "put", "config", "outcome"]
    assert session.state.worth.rule == WorthRule()


def test_rules_may_change_and_the_change_is_logged():
    session = Session()
    assert session.configure(Config()) is None
    changed = Config(governance=GovernanceRule(mode="govern"))
    assert session.configure(changed).event.config == changed.to_dict()
    assert session.state.config == changed
    assert Config.from_dict(json.loads(json.dumps(changed.to_dict()))) == changed


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"gain": -1}, "gain"),
        ({"gain": "much"}, "gain"),
        ({"alpha": 0}, "alpha"),
        ({"solver": "oracle"}, "solver"),
        ({"ladder": []}, "ladder"),
        ({"ladder": ["raw", "delete"]}, "ladder"),
        ({"gains": 1}, "gains"),
        ({"worth": {"hihg": 1}}, "worth.hihg"),
        ({"governance": {"mode": "rule"}}, "governance.mode"),
        ({"governance": {"mode": "govern", "suppressed_level": "tiny"}}, "tiny"),
        ([], "object"),
    ],
)
def test_a_wrong_configuration_is_named(declared, said):
    with pytest.raises(InvalidConfig, match=said):
        Config.from_dict(declared)


def test_an_event_out_of_order_is_refused():
    session = Session()
    session.put({"a": "x"})
    event = session.events()[1].event
    with pytest.raises(InvalidState, match="comes after"):
        apply(session.state, event, "")


def test_pins_above_the_target_are_flagged():
    session = Session()
    assert session.turn([pinned("p", 81)], 100).event.flags == ["pinned_above_target"]
    event = session.turn([{**pinned("q", 40), "group": "g"}, {**ladder("r"), "group": "g"}], 100).event
    assert event.pinned_tokens == 44


def test_a_greedy_session_is_flagged_as_unproved():
    session = Session(Config(solver="greedy"))
    event = session.turn(FIVE, 150).event
    assert event.flags == ["not_optimal"]
    assert session.state.queue.report()["flags"]["not_optimal"] == 1


def drifting(turn, rng):
    scale = 1 + turn / 500
    return [ladder(f"t{turn}i{k}", scale * rng.uniform(0.2, 2)) for k in range(4)]


@pytest.mark.parametrize("turns", [100, pytest.param(3_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("gain", [0.3, 1, 3])
def test_queue_facts_with_drifting_utilities(gain, turns):
    budget, rng = 120, random.Random(42)
    session = Session(Config(gain=gain))
    occupancy, regret = [], 0.0
    for turn in range(turns):
        items = drifting(turn, rng)
        event = session.turn(items, budget).event
        assert event.tokens <= budget
        thrifty = Instance.model_validate({"budget": int(0.8 * budget), "items": items})
        utility = event.result["objective"] + event.price * event.tokens / budget
        regret += solve(thrifty).objective - utility
        occupancy.append(Fraction(event.tokens, budget) - Fraction(4, 5))
    queue = session.state.queue
    assert abs(queue.average_occupancy - queue.identity) <= 1e-12
    worst = best = Fraction(0)
    for excess in occupancy:
        best = max(Fraction(0), best + excess)
        worst = max(worst, best)
    assert queue.largest_pressure == pytest.approx(float(worst), abs=1e-12)
    assert regret <= queue.certificate + queue.slack
    assert queue.certificate <= queue.certificate_bound


def drawn(turns: int = 40) -> list[tuple[str, str]]:
    """Return the arm and the level of one memory a turn, under a governor that withholds often."""
    rule = GovernanceRule("govern", show=0.0, withhold=0.5, seed=3)
    session = Session(Config(governance=rule))
    events = [session.turn([ladder("m", 2.0)], 300).event for _ in range(turns)]
    return [(event.assignments["m"][0], event.choices["m"]) for event in events]


def test_what_governance_withholds_can_be_shown_again():
    seen = drawn()
    assert set(seen) == {("shown", "raw"), ("withheld", "delete")}


def test_what_was_withheld_in_its_first_turn_is_still_known():
    rule = GovernanceRule("govern", show=0.0, withhold=1.0)
    session = Session(Config(governance=rule))
    assert session.turn([ladder("m", 2.0)], 300).event.choices == {"m": "delete"}
    session.turn([ladder("other", 2.0)], 300)
    assert "m" in session.state
    assert session.outcome("e", True, ["m"]).event.unexposed == ["m"]


def test_the_unchanged_part_is_told_of_what_was_shown_and_not_of_what_is_held():
    session = Session(
        Config(governance=GovernanceRule("govern", show=0.0, withhold=0.0, suppressed_level="keywords"))
    )
    session.turn([ladder("m", 2.0)], 300)
    state = session.state
    governor = replace(state.governor, states={"m": "suppressed"})
    session._state = replace(state, governor=governor)
    first = session.turn([ladder("m", 2.0)], 300).event
    again = session.turn([ladder("m", 2.0)], 300).event
    assert (first.choices, first.items_changed, first.prefix_tokens_kept) == ({"m": "keywords"}, 1, 0)
    assert (again.choices, again.items_changed) == ({"m": "keywords"}, 0)
    assert again.prefix_tokens_kept == again.tokens
    assert session.state.ledger.held["m"].level == "raw"


def test_a_cache_price_keeps_the_leading_part_and_replays():
    def run(cache_price):
        session = Session(Config(gain=0.5, cache_price=cache_price))
        rng = random.Random(5)
        items = [ladder(f"m{k:02d}", rng.uniform(0.5, 2), order=k) for k in range(30)]
        kept = [session.turn(items[: 10 + k], 400).event.prefix_tokens_kept for k in range(20)]
        return session, sum(kept)

    (plain, without), (cached, with_it) = run(0.0), run(2.0)
    assert with_it > without
    assert cached.state.queue.slack > plain.state.queue.slack
    assert replay([json.dumps(record.line()) for record in cached.events()]).identical


commands = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.integers(0, 300), st.sets(st.integers(0, 5), max_size=6)),
        st.tuples(st.just("outcome"), st.booleans(), st.sets(st.integers(0, 5), max_size=4)),
        st.tuples(st.just("refresh"), st.none(), st.sets(st.integers(0, 5), max_size=2)),
        st.tuples(st.just("put"), st.none(), st.sets(st.integers(0, 5), max_size=2)),
    ),
    max_size=15,
)


@settings(max_examples=40)
@given(commands, st.sampled_from([0.0, 2.0]), st.booleans())
def test_any_run_keeps_its_promises_and_replays(run, gain, govern):
    rule = GovernanceRule(mode="govern", withhold=0.3) if govern else GovernanceRule()
    session = Session(Config(gain=gain, governance=rule))
    held = {}
    opened = set()
    for kind, number, names in run:
        ids = [f"m{name}" for name in sorted(names)]
        if kind == "turn":
            event = session.turn([ladder(name, 1 + len(name)) for name in ids], number).event
            assert event.tokens <= number
            for name, level in event.choices.items():
                rank = ["raw", "summary", "abstraction", "keywords", "delete"].index(level)
                assert name in opened or rank >= held.get(name, 0)
                if event.assignments.get(name, ["shown"])[0] == "shown":
                    held[name] = rank
                    opened.discard(name)
        elif kind == "outcome":
            known = [name for name in ids if name in session.state]
            session.outcome(None, number, known)
        elif kind == "refresh":
            opened |= set(session.refresh({}, ids).texts)
        else:
            session.put(dict.fromkeys(ids, "text"))
    lines = [json.dumps(record.line()) for record in session.events()]
    done = replay(lines)
    assert done.identical
    if lines:
        assert done.state.digest == session.state.digest


def test_a_thousand_items():
    declared = json.loads(generate("memory-like", 1_000, 1).model_dump_json(exclude_defaults=True))
    session = Session(Config(gain=2.0))
    first = session.turn(declared["items"], declared["budget"]).event
    again = session.turn(declared["items"], declared["budget"]).event
    assert first.tokens <= declared["budget"]
    assert again.price > 0


def test_threads_share_a_session():
    session = Session(Config(gain=1.0))
    session.put({"a": "x", "b": "y"})

    def work(thread):
        for number in range(20):
            session.turn([ladder("a"), ladder("b")], 500 + thread, f"turn {thread} {number}")
            session.outcome(f"outcome {thread} {number}", True, ["a", "b"])

    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(work, thread) for thread in range(8)]:
            done.result()
    assert session.state.number == 2 + 2 * 8 * 20
    assert [(report.plus, report.retrievals) for report in session.worth()] == [(80.0, 160)] * 2
    assert session.state.worth.pairs == {(1, 2): 160}


def test_without_a_budget_a_cache_price_costs_nothing():
    session = Session(Config(gain=1.0, cache_price=1.0))
    free = {"id": "free", "levels": {"raw": {"tokens": 0, "utility": 1.0}}}
    session.turn([ladder("a"), free], 100)
    before = session.state.queue.slack
    event = session.turn([ladder("a"), free], 0).event
    assert event.choices == {"a": "delete", "free": "raw"}
    assert session.state.queue.slack - before < 1e-6


@pytest.mark.parametrize("error", [StoreFailed("gone"), InvalidState("log", "broken"), KeyboardInterrupt()])
def test_events_of_others_that_were_read_half_are_not_counted_twice(error):
    class Breaks(MemoryLog):
        breaks = False

        def since(self, number):
            for place, made in enumerate(super().since(number)):
                if self.breaks and place == 1:
                    raise error
                yield made

    log = Breaks()
    one, two = Session(log=log), Session(log=log)
    one.put({"a": "text"})
    for name in ("e1", "e2"):
        two.outcome(name, True, ["a"])
    log.breaks = True
    with pytest.raises(type(error)):
        one.worth()
    log.breaks = False
    assert one.worth()[0].plus == 2.0


def test_what_a_cache_price_may_spare_is_slack():
    result = {"tokens": 50, "budget": 100, "gap": "0.25", "error_bound": 0.125, "status": "optimal"}
    queue = next_queue(State.new(Config(cache_price=2.0)), result, 0, prefix_tokens=30)
    assert queue.slack == 0.25 + 2 * 0.125 + 2.0 * 0.8
    assert next_queue(State.new(Config()), result, 0, prefix_tokens=30).slack == 0.5


def test_a_memory_that_recovered_has_no_state_any_more():
    session = Session(Config(governance=GovernanceRule(mode="govern", show=0.0)))
    both = [ladder("bad"), ladder("good")]
    for outcome, after in ((False, {"bad": "suppressed"}), (True, {})):
        session.turn(both, 200, f"t{outcome}")
        told = [Outcome(outcome, ["bad"], turn=f"t{outcome}") for _ in range(30)]
        session.outcomes(told + [Outcome(True, ["good"], turn=f"t{outcome}")] * 30)
        session.turn(both, 200)
        assert session.state.governor.states == after
    assert session.verdicts() == {}


def test_a_refused_turn_leaves_the_rule_of_the_counters():
    session = Session()
    session.put({"a": "text"})
    session.configure(Config(worth=WorthRule(weights="given")), with_next=True)
    with pytest.raises(InfeasibleTurn):
        session.turn([pinned("p", 130)], 100)
    assert session.state.worth.rule == session.state.config.worth == WorthRule()


@pytest.mark.parametrize("error", [StoreFailed("the disk is full"), OSError("full"), KeyboardInterrupt()])
def test_an_outcome_that_could_not_be_stored_is_not_counted(error):
    class Full(MemoryLog):
        full = False

        def append(self, records, changed, state):
            if self.full:
                raise error
            super().append(records, changed, state)

    log = Full()
    session = Session(log=log)
    session.put({"a": "text"})
    log.full = True
    with pytest.raises(type(error)):
        session.outcome("e", True, ["a"])
    log.full = False
    assert session.worth()[0].plus == 0.0
    assert session.outcome("e", True, ["a"]).new
    assert session.worth()[0].plus == 1.0


def test_an_original_is_put_once():
    session = Session()
    session.put({"a": "text"})
    again = session.put({"a": "text", "b": "more"}).event
    assert (again.texts, session.state.originals) == ({"b": "more"}, {"a": 2, "b": 3})


def test_a_configuration_that_came_with_an_event_comes_once():
    session = Session()
    session.configure(Config(gain=2.0), with_next=True)
    session.put({"a": "text"})
    session.configure(Config(gain=3.0))
    session.put({"b": "text"})
    assert session.state.config.gain == 3.0
    assert [made.event.kind for made in session.events()] == ["config", "put", "config", "put"]


def test_a_refresh_recorded_before_says_whether_it_was_of_the_same_items():
    session = Session()
    session.put({"a": "text", "b": "text"})
    session.turn([ladder("a"), ladder("b")], 20)
    for wanted, new, same in (
        (["a", "ghost"], True, True),
        (["ghost", "a"], False, True),
        (["b"], False, False),
    ):
        told = session.refresh({}, wanted, "r").recorded
        assert (told.new, told.same) == (new, same)


def test_a_collector_that_was_off_stays_off():
    session = Session()
    session.put({"a": "text"})
    gc.disable()
    try:
        session.outcome("e", True, ["a"])
        assert not gc.isenabled()
    finally:
        gc.enable()
    session.outcome("f", True, ["a"])
    assert gc.isenabled()


def test_the_prefix_ends_at_a_text_of_another_size():
    session = Session()
    session.turn([pinned("a", 50), pinned("b", 30)], 100)
    event = session.turn([pinned("a", 40), pinned("b", 30)], 100).event
    assert event.choices == {"a": "raw", "b": "raw"}
    assert event.prefix_tokens_kept == 0


def test_a_text_that_is_not_chosen_does_not_stand():
    session = Session()
    session.turn([ladder("a")], 24)
    longer = ladder("a")
    longer["levels"]["summary"]["tokens"] = 30
    event = session.turn([longer], 10).event
    assert (event.refused, event.choices) == ([["a", "summary", 30]], {"a": "abstraction"})
    assert event.stands == []


def test_a_configuration_wanted_while_a_turn_is_taken_holds_from_the_next_event_on():
    session = Session()
    wanted = Config(cache_price=3.0)
    session.turn([ladder("a")], 100, tighten=lambda event: session.configure(wanted, with_next=True))
    assert session.state.config.cache_price == 0.0
    session.turn([ladder("a")], 100)
    assert session.state.config == wanted


def test_a_session_is_not_written_to_from_within_its_own_calls():
    session = Session()
    with pytest.raises(RuntimeError, match="within one of its own calls"):
        session.turn([ladder("a")], 100, "t", tighten=lambda event: session.put({"z": "x"}))
    assert session.state.number == 0
    assert session.turn([ladder("a")], 100, "t").new


def test_a_memory_that_is_about_to_recover_is_not_called_low():
    session = Session(Config(governance=GovernanceRule(mode="govern", show=1.0)))
    session.turn([ladder("a"), ladder("b")], 500, "t")
    session.outcomes([Outcome(False, ["a"])] * 60 + [Outcome(True, ["b"])] * 90)
    session.turn([ladder("a"), ladder("b")], 500)
    assert session.verdicts()["a"][0] == "suppressed"
    session.outcomes([Outcome(True, ["a"])] * 60)
    assert session.verdicts() == {}
