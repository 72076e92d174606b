"""The size of a context is what the latest call says, nothing added up."""

from __future__ import annotations

from typing import Any

import pytest

from memopt.text.errors import InvalidUsage
from memopt.text.usage import context_tokens


def test_the_latest_prompt_counts_alone() -> None:
    calls = [
        {"prompt_tokens": 9, "completion_tokens": 5},
        {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12},
    ]
    assert context_tokens(calls) == 7
    assert context_tokens([]) is None
    assert context_tokens([{"id": "chatcmpl-1", "usage": call} for call in calls]) == 7


def test_what_was_read_from_a_cache_was_in_the_context() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 200,
        "cache_creation_input_tokens": None,
        "output_tokens": 5,
    }
    assert context_tokens([usage]) == 210
    assert context_tokens([{"input_tokens": 10, "input_tokens_details": {"cached_tokens": 8}}]) == 10


@pytest.mark.parametrize(
    "usage",
    [{}, {"prompt_tokens": -1}, {"prompt_tokens": 1.5}, {"prompt_tokens": None}, {"input_tokens": True}],
)
def test_a_report_without_a_number_is_refused(usage: dict[str, Any]) -> None:
    with pytest.raises(InvalidUsage, match="_tokens of the latest call must be an integer"):
        context_tokens([{"prompt_tokens": 3}, usage])
