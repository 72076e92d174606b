"""The dual multiplier: the price of a token at which the best options just fit the budget.

Any multiplier gives a valid upper bound, so floats and samples may guess it; the integers decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memopt.program import Ints
from memopt.solvers.blocks import Blocks

_SAMPLE_FROM = 2_000
"""Blocks from which on a sample first narrows the search."""


@dataclass(frozen=True)
class Survey:
    """What one look at every option tells; see `memopt.solvers.kernels.survey`."""

    least: Ints
    best: Ints
    floor: int
    heavy: int
    gains: int
    largest: int
    token_step: int
    value_step: int


@dataclass(frozen=True)
class Multiplier:
    """The rational a / b, in value per token.

    Attributes
    ----------
    a, b
        Numerator and denominator; b is a power of two.
    weight
        Tokens, above the least of each block, of the best options at a / b; they fit.
    open
        Blocks whose best option changes between a - 1 and a.
    """

    a: int
    b: int
    weight: int
    open: Ints


def look(blocks: Blocks, budget: int, kernels: Any) -> Survey:
    """Survey the blocks once."""
    least, best = np.empty(len(blocks), np.int64), np.empty(len(blocks), np.int64)
    sums = kernels.survey(blocks.start, blocks.tokens, blocks.value, budget, least, best)
    return Survey(least, best, *map(int, sums))


def find_multiplier(blocks: Blocks, survey: Survey, room: int, kernels: Any) -> Multiplier:
    """Return the smallest multiplier on its grid whose best options fit the room.

    Parameters
    ----------
    room
        Tokens left once every block stands at its cheapest option; the options of largest value
        must not fit.
    """
    b = 1 << min(50, 60 - max(survey.gains, survey.largest).bit_length())
    top = b * survey.gains // max(room, 1) + 1
    data = (blocks.start, blocks.tokens, blocks.value, survey.least)
    below, above = 0, top
    if len(blocks) >= _SAMPLE_FROM:
        below, above = _bracket(blocks, survey, room, b, top, kernels)
    everything = np.arange(len(blocks), dtype=np.int64)
    a, weight, open_ = kernels.multiplier(*data, room, room, b, top, everything, below, above)
    return Multiplier(int(a), b, int(weight), open_)


def _bracket(blocks: Blocks, survey: Survey, room: int, b: int, top: int, kernels: Any) -> tuple[int, int]:
    """Guess a bracket, three standard deviations wide, from about n^(2/3) blocks."""
    size = round(len(blocks) ** (2 / 3))
    sample = np.arange(0, len(blocks), len(blocks) // size, dtype=np.int64)
    heavy = int((blocks.tokens[survey.best[sample]] - survey.least[sample]).sum())
    data = (blocks.start, blocks.tokens, blocks.value, survey.least)
    below, above = 0, top
    for share in (1 + 3 / len(sample) ** 0.5, 1 - 3 / len(sample) ** 0.5):
        scaled = int(room * len(sample) / len(blocks) * share)
        if scaled < heavy:
            above = int(kernels.multiplier(*data, room, scaled, b, top, sample, below, top)[0])
            below = below or above - 1
    return below, above
