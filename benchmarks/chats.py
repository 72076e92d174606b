"""Policies side by side, at every turn of a chat: is it over its budget or split, and how much is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from benchmarks import memorybank, recount, tau_bench
from benchmarks.chat_policies import CACHE_PRICE, POLICIES, UTILITY, Policy, Sent
from benchmarks.comparison import decimal
from benchmarks.report import Column, Report, Row
from benchmarks.talks import Messages, Talk
from memopt.session.errors import InfeasibleTurn
from memopt.text.errors import TokenizerUnavailable
from memopt.text.items import prepare
from memopt.text.tokens import TokenCounter, counter


@dataclass(frozen=True)
class Set:
    """Talks of one data set, with the budgets they have to fit and the tokenizers that count them."""

    name: str
    talks: Sequence[Talk]
    budgets: Sequence[int]
    tokenizers: Sequence[str]


@dataclass(frozen=True)
class _Cut:
    """What had been said at a cut: its tokens, and the utility of every level by message id."""

    chat: Messages
    tokens: int
    worth: Mapping[str, Mapping[str, float]]

    def kept(self, levels: Mapping[str, str]) -> float:
        """Return the utility of these levels as a share of the whole chat's."""
        whole = sum(max(options.values()) for options in self.worth.values())
        return sum(options.get(levels.get(name, ""), 0.0) for name, options in self.worth.items()) / whole


@dataclass(frozen=True)
class _Turn:
    """One turn of a policy: whether the chat was larger than the budget, and what was made of it."""

    larger: bool
    over: bool
    split: bool
    infeasible: bool
    crashed: bool
    tokens: int
    prefix: int
    utility: float


def load(quick: bool) -> list[Set]:
    """Read both data sets; few talks of each for a quick look.

    Raises
    ------
    FileNotFoundError
        When one does not lie there.
    """
    airline, people = tau_bench.load(), memorybank.load()[: 2 if quick else None]
    people.append(memorybank.everyone(people))
    return [
        Set("tau-bench", airline[::60] if quick else airline, tau_bench.BUDGETS, ("o200k",)),
        Set("memorybank", people, memorybank.BUDGETS, ("o200k", "deepseek")),
    ]


def measure(sets: Sequence[Set], say: Callable[[str], None], policies: Sequence[Policy] = POLICIES) -> Report:
    """Fit every chat of every talk by every policy at every budget; what is missing is left out."""
    rows = [
        row for each in sets for tokenizer in each.tokenizers for row in _rows(each, tokenizer, policies, say)
    ]
    return Report("chats", rows, COLUMNS, NOTES)


def _rows(each: Set, tokenizer: str, policies: Sequence[Policy], say: Callable[[str], None]) -> Iterator[Row]:
    try:
        counts = counter(tokenizer)
        again = lru_cache(1_000)(recount.encoder(tokenizer))  # policies often send the same
    except (TokenizerUnavailable, ImportError) as error:
        say(f"{each.name} by {tokenizer} is left out: {error}")
        return
    cuts = {talk.name: list(_cuts(talk, counts, again)) for talk in each.talks}
    for budget in each.budgets:
        for policy in policies:
            say(f"{each.name} by {tokenizer}, {budget:,} tokens: {policy.name}")
            about = {"data": each.name, "tokenizer": tokenizer, "budget": budget, "policy": policy.name}
            try:
                turns = [
                    turn
                    for talk in each.talks
                    for turn in _turns(policy, talk, cuts[talk.name], budget, counts, again, say)
                ]
            except ImportError as error:
                say(f"{policy.name} is left out: {error}")
            else:
                yield about | _summary(turns)


def _cuts(talk: Talk, counts: TokenCounter, again: recount.Count) -> Iterator[_Cut]:
    for chat in talk.chats():
        worth = {
            item.id: {level: float(option.utility or 0) for level, option in item.levels.items() if option}
            for item in prepare(chat, counts, utility=UTILITY).items
        }
        yield _Cut(chat, recount.tokens(chat, again), worth)


