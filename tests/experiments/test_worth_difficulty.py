"""Hard tasks ask for specialists: the sign of worth flips, and what mends it does so for the right reason."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from memopt.experiments.difficulty_run import (
    ALL,
    ESTIMATES,
    HARD_ALONE,
    IPS,
    LIFT,
    ROBUST,
    SNIPS,
    DifficultyParameters,
    estimates,
    flips,
    named,
    retrieve,
)
from memopt.experiments.experiment import Run
from memopt.experiments.worth_difficulty import EXPERIMENT
from memopt.session.counters import new_table

STEEP = DifficultyParameters(slope=0.4, episodes=2_000)


def silent(_: float) -> None:
    """Nobody looks at the progress."""


def rhos(run: Run, exploration: float) -> dict[str, float]:
    return {name: float(run.values[named(name, exploration)] or 0.0) for name in ESTIMATES}


def test_the_sign_flips_and_weighing_needs_a_chance_for_every_memory() -> None:
    for run in EXPERIMENT.run(STEEP, (0, 1), silent):
        bare, explored = rhos(run, 0.0), rhos(run, 0.2)
        for rho in (bare, explored):
            assert rho[ALL] < -0.1
            assert min(rho[HARD_ALONE], rho[LIFT], rho[ROBUST]) > 0.1
        assert max(bare[IPS], bare[SNIPS]) < -0.1
        assert min(explored[IPS], explored[SNIPS]) > 0.1
        assert run.values["share of seeds whose sign flips, exploration 0"] == 1.0


def test_a_utility_that_moves_nothing_is_not_found_but_difficulty_still_is() -> None:
    (run,) = EXPERIMENT.run(DifficultyParameters(slope=0.0, episodes=4_000), (0,), silent)
    rho = rhos(run, 0.0)
    assert rho[ALL] < -0.2
    assert abs(rho[HARD_ALONE]) < 0.25


def test_memories_are_retrieved_as_often_as_the_propensities_say() -> None:
    parameters = DifficultyParameters(generalists=9, specialists=4, retrieved=3, explorations=(0.0, 0.5))
    count = 20_000
    hard, retrieved = retrieve(parameters, np.random.default_rng(2), count)
    for log, exploration in zip(retrieved, parameters.explorations, strict=True):
        propensity = parameters.propensities(exploration)
        assert propensity.sum(axis=1) == pytest.approx(3.0)
        for cluster in (0, 1):
            chosen = log[hard == cluster]
            assert all(len(set(row)) == 3 for row in chosen.tolist())
            share = np.bincount(chosen.reshape(-1), minlength=13) / len(chosen)
            error = np.sqrt(propensity[cluster] * (1 - propensity[cluster]) / len(chosen))
            assert (np.abs(share - propensity[cluster]) <= 4.5 * error).all()


def test_published_figures_stand_beside_the_published_design_alone() -> None:
    runs = EXPERIMENT.run(STEEP, (0, 1), silent)
    rows = EXPERIMENT.figures(STEEP, runs)
    published = {row.name: row.published for row in rows if row.published is not None}
    assert published == {named(ALL, 0.0): -0.33, named(HARD_ALONE, 0.0): 0.14}
    assert len({row.name for row in rows}) == len(rows) == 2 * (len(ESTIMATES) + 1)
    assert rows[0].ours == pytest.approx(np.mean([rhos(run, 0.0)[ALL] for run in runs]))


def test_a_seed_gives_the_same_alone_and_among_others() -> None:
    few = DifficultyParameters(episodes=300)
    assert EXPERIMENT.run(few, (3, 4), silent)[1] == EXPERIMENT.run(few, (4,), silent)[0]


def test_lift_without_evidence_says_neither_good_nor_bad() -> None:
    plain, clusters = new_table(2).reshape(1, 2, 1, 4), new_table(2).reshape(1, 2, 4)
    clusters[0, :, 0] = clusters[0, :, 3] = 1.0
    found = dict(zip(ESTIMATES, estimates(plain, plain, clusters)[:, 0, 0].tolist(), strict=True))
    assert found[LIFT] == 1.0
    assert found[ALL] == 0.5


def test_what_does_not_fit_together_is_refused() -> None:
    for wrong in ({"retrieved": 8, "generalists": 7}, {"easy_base": 0.97}, {"explorations": (1.5,)}):
        with pytest.raises(ValidationError):
            DifficultyParameters.model_validate(wrong)


@pytest.mark.slow
def test_published_figures_are_met_at_full_size_and_the_sign_flips() -> None:
    parameters = DifficultyParameters()
    rows = EXPERIMENT.figures(parameters, EXPERIMENT.run(parameters, EXPERIMENT.seeds, silent))
    assert [row.met for row in rows if row.published is not None] == [True, True]
    table = {row.name: row.ours or 0.0 for row in rows}
    assert table[named(ALL, 0.0)] < 0 < table[named(HARD_ALONE, 0.0)]
    assert table[flips(0.0)] > 0.9
    for mended in (LIFT, ROBUST):
        assert table[named(mended, 0.0)] > 0
    for mended in (LIFT, IPS, SNIPS, ROBUST):
        assert table[named(mended, parameters.explorations[-1])] > 0
