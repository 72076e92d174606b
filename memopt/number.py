"""Utilities and prices: finite floats, or decimal strings that keep every digit."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

_PATTERN = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$"
_DECIMAL = re.compile(_PATTERN, re.ASCII)


def read_number(value: Any) -> float | str:
    """Return a finite number as declared: a float, or a decimal string that keeps every digit.

    Raises
    ------
    PydanticCustomError
        Of type ``not_number`` or ``not_finite``.
    """
    if type(value) is float:
        if math.isfinite(value):
            return value
    elif type(value) is int:
        try:
            return float(value) if float(value) == value else str(value)
        except OverflowError:
            raise PydanticCustomError("not_finite", "the number is beyond a double's range") from None
    elif type(value) is str:
        text = value.strip()
        if _DECIMAL.match(text) and len(text) <= 400:
            if math.isfinite(float(text)):
                return text
            raise PydanticCustomError("not_finite", "the number is beyond a double's range")
        if text.lower().lstrip("+-") in {"nan", "inf", "infinity"}:
            raise PydanticCustomError("not_finite", "the number must be finite")
        raise PydanticCustomError("not_number", "the text is no decimal number")
    elif not isinstance(value, bool) and hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0:
        return read_number(value.item())  # a numpy scalar
    else:
        raise PydanticCustomError("not_number", "a number or a decimal string is needed")
    raise PydanticCustomError("not_finite", "the number must be finite")


_SCHEMA = WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": _PATTERN}]})

Number = Annotated[float | str, PlainValidator(read_number), _SCHEMA]
"""A finite float, or a decimal string taken to its last digit."""

Utility = Annotated[float | str | None, PlainValidator(read_number), _SCHEMA]
"""A `Number` that may be left out (None), but not be given as null."""


def exact(number: float | str) -> Fraction:
    """Return the number as a fraction: a float by its binary value, a string by its decimals."""
    return Fraction(number)
