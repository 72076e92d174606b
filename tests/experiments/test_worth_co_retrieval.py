"""Anchor and hitchhiker: what broken episodes tell of them, and when sessions stop reporting the pair."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from pydantic import ValidationError

from memopt.experiments.co_retrieval_run import (
    ANCHOR,
    HITCHHIKER,
    SILENT,
    CoRetrievalParameters,
    apart_from,
    is_reported,
    named,
    simulate,
)
from memopt.experiments.experiment import Run
from memopt.experiments.worth_co_retrieval import EXPERIMENT
from memopt.session.counters import RETRIEVALS, ratio
from memopt.session.worth import Worth

SMALL = CoRetrievalParameters(episodes=2_000, sizes=(2, 6))


def silent(_: float) -> None:
    """Nobody looks at the progress."""


@cache
def runs() -> list[Run]:
    return EXPERIMENT.run(SMALL, (0, 1), silent)


def test_a_pair_never_apart_has_one_worth() -> None:
    for run in runs():
        for k in SMALL.sizes:
            worth = run.values[named("worth of anchor", k, 0)]
            assert worth == run.values[named("worth of hitchhiker", k, 0)]
            assert worth == pytest.approx(0.49, abs=0.06)


def test_the_gap_grows_with_broken_episodes_and_falls_like_one_over_k() -> None:
    for run in runs():
        for k in SMALL.sizes:
            gaps = [run.values[named("gap", k, share)] or 0.0 for share in SMALL.broken]
            assert gaps == sorted(gaps)
            assert k * gaps[-1] == pytest.approx(0.85, abs=0.25)


def test_the_report_goes_silent_before_the_intervals_part() -> None:
    for run in runs():
        never = 2.0
        silent_from = run.values[SILENT] or never
        assert silent_from == pytest.approx(0.1, abs=0.051)
        small, large = (run.values[apart_from(k)] or never for k in SMALL.sizes)
        assert silent_from < small < large


@pytest.mark.parametrize("episodes", [9, 12, 200])
def test_the_pair_is_reported_when_a_session_reports_it(episodes: int) -> None:
    parameters = CoRetrievalParameters(memories=12, episodes=episodes)
    random = np.random.default_rng(6)
    utility, luck, coin = random.random(12), random.random(episodes), random.random(episodes) < 0.5
    table, together = simulate(parameters, random, 4, utility, luck, coin)
    reported = is_reported(parameters.rule, table, together)
    sessions = []
    for at, share in enumerate(parameters.shares):
        session = Worth(parameters.rule, ["anchor", "hitchhiker"])
        for chance, keeps in zip(luck, coin, strict=True):
            alone = ["anchor"] if keeps else ["hitchhiker"]
            session.record(alone if chance < share else ["anchor", "hitchhiker"], True)
        times = [session.table[memory, RETRIEVALS] for memory in (ANCHOR, HITCHHIKER)]
        assert table[at, :, RETRIEVALS].tolist() == times
        sessions.append(bool(session.confounded()))
    assert reported.tolist() == sessions
    assert any(sessions) == (episodes >= 10)
    assert not sessions[-1]


def test_worth_nears_the_mean_utility_of_what_was_retrieved() -> None:
    parameters = CoRetrievalParameters(memories=20, episodes=30_000, broken=(0.0,))
    random = np.random.default_rng(8)
    utility = random.random(20)
    luck, coin = random.random(30_000), random.random(30_000) < 0.5
    table, _ = simulate(parameters, random, 3, utility, luck, coin)
    other = utility[2:].mean()
    worth = ratio(table)
    assert worth[0] == pytest.approx((0.95 + other) / 3, abs=0.015)
    assert worth[-1, ANCHOR] == pytest.approx((0.90 + 2 * other) / 3, abs=0.02)
    assert worth[-1, HITCHHIKER] == pytest.approx((0.05 + 2 * other) / 3, abs=0.02)


def test_both_worths_are_judged_where_nothing_is_broken_and_separation_is_shown_alone() -> None:
    rows = EXPERIMENT.figures(SMALL, runs())
    judged = {row.name for row in rows if row.met is not None}
    assert judged == {named(f"worth of {who}", k, 0) for who in ("anchor", "hitchhiker") for k in SMALL.sizes}
    shown = [row for row in rows if row.published is not None and row.met is None]
    assert [row.published for row in shown] == [0.30, 0.30]
    assert len({row.name for row in rows}) == len(rows)


def test_a_seed_gives_the_same_alone_and_among_others() -> None:
    few = CoRetrievalParameters(episodes=200)
    assert EXPERIMENT.run(few, (3, 4), silent)[1] == EXPERIMENT.run(few, (4,), silent)[0]


def test_what_does_not_fit_together_is_refused() -> None:
    for wrong in ({"sizes": (1,)}, {"sizes": (100,)}, {"broken": (1.1,)}, {"overlap": 0.0}):
        with pytest.raises(ValidationError):
            CoRetrievalParameters.model_validate(wrong)


@pytest.mark.slow
def test_the_published_worth_is_met_at_full_size_but_for_a_pair_alone_and_the_gap_grows() -> None:
    parameters = CoRetrievalParameters()
    table = {
        row.name: row for row in EXPERIMENT.figures(parameters, EXPERIMENT.run(parameters, range(20), silent))
    }
    for k in parameters.sizes:
        for who in ("anchor", "hitchhiker"):
            worth = table[named(f"worth of {who}", k, 0)]
            assert worth.met is (k > 2)
        gaps = [table[named("gap", k, share)].ours for share in parameters.broken]
        assert gaps[0] == 0.0
        assert gaps == sorted(set(gaps))
    alone = table[named("worth of anchor", 2, 0)].ours
    assert alone == pytest.approx((parameters.anchor + parameters.hitchhiker) / 2, abs=0.005)
