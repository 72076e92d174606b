"""What an explanation says: the levels an item does not hold, and what each would cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memopt.columns import DELETE


@dataclass(frozen=True)
class Change:
    """An item that would sit at another level.

    Attributes
    ----------
    item
        Its id.
    before, after
        Level in the allocation, and level if the explained item were forced.
    """

    item: str
    before: str
    after: str

    def to_dict(self) -> dict[str, str]:
        """Return the change as JSON data."""
        return {"item": self.item, "from": self.before, "to": self.after}

    def told(self) -> str:
        """Return the change in words."""
        if self.after == DELETE:
            return f"{self.item!r} would be deleted ({self.before} now)"
        if self.before == DELETE:
            return f"{self.item!r} would come in at {self.after}"
        return f"{self.item!r} would go from {self.before} to {self.after}"


@dataclass(frozen=True)
class Alternative:
    """One level the item does not hold, and what holding it would mean.

    Attributes
    ----------
    level
        Level name.
    sentence
        The same in plain words.
    reason
        Why the level cannot be held; None when it can. One of ``absent``, ``richer_than_current``,
        ``pinned``, ``below_min_level``, ``dominated``, ``over_budget`` (its tokens alone),
        ``no_room`` (together with what must stay), ``links``, ``unchanged`` (it is in the leading part
        that stays as it was sent, for the cache price).
    value, tokens
        Optimum with this level forced: exact decimal string in utility, and tokens.
    lost
        Value of the allocation minus `value`, exact decimal string; below zero when the allocation
        is not optimal and this is better.
    changes
        Every other item that would change, canonical order.
    proved
        Whether `value` is proved to be the optimum; if not, `lost` is an upper limit of the loss.
    shortfall
        Tokens missing, for ``over_budget`` and ``no_room``.
    """

    level: str
    sentence: str
    reason: str | None = None
    value: str | None = None
    lost: str | None = None
    tokens: int | None = None
    changes: tuple[Change, ...] = ()
    proved: bool = True
    shortfall: int | None = None

    @property
    def possible(self) -> bool:
        """Whether the item could hold this level."""
        return self.reason is None

    def to_dict(self) -> dict[str, Any]:
        """Return the alternative as JSON data."""
        return {
            "level": self.level,
            "possible": self.possible,
            "reason": self.reason,
            "value": self.value,
            "lost": self.lost,
            "tokens": self.tokens,
            "changes": [change.to_dict() for change in self.changes],
            "proved": self.proved,
            "shortfall": self.shortfall,
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Explanation:
    """Why an item sits at its level: every other level with its price in value.

    Attributes
    ----------
    item, level
        The item's id and the level it holds.
    sentence
        Where the item stands and what the nearest alternative would cost.
    alternatives
        Every other level, richest first, ``delete`` last.
    """

    item: str
    level: str
    sentence: str
    alternatives: tuple[Alternative, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON data, the ``explain`` key of the result."""
        return {
            "item": self.item,
            "level": self.level,
            "sentence": self.sentence,
            "alternatives": [alternative.to_dict() for alternative in self.alternatives],
        }
