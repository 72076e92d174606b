"""The world of the text experiment: twenty memories of an agent, what it is asked, and what is retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memopt.experiments import minilm
from memopt.experiments.bm25 import bm25
from memopt.session.counters import Ints
from memopt.text.words import terms

STALE, SPECIALIST = 0, 1
"""Positions of two memories: the one that the shift makes wrong, and the one that is seldom asked for."""
MEMORIES = (
    "New releases are deployed over SSH to the host Orion.",
    "Expired TLS certificates are renewed with the tool Lego, never by hand.",
    "The billing service is written in Rust and rounds to cents.",
    "The search index is rebuilt every night at three.",
    "The newsletter goes out on Thursdays, after Marta has read it.",
    "The mobile app supports Android eleven and newer.",
    "The company website is kept in German and French.",
    "Payroll exports are sent to the accountant as CSV files.",
    "The support chat is answered by Priya until six o'clock.",
    "The data warehouse keeps raw events for ninety days.",
    "The login service locks an account after five wrong passwords.",
    "The image resizer writes WebP and never upscales.",
    "The recommendation model is retrained on purchases of the last quarter.",
    "The map view shows distances in kilometres.",
    "The calendar sync treats Monday as the first day of the week.",
    "Backups of the customer database are stored in Helsinki.",
    "Translations are ordered from Kenji's team in Osaka.",
    "The payment gateway answers 4021 to cards in test mode.",
    "The monitoring dashboard turns red above two hundred milliseconds.",
    "The PDF report is set in the typeface Inter.",
)
_DEPLOYED = (
    "billing service", "search index", "newsletter", "mobile app", "company website", "payroll export",
    "support chat", "data warehouse", "login service", "image resizer", "recommendation model", "map view",
    "calendar sync", "database backup", "translation", "payment gateway", "monitoring dashboard",
    "PDF report",
)  # fmt: skip
_RENEWALS = (
    "The TLS certificate has expired: what renews it?",
    "With which tool are expired certificates renewed?",
    "A browser warns of an expired TLS certificate. What now?",
)
_ORDINARY = (
    ("rust", "In which language is the billing service written?", "Compile the billing service."),
    ("three", "When is the search index rebuilt?", "The search index looks old: when is the next rebuild?"),
    ("marta", "Who has to read the newsletter first?", "Send the newsletter out on Thursday."),
    (
        "eleven",
        "Which Android does the mobile app support?",
        "The mobile app does not start on an old phone.",
    ),
    ("french", "In which languages is the website kept?", "Put a new page on the company website."),
    ("csv", "In which format does the accountant get the payroll?", "Export the payroll of May."),
    ("priya", "Who answers the support chat?", "A customer waits in the support chat."),
    ("ninety", "For how long does the warehouse keep raw events?", "Look up raw events of last week."),
    ("five", "When does the login service lock an account?", "A user is locked out of the login."),
    ("webp", "Which format does the image resizer write?", "Resize the images of the catalogue."),
    ("quarter", "On what is the recommendation model retrained?", "Retrain the recommendations."),
    ("kilometres", "In which unit does the map show distances?", "Show the distance on the map view."),
    ("monday", "What is the first day of the week in the calendar?", "The calendar sync is off by a day."),
    ("helsinki", "Where are database backups stored?", "Restore the customer database from a backup."),
    ("osaka", "Where is the team that does translations?", "Order a translation of the manual."),
    ("4021", "What does the payment gateway answer in test mode?", "A test card is refused by the gateway."),
    ("milliseconds", "When does the monitoring dashboard turn red?", "The dashboard is red: why?"),
    ("inter", "Which typeface does the PDF report use?", "Lay out the PDF report anew."),
)


_UNKNOWN = (
    "How many customers does the billing service have?", "Who wrote the search index?",
    "How many people read the newsletter?", "What does the mobile app cost?",
    "Who designed the company website?", "How much was the payroll of May?",
    "How many people wrote to the support chat today?", "How large is the data warehouse?",
    "How many users log in a day?", "How fast is the image resizer?",
    "How good are the recommendations?", "Where do the tiles of the map view come from?",
    "Who owns the calendar sync?", "How long does a database backup take?",
    "What does a translation cost?", "Which cards does the payment gateway take?",
    "Who watches the monitoring dashboard?", "How many pages has the PDF report?",
)  # fmt: skip


class Query(NamedTuple):
    """A task: its text, the kind it is drawn by, and the word that a memory must hold to help.

    No memory holds the empty word. The word of the stale kind is right until the shift and wrong after it.
    """

    text: str
    kind: int
    keyword: str


STALE_KIND, SPECIALIST_KIND, UNKNOWN_KIND, ORDINARY_KIND = range(4)
QUERIES = (
    *(
        Query(f"On which host do I deploy the new release of the {what}?", STALE_KIND, "orion")
        for what in _DEPLOYED
    ),
    *(Query(text, SPECIALIST_KIND, "lego") for text in _RENEWALS),
    *(Query(text, UNKNOWN_KIND, "") for text in _UNKNOWN),
    *(Query(text, ORDINARY_KIND, word) for word, *texts in _ORDINARY for text in texts),
)
KINDS = np.array([query.kind for query in QUERIES])


@dataclass(frozen=True)
class Retrieval:
    """Which memories each query retrieves.

    Attributes
    ----------
    by
        ``minilm`` or ``bm25``.
    top
        Memories by falling similarity, shape ``[queries, k]``; -1 where no other one is similar enough.
    helped
        Whether one of them holds the query's keyword, shape ``[queries]``.
    note
        Why it is not all-MiniLM-L6-v2; empty when it is.
    """

    by: str
    top: Ints
    helped: NDArray[np.bool_]
    note: str = ""

    @property
    def stale_alone(self) -> bool:
        """Whether the stale memory is retrieved by the queries about it, helps them all, and by no others.

        Only then are its chances of success those of the parameters, as the laws of lag assume.
        """
        about = KINDS == STALE_KIND
        there = (self.top == STALE).any(axis=1)
        return bool((there == about).all() and self.helped[about].all())


def retrieve(asked: str, k: int, least: float) -> Retrieval:
    """Return what every query retrieves.

    Parameters
    ----------
    asked
        ``minilm``, ``bm25``, or ``auto``: MiniLM where it is installed and BM25 elsewhere.
    k
        The most memories that a query retrieves.
    least
        Least cosine similarity of what is retrieved. For BM25 one word in common is enough.

    Raises
    ------
    EmbedderMissing
        When MiniLM is asked for and not installed.
    """
    by, note = available(asked)
    texts = [query.text for query in QUERIES]
    if by == "minilm":
        vectors = minilm.MiniLM().embed([*texts, *MEMORIES])
        scores = vectors[: len(texts)] @ vectors[len(texts) :].T
    else:
        scores, least = bm25(texts, MEMORIES), 10.0**-minilm.DECIMALS
    # Rounded, and the earlier of equals first: the last bits of a BLAS must not decide a rank.
    scores = scores.round(minilm.DECIMALS)
    top = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    top[np.take_along_axis(scores, top, axis=1) < least] = -1
    return Retrieval(by, top, _helped(top), note)


def available(asked: str) -> tuple[str, str]:
    """Return ``minilm`` or ``bm25``, and why it is not MiniLM (empty where it is); see `retrieve`."""
    if asked == "bm25":
        return "bm25", "BM25 was asked for."
    try:
        minilm.model_folder()
    except minilm.EmbedderMissing as error:
        if asked == "minilm":
            raise
        return "bm25", f"{error}."
    return "minilm", ""


def _helped(top: Ints) -> NDArray[np.bool_]:
    words: Sequence[frozenset[str]] = [frozenset(terms(memory)) for memory in MEMORIES]
    return np.array(
        [
            any(query.keyword in words[memory] for memory in row if memory >= 0)
            for query, row in zip(QUERIES, top.tolist(), strict=True)
        ]
    )
