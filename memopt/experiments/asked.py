"""What a command line asks of an experiment, as text: which seeds, which parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin

from pydantic import ValidationError

from memopt.errors import MemoptError, reason
from memopt.experiments.experiment import Parameters

MOST_SEEDS = 100_000
_LARGEST_SEED = 2**63 - 1


class InvalidRequest(MemoptError):
    """Seeds or settings are wrong; ``reasons`` holds a sentence for each fault."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__("; ".join(self.reasons))


def read_seeds(text: str | None, usual: Sequence[int]) -> tuple[int, ...]:
    """Return the seeds that a text names.

    Parameters
    ----------
    text
        A list such as ``42,43,44`` (``42,`` is a list of one), or how many: then they are the first of
        the usual ones, continued upwards. None = the usual ones.
    usual
        The experiment's own, rising.

    Raises
    ------
    InvalidRequest
        When the text names no seed, a seed twice, or something that is no seed.
    """
    if text is None:
        return tuple(usual)
    if "," not in text:
        count = _whole(text)
        if count is None or not 1 <= count <= MOST_SEEDS:
            raise InvalidRequest(
                [f"--seeds is a list such as 42,43,44, or how many (1 to {MOST_SEEDS:,}), read {text!r}"]
            )
        last = max(usual, default=-1)
        return (*usual[:count], *range(last + 1, last + 1 + count - len(usual)))
    words = [word.strip() for word in text.removesuffix(",").split(",")]
    seeds = [_whole(word) for word in words]
    wrong = [word for word, seed in zip(words, seeds, strict=True) if seed is None or seed > _LARGEST_SEED]
    reasons = [f"--seeds: a seed is a whole number from 0 to 2^63 - 1, read {word!r}" for word in wrong]
    reasons += [f"--seeds: seed {seed} is named {times} times" for seed, times in Counter(seeds).items()
                if times > 1 and seed is not None]  # fmt: skip
    if reasons:
        raise InvalidRequest(reasons)
    return tuple(seed for seed in seeds if seed is not None)


def read_settings(texts: Sequence[str], kind: type[Parameters]) -> Parameters:
    """Return parameters from settings ``key=value``; what they leave out has its default.

    Numbers of a tuple stand between commas; ``none`` means no value, for a parameter that may have none.

    Raises
    ------
    InvalidRequest
        When a key is unknown or set twice, or a value does not fit; every such fault is named.
    """
    known, reasons = kind.model_fields, []
    given: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            reasons.append(f"--set takes key=value, read {text!r}")
        elif key not in known:
            reasons.append(f"--set: there is no parameter {key!r}; there are {', '.join(known) or 'none'}")
        elif key in given:
            reasons.append(f"--set: {key} is set more than once")
        else:
            given[key] = _split(value.strip(), known[key].annotation)
    try:
        parameters = kind.model_validate(given)
    except ValidationError as error:
        raise InvalidRequest([*reasons, *_sentences(error)]) from None
    if reasons:
        raise InvalidRequest(reasons)
    return parameters


def _whole(text: str) -> int | None:
    """Return a number written in digits alone, or None."""
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else None


def _split(text: str, wanted: Any) -> Any:
    """Return a text as pydantic reads it: a list for a tuple, None where the parameter may be None."""
    kinds = get_args(wanted)
    if text.lower() == "none" and type(None) in kinds:
        return None
    if tuple in (get_origin(wanted), *map(get_origin, kinds)):
        return [part.strip() for part in text.removesuffix(",").split(",")] if text else []
    return text


def _sentences(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False):
        key, *places = fault["loc"] or ("",)
        where = f"{key}, number {int(places[0]) + 1}" if places and isinstance(places[0], int) else key
        wrong = reason(fault).replace("Input should be", "must be", 1).split(", unable to parse")[0]
        yield f"--set {where} {wrong}, read {fault['input']!r}" if key else f"--set: {wrong}"
