"""Messages rendered: as the dicts to send, and as the one text they are counted by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memopt.columns import DELETE
from memopt.text.content import COSTS
from memopt.text.messages import Message, read_messages
from memopt.text.tokens import TokenCounter, count_joined

MESSAGE_TOKENS = 3
"""Tokens a message costs beyond its text: the marks around it in OpenAI's chat format."""

REPLY_TOKENS = 3
"""Tokens that prime the reply, once a request with any message."""


def tokens_of(message: Message, counter: TokenCounter, content: str | None = None) -> int:
    """Return the tokens of a message by itself, with other text for its content if it is given."""
    return counter.count(message.text(content)) + beside(message)


def beside(message: Message) -> int:
    """Return the tokens of a message beside its text: the marks around it, its images and sounds."""
    return MESSAGE_TOKENS + message.content.fixed


def rendered(messages: Iterable[Message | Mapping[str, Any]], costs: Mapping[str, int] = COSTS) -> str:
    """Return the text that messages are counted by: all that is sent of them but images and audio.

    A message begins with a line of its role; its other values follow in the order of their keys,
    each with a line break after it: content, names, ids and arguments of tool calls, results'
    ``tool_call_id``, reasoning, and any further key as JSON, except ``id``.
    """
    return "".join(message.text() for message in _read(messages, costs))


def count_whole(
    messages: Iterable[Message | Mapping[str, Any]], counter: TokenCounter, costs: Mapping[str, int] = COSTS
) -> int:
    """Return the tokens of messages as they are sent together: counted on the rendered whole.

    That is the text of `rendered`, `MESSAGE_TOKENS` a message, the fixed costs of parts that are no
    text, and `REPLY_TOKENS`. It is at least what OpenAI's own recipe counts, which leaves out ids,
    line breaks and the keys it does not know. No message: 0.
    """
    read = _read(messages, costs)
    return _counted(read, [message.text() for message in read], counter)


def count_chosen(
    messages: Sequence[Message],
    choices: Mapping[str, str],
    texts: Mapping[str, Mapping[str, str]],
    counter: TokenCounter,
) -> int:
    """Return what `count_whole` counts of `render`'s messages, which need not be made and read for it."""
    chosen = [message for message in messages if choices.get(message.id, DELETE) != DELETE]
    said = [message.text(texts.get(message.id, {}).get(choices[message.id])) for message in chosen]
    return _counted(chosen, said, counter)


def render(
    messages: Sequence[Message], choices: Mapping[str, str], texts: Mapping[str, Mapping[str, str]]
) -> list[dict[str, Any]]:
    """Return the chosen messages as dicts to send, in their order.

    Parameters
    ----------
    messages
        The whole chat.
    choices
        Id to the chosen level; one without a choice is left out like one at ``delete``.
    texts
        Id to the texts of its levels other than the richest. A message at a level without a text
        here goes as it was given: the same keys in the same order with the same values.
    """
    return [
        message.to_dict(texts.get(message.id, {}).get(choices[message.id]))
        for message in messages
        if choices.get(message.id, DELETE) != DELETE
    ]


def _counted(messages: Sequence[Message], said: Sequence[str], counter: TokenCounter) -> int:
    if not messages:
        return 0
    fixed = sum(message.content.fixed for message in messages)
    return count_joined(counter, said) + MESSAGE_TOKENS * len(messages) + fixed + REPLY_TOKENS


def _read(messages: Iterable[Message | Mapping[str, Any]], costs: Mapping[str, int]) -> Sequence[Message]:
    listed = list(messages)
    read = [message for message in listed if isinstance(message, Message)]
    return read if len(read) == len(listed) else read_messages(listed, costs)
