from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import memopt
from memopt.experiments.experiment import Claims, Experiment, Figure, Parameters, Run, over_seeds
from memopt.experiments.papers import Paper
from memopt.experiments.result import plain, result, to_bytes
from memopt.provenance import sources_digest


class Coins(Parameters):
    """How many are thrown."""

    throws: tuple[int, ...] = (2, 3)


class Throwing(Experiment[Coins]):
    """A small experiment that reads a file of its own."""

    name, title, parameters, seeds = "throwing", "Coins, thrown", Coins, (1, 2)
    paper, number = Paper("Throws", "A. Thrower, 1900", "Read in full."), 3
    claims = Claims(True, False, shows=("heads",), shows_not=("tails",))
    button = False

    def run(self, parameters: Coins, seeds: Sequence[int], advance: Any) -> list[Run]:
        heads = [np.random.default_rng(seed).integers(2, size=parameters.throws[0]) for seed in seeds]
        return [
            Run(
                seed,
                {"heads": np.float64(thrown.sum()), "none": None, "nan": float("nan")},
                {"x": range(2), "share": np.array([1 / 3, np.inf])},
                {"thrown": thrown, "by": {"side": (np.int64(1), True)}},
            )
            for seed, thrown in zip(seeds, heads, strict=True)
        ]

    def inputs(self, parameters: Coins) -> Mapping[str, str]:
        return {"z": "sha256:2", "coin": "sha256:1"}

    def figures(self, parameters: Coins, runs: Sequence[Run]) -> list[Figure]:
        return [
            over_seeds(runs, "heads", 1.0, 5.0),
            over_seeds(runs, "none", 0.5, 0.1),
            Figure("shown", 1.0),
            Figure("forbidden", 1.0, expected=0.0, unit="coins"),
        ]

    def notes(self, runs: Sequence[Run]) -> Mapping[str, str]:
        return {"coin": "a button."} if self.button else {}

    def plot(self, parameters: Coins, runs: Sequence[Run], drawing: Any) -> None:
        raise AssertionError("nothing is drawn here")


def document(seeds: Sequence[int] = (1, 2), **changed: Any) -> dict[str, Any]:
    experiment, parameters = Throwing(), Coins(**changed)
    return result(experiment, parameters, experiment.run(parameters, seeds, print))


def test_everything_a_figure_depends_on_is_in_the_document() -> None:
    found = document()
    assert found["experiment"] == "throwing"
    assert found["source"] == {
        "name": "Throws", "reference": "A. Thrower, 1900", "known_from": "Read in full.", "its_experiment": 3,
    }  # fmt: skip
    assert found["parameters"] == {"throws": [2, 3]}
    assert found["seeds"] == [1, 2]
    assert found["made_by"]["sources"] == sources_digest()
    assert found["made_by"]["memopt"] == memopt.__version__
    assert found["made_by"]["python"] == platform.python_version()
    assert found["made_by"]["numpy"] == np.__version__
    assert list(found["inputs"].items()) == [("coin", "sha256:1"), ("z", "sha256:2")]
    assert found["claims"] == {
        "component_only": True, "diagnostic_only": False, "shows": ["heads"], "shows_not": ["tails"],
        "hold_for": "the default parameters and seeds", "this_run_differs_in": [],
    }  # fmt: skip


def test_the_table_judges_only_what_is_published_or_expected() -> None:
    heads, none, shown, forbidden = document()["table"]
    assert heads["difference"] == heads["ours"] - 1.0
    assert (heads["published"], heads["band"], heads["met"]) == (1.0, 5.0, True)
    assert (none["ours"], none["difference"], none["met"]) == (None, None, False)
    assert (shown["published"], shown["difference"], shown["met"]) == (None, None, None)
    assert (forbidden["unit"], forbidden["expected"], forbidden["published"]) == ("coins", 0.0, None)
    assert (forbidden["difference"], forbidden["met"]) == (1.0, False)


def test_another_run_than_that_of_the_defaults_says_so_and_with_other_parameters_nothing_is_judged() -> None:
    def differs(found: dict[str, Any]) -> Any:
        return found["claims"]["this_run_differs_in"]

    other = document((2,), throws=(3, 3))
    assert differs(other) == ["throws", "seeds"]
    assert [row["met"] for row in other["table"]] == [None, None, None, False]
    assert other["table"][0]["published"] == 1.0
    assert differs(document((2, 1), throws=(2, 3))) == []
    assert differs(document((2,))) == ["seeds"]
    assert document((2,))["table"][0]["met"] is True


def test_runs_hold_plain_data_and_thin_curves() -> None:
    run = document()["runs"][0]
    assert run["values"] == {"heads": sum(run["kept"]["thrown"]), "none": None, "nan": None}
    assert run["trajectories"] == {"x": [0, 1], "share": [0.333333, None]}
    assert run["kept"]["by"] == {"side": [1, True]}


def test_a_run_depends_on_its_seed_alone_and_the_same_seeds_are_the_same_bytes() -> None:
    assert to_bytes(document()) == to_bytes(document())
    assert document((2,))["runs"][0] == document()["runs"][1]


def test_the_text_is_the_document_a_run_a_line() -> None:
    text = to_bytes(document())
    assert json.loads(text) == document()
    lines = [line for line in text.splitlines() if line.startswith(b'{"seed"')]
    assert len(lines) == 2


def test_what_has_no_order_is_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        plain({"a": {1, 2}})


def test_a_mean_tells_how_many_seeds_have_a_value() -> None:
    runs = [Run(seed, {"crosses": value}) for seed, value in enumerate((3.0, None, 5.0))]
    figure = over_seeds(runs, "crosses")
    assert (figure.ours, figure.seeds_with_value) == (4.0, 2)
    assert [row["seeds_with_value"] for row in document()["table"]] == [2, 0, None, None]


@pytest.mark.parametrize(
    ("ours", "difference", "met"),
    [(0.50, 0.0, True), (0.47, -0.02, True), (0.53, 0.02, True), (0.46, -0.03, False)],
)
def test_a_published_range_is_met_inside_it_and_its_band(ours: float, difference: float, met: bool) -> None:
    figure = Figure("worth", ours, published=(0.49, 0.51), band=0.02)
    assert figure.difference == pytest.approx(difference)
    assert figure.met is met


def test_where_something_was_wanting_a_note_says_so_and_nothing_published_is_judged() -> None:
    experiment, parameters = Throwing(), Coins()
    experiment.button = True
    found = result(experiment, parameters, experiment.run(parameters, (1, 2), print))
    assert found["notes"] == {"coin": "a button."}
    assert found["claims"]["this_run_differs_in"] == ["coin"]
    assert [row["met"] for row in found["table"]] == [None, None, None, False]
    assert document()["notes"] == {}
