"""A chat as items: what the allocator decides about, and the texts that its choices stand for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memopt.errors import Fault, as_read
from memopt.instance import Item
from memopt.text.content import COSTS
from memopt.text.errors import InvalidMessages
from memopt.text.groups import Groups, group
from memopt.text.ladders import Ladder, Ladders, default_ladders
from memopt.text.messages import Message, read_messages
from memopt.text.render import beside, count_chosen, render
from memopt.text.tokens import TokenCounter
from memopt.text.unseen import unseen
from memopt.text.utility import RecencyIdfRole, Utility

PINNED_ROLES = ("system", "developer")


@dataclass(frozen=True, eq=False)
class Chat:
    """A chat ready to be allocated.

    Attributes
    ----------
    messages
        All of them, orphans included.
    groups
        What must be sent together, what is pending or an orphan, and the diagnostics.
    items
        One a message that can be sent, in order, with the message's id.
    texts
        Id to the texts of its levels, without the richest.
    digests
        Id to the digests of its levels; see `Ladder.digests`.
    ladder
        Level names, richest first.
    counter
        Counted the items' tokens; a budget means nothing without its name.
    costs
        Tokens of parts that are no text.
    waiting
        Ids of what has no answer yet and is not pinned as it is.
    """

    messages: tuple[Message, ...]
    groups: Groups
    items: tuple[Item, ...]
    texts: Mapping[str, Mapping[str, str]]
    digests: Mapping[str, Mapping[str, str]]
    ladder: tuple[str, ...]
    counter: TokenCounter
    costs: Mapping[str, int]
    waiting: frozenset[str]

    @property
    def pinned(self) -> tuple[int, ...]:
        """Indices of the messages that are pinned as they are."""
        pinned = {item.id for item in self.items if item.pinned} - self.waiting
        return tuple(message.index for message in self.messages if message.id in pinned)

    def render(self, choices: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the messages to send: same order, those at the richest level as they were given.

        Raises
        ------
        ValueError
            When the choices name an unknown level, delete a pinned message or split a group.
        """
        self._check(choices)
        return render(self.messages, choices, self.texts)

    def count(self, choices: Mapping[str, str]) -> int:
        """Return the tokens of the messages to send, counted on the rendered whole.

        Raises
        ------
        ValueError
            As `render`.
        """
        self._check(choices)
        return count_chosen(self.messages, choices, self.texts, self.counter)

    def _check(self, choices: Mapping[str, str]) -> None:
        kept = {item.id for item in self.items if choices.get(item.id, "delete") != "delete"}
        for item in self.items:
            if item.id in kept and choices[item.id] not in item.levels:
                raise ValueError(f"message {item.id!r} has no level {choices[item.id]!r}")
            if item.pinned and item.id not in kept:
                raise ValueError(f"message {item.id!r} is pinned, it cannot be deleted")
        for members in self.groups.of_several():
            if len({self.messages[index].id in kept for index in members}) > 1:
                raise ValueError(f"messages {list(members)} belong together, some are kept and some are not")


def prepare(
    chat: str | bytes | Sequence[Any] | Mapping[str, Any],
    counter: TokenCounter,
    *,
    utility: Utility | None = None,
    ladders: Ladders = default_ladders,
    pinned: Collection[str] = (),
    costs: Mapping[str, int] = COSTS,
) -> Chat:
    """Return a chat as items.

    Pinned as they are: system and developer messages, calls that wait for a result, and what the
    caller names. What has no answer yet (see `unseen`) may shrink and is never deleted. Poorer levels
    replace text content only; a message with tool calls keeps them and their arguments. A level that
    costs no less than a richer one is not offered.

    Parameters
    ----------
    chat
        As `read_messages` takes it.
    counter
        Counts tokens; see `memopt.text.tokens.counter`.
    utility
        Worth of every level, by default `RecencyIdfRole`.
    ladders
        Makes the levels, by default without a language model.
    pinned
        Ids of messages to keep as they are.
    costs
        Tokens of parts that are no text, by type.

    Raises
    ------
    InvalidMessages
        With every fault of the chat; ``unknown_pinned`` for an id to pin that no message has.
    ValueError
        When a utility does not answer for every message and level.
    """
    messages = read_messages(chat, costs)
    unknown = sorted(set(pinned) - {message.id for message in messages})
    if unknown:
        raise InvalidMessages([_unknown(name) for name in unknown])
    groups = group(messages)
    fixed = {
        message.id
        for message in messages
        if message.role in PINNED_ROLES or message.index in groups.pending or message.id in pinned
    }
    heard = [message for message in messages if message.index not in groups.orphans]
    waiting = {message.id for message in unseen(heard)} - fixed
    sent = ladders(heard, fixed)
    worths = (utility or RecencyIdfRole())(sent)
    if len(worths) != len(sent):
        raise ValueError(f"the utility answered for {len(worths)} messages of {len(sent)}")
    names = {index: f"group {members[0]}" for members in groups.of_several() for index in members}
    items, texts, digests = [], {}, {}
    for ladder, worth in zip(sent, worths, strict=True):
        message = ladder.message
        levels = dict(_options(ladder, worth, counter))
        digests[message.id] = ladder.digests
        texts[message.id] = {level: ladder.texts[level] for level in list(levels)[1:]}
        declared = {
            "id": message.id, "levels": levels, "order": message.index, "group": names.get(message.index),
            "pinned": message.id in fixed or message.id in waiting,
            "min_level": ladders.ladder[-1] if message.id in waiting else None,
        }  # fmt: skip
        items.append(Item.model_validate(declared))  # reads faster than an `Option` made for each level
    return Chat(
        messages, groups, tuple(items), texts, digests, ladders.ladder, counter, costs, frozenset(waiting)
    )


def _options(
    ladder: Ladder, worth: Mapping[str, float], counter: TokenCounter
) -> Iterator[tuple[str, dict[str, float]]]:
    fewest: int | None = None
    for level, counted in ladder.tokens(counter).items():
        tokens = counted + beside(ladder.message)
        if fewest is not None and tokens >= fewest:
            continue
        if level not in worth:
            raise ValueError(f"the utility says nothing of level {level!r} of message {ladder.message.id!r}")
        fewest = tokens
        yield level, {"tokens": tokens, "utility": float(worth[level])}


def _unknown(name: str) -> Fault:
    message = f"no message has the id {name!r}, which is to be pinned"
    return Fault("unknown_pinned", message, name, None, "pinned", None, as_read(name))
