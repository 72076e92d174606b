"""A chat in, the messages to send out: never over the budget, as counted on the rendered whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from memopt.columns import DELETE
from memopt.errors import Fault
from memopt.instance import Budget, Instance, Item, Window
from memopt.session.errors import InfeasibleTurn
from memopt.session.events import TurnEvent
from memopt.session.session import Session
from memopt.solve import solve
from memopt.text.content import COSTS
from memopt.text.errors import OtherChat
from memopt.text.items import Chat, prepare
from memopt.text.ladders import Ladders, default_ladders
from memopt.text.messages import Message
from memopt.text.render import REPLY_TOKENS, count_whole, tokens_of
from memopt.text.tokens import TokenCounter, counter
from memopt.text.utility import Utility

_LOOKED_AT = 3
"""Known messages that are compared with the archive at least: short ones may be equal by chance."""
JOINTS = "joints"
"""Names what is held back of the budget, since texts can cost more together than in parts."""


@dataclass(frozen=True)
class Row:
    """What became of one message.

    Attributes
    ----------
    index, id, role
        Which one.
    level
        The level it is sent at, or ``delete``.
    tokens_before, tokens
        Of the message by itself as it was given, and as it is sent (0 = not at all).
    group
        Index of the first message of those that are sent with it or not at all; its own if alone.
    pinned
        Whether it had to stay as it is.
    """

    index: int
    id: str
    role: str
    level: str
    tokens_before: int
    tokens: int
    group: int
    pinned: bool


@dataclass(frozen=True)
class Report:
    """What a fit did.

    Attributes
    ----------
    tokenizer
        Name of the tokenizer: no number of tokens here means anything without it.
    budget
        Hard limit of the messages to send, in tokens.
    tokens_before, tokens_after
        Of the whole chat and of the messages to send, each counted on the rendered whole.
    rounds
        How often the allocator was asked: once, and once more for every count that was over.
    price
        Of the turn; 0 without a session.
    rows
        Every message of the chat, in order.
    counts
        Level to the number of messages that hold it.
    prefix_tokens
        Tokens of the leading messages that are sent as they were in the last turn, added up; None
        without a session.
    diagnostics
        What is odd about the chat, each with the index of its message; see `groups.Groups`. In a
        session also ``other_text``: a message is not the one that was known by its id.
    recorded_before
        Whether the turn had been recorded under its id before, and was not taken again.
    """

    tokenizer: str
    budget: int
    tokens_before: int
    tokens_after: int
    rounds: int
    price: float
    rows: tuple[Row, ...]
    counts: Mapping[str, int]
    prefix_tokens: int | None
    diagnostics: tuple[Fault, ...]
    recorded_before: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        shown = {each.name: getattr(self, each.name) for each in fields(self)}
        rows = [asdict(row) for row in self.rows]
        return shown | {"rows": rows, "diagnostics": [fault.to_dict() for fault in self.diagnostics]}


@dataclass(frozen=True)
class Fitted:
    """A chat that fits.

    Attributes
    ----------
    messages
        The messages to send: same order, same ids; one at its richest level is as it was given.
    allocation
        The result object of the turn, as ``memopt solve --json`` prints it. Its tokens are sums of
        parts; those of the report are counted.
    report
        What was done.
    """

    messages: list[dict[str, Any]]
    allocation: Mapping[str, Any]
    report: Report


def fit(
    messages: str | bytes | Sequence[Any] | Mapping[str, Any],
    budget: Budget,
    tokenizer: str | Callable[[str], int] | TokenCounter = "bytes",
    session: Session | None = None,
    utility: Utility | None = None,
    *,
    ladders: Ladders = default_ladders,
    pinned: Collection[str] = (),
    costs: Mapping[str, int] = COSTS,
    event_id: str | None = None,
) -> Fitted:
    """Return the messages to send of a chat.

    Parameters
    ----------
    messages
        OpenAI chat dicts, or their JSON text; see `messages.read_messages`.
    budget
        Tokens of the messages to send, or a window with its reserved parts.
    tokenizer
        A name, a function or a `TokenCounter`; see `tokens.counter`. UTF-8 bytes are a bound for
        every byte-level tokenizer, and so the default.
    session
        Takes a turn of it: levels only fall, the price follows the pressure, outcomes may govern. Texts
        of new messages go into its archive. Messages are known by their ids: give them ids of their own
        where the head of a history may be cut off. None = this chat alone, without a price.
    utility
        Worth of every level, by default `utility.RecencyIdfRole`. It may hold a goal; the
        allocator never sees one.
    ladders, pinned, costs
        See `items.prepare`.
    event_id
        Of the session's turn.

    Returns
    -------
    Fitted
        Its messages, counted together, are never over the budget.

    Raises
    ------
    InvalidMessages, InvalidInstance
        With every fault of the chat or of the budget.
    InfeasibleTurn
        When what is pinned needs more than the budget. A session is as it was.
    OtherChat
        When the turn was recorded before for another chat, by another tokenizer or for a larger budget.
    TokenizerUnavailable, UnknownTokenizer, WrongCount
        See `tokens.counter`.
    """
    chat = prepare(messages, counter(tokenizer), utility=utility, ladders=ladders, pinned=pinned, costs=costs)
    whole = _Whole(chat, budget)
    try:
        if session is None:
            return _alone(whole, chat)
        recorded = session.turn(chat.items, whole.budget, event_id, whole.tightened, chat.digests)
    except InfeasibleTurn as error:
        raise InfeasibleTurn(error.allocation, whole.said) from None
    event = recorded.event
    assert isinstance(event, TurnEvent)
    if not recorded.new and (not recorded.same or not whole.fits(event.choices)):
        raise OtherChat(event.id)
    other = _archive(session, chat, event.rewritten)
    return whole.fitted(event.result, event.prefix_tokens_kept, not recorded.new, other)


def _archive(session: Session, chat: Chat, rewritten: Collection[str]) -> tuple[Fault, ...]:
    """Put the texts of new messages into the archive, which a refresh makes levels from.

    Returns
    -------
    tuple of Fault
        ``other_text`` where a message known by its id is another one now. Looked at are those that are not
        sent as they were in the last turn, and the last of the known ones: where the head of a history is
        cut off, positions shift up to the end.
    """
    known = session.state.originals
    new = [message for message in chat.messages if message.id not in known]
    old = [message for message in chat.messages if message.id in known]
    unsure = [message for message in old[:-_LOOKED_AT] if message.id in rewritten] + old[-_LOOKED_AT:]
    if new:
        session.put({message.id: _original(message) for message in new})
    texts = session.originals([message.id for message in unsure])
    return tuple(_other_text(message) for message in unsure if texts[message.id] != _original(message))


def _original(message: Message) -> str:
    return message.content.text or message.text()


def _other_text(message: Message) -> Fault:
    reason = (
        f"message {message.index} has another text than the one known as {message.id!r}, whose level it "
        "has to keep; give messages ids of their own"
    )
    return Fault("other_text", reason, message.id, None, "id", message.index)


class _Whole:
    """Counts what was chosen as a whole, and holds back of the budget what that is over by.

    Attributes
    ----------
    limit
        Tokens of the messages to send.
    budget
        What the allocator may give to parts.
    rounds
        How often it was asked.
    """

    def __init__(self, chat: Chat, budget: Budget) -> None:
        self._chat, self._window = chat, Window.read(budget)
        self.limit = self._window.budget
        self.rounds = 1
        self._counted: int | None = None
        self._held_back = min(REPLY_TOKENS, self.limit) if chat.items else 0

    @property
    def budget(self) -> Window:
        """The budget with what is held back among its reserved parts."""
        reserved = self._window.reserved
        held_back = reserved.get(JOINTS, 0) + self._held_back
        return self._window.model_copy(update={"reserved": {**reserved, JOINTS: held_back}})

    @property
    def said(self) -> str:
        """What a budget smaller than the limit has to say for itself."""
        return f"; {self._held_back} of {self.limit} tokens are held back for what joins the messages"

    def tightened(self, event: TurnEvent) -> Window | None:
        """Return a smaller budget where a turn is over the limit, None where it fits."""
        if self.fits(event.choices):
            return None
        self.hold_back(event.tokens)
        return self.budget

    def fits(self, choices: Mapping[str, str]) -> bool:
        """Count a choice as a whole, and return whether it is within the limit."""
        self._counted = self._chat.count(choices)
        return self._counted <= self.limit

    def hold_back(self, tokens: int) -> None:
        """Hold back what the choice counted last is over, twice as much each time.

        Parameters
        ----------
        tokens
            Of that choice, as the sum of its parts.
        """
        assert self._counted is not None, "a choice is counted first"
        kept = tokens - ((self._counted - self.limit) << (self.rounds - 1))
        if kept < 0:  # parts held since a turn with another tokenizer say too little: in proportion then
            kept = tokens * self.limit // self._counted >> (self.rounds - 1)
        self._held_back += self.budget.budget - kept
        self.rounds += 1

    def fitted(
        self,
        result: Mapping[str, Any],
        prefix: int | None = None,
        recorded_before: bool = False,
        other: tuple[Fault, ...] = (),
    ) -> Fitted:
        """Return the messages of a result."""
        chat, choices = self._chat, result["choices"]
        counted = chat.count(choices) if self._counted is None else self._counted
        rows = tuple(_rows(chat, choices))
        report = Report(
            tokenizer=chat.counter.name,
            budget=self.limit,
            tokens_before=count_whole(chat.messages, chat.counter, chat.costs),
            tokens_after=counted,
            rounds=self.rounds,
            price=float(result["price"]),
            rows=rows,
            counts=dict(Counter(row.level for row in rows)),
            prefix_tokens=prefix,
            diagnostics=(
                *chat.groups.diagnostics,
                *other,
                *_shrunk(chat, rows, self.limit - counted, prefix is not None),
            ),
            recorded_before=recorded_before,
        )
        return Fitted(chat.render(choices), result, report)


def _shrunk(chat: Chat, rows: Sequence[Row], unused: int, in_session: bool) -> Iterator[Fault]:
    """Yield what has no answer yet and is not sent as it is, with the next richer level and why not."""
    items = {item.id: item for item in chat.items}
    for row in rows:
        if row.id not in chat.waiting or row.level == chat.ladder[0]:
            continue
        sizes = _sizes(items[row.id])
        above = chat.ladder[: chat.ladder.index(row.level)]
        richer = next(level for level in reversed(above) if level in sizes)
        why = f"it has no level between that and {richer} ({sizes[richer]}), and {unused} tokens stay unused"
        if sizes[richer] - row.tokens <= unused:
            why = f"{richer} ({sizes[richer]}) would fit, for {unused} tokens stay unused, but " + (
                "in a session levels only fall, and its price may choose a poorer one"
                if in_session
                else "was not worth more, or texts together cost more than in parts"
            )
        message = (
            f"message {row.index} has no answer yet and is sent at {row.level} ({row.tokens} tokens): {why}"
        )
        yield Fault("unseen_shrunk", message, row.id, row.level, None, row.index)


def _rows(chat: Chat, choices: Mapping[str, str]) -> Iterator[Row]:
    first = {index: members[0] for members in chat.groups.groups for index in members}
    items = {item.id: item for item in chat.items}
    for message in chat.messages:
        level = choices.get(message.id, DELETE)
        item = items.get(message.id)  # None: an orphan
        sizes = _sizes(item) if item else {chat.ladder[0]: tokens_of(message, chat.counter)}
        yield Row(
            index=message.index,
            id=message.id,
            role=message.role,
            level=level,
            tokens_before=sizes[chat.ladder[0]],
            tokens=sizes.get(level, 0),
            group=first[message.index],
            pinned=item is not None and item.pinned and item.id not in chat.waiting,
        )


def _sizes(item: Item) -> dict[str, int]:
    return {level: option.tokens or 0 for level, option in item.levels.items() if option is not None}


def _alone(whole: _Whole, chat: Chat) -> Fitted:
    while True:
        instance = Instance(budget=whole.budget, ladder=chat.ladder, items=chat.items)
        allocation = solve(instance)
        if allocation.tokens is None:
            raise InfeasibleTurn(allocation)
        if whole.fits(allocation.choices):
            return whole.fitted(allocation.to_dict())
        whole.hold_back(allocation.tokens)
