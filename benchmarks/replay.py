"""LoCoMo replayed: sessions arrive one after the other, levels only fall, then the questions are asked.

Where the differences from the figures in `benchmarks.published` come from, as far as is known:

- The date in a header is the day alone. With the time of day FIFO at 1k has an EC of .027, not .030, and
  half of a keyword level is date.
- The utility of a level is its fidelity, each session alike. Weighed by a session's observations, turns
  or tokens, which takes no look at the questions either, exact at price 0 covers .02 to .04 less at 1k.
- These two readings were chosen, among those named, because the published EC fits them for all policies
  alike: that EC agrees is therefore no independent confirmation.
- The shares of the published cascade are not told; two readings stand in the table.
- FIFO's recall is as published, so questions, evidence and stems are read alike. Where text is compressed,
  recall is lower at equal coverage: how keywords were weighed and answers matched is not published.
  Looking for the first four letters of an answer's term anywhere in the text, in place of its stem
  among the stems, lifts recall by up to .02. A mean over all questions, the day of the week in the
  header, and other weights of keywords (tf-idf by turns, over all conversations, smoothed) do not help.
- Without a language model the levels of a session are made when it arrives, by the idf of the sessions so
  far. By that of the whole conversation, the future included, greedy's recall is .01 to .02 higher and a
  refresh lifts it no more; the published recall at 1k is not lifted by a refresh either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from benchmarks.comparison import columns, decimal, distance, figures
from benchmarks.ladders import Ladder, LlmFree, Shipped
from benchmarks.locomo import Conversation, Count
from benchmarks.locomo_questions import Question, Stems, coverage, recall
from benchmarks.policies import POLICIES, REFRESH_EVERY, Policy, Survived, replay
from benchmarks.published import Scores, published
from benchmarks.report import Report, Row
from memopt.session.events import TurnEvent

Questions = Mapping[str, Sequence[Question]]
Ladders = Mapping[str, Ladder]


def measure(
    conversations: Sequence[Conversation],
    questions: Questions,
    count: Count,
    stems: Stems,
    budgets: Sequence[int],
    say: Callable[[str], None],
    compare: bool = True,
    policies: Sequence[Policy] = POLICIES,
) -> Report:
    """Replay every conversation by every policy at every budget, on both ladders.

    Parameters
    ----------
    compare
        Whether the published figures stand beside; they are means of all ten conversations.

    Raises
    ------
    ValueError
        When a turn exceeds its budget.
    """
    rows: list[Row] = []
    levels: list[str] = []
    turns = 0
    for kind in (Shipped, LlmFree):
        ladders = {each.name: kind(each, count) for each in conversations}
        levels.append(f"{kind.name}: {_levels(ladders, questions, count, stems)}")
        for policy in policies:
            say(f"{kind.name}, {policy.name}{', with refresh' if policy.refreshes else ''}")
            found = {}
            for budget in budgets:
                ended = {name: replay(ladder, policy, budget, count) for name, ladder in ladders.items()}
                turns += sum(map(_checked, ended.values()))
                known = published(kind.name, policy.name, policy.refreshes, budget) if compare else None
                found[str(budget)] = figures(_scores(ended, ladders, questions, stems), known)
            about = {"ladder": kind.name, "policy": policy.name, "refreshes": policy.refreshes}
            rows.append(about | {"figures": found})
    notes = [*_protocol(conversations, questions, stems), *levels]
    notes.append(f"In none of {turns:,} turns does the context exceed its budget.")
    if compare:
        notes += [distance(rows), *_DIFFERENCES]
    return Report("replay", rows, columns(budgets, REFRESH_EVERY), notes)


def _checked(ended: Survived) -> int:
    """Return how many turns a replay had; none may exceed its budget."""
    turns = [made.event for made in ended.session.events() if isinstance(made.event, TurnEvent)]
    for turn in turns:
        if turn.tokens > turn.budget:
            raise ValueError(f"turn {turn.turn} keeps {turn.tokens} tokens of {turn.budget}")
    return len(turns)


def _scores(ended: Mapping[str, Survived], ladders: Ladders, questions: Questions, stems: Stems) -> Scores:
    covered, recalled = [], []
    for name, left in ended.items():
        fidelity = ladders[name].fidelity
        held = {number: fidelity[level] for number, level in left.levels.items()}
        covered.append(coverage(questions[name], held))
        recalled.append(recall(questions[name], left.texts, stems))
    return Scores(fmean(covered), fmean(recalled))


def _levels(ladders: Ladders, questions: Questions, count: Count, stems: Stems) -> str:
    """Return the mean size of every level, and its recall when all sessions are held at it."""
    told = []
    for level in ("raw", "summary", "abstraction", "keywords"):
        texts = {
            name: {
                number: original if level == "raw" else ladder.compressors(seen)[level](original)
                for seen, (number, original) in enumerate(ladder.originals.items(), start=1)
            }
            for name, ladder in ladders.items()
        }
        size = fmean(count(text) for made in texts.values() for text in made.values())
        found = fmean(recall(questions[name], made, stems) for name, made in texts.items())
        told.append(f"{level} {size:.0f} tokens, ATR {decimal(found)}")
    return f"{'; '.join(told)} (means; every session held at that level)."


def _protocol(conversations: Sequence[Conversation], questions: Questions, stems: Stems) -> list[str]:
    asked = [question for each in conversations for question in questions[each.name]]
    silent = sum(not stems(question.answer) for question in asked)
    sessions = sum(len(each.sessions) for each in conversations)
    return [
        f"Conversations: {len(conversations)}, with {sessions} sessions, an item each; tokens by cl100k_base."
        " Utility = fidelity of the level: sessions count alike, and no policy sees a question. Figures are "
        "means over the conversations.",
        f"EC (coverage of evidence) and ATR (recall of answers) over {len(asked):,} questions of categories "
        f"1-4 with evidence; answers of function words alone, {silent} of them, count for EC only.",
        f"Refresh: after every {REFRESH_EVERY}th session all levels are made anew and open to the next turn.",
    ]


_DIFFERENCES = (
    "Published: measured before by a separate script under the same protocol (benchmarks/published.py), not "
    "in the paper of LoCoMo. The shares of its cascade are not told; two readings are shown.",
    "EC depends on sizes and dates alone; the published summaries have 173 tokens in the mean. The form of "
    "the date (the day alone) and a utility that counts sessions alike were chosen, among the readings named "
    "in benchmarks/replay.py, because the published EC fits them: that it agrees confirms nothing.",
    "ATR: raw text (FIFO) agrees; compressed levels keep fewer answer tokens here at equal EC. How the "
    "published keywords were weighed and answers matched is not known; benchmarks/replay.py tells what was "
    "tried. The LLM-free levels here know the idf of earlier sessions only.",
)
