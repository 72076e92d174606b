"""What the adapters share reaches the fit, whatever framework is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from memopt.adapters.requests import FitsRequests
from memopt.text.content import COSTS
from memopt.text.ladders import Ladder, Ladders
from memopt.text.render import count_whole
from memopt.text.tokens import counter


def test_costs_hold_for_what_is_sent_beside_the_messages() -> None:
    costs = {**COSTS, "file": 3_000}
    part = {"role": "user", "content": [{"type": "file"}]}
    fits: FitsRequests[None] = FitsRequests(10_000, costs=costs)
    fitted = fits._fit(None, [{"role": "user", "content": "hi"}], {"files": [part]}, ())
    assert fitted.report.budget == 10_000 - count_whole([part], counter("bytes"), costs) < 7_000


def test_a_utility_of_the_users_is_asked() -> None:
    asked: list[int] = []

    def flat(ladders: Sequence[Ladder]) -> list[dict[str, float]]:
        asked.append(len(ladders))
        return [dict.fromkeys(ladder.texts, 1.0) for ladder in ladders]

    fits: FitsRequests[None] = FitsRequests(1_000, utility=flat)
    fits._fit(None, [{"role": "user", "content": "hi"}], {}, ())
    assert asked == [1]


@pytest.mark.parametrize("session", ["s1", lambda run: "s1"])
def test_a_session_that_is_none_is_an_error_that_says_so(session: Any) -> None:
    fits: FitsRequests[None] = FitsRequests(1_000, session=session)
    with pytest.raises(TypeError, match=r"session is a Session, or a function .*, not a str"):
        fits._fit(None, [{"role": "user", "content": "hi"}], {}, ())


def test_ladders_of_the_users_are_asked() -> None:
    fits: FitsRequests[None] = FitsRequests(60, ladders=Ladders({"summary": lambda text: text[:3]}))
    fitted = fits._fit(None, [{"role": "user", "content": "x" * 90}], {}, ())
    assert fitted.messages == [{"role": "user", "content": "xxx"}]
