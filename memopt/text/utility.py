"""What a message is worth to its chat: the default, and the shape of any other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from memopt.text.ladders import Ladder
from memopt.text.unseen import unseen

Utility = Callable[[Sequence[Ladder]], Sequence[Mapping[str, float]]]
"""Returns, for every message of a chat in order, the utility of each of its levels by name.

No query is an argument, and none reaches the allocator (Setting I). Who wants the utilities to serve
a goal says so by a function that holds it (Setting II)::

    def toward(goal: str) -> Utility:
        words = set(terms(goal))
        def utility(ladders):
            return [{level: len(words & set(terms(text))) + 0.1 * ladder.shares[level]
                     for level, text in ladder.texts.items()} for ladder in ladders]
        return utility
"""

ROLES: Mapping[str, float] = {
    "system": 2.0, "developer": 2.0, "user": 1.5, "assistant": 1.0, "tool": 0.5, "function": 0.5,
}  # fmt: skip
"""Weight of a role. What people say is scarce and what tools print is not: in tau-bench's airline
chats more than half of the tokens are tool output."""


@dataclass(frozen=True)
class RecencyIdfRole:
    """The default utility: role weight x recency x idf mass, times the share of the mass a level tells.

    ``utility = roles[role] * age ** -decay * (1 + mass) * share * step ** rung``, with age 1 for the newest
    message and for the first of a user, which says what the chat is about and does not age, and rung 0
    for its richest level; `waiting` times that for what has no answer yet.
    The chance that something said is needed again falls as a power of the time since, with an exponent
    near 0.5 (Anderson and Schooler 1991); an exponential would leave nothing to choose by between
    old messages. The 1 keeps "yes" from being worth nothing; the step keeps a chat that fits as it is:
    keywords may hold every term of a sentence and are not the sentence.

    Attributes
    ----------
    roles
        Weight of every role, >= 0.
    decay
        Exponent of the age, >= 0; 0 = age does not matter.
    step
        What each level down the ladder keeps of its worth, above 0 and below 1.
    waiting
        How many times more a message is worth that has no answer yet (see `unseen`): it shrinks last.
    """

    roles: Mapping[str, float] = field(default_factory=lambda: ROLES)
    decay: float = 0.5
    step: float = 0.9
    waiting: float = 1_000.0

    def __call__(self, ladders: Sequence[Ladder]) -> list[dict[str, float]]:
        """Return the utilities of a chat, one message after the other."""
        worths = []
        task = next((ladder for ladder in ladders if ladder.message.role == "user"), None)
        waiting = {message.id for message in unseen([ladder.message for ladder in ladders])}
        for place, ladder in enumerate(ladders):
            age = 1.0 if ladder is task else float(len(ladders) - place)
            whole = self.roles[ladder.message.role] * age**-self.decay * (1.0 + ladder.mass)
            whole *= self.waiting if ladder.message.id in waiting else 1.0
            worths.append(
                {
                    level: whole * share * self.step**rung
                    for rung, (level, share) in enumerate(ladder.shares.items())
                }
            )
        return worths
