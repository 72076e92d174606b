from __future__ import annotations

import pytest

from memopt.experiments.registry import NAMES, experiment


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_says_what_it_is_and_has_parameters_of_its_own(name: str) -> None:
    found = experiment(name)
    assert found.name == name
    assert found.title
    assert list(found.seeds) == sorted(set(found.seeds))
    assert found.paper.reference
    assert found.claims.shows
    assert found.claims.shows_not
    assert found.parameters().model_fields_set == set()


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        experiment("experiment")
