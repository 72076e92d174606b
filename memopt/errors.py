"""What can go wrong, in words a user can act on and codes a program can match."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, ClassVar

_LONGEST_READ = 200


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault (or warning) of an input, with its place.

    Attributes
    ----------
    code
        Stable word to match on, such as ``duplicate_id``.
    message
        A sentence for a person.
    item, level, field
        The place: item id, level name, field name; None where the place is coarser. Always
        representable in UTF-8.
    index
        Position of the item in the input, or all positions involved.
    read
        What was read there, shortened, always representable in JSON.
    """

    code: str
    message: str
    item: str | None = None
    level: str | None = None
    field: str | None = None
    index: int | tuple[int, ...] | None = None
    read: Any = None

    def __post_init__(self) -> None:
        for name in ("message", "item", "level", "field"):
            text = getattr(self, name)
            if text is not None and not text.isascii():
                object.__setattr__(self, name, writable(text))

    def to_dict(self) -> dict[str, Any]:
        """Return the fault in the shape of the result's ``errors`` list."""
        index = list(self.index) if isinstance(self.index, tuple) else self.index
        return {
            "code": self.code,
            "item": self.item,
            "level": self.level,
            "field": self.field,
            "index": index,
            "read": self.read,
            "message": self.message,
        }


def as_read(value: Any) -> Any:
    """Shorten a value that was read so that it fits a report and standard JSON."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    if isinstance(value, float) and value - value == 0.0:
        return value
    if isinstance(value, int):
        text = f"an integer of {value.bit_length()} bits"
    elif isinstance(value, str):
        text = writable(value)
    else:
        text = ascii(value) if isinstance(value, bytes) else _shape(value)
    return text if len(text) <= _LONGEST_READ else text[: _LONGEST_READ - 3] + "..."


def writable(text: str) -> str:
    """Escape what UTF-8 cannot hold: JSON text can smuggle in one half of a surrogate pair."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_name(name: object) -> bool:
    """Whether something may be an id: text that is not empty and that UTF-8 can hold."""
    return isinstance(name, str) and name != "" and (name.isascii() or writable(name) == name)


def visible(text: str) -> str:
    """Return text with every character that does not print (controls, overrides) shown as its escape."""
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii") for mark in text
    )


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: ``1 key``, ``2,000 keys``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def meant(name: str, known: Iterable[str]) -> str:
    """Return the question after an unknown name, which known one was meant; nothing if none is close."""
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def reason(error: Mapping[str, Any]) -> str:
    """Return what is wrong by an entry of pydantic's error list, without its own prefix."""
    return str(error["msg"]).removeprefix("Value error, ")


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object of {counted(len(value), 'key')}"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    return str(value)


class MemoptError(Exception):
    """Base of every error that memopt raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by attributes, not by the constructor: errors cross process borders whole."""
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[MemoptError], args: tuple[Any, ...]) -> MemoptError:
    return kind.__new__(kind, *args)


class Faulty(MemoptError):
    """An input has faults.

    Attributes
    ----------
    what
        What was read, in a word or two.
    lacking
        What it does not do because of its faults.
    faults
        Every fault found.
    warnings
        What else looks like a mistake.
    """

    what: ClassVar[str]
    lacking: ClassVar[str]

    def __init__(self, faults: Sequence[Fault], warnings: Sequence[Fault] = ()) -> None:
        self.faults, self.warnings = tuple(faults), tuple(warnings)
        lines = [f"{counted(len(self.faults), 'fault')} in the {self.what}"]
        super().__init__("\n".join([*lines, *(f"  {fault.code}: {fault.message}" for fault in self.faults)]))


class InvalidInstance(Faulty):
    """The input declares no valid instance.

    It is no ``ValueError``, so that pydantic lets it pass unwrapped from ``model_validate``.
    """

    what, lacking = "instance", "declares no valid instance"


class InvalidBudget(InvalidInstance):
    """A budget alone is none: no number of tokens and no window with its reserved parts."""

    what, lacking = "budget", "is no budget"


class InvalidSolution(Faulty):
    """A solution file of another solver gives no selection."""

    what, lacking = "solution file", "gives no selection"


class UnknownSolver(MemoptError):
    """No solver of that name exists."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        super().__init__(f"there is no solver {name!r}; known are {', '.join(known)}")


class UnknownFamily(MemoptError):
    """No family of random instances has that name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        super().__init__(f"there is no family {name!r}; known are {', '.join(known)}")


class UnknownItem(MemoptError):
    """No item of that id is in the instance."""

    def __init__(self, item: str) -> None:
        self.item = item
        super().__init__(f"there is no item {item!r} in the instance")


class SolverMissing(MemoptError):
    """A solver's package is not installed; the message names the extra that brings it."""

    def __init__(self, solver: str, package: str, extra: str) -> None:
        self.solver, self.package, self.extra = solver, package, extra
        super().__init__(
            f"solver {solver!r} needs {package}, which is not installed: pip install 'memopt[{extra}]'"
        )


class SolverLimit(MemoptError):
    """A program lies outside what a solver can decide exactly; it is refused, never solved wrongly."""

    def __init__(self, solver: str, limit: str, read: int, most: int) -> None:
        self.solver, self.limit, self.read, self.most = solver, limit, read, most
        super().__init__(
            f"solver {solver!r} refuses this program: {limit} is {read:,}, at most {most:,} is safe"
        )


class SolverFailed(MemoptError):
    """A solver came back without a usable selection."""

    def __init__(self, solver: str, reason: str) -> None:
        self.solver, self.reason = solver, reason
        super().__init__(f"solver {solver!r} gave no usable answer: {reason}")
