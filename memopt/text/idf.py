"""Inverse document frequency of a stream: only what has been seen counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from memopt.text.words import Terms, terms


class StreamingIdf:
    """Counts, over the texts seen so far, in how many of them each term occurs.

    The order of the texts does not matter, and compressing a text does not count as seeing it.

    Attributes
    ----------
    texts
        Number of texts seen.
    terms
        How a text is cut into terms.
    """

    def __init__(self, terms: Terms = terms) -> None:
        self.terms = terms
        self.texts = 0
        self._spread: Counter[str] = Counter()
        self._weights: dict[int, float] = {}

    def observe(self, text: str) -> None:
        """See a text."""
        self.see(self.terms(text))

    def see(self, terms: Iterable[str]) -> None:
        """See a text by its terms."""
        self.texts += 1
        self._weights.clear()
        self._spread.update(set(terms))

    def weights(self, terms: Iterable[str]) -> dict[str, float]:
        """Return the idf of every one of the terms, in their order."""
        spread, known = self._spread.get, self._weights
        return {
            term: known[within] if (within := spread(term, 0)) in known else self._weight(within)
            for term in terms
        }

    def __call__(self, term: str) -> float:
        """Return ``log(1 + (N - n + 0.5) / (n + 0.5))``: above 0, largest for a term never seen.

        N texts were seen, n of them with the term (the form of BM25; Robertson and Zaragoza 2009).
        """
        return self._weight(self._spread.get(term, 0))

    def _weight(self, within: int) -> float:
        weight = self._weights[within] = math.log1p((self.texts - within + 0.5) / (within + 0.5))
        return weight

    def to_dict(self) -> dict[str, Any]:
        """Return the counts for JSON, terms in order."""
        return {"texts": self.texts, "spread": dict(sorted(self._spread.items()))}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any], terms: Terms = terms) -> StreamingIdf:
        """Return the counts that `to_dict` wrote."""
        made = cls(terms)
        made.texts = int(state["texts"])
        made._spread.update({term: int(texts) for term, texts in state["spread"].items()})
        return made
