"""A span for each allocation, where the application itself uses OpenTelemetry.

Nothing is imported for it: an application that traces has loaded the API, and one that has not is not
slowed. Spans carry numbers and level names; no text, no id, no message of an error.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from memopt.allocation import Allocation

NAME = "memopt.allocate"

Attributes = Mapping[str, str | int | float]
Tell = Callable[[Callable[[], Attributes]], None]


@contextmanager
def span() -> Iterator[Tell]:
    """Open the span of an allocation; yields what takes its attributes, asked for only where recorded."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is None:
        yield lambda attributes: None
        return
    opened = trace.get_tracer("memopt").start_as_current_span(
        NAME, record_exception=False, set_status_on_exception=False
    )
    with opened as current:
        try:
            yield lambda attributes: _set(current, attributes)
        except BaseException as error:
            current.set_status(trace.StatusCode.ERROR, type(error).__name__)
            raise


def _set(current: Any, attributes: Callable[[], Attributes]) -> None:
    if current.is_recording():
        current.set_attributes(attributes())


def of_allocation(allocation: Allocation) -> Attributes:
    """Return what a span says of an allocation.

    ``memopt.tokens.before`` counts every item at its largest level; ``memopt.levels.LEVEL`` the items
    that hold a level.
    """
    found: dict[str, str | int | float] = {
        "memopt.status": allocation.status,
        "memopt.solver": allocation.solver,
        "memopt.items": len(allocation.compiled.program),
        "memopt.budget": allocation.budget,
        "memopt.price": float(allocation.price),
        "memopt.tokens.before": int(allocation.compiled.columns.tokens.max(axis=1, initial=0).sum()),
    }
    if allocation.tokens is not None:
        found["memopt.tokens.after"] = allocation.tokens
        found |= {f"memopt.levels.{level}": count for level, count in _levels(allocation)}
    return found


def _levels(allocation: Allocation) -> list[tuple[str, int]]:
    return sorted(Counter(allocation.choices.values()).items())
