from __future__ import annotations

import hashlib

import numpy as np
import pytest

from memopt.compile import compile as compiled
from memopt.errors import UnknownFamily
from memopt.families import FAMILIES, generate, generate_columns
from memopt.shortage import find_shortage
from memopt.solvers import cpsat


def content(columns):
    """Return a digest of everything a family decides, in bytes that are the same on every platform."""
    digest = hashlib.sha256(repr((columns.budget, columns.price, columns.ladder, columns.repair)).encode())
    digest.update(columns.tokens.astype("<i8").tobytes() + columns.utility.astype("<f8").tobytes())
    for part in (columns.richest, columns.poorest, columns.group, columns.exclusive):
        digest.update(b"-" if part is None else part.astype("<i8").tobytes())
    return digest.hexdigest()[:12]


PINNED = {
    "uncorrelated": "6c7e7a8ac828",
    "weakly-correlated": "5dab274ab6e0",
    "strongly-correlated": "9156e2ee98ac",
    "subset-sum": "0e851628878c",
    "zig-zag": "291956035b0c",
    "priced": "b12d800cf5e7",
    "memory-like": "2bac7e6edca5",
    "linked": "da9d6b8c6d30",
    "tight": "1af0afb681b2",
    "zero-budget": "45c9bb19458a",
    "duplicates": "7c7598fccdc2",
    "huge-weights": "dc27ac6ba81b",
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_names_the_same_instance_everywhere(family):
    assert content(generate_columns(family, 20, 1)) == PINNED[family]


@pytest.mark.parametrize("family", FAMILIES)
def test_another_seed_or_family_is_another_instance(family):
    seeds = {content(generate_columns(family, 20, seed)) for seed in range(5)}
    others = {content(generate_columns(other, 20, 1)) for other in FAMILIES}
    assert (len(seeds), len(others)) == (5, len(FAMILIES))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("levels", [1, 2, 4, 6])
@pytest.mark.parametrize("items", [0, 1, 2, 30])
def test_columns_and_items_are_the_same_program(family, levels, items):
    columns = generate_columns(family, items, 3, levels)
    of_columns, of_items = compiled(columns).program, compiled(generate(family, items, 3, levels)).program
    assert columns.tokens.shape == (items, levels)
    assert (of_columns.scale, of_columns.budget, of_columns.ladder) == (
        of_items.scale,
        of_items.budget,
        of_items.ladder,
    )
    for part in ("start", "level", "tokens", "value"):
        assert np.array_equal(getattr(of_columns, part), getattr(of_items, part))
    assert of_columns.groups == of_items.groups
    assert of_columns.exclusives == of_items.exclusives


@pytest.mark.parametrize("family", FAMILIES)
def test_richer_levels_come_first(family):
    tokens = generate_columns(family, 200, 2).tokens
    if family in ("memory-like", "linked", "tight", "zero-budget", "duplicates"):
        assert (tokens[:, 0] >= tokens[:, -1]).all()
    else:
        assert (np.diff(tokens, axis=1) <= 0).all()


def test_families_are_what_they_are_called():
    subset = generate_columns("subset-sum", 50, 1)
    assert np.array_equal(subset.tokens, subset.utility)
    strong = generate_columns("strongly-correlated", 50, 1)
    assert np.array_equal(strong.utility - strong.tokens, np.broadcast_to([40.0, 30.0, 20.0, 10.0], (50, 4)))
    weak = generate_columns("weakly-correlated", 50, 1)
    assert np.abs(weak.utility - weak.tokens).max() <= 10
    zig_zag = generate_columns("zig-zag", 50, 1)
    assert (np.diff(zig_zag.utility, axis=1) <= 0).all()
    memory = generate_columns("memory-like", 20_000, 1)
    assert abs(np.median(memory.tokens[:, 0]) - 120) < 5
    assert np.sort(memory.utility[:, 0])[-200:].sum() > 0.3 * memory.utility[:, 0].sum()
    duplicates = generate_columns("duplicates", 50, 1)
    assert len(np.unique(duplicates.tokens, axis=0)) == 3
    assert int(generate_columns("huge-weights", 50, 1).tokens.max()) > 2**31
    assert generate_columns("zero-budget", 50, 1).budget == 0


def test_about_every_other_instance_of_huge_weights_is_within_the_limit_of_cpsat_and_huge_all_the_same():
    within = 0
    for seed in range(40):
        program = compiled(generate_columns("huge-weights", 8, seed)).program
        divisor = cpsat.token_step(program)
        assert int(program.tokens.max()) > 2**31
        assert cpsat.limit(program).within == (divisor >= 10**8)
        within += divisor >= 10**8
    assert 10 < within < 30


def test_priced_utilities_are_strongly_correlated_with_the_tokens():
    program = compiled(generate_columns("priced", 50, 1)).program
    present = program.level != program.deleted
    assert np.corrcoef(program.tokens[present], program.value[present])[0, 1] > 0.999


def test_linked_has_every_kind_of_constraint():
    columns = generate_columns("linked", 400, 1)
    program = compiled(columns).program
    assert {len(members) for members in program.groups} == {2, 3, 4}
    assert max(len(units) for units in program.exclusives) >= 3
    assert columns.richest is not None
    assert columns.poorest is not None
    assert set(columns.richest.tolist()) == {0, 1, 2, 3, 4}
    assert set(columns.poorest.tolist()) == {3, 4}
    assert find_shortage(program) is None


def test_tight_budgets_lie_just_above_at_and_just_below_the_minimum():
    spare = set()
    for seed in range(20):
        columns = generate_columns("tight", 12, seed)
        assert columns.poorest is not None
        least = int(columns.tokens[columns.poorest < 4].min(axis=1).sum())
        spare.add(columns.budget - least)
        assert (find_shortage(compiled(columns).program) is None) == (columns.budget >= least)
    assert spare == {-1, 0, 1}


def test_an_unknown_family_is_named_with_the_known_ones():
    with pytest.raises(UnknownFamily, match="no family 'hard'; known are uncorrelated, "):
        generate("hard", 3, 1)
