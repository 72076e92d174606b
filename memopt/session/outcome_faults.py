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
    if not _is_list(retrieved):
        message = f"retrieved must be a list of ids, read {as_read(retrieved)!r}"
        yield Fault("retrieved_not_list", message, field="retrieved", read=as_read(retrieved))
        retrieved = ()
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
    if not _is_list(scores):
        message = f"scores must be a list of numbers, read {as_read(scores)!r}"
        yield Fault("scores_not_list", message, field="scores", read=as_read(scores))
        return
    if len(scores) != len(retrieved):
        message = f"there are {len(scores)} scores for {len(retrieved)} memories"
        yield Fault("scores_length", message, field="scores", read=len(scores))
    for index, score in enumerate(scores):
        owner = retrieved[index] if index < len(retrieved) and isinstance(retrieved[index], str) else None
        whose = f"the score of {owner!r}" if owner is not None else f"score {index}"
        if not _is_finite(score):
            message = f"{whose} must be a finite number, read {as_read(score)!r}"
            yield Fault("score_not_number", message, owner, None, "scores", index, as_read(score))
        elif score < 0:
            message = f"{whose} must be >= 0, read {as_read(score)!r}"
            yield Fault("score_negative", message, owner, None, "scores", index, as_read(score))


def _is_list(value: object) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes))


def _is_finite(value: object) -> bool:
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False
