"""BM25 (Robertson and Zaragoza 2009): retrieval by words alone, where no embedding is to be had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memopt.text.idf import StreamingIdf
from memopt.text.words import terms

K1, B = 1.2, 0.75
"""Usual values: how fast a repeated word saturates, and how much a long text is held against it."""


def bm25(queries: Sequence[str], texts: Sequence[str]) -> NDArray[np.float64]:
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
