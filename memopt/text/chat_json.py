"""The JSON text of a chat: one document, or JSON Lines with a message a line."""

from __future__ import annotations

import dataclasses
from typing import Any

from memopt import jsontext
from memopt.errors import Fault, InvalidInstance
from memopt.text.errors import InvalidMessages


def parse(text: str | bytes) -> Any:
    """Return the document, or the list of the lines' documents where there is one a line.

    Raises
    ------
    InvalidMessages
        With the faults of `memopt.jsontext.parse`; of every line that is none, where the first is one.
    """
    try:
        return jsontext.parse(text)
    except InvalidInstance as error:
        whole = error.faults
    # Bytes, since a string would be split at U+2028 and its like, too, which JSON strings may hold.
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    documents, faults = [], list[Fault]()
    for number, line in lines:
        try:
            documents.append(jsontext.parse(line))
        except InvalidInstance as error:
            faults += [_in_line(number, fault) for fault in error.faults]
            if not documents:
                break
    if len(lines) < 2 or not documents:
        raise InvalidMessages(whole)
    if faults:
        raise InvalidMessages(faults)
    return documents


def _in_line(number: int, fault: Fault) -> Fault:
    return dataclasses.replace(fault, message=f"line {number}: {fault.message}", index=number - 1)
