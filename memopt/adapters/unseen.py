"""What a model has not seen yet comes first: an agent that loses a result asks for it again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memopt.text.ladders import Ladder
from memopt.text.utility import RecencyIdfRole, Utility

WEIGHT = 1_000.0
"""How many times more what is unseen is worth."""


def unseen(chat: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the ids of what follows the last message of the assistant."""
    last = max((index for index, given in enumerate(chat) if given["role"] == "assistant"), default=-1)
    return [given["id"] for given in chat[last + 1 :]]


def newest_question(chat: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the id of the last message of the user, alone in a list; an empty list when there is none."""
    return [given["id"] for given in chat if given["role"] == "user"][-1:]


def favoring(names: Collection[str], utility: Utility | None = None) -> Utility:
    """Return a utility by which messages shrink, and go, after all others.

    Parameters
    ----------
    names
        Their ids. They are not pinned: a result larger than the budget shrinks in place of being an error.
    utility
        Worth of every level, by default `memopt.text.utility.RecencyIdfRole`.
    """
    asked = utility or RecencyIdfRole()

    def favored(ladders: Sequence[Ladder]) -> list[Mapping[str, float]]:
        return [
            {level: WEIGHT * (1.0 + told) for level, told in worth.items()}
            if ladder.message.id in names
            else worth
            for ladder, worth in zip(ladders, asked(ladders), strict=True)
        ]

    return favored
