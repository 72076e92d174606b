"""Figures to compare a replay of LoCoMo with, measured before by a separate script under the same protocol.

The data is LoCoMo's (Maharana et al., ACL 2024, arXiv 2402.17753; github.com/snap-research/LoCoMo); the
figures are not of that paper. They came with the description of the protocol, each the mean of ten
conversations at 1k, 2k, 4k and 8k tokens; their script is not in this repository. What the description
does not say (form of the date, tf-idf of the keywords, stemmer, the cascade's shares) is this
benchmark's own reading.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.locomo import BUDGETS


class Scores(NamedTuple):
    """Evidence coverage and answer token recall."""

    ec: float
    atr: float


_CASCADE = ".218/.205 .376/.336 .620/.561 .791/.695"
_SHOWN: dict[tuple[str, str, bool], str] = {
    ("shipped", "FIFO recency (raw)", False): ".030/.028 .081/.074 .182/.171 .367/.343",
    ("shipped", "uniform summary, newest first", False): ".192/.171 .354/.325 .678/.613 .829/.727",
    ("shipped", "recency cascade", False): _CASCADE,
    ("shipped", "recency cascade, fixed shares", False): _CASCADE,
    ("shipped", "greedy upgrade", False): ".500/.438 .626/.537 .780/.676 .875/.760",
    ("shipped", "exact, price 0", False): ".500/.441 .626/.540 .779/.678 .876/.765",
    ("shipped", "exact, c = 2", False): ".500/.441 .628/.537 .782/.680 .875/.760",
    ("LLM-free", "greedy upgrade", False): ".476/.423 .528/.467 .628/.552 .762/.658",
    ("LLM-free", "exact, price 0", False): ".475/.422 .515/.459 .588/.515 .727/.636",
    ("LLM-free", "exact, price 0", True): ".475/.423 .527/.474 .623/.543 .755/.648",
    ("LLM-free", "exact, c = 2", False): ".475/.421 .526/.465 .614/.537 .744/.639",
}


def published(ladder: str, policy: str, refreshes: bool, budget: int) -> Scores | None:
    """Return the figures of a policy; None where there are none."""
    shown = _SHOWN.get((ladder, policy, refreshes))
    if shown is None:
        return None
    ec, atr = shown.split()[BUDGETS.index(budget)].split("/")
    return Scores(float(ec), float(atr))
