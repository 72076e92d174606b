"""How full a context was, from the usage that a provider reports with its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memopt.errors import as_read
from memopt.text.errors import InvalidUsage

_BESIDE = ("cache_read_input_tokens", "cache_creation_input_tokens")


def context_tokens(calls: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the tokens of the latest context.

    Every call sends the whole context again, so its prompt holds those before it: nothing is added
    up, and what was generated is not in it. Sizes of single messages never come from here, they are
    counted.

    Parameters
    ----------
    calls
        The usage of successive calls: ``prompt_tokens`` as in OpenAI's chat completions, or
        ``input_tokens``, to which Anthropic's ``cache_read_input_tokens`` and
        ``cache_creation_input_tokens`` belong; or the answers that have it under ``usage``.

    Returns
    -------
    int or None
        None when there was no call.

    Raises
    ------
    InvalidUsage
        When the latest call reports no such number, or one that is no integer >= 0.
    """
    if not calls:
        return None
    latest = calls[-1]
    if isinstance(latest.get("usage"), Mapping):
        latest = latest["usage"]
    if "prompt_tokens" in latest:
        return _tokens(latest, "prompt_tokens")
    beside = sum(_tokens(latest, key) for key in _BESIDE if latest.get(key) is not None)
    return _tokens(latest, "input_tokens") + beside


def _tokens(usage: Mapping[str, Any], key: str) -> int:
    read = usage.get(key)
    if isinstance(read, bool) or not isinstance(read, int) or read < 0:
        raise InvalidUsage(f"{key} of the latest call must be an integer >= 0, read {as_read(read)!r}")
    return read
