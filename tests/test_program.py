from __future__ import annotations

import numpy as np
import pytest

from memopt.program import Audit, Program

LADDER = ("raw", "summary", "delete")


def program(**changes):
    """Four items a, b, c, d: raw 5 tokens, summary 2 tokens, deleted; a and b a group, exclusive with c."""
    data = {
        "budget": 12,
        "scale": 3,
        "ladder": LADDER,
        "ids": ("a", "b", "c", "d"),
        "start": np.arange(0, 13, 3),
        "level": np.tile([0, 1, 2], 4),
        "tokens": np.tile([5, 2, 0], 4),
        "value": np.tile([900, 700, 0], 4),
        "groups": ((0, 1),),
        "exclusives": (((0, 1), (2,)),),
    }
    return Program(**(data | changes))


def select(*levels):
    return np.array([3 * item + level for item, level in enumerate(levels)])


def test_a_program_knows_its_items_options_and_levels():
    made = program()
    assert len(made) == 4
    assert made.deleted == 2
    assert made.options(2) == range(6, 9)
    assert made.levels(select(0, 1, 2, 2)).tolist() == [0, 1, 2, 2]


def test_a_program_cannot_be_changed():
    made = program()
    with pytest.raises(ValueError, match="read-only"):
        made.value[0] = 1
    with pytest.raises(AttributeError):
        made.budget = 3


@pytest.mark.parametrize(
    ("levels", "audit"),
    [
        ((0, 1, 2, 0), Audit(2500, 12, ())),
        ((2, 2, 0, 0), Audit(1800, 10, ())),
        ((2, 2, 2, 2), Audit(0, 0, ())),
    ],
)
def test_a_selection_that_breaks_nothing_is_recomputed(levels, audit):
    assert program().audit(select(*levels)) == audit
    assert audit.feasible


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ((0, 0, 2, 0), "budget: 15 tokens are 3 over 12"),
        ((0, 2, 2, 2), "group: of ['a', 'b'] only ['a'] are present"),
        ((2, 1, 2, 2), "group: of ['a', 'b'] only ['b'] are present"),
        ((1, 1, 1, 2), "exclusive: ['a', 'c'] are present together"),
    ],
)
def test_a_broken_constraint_is_named(levels, words):
    audit = program().audit(select(*levels))
    assert audit.broken == (words,)
    assert not audit.feasible
    assert audit.tokens == sum((5, 2, 0)[level] for level in levels)


def test_every_broken_constraint_is_named():
    audit = program(budget=1).audit(select(2, 0, 0, 0))
    assert [words.split(":")[0] for words in audit.broken] == ["budget", "group", "exclusive"]
    assert (audit.value, audit.tokens) == (2700, 15)


@pytest.mark.parametrize(
    "selection",
    [
        np.zeros(3, dtype=np.int64),
        np.zeros((4, 1), dtype=np.int64),
        np.zeros(0, dtype=np.int64),
        np.array(3),
        select(0, 1, 2, 2).astype(float),
        select(0, 1, 2, 2).astype(str),
        np.array([True, True, False, True]),
        None,
    ],
)
def test_what_is_not_one_option_an_item_is_refused(selection):
    audit = program().audit(selection)
    assert (audit.value, audit.tokens) == (0, 0)
    assert audit.broken[0].startswith("shape: ")


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        ([3, 3, 6, 9], "1 items have none of theirs ('a')"),
        ([0, 2, 6, 12], "2 items have none of theirs ('b', 'd')"),
        ([-1, 3, 6, 9], "1 items have none of theirs ('a')"),
        ([2**62, 3, 6, 9], "1 items have none of theirs ('a')"),
    ],
)
def test_an_option_of_another_item_is_refused(selection, names):
    audit = program().audit(np.array(selection))
    assert (audit.value, audit.tokens) == (0, 0)
    assert audit.broken == (f"one option an item: {names}",)


def test_sums_near_the_limits_do_not_overflow():
    big = program(
        budget=2**53 - 1,
        tokens=np.tile([2**60, 2, 0], 4),
        value=np.tile([2**51 - 1, -(2**51), 0], 4),
        groups=(),
        exclusives=(),
    )
    audit = big.audit(select(0, 0, 0, 2))
    assert (audit.tokens, audit.value) == (3 * 2**60, 3 * (2**51 - 1))
    assert len(audit.broken) == 1
    assert big.audit(select(1, 1, 1, 1)).value == -(2**53)


def test_a_program_without_items_has_one_selection():
    empty = np.zeros(0, dtype=np.int64)
    made = Program(0, 9, LADDER, (), np.zeros(1, dtype=np.int64), empty, empty, empty)
    assert len(made) == 0
    assert made.audit(empty) == Audit(0, 0, ())


def test_forcing_a_level_leaves_the_item_that_option_alone():
    made = program()
    forced = made.forced(1, 1)
    assert forced is not None
    assert forced.start.tolist() == [0, 3, 4, 7, 10]
    assert forced.level.tolist() == [0, 1, 2, 1, 0, 1, 2, 0, 1, 2]
    assert forced.tokens.tolist() == [5, 2, 0, 2, 5, 2, 0, 5, 2, 0]
    assert (forced.groups, forced.exclusives, forced.budget) == (made.groups, made.exclusives, made.budget)
    assert forced.digest != made.digest
    assert len(made.value) == 12


def test_a_level_the_item_has_not_cannot_be_forced():
    assert program().forced(0, 3) is None
    last = program().forced(3, 2)
    assert last is not None
    assert last.forced(3, 0) is None


def test_equal_programs_have_equal_digests():
    assert program().digest == program().digest
    assert program().digest.startswith("sha256:")


@pytest.mark.parametrize(
    "changes",
    [
        {"budget": 13},
        {"scale": 4},
        {"ladder": ("raw", "short", "delete")},
        {"ids": ("a", "b", "c", "e")},
        {"tokens": np.tile([5, 1, 0], 4)},
        {"value": np.tile([900, 701, 0], 4)},
        {"start": np.array([0, 2, 6, 9, 12])},
        {"level": np.tile([0, 2, 2], 4)},
        {"groups": ()},
        {"groups": ((0, 1), (2, 3))},
        {"exclusives": ()},
        {"exclusives": (((0, 1), (3,)),)},
    ],
)
def test_any_difference_changes_the_digest(changes):
    assert program(**changes).digest != program().digest


def test_the_digest_tells_ids_apart_wherever_they_are_cut():
    cut = [
        program(ids=ids).digest
        for ids in (("a\0b", "c", "d", "e"), ("a", "b\0c", "d", "e"), ("a", "b", "c\0d", "e"))
    ]
    assert len(set(cut)) == 3


def test_the_digest_does_not_depend_on_the_layout_of_the_arrays():
    wide = np.zeros(24, dtype=np.int64)
    wide[::2] = np.tile([5, 2, 0], 4)
    assert program(tokens=wide[::2]).digest == program().digest
