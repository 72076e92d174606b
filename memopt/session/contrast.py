"""Contrast evidence: does a memory do better withheld than shown, where chance decided which?

Each episode in which both arms were possible gives one pseudo-outcome whose mean is the effect of
withholding, whatever the task was and however the propensities moved (augmented inverse propensity
weighting: Robins, Rotnitzky and Zhao 1994). Arm means taken from earlier episodes only reduce its variance.
An arm is what chance assigned, whatever the solver then made of it, for the solver's choice is not
random; what it deletes all the same only makes the effect look smaller.

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
    total, variance
        Sum of the pseudo-outcomes, and of the variances foretold for them. (Foretold from smoothed
        arm means: the spread seen in a handful of rare withholdings is often far too small.)
    shown, shown_won, withheld, withheld_won
        Episodes and successes of the arms (the capped ones are in neither).
    """

    episodes: int = 0
    total: float = 0.0
    variance: float = 0.0
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
            self.variance + without * (1 - without) / withheld + with_it * (1 - with_it) / shown,
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
        tuning = -2 * math.log(alpha)
        scale = n * (tuning + math.log(tuning + 1)) / _TUNED_FOR
        spread = self.variance * 2 * (scale + 1) / scale * math.log(math.sqrt(scale + 1) / alpha)
        half = math.sqrt(spread) / n
        return self.effect - half, self.effect + half
