"""Ways to make a chat fit: memopt, with and without a session, and LangChain's ``trim_messages``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from benchmarks.talks import Messages, Talk
from memopt.session.config import Config
from memopt.session.session import Session
from memopt.text.fit import fit
from memopt.text.messages import read_messages
from memopt.text.render import count_whole
from memopt.text.tokens import TokenCounter
from memopt.text.utility import RecencyIdfRole

UTILITY = RecencyIdfRole(waiting=1.0)
"""The default, but for the weight of what has no answer yet: at its default it would hide all else."""
CACHE_PRICE = 30.0
"""What a full budget behind the first change costs, in utility; chosen of 3 to 1,000 on 15 of tau-bench's
200 talks, whose chats have a utility of some hundreds when they end."""


@dataclass(frozen=True)
class Sent:
    """What is sent of a chat.

    Attributes
    ----------
    messages
        The messages.
    levels
        Level by message id (``m`` and the message's index); a message without one is not sent.
    """

    messages: Messages
    levels: Mapping[str, str]


Send = Callable[[Messages], Sent]


class Policy(Protocol):
    """A way to make the chats of a talk fit."""

    @property
    def name(self) -> str:
        """What a table calls it."""
        ...

    def begin(self, talk: Talk, budget: int, counter: TokenCounter) -> Send:
        """Return the function to call with the chat at every cut of a talk, in order."""
        ...


@dataclass(frozen=True)
class Memopt:
    """`memopt.text.fit`, in a session with a cache price; with None every chat is fitted on its own."""

    name: str
    cache_price: float | None = None

    def begin(self, talk: Talk, budget: int, counter: TokenCounter) -> Send:
        """Begin a session, unless there is to be none."""
        session = None if self.cache_price is None else Session(Config(cache_price=self.cache_price))

        def send(chat: Messages) -> Sent:
            fitted = fit(chat, budget, counter, session, UTILITY)
            return Sent(fitted.messages, fitted.allocation["choices"])

        return send


@dataclass(frozen=True)
class Trim:
    """LangChain's ``trim_messages`` with the strategy "last", counting whole contexts as memopt does.

    Attributes
    ----------
    start_on
        Role of the first message sent; None = any. LangChain's documentation recommends "human": a
        result then never stands without its call.
    """

    name: str
    start_on: str | None = None

    def begin(self, talk: Talk, budget: int, counter: TokenCounter) -> Send:
        """Turn the talk into LangChain's messages, known by their index.

        Raises
        ------
        ImportError
            When langchain-core is not installed.
        """
        utils: Any = import_module("langchain_core.messages.utils")
        theirs = utils.convert_to_messages(talk.messages)
        for index, message in enumerate(theirs):
            message.id = str(index)
        ours = read_messages(talk.messages)

        def count(messages: list[Any]) -> int:
            return count_whole([ours[int(message.id)] for message in messages], counter)

        trim = partial(
            utils.trim_messages, max_tokens=budget, token_counter=count, strategy="last",
            start_on=self.start_on,
        )  # fmt: skip

        def send(chat: Messages) -> Sent:
            kept = [int(message.id) for message in trim(theirs[: len(chat)])]
            return Sent([chat[index] for index in kept], {f"m{index}": "raw" for index in kept})

        return send


POLICIES: tuple[Policy, ...] = (
    Memopt("memopt"),
    Memopt("memopt, session", 0.0),
    Memopt(f"memopt, session, cache price {CACHE_PRICE:g}", CACHE_PRICE),
    Trim("trim_messages"),
    Trim("trim_messages, from a user's message", "human"),
)
