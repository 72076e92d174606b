"""Every fault of an outcome, each with its place, before anything is counted."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence

import numpy as np

from memopt.errors import Fault, as_read


def outcome_faults(
    retrieved: Sequence[str],
    success: object,
    scores: Sequence[float] | None,
    known: Container[str],
    needed: bool,
) -> Iterator[Fault]:
    """Yield every fault of an outcome.

    Parameters
    ----------
    retrieved, success, scores
        See `Worth.record`.
    known
        Ids there are.
    needed
        Whether scores must be given.
    """
    if not isinstance(success, (bool, np.bool_)):
        message = f"success must be true or false, read {as_read(success)!r}"
        yield Fault("success_not_boolean", message, field="success", read=as_read(success))
    seen: dict[str, int] = {}
    for index, name in enumerate(retrieved):
        if not isinstance(name, str):
            message = f"a memory must be named by text, read {as_read(name)!r}"
            yield Fault("memory_not_text", message, field="retrieved", index=index, read=as_read(name))
            continue
        if name not in known:
            message = f"there is no memory {name!r}"
            yield Fault("unknown_memory", message, name, field="retrieved", index=index, read=as_read(name))
        if name in seen:
            message, places = f"memory {name!r} is retrieved more than once", (seen[name], index)
            yield Fault(
                "duplicate_memory", message, name, field="retrieved", index=places, read=as_read(name)
            )
        seen.setdefault(name, index)
    if scores is None:
        if needed and retrieved:
            yield Fault("scores_missing", "the rule wants weights to be given", field="scores")
        return
    if len(scores) != len(retrieved):
        message = f"there are {len(scores)} scores for {len(retrieved)} memories"
        yield Fault("scores_length", message, field="scores", read=len(scores))
    for index, score in enumerate(scores):
        owner = retrieved[index] if index < len(retrieved) else None
        number = isinstance(score, (int, float, np.number)) and not isinstance(score, bool)
        if not number or not math.isfinite(score):
            message = f"the score of {owner!r} must be a finite number, read {as_read(score)!r}"
            yield Fault("score_not_number", message, owner, None, "scores", index, as_read(score))
        elif score < 0:
            message = f"the score of {owner!r} must be >= 0, read {as_read(score)!r}"
            yield Fault("score_negative", message, owner, None, "scores", index, as_read(score))
