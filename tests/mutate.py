"""JSON files with faults: bytes flipped or cut off; values, keys and entries changed, dropped or added."""

from __future__ import annotations

import json
import random
from typing import Any

_VALUES = (
    None, -1, 0, 1, 3, 1.5, -0.25, 10**9, 2**53, 10**30, 1e300, True, False, "", "x", "raw", "delete",
    "0.1", "1e400", "NaN", "\u0000", "\ud83d\ude00", [], {}, [[]], [1], {"a": 1}, {"tokens": 1, "utility": 2},
)  # fmt: skip
_BYTES = b'{}[]",:0123456789eE.-+ntfu\\\x00\xff\xc3 '


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return a JSON file with one to three faults."""
    kind = chance.random()
    if kind < 0.1:
        return content[: chance.randrange(len(content))]
    if kind < 0.45:
        broken = bytearray(content)
        for _ in range(chance.randint(1, 3)):
            broken[chance.randrange(len(broken))] = chance.choice(_BYTES)
        return bytes(broken)
    document = json.loads(content)
    for _ in range(chance.randint(1, 3)):
        document = _changed(document, chance)
    return json.dumps(document).encode()


def _changed(document: Any, chance: random.Random) -> Any:
    """Go down a random way and change what is there."""
    if isinstance(document, dict) and document and chance.random() < 0.93:
        key, how = chance.choice(sorted(document)), chance.random()
        rest = {name: value for name, value in document.items() if name != key}
        if how < 0.1:
            return rest
        if how < 0.15:
            return rest | {chance.choice(["", f"{key}x", *document]): document[key]}
        return document | {key: _changed(document[key], chance)}
    if isinstance(document, list) and document and chance.random() < 0.93:
        at, how = chance.randrange(len(document)), chance.random()
        before, after = document[:at], document[at + 1 :]
        if how < 0.1:
            return before + after
        if how < 0.2:
            return [*before, document[at], document[at], *after]
        return [*before, _changed(document[at], chance), *after]
    if isinstance(document, int) and chance.random() < 0.5:
        return document + chance.choice([-1, 1, 10, 10**6])
    return chance.choice(_VALUES)
