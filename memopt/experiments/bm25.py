"""BM25 (Robertson and Zaragoza 2009): retrieval by words alone, where no embedding is available."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from memopt.session.counters import Floats
from memopt.text.idf import StreamingIdf
from memopt.text.words import terms

K1, B = 1.2, 0.75
"""Usual values: how soon repeats of a word cease to count, and how strongly long texts are discounted."""


def bm25(queries: Sequence[str], texts: Sequence[str]) -> Floats:
    """Return the scores of texts for queries, >= 0, shape ``[queries, texts]``.

    Function words are left out (see `memopt.text.words.terms`); a query that shares no word with a text
    scores 0 there.
    """
    idf = StreamingIdf()
    for text in texts:
        idf.observe(text)
    counts = [Counter(terms(text)) for text in texts]
    lengths = np.array([count.total() for count in counts], dtype=np.float64)
    damped = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0))
    scores = np.zeros((len(queries), len(texts)))
    for row, query in enumerate(queries):
        for term in terms(query):
            within = np.array([count[term] for count in counts], dtype=np.float64)
            scores[row] += idf(term) * within * (K1 + 1) / (within + damped)
    return scores
