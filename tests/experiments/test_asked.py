from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field, model_validator

from memopt.experiments.asked import InvalidRequest, read_seeds, read_settings
from memopt.experiments.experiment import Parameters


class Some(Parameters):
    """One of every kind."""

    count: Annotated[int, Field(ge=1)] = 3
    rate: float = 0.5
    word: Literal["a", "b"] = "a"
    places: tuple[int, ...] = (1, 2)
    half_life: float | None = None
    steps: tuple[float, ...] | None = None
    on: bool = False

    @model_validator(mode="after")
    def _together(self) -> Some:
        if self.count > 100 and self.word == "b":
            raise ValueError("b takes at most 100")
        return self


USUAL = (42, 43, 44)


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        (None, USUAL),
        ("2", (42, 43)),
        ("3", USUAL),
        ("5", (42, 43, 44, 45, 46)),
        ("7, 3", (7, 3)),
        ("42,", (42,)),
        ("0,9223372036854775807", (0, 2**63 - 1)),
    ],
)
def test_seeds_are_a_list_or_the_first_of_the_usual_ones(text: str | None, seeds: tuple[int, ...]) -> None:
    assert read_seeds(text, USUAL) == seeds


def test_a_count_of_the_usual_twenty_begins_at_0() -> None:
    assert read_seeds("20", range(20)) == tuple(range(20))
    assert read_seeds("22", range(20)) == tuple(range(22))


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("0", ["how many (1 to 100,000), read '0'"]),
        ("100001", ["read '100001'"]),
        ("", ["read ''"]),
        ("ten", ["read 'ten'"]),
        ("-1,2", ["a seed is a whole number from 0 to 2^63 - 1, read '-1'"]),
        ("9223372036854775808,1", ["read '9223372036854775808'"]),
        ("1,x,1,,2.5", ["read 'x'", "read ''", "read '2.5'", "seed 1 is named 2 times"]),
    ],
)
def test_wrong_seeds_are_all_named(text: str, reasons: list[str]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_seeds(text, USUAL)
    assert len(caught.value.reasons) == len(reasons)
    for said, reason in zip(caught.value.reasons, reasons, strict=True):
        assert "--seeds" in said
        assert reason in said


def test_settings_are_read_by_the_kind_of_the_parameter() -> None:
    texts = ["count=7", "rate = 1e-3", "word=b", "places=4,5, 6", "half-life=2", "steps=.5,1", "on=true"]
    assert read_settings(texts, Some) == Some(
        count=7, rate=0.001, word="b", places=(4, 5, 6), half_life=2, steps=(0.5, 1.0), on=True
    )
    assert read_settings([], Some) == Some()
    assert read_settings(["half_life=none", "steps=none", "places=9"], Some) == Some(places=(9,))
    assert read_settings(["places="], Some).places == ()
    assert read_settings(["count=7"], Some).model_fields_set == {"count"}


def test_every_wrong_setting_is_named_in_one_report() -> None:
    texts = ["colour=3", "count=0", "places=1,x", "word=c", "rate=nan", "on", "rate=2", "half_life=soon"]
    with pytest.raises(InvalidRequest) as caught:
        read_settings(texts, Some)
    said = caught.value.reasons
    assert len(said) == len(texts)
    for expected in (
        "there is no parameter 'colour'; there are count, rate, word, places, half_life, steps, on",
        "takes key=value, read 'on'",
        "rate is set more than once",
        "--set count must be greater than or equal to 1, read '0'",
        "--set places, number 2 must be a valid integer, read 'x'",
        "--set word must be 'a' or 'b', read 'c'",
        "--set rate must be a finite number, read 'nan'",
        "--set half_life must be a valid number, read 'soon'",
    ):
        assert sum(expected in reason for reason in said) == 1, expected


def test_parameters_that_do_not_fit_together_are_a_sentence() -> None:
    with pytest.raises(InvalidRequest, match="--set: b takes at most 100"):
        read_settings(["count=101", "word=b"], Some)
