"""What a model has not answered yet: it may shrink, last of all, and is never deleted.

An agent that loses the result it has just asked for asks again, and one that loses the question
answers another.
"""

from __future__ import annotations

from collections.abc import Sequence

from memopt.text.messages import Message


def unseen(messages: Sequence[Message]) -> list[Message]:
    """Return the messages after the last one of the assistant; where it said nothing, the last alone."""
    last = next((at for at in reversed(range(len(messages))) if messages[at].role == "assistant"), None)
    return list(messages[-1:] if last is None else messages[last + 1 :])