def _turns(
    policy: Policy,
    talk: Talk,
    cuts: Iterable[_Cut],
    budget: int,
    counts: TokenCounter,
    again: recount.Count,
    say: Callable[[str], None],
) -> Iterator[_Turn]:
    """Take the turns of a talk; where nothing can be sent, nothing is kept."""
    send = policy.begin(talk, budget, counts)
    before: Messages = []
    for cut in cuts:
        sent, infeasible, crashed = Sent([], {}), False, False
        try:
            sent = send(cut.chat)
        except InfeasibleTurn:
            infeasible = True
        except Exception as error:  # of whatever kind: crashes are what is counted
            crashed = True
            say(f"{policy.name} crashed at {len(cut.chat)} messages of {talk.name}: {error!r}")
        tokens = recount.tokens(sent.messages, again)
        yield _Turn(
            larger=cut.tokens > budget,
            over=tokens > budget,
            split=recount.split(cut.chat, sent.messages) > 0,
            infeasible=infeasible,
            crashed=crashed,
            tokens=tokens,
            prefix=recount.tokens(_leading(before, sent.messages), again),
            utility=cut.kept(sent.levels),
        )
        before = sent.messages


def _leading(before: Messages, now: Messages) -> Messages:
    """Return the leading messages that are sent as they were before."""
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    return now[:same]


def _summary(turns: Sequence[_Turn]) -> Row:
    larger = [turn for turn in turns if turn.larger]
    sent = sum(turn.tokens for turn in larger)
    return {
        "turns": len(turns),
        "larger": len(larger),
        **{name: sum(getattr(turn, name) for turn in turns) for name in COUNTED},
        "tokens": fmean(turn.tokens for turn in larger) if larger else None,
        "utility": fmean(turn.utility for turn in larger) if larger else None,
        "prefix": sum(turn.prefix for turn in larger) / sent if sent else None,
    }


COUNTED = ("over", "split", "infeasible", "crashed")

COLUMNS = (
    Column("data", lambda row: str(row["data"]), right=False),
    Column("counted by", lambda row: str(row["tokenizer"]), right=False),
    Column("budget", lambda row: f"{row['budget']:,}"),
    Column("policy", lambda row: str(row["policy"]), right=False),
    Column("turns", lambda row: f"{row['turns']:,}"),
    Column("larger", lambda row: f"{row['larger']:,}"),
    *(Column(name, lambda row, name=name: f"{row[name]:,}") for name in COUNTED),  # type: ignore[misc]  # mypy
    Column("tokens", lambda row: "-" if row["tokens"] is None else f"{row['tokens']:,.0f}"),
    Column("utility kept", lambda row: "-" if row["utility"] is None else decimal(row["utility"])),
    Column("prefix kept", lambda row: "-" if row["prefix"] is None else decimal(row["prefix"])),
)

NOTES = (
    "tau-bench: a turn is what stands before an assistant's message; no call waits for its result there; "
    "what has no answer yet may shrink and is never deleted. The system message alone is larger than 1,000 "
    "tokens: it is reserved outside, budgets and figures are of the history.",
    "MemoryBank: Chinese; a turn is what a person had said when a day ended, and all of several people one "
    "after the other.",
    "larger: turns whose whole chat is over the budget; tokens, utility and prefix are of these alone. over, "
    "split, infeasible and crashed count all turns.",
    "over and split are found by other code than memopt's (benchmarks/recount.py): what is sent, encoded "
    "as a whole by the tokenizer's own package; turns with a call or a result that lacks the "
    "other.",
    "utility kept: share of the whole chat's utility (the default without the weight of what has no answer "
    "yet) that the messages sent have, at their levels; mean of turns. It is what memopt maximises and the "
    "others do not.",
    "prefix kept: share of the tokens sent that are in leading messages sent byte for byte the turn before.",
    f"A session's levels only fall; a cache price of {CACHE_PRICE:g} is what a full budget behind the first "
    "change costs, in utility. trim_messages: LangChain's, strategy 'last', counting as memopt does.",
)
