"""Every kind of fault of a declaration by columns, each with the first places where it occurs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic_core import PydanticCustomError

from memopt.errors import Fault, as_read, is_name
from memopt.number import exact, read_number

MOST_PLACES = 20
"""At most this many places of one kind are reported, and the count of the rest."""
_COUNT_BELOW = 2**53


def array_faults(
    tokens: NDArray[Any] | None,
    utility: NDArray[Any] | None,
    budget: Any,
    price: Any,
    ids: Sequence[Any] | None,
) -> list[Fault]:
    """Return every fault of a columnar declaration; an array is None where it was ragged."""
    found = [*_budget_faults(budget), *_price_faults(price)]
    if tokens is None or utility is None or tokens.ndim != 2 or not tokens.shape[1]:
        shapes = [None if part is None else part.shape for part in (tokens, utility)]
        message = f"tokens and utility need one shape [n, L], L >= 1; read {shapes[0]} and {shapes[1]}"
        return [*found, Fault("shape", message, field="tokens")]
    if tokens.shape != utility.shape:
        message = f"tokens and utility need one shape [n, L]; read {tokens.shape} and {utility.shape}"
        found.append(Fault("shape", message, field="utility"))
    present: NDArray[np.bool_] | None = None
    if tokens.dtype.kind in "iu":
        present = tokens >= 0
        found += _places("tokens_too_large", "tokens", tokens, tokens >= _COUNT_BELOW, ids)
    else:
        message = f"tokens must be integers; read {tokens.dtype}"
        found.append(Fault("tokens_not_integer", message, field="tokens"))
    if utility.dtype.kind not in "fiu":
        message = f"utility must be floats; read {utility.dtype}"
        found.append(Fault("utility_not_number", message, field="utility"))
    elif present is not None and present.shape == utility.shape:
        found += _places("utility_not_finite", "utility", utility, present & ~np.isfinite(utility), ids)
    if ids is not None:
        found += _id_faults(ids, len(tokens))
    return found


def _budget_faults(budget: Any) -> Iterator[Fault]:
    if isinstance(budget, bool) or not isinstance(budget, (int, np.integer)):
        message = "the budget must be an integer >= 0"
        yield Fault("budget_not_integer", message, field="budget", read=as_read(budget))
    elif not 0 <= budget < _COUNT_BELOW:
        code, read = "budget_negative" if budget < 0 else "budget_too_large", as_read(int(budget))
        yield Fault(code, f"the budget is {read}", field="budget", read=read)


def _price_faults(price: Any) -> Iterator[Fault]:
    try:
        negative = exact(read_number(price)) < 0
    except PydanticCustomError as error:
        message = "the price must be a finite number >= 0"
        yield Fault(f"price_{error.type}", message, field="price", read=as_read(price))
    else:
        if negative:
            message = f"the price must be >= 0, read {price}"
            yield Fault("price_negative", message, field="price", read=as_read(price))


def _places(
    code: str, field: str, values: NDArray[Any], wrong: NDArray[np.bool_], ids: Sequence[Any] | None
) -> Iterator[Fault]:
    if not wrong.any():
        return
    rows, columns = np.nonzero(wrong)
    for row, column in zip(rows[:MOST_PLACES].tolist(), columns[:MOST_PLACES].tolist(), strict=True):
        name = str(row) if ids is None or row >= len(ids) else str(ids[row])
        read = as_read(values[row, column].item())
        message = f"row {row} (item {name!r}), level {column}: {field} read {read!r}"
        yield Fault(code, message, name, str(column), field, row, read)
    if len(rows) > MOST_PLACES:
        yield Fault(code, f"and {len(rows) - MOST_PLACES} more places of {field}", field=field)


def _id_faults(ids: Sequence[Any], rows: int) -> Iterator[Fault]:
    if len(ids) != rows:
        yield Fault("shape", f"there are {len(ids)} ids for {rows} rows", field="ids")
    wrong = [index for index, name in enumerate(ids) if not is_name(name)]
    for index in wrong[:MOST_PLACES]:
        message = f"row {index}: an id must be readable text that is not empty"
        yield Fault("id_not_text", message, None, None, "id", index, as_read(ids[index]))
    if len(wrong) > MOST_PLACES:
        yield Fault("id_not_text", f"and {len(wrong) - MOST_PLACES} more ids", field="id")
    if not wrong and len(set(ids)) < len(ids):
        seen: dict[str, list[int]] = {}
        for index, name in enumerate(ids):
            seen.setdefault(name, []).append(index)
        repeated = [(name, places) for name, places in seen.items() if len(places) > 1]
        for name, places in repeated[:MOST_PLACES]:
            message = f"rows {places[:5]} have the same id {name!r}"
            yield Fault("duplicate_id", message, name, None, "id", tuple(places), as_read(name))
        if len(repeated) > MOST_PLACES:
            yield Fault("duplicate_id", f"and {len(repeated) - MOST_PLACES} more repeated ids", field="id")
