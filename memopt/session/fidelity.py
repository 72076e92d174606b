"""The fidelity ledger: what each item still holds, and what it can therefore no longer become."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from memopt.columns import DEFAULT_LADDER, DELETE
from memopt.instance import MOST_TOKENS
from memopt.session.errors import FidelityViolation, InvalidState


class Held(NamedTuple):
    """What an item holds since its last turn: a level, and the tokens of the text held there."""

    level: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Admission:
    """What the ledger lets through of an item's candidates.

    Attributes
    ----------
    current
        Level held, the cap for `Item.current`; None while the item is open.
    sizes
        Admitted levels, each with its tokens.
    refused
        ``(level, tokens)`` of the candidates, at the level held or poorer, that are longer than what
        is held. Richer levels are out as well, unsaid.
    stands
        The level held, when its candidate was refused for its length: the text held stays in place,
        and its tokens are those in `sizes`. None otherwise.
    """

    current: str | None
    sizes: dict[str, int]
    refused: tuple[tuple[str, int], ...] = ()
    stands: str | None = None


@dataclass(frozen=True, slots=True)
class FidelityLedger:
    """Levels held, and which of them a refresh has opened again.

    Within a window an item is only ever downgraded: no level above the one held, no text longer than
    the one held, and what was deleted stays deleted. An item that is not offered in a turn keeps what
    it held. A refresh asked for in turn t opens items from turn t + 1 on, never in turn t itself.

    Attributes
    ----------
    ladder
        Level names, richest first, without ``delete``.
    held
        Item id to what it holds; items never seen are absent and open.
    opens
        Item id to the first turn in which a refresh has it open; gone once the item is decided anew.
    """

    ladder: tuple[str, ...] = DEFAULT_LADDER
    held: Mapping[str, Held] = field(default_factory=dict)
    opens: Mapping[str, int] = field(default_factory=dict)

    def holding(self, item: str, turn: int) -> Held | None:
        """Return what binds an item in a turn, or None while it is open."""
        held = self.held.get(item)
        if held is not None and item in self.opens and turn >= self.opens[item]:
            return None
        return held

    def admit(self, turn: int, item: str, sizes: Mapping[str, int]) -> Admission:
        """Return which candidates of an item a turn may choose from.

        Parameters
        ----------
        turn
            Number of the turn.
        item
            Item id.
        sizes
            Tokens of each candidate level, ``delete`` left out.
        """
        held = self.holding(item, turn)
        if held is None:
            return Admission(None, dict(sizes))
        cap = self._rank(held.level)
        poorer = {level: tokens for level, tokens in sizes.items() if self._rank(level) >= cap}
        refused = tuple((level, tokens) for level, tokens in poorer.items() if tokens > held.tokens)
        admitted = {level: tokens for level, tokens in poorer.items() if tokens <= held.tokens}
        if held.level not in poorer or held.level in admitted:
            return Admission(held.level, admitted, refused)
        return Admission(held.level, {held.level: held.tokens, **admitted}, refused, held.level)

    def after(self, turn: int, chosen: Mapping[str, Held], governed: Collection[str] = ()) -> FidelityLedger:
        """Return the ledger after a turn.

        Parameters
        ----------
        turn
            Number of the turn.
        chosen
            Item id to the level chosen and its tokens (0 for ``delete``), for the items offered.
        governed
            Those of them that governance capped or withheld, and what had to go with them. Their text was
            not given up for want of room and it must be possible to show it again: what they held stays,
            and what held nothing is open in the next turn.

        Raises
        ------
        FidelityViolation
            When a choice is richer or longer than what the item holds.
        """
        for item, choice in chosen.items():
            held = self.holding(item, turn)
            if held is None:
                self._rank(choice.level)
            elif self._rank(choice.level) < self._rank(held.level):
                raise FidelityViolation(
                    item, f"{choice.level!r} is richer than {held.level!r}, which it holds"
                )
            elif choice.tokens > held.tokens:
                raise FidelityViolation(
                    item, f"{choice.tokens} tokens are more than the {held.tokens} it holds"
                )
        stays = {item: self.held[item] for item in governed if item in self.held}
        opens: Mapping[str, int] = self.opens
        if opens:
            opens = {
                item: first
                for item, first in opens.items()
                if item not in chosen or item in stays or turn < first
            }
        if governed:
            opens = {**opens, **{item: turn + 1 for item in governed if item not in stays}}
        return replace(self, held={**self.held, **chosen, **stays}, opens=opens)

    def rewritten(self, items: Iterable[str]) -> FidelityLedger:
        """Return the ledger in which the level that items hold still binds, but no longer its size.

        For items whose text there is another one now: what they held is not sent again in any case.
        """
        lifted = {item: Held(self.held[item].level, MOST_TOKENS) for item in items if item in self.held}
        return replace(self, held={**self.held, **lifted}) if lifted else self

    def refresh(self, turn: int, items: Iterable[str] | None = None) -> FidelityLedger:
        """Return the ledger after a refresh asked for in a turn; it opens items from the next turn on.

        Parameters
        ----------
        turn
            Number of the turn running, or of the last one taken.
        items
            Ids to open, None = all that hold anything. Ids never seen are open anyway.
        """
        wanted = self.held if items is None else [item for item in items if item in self.held]
        opened = {item: min(self.opens.get(item, turn + 1), turn + 1) for item in wanted}
        return replace(self, opens={**self.opens, **opened})

    def levels(self) -> dict[str, int]:
        """Return how many items hold each level, richest first, ``delete`` last."""
        counts = dict.fromkeys((*self.ladder, DELETE), 0)
        for held in self.held.values():
            counts[held.level] += 1
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Return the state for JSON."""
        return {
            "ladder": list(self.ladder),
            "held": {item: list(held) for item, held in self.held.items()},
            "opens": dict(self.opens),
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> FidelityLedger:
        """Return the state that `to_dict` wrote.

        Raises
        ------
        InvalidState
            When a key is missing, a level is not of the ladder, or an opened item holds nothing.
        """
        try:
            ledger = cls(
                ladder=tuple(state["ladder"]),
                held={item: Held(level, int(tokens)) for item, (level, tokens) in state["held"].items()},
                opens={item: int(turn) for item, turn in state["opens"].items()},
            )
            for held in ledger.held.values():
                ledger._rank(held.level)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidState("fidelity ledger", f"{type(error).__name__}: {error}") from None
        if not ledger.opens.keys() <= ledger.held.keys():
            raise InvalidState("fidelity ledger", "it opens items that hold nothing")
        return ledger

    def _rank(self, level: str) -> int:
        if level == DELETE:
            return len(self.ladder)
        return self.ladder.index(level)
