"""How likely an episode succeeds, given the utility of what it retrieved: not published, so a parameter."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from memopt.experiments.experiment import Parameters
from memopt.session.counters import Floats


class SuccessParameters(Parameters):
    """Parameters of the success model.

    Attributes
    ----------
    success_model
        Chance of success at mean utility u of what was retrieved: ``sigmoid`` of ``gain * (u - .5)``, or
        ``mean``: u itself.
    gain
        Of the sigmoid.
    """

    success_model: Literal["sigmoid", "mean"] = "sigmoid"
    gain: Annotated[float, Field(ge=0, le=100)] = 4.0

    def chance(self, mean: Floats) -> Floats:
        """Return the chance of success at a mean utility of what was retrieved."""
        if self.success_model == "mean":
            return mean
        found: Floats = 1 / (1 + np.exp(-self.gain * (mean - 0.5)))
        return found
