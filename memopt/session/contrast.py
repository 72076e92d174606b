"""Contrast evidence: does a memory do better withheld than shown, where chance decided which?

Each episode in which both arms were possible gives one pseudo-outcome whose mean is the effect of
withholding, whatever the task was and however the propensities moved (augmented inverse propensity
weighting: Robins, Rotnitzky and Zhao 1994). Arm means taken from earlier episodes only reduce its variance.
The evidence is looked at after each outcome, so its interval is a confidence sequence, valid at
all times at once (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, arXiv 2103.06476, asymptotic).
"""

from __future__ import annotations

import math
from typing import NamedTuple

_TUNED_FOR = 200
"""Episodes at which the sequence is tightest; it holds at any number of them."""


class Contrast(NamedTuple):
    """Contrast evidence on one memory.

    Attributes
    ----------
    episodes
        Episodes with an outcome in which both arms had a chance.
    total, squares
        Sum of the pseudo-outcomes and of their squares.
    shown, shown_won, withheld, withheld_won
        Episodes and successes of the arms (the capped ones are in neither).
    """

    episodes: int = 0
    total: float = 0.0
    squares: float = 0.0
    shown: int = 0
    shown_won: int = 0
    withheld: int = 0
    withheld_won: int = 0

    def after(self, arm: str, shown: float, withheld: float, success: bool) -> Contrast:
        """Return the evidence after an episode.

        Parameters
        ----------
        arm
            ``shown``, ``withheld``, or any other arm.
        shown, withheld
            Propensities of those two arms; where either is 0 nothing is learnt.
        success
            Outcome of the episode.
        """
        if not (shown > 0 and withheld > 0):
            return self
        with_it = (self.shown_won + 0.5) / (self.shown + 1)
        without = (self.withheld_won + 0.5) / (self.withheld + 1)
        effect = without - with_it
        if arm == "withheld":
            effect += (success - without) / withheld
        elif arm == "shown":
            effect -= (success - with_it) / shown
        is_shown, is_withheld = arm == "shown", arm == "withheld"
        return Contrast(
            self.episodes + 1,
            self.total + effect,
            self.squares + effect * effect,
            self.shown + is_shown,
            self.shown_won + (is_shown and success),
            self.withheld + is_withheld,
            self.withheld_won + (is_withheld and success),
        )

    @property
    def effect(self) -> float:
        """Estimated success rate withheld minus shown; 0 without evidence."""
        return self.total / self.episodes if self.episodes else 0.0

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the interval of the effect, valid however often one looks; -1 and 1 without evidence."""
        if not self.episodes:
            return -1.0, 1.0
        n, alpha = self.episodes, 1 - confidence
        variance = max(self.squares / n - self.effect**2, 0.0)
        tuning = -2 * math.log(alpha)
        scale = n * (tuning + math.log(tuning + 1)) / _TUNED_FOR
        half = math.sqrt(variance * 2 * (scale + 1) / (n * scale) * math.log(math.sqrt(scale + 1) / alpha))
        return self.effect - half, self.effect + half
