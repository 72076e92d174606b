"""The pressure queue: tokens carry a price that rises while the context has been fuller than its target."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Literal

from memopt.allocation import decimal_text
from memopt.session.errors import InvalidState

PLACES = 18
"""Occupancies are rounded once to 10^-18; everything that is summed is an integer on that grid."""
_UNIT: int = 10**PLACES
_EXACT = Context(prec=400)

Flag = Literal["pinned_above_target", "pinned_above_budget", "not_optimal"]
FLAGS: tuple[Flag, ...] = ("pinned_above_target", "pinned_above_budget", "not_optimal")
"""What takes a turn out of the theory: pins that need more than alpha * B, or more than B; no proof."""


@dataclass(frozen=True, slots=True)
class PressureQueue:
    """The state before a turn; `after` gives the state before the next one.

    ``Q_1 = 0``, ``price_t = gain * Q_t / sqrt(t)``, ``Q_{t+1} = max(0, Q_t + G_t/B_t - alpha)``; t counts
    over the whole life and nothing ever resets it or Q. Source: MemPrice (Zong et al., 2026).

    Q is neither a float nor a fraction but an integer of units of 10^-18, as is every sum beside it.
    Floats would carry a rounding error from turn to turn (0.55 + 0.2 - 0.8 is not -0.05), so that the
    identity below would hold up to a drift only; exact fractions would grow without end, because
    every new budget brings its denominator in. On the grid G/B is rounded once, half-even, to
    within 5e-19; after that sums and differences are exact, so the identity holds to the last unit, a
    replay meets the same integers everywhere, and the state stays some twenty digits long. The
    price is one division, one product and one square root of doubles, each correctly rounded by
    IEEE 754: the same bits on every machine.

    Attributes
    ----------
    gain
        c >= 0, in utility; no value of it is published, so it is the user's (see `suggest_gain`).
    alpha
        Target of the *average* occupancy, 0 < alpha <= 1, taken by its decimals (0.8 is 4/5).
    turn
        Number t of the coming turn, from 1.
    pressure_units, occupied_units, clipped_units, largest_units
        Q_t; the sum of occupancies; the sum of what the queue clipped at 0; the largest Q so far.
        In units of 10^-18 budgets.
    certificate_units, last_certificate_units, slack_units
        Regret certificate so far and of the last turn, without slack, and the slack so far.
        In units of 10^-18 utility.
    flagged
        How many turns bore each of `FLAGS`.

    Notes
    -----
    With ``x_t = G_t/B_t`` and ``I_t = max(0, alpha - x_t - Q_t)``, over T turns: average of x = alpha +
    (Q_{T+1} - sum I_t)/T; the largest Q is the largest excess ``sum (x - alpha)`` of any window of turns;
    against any comparator that keeps <= alpha * B in each turn on the same candidates, regret is at most
    ``sum price_t * (alpha - x_t)`` plus slack, and the sum is at most ``max(alpha, 1 - alpha)^2 * gain *
    sqrt(T)``. Nothing is said of comparators with a downgrade history of their own.
    """

    gain: float
    alpha: float = 0.8
    turn: int = 1
    pressure_units: int = 0
    occupied_units: int = 0
    clipped_units: int = 0
    largest_units: int = 0
    certificate_units: int = 0
    last_certificate_units: int = 0
    slack_units: int = 0
    flagged: tuple[int, int, int] = (0, 0, 0)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.gain) and self.gain >= 0):
            raise ValueError(f"the gain must be finite and >= 0, read {self.gain}")
        if not 0 < self.alpha <= 1:
            raise ValueError(f"alpha must be above 0 and at most 1, read {self.alpha}")

    @property
    def turns(self) -> int:
        """Turns taken so far, T."""
        return self.turn - 1

    @property
    def pressure(self) -> float:
        """Q of the coming turn, in budgets."""
        return self.pressure_units / _UNIT

    @property
    def price(self) -> float:
        """Price lambda of the coming turn: what one full budget costs, in utility."""
        return self.gain * self.pressure / math.sqrt(self.turn)

    def price_per_token(self, budget: int) -> float:
        """Return the price of one token of a budget, in utility; 0 where there is no budget."""
        return self.price / budget if budget else 0.0

    def flags(self, budget: int, pinned: int = 0, optimal: bool = True) -> tuple[Flag, ...]:
        """Return the flags of a turn.

        Parameters
        ----------
        budget
            Hard capacity in tokens.
        pinned
            Least tokens of what may not be deleted.
        optimal
            Whether the turn was solved to proven optimality.
        """
        marks = (pinned * _UNIT > self._alpha_units * budget, pinned > budget, not optimal)
        return tuple(flag for flag, marked in zip(FLAGS, marks, strict=True) if marked)

    def after(
        self, tokens: int, budget: int, *, pinned: int = 0, optimal: bool = True, slack: float = 0.0
    ) -> PressureQueue:
        """Return the state after a turn.

        Parameters
        ----------
        tokens, budget
            G and B of the turn; without a budget nothing is kept and the occupancy is 0.
        pinned, optimal
            See `flags`.
        slack
            By how much the choice may miss the turn's priced optimum, in utility: the solver's gap
            plus twice the error bound of the program.

        Raises
        ------
        ValueError
            When tokens are negative or above the budget, or slack is negative or not finite.
        """
        if not 0 <= tokens <= budget:
            raise ValueError(f"a turn keeps 0 to {budget} tokens, read {tokens}")
        if not (math.isfinite(slack) and slack >= 0):
            raise ValueError(f"slack must be finite and >= 0, read {slack}")
        occupancy = _occupancy(tokens, budget)
        raised = self.pressure_units + occupancy - self._alpha_units
        pressure = max(0, raised)
        certificate = self._certificate(self.price, occupancy)
        return replace(
            self,
            turn=self.turn + 1,
            pressure_units=pressure,
            occupied_units=self.occupied_units + occupancy,
            clipped_units=self.clipped_units + pressure - raised,
            largest_units=max(self.largest_units, pressure),
            certificate_units=self.certificate_units + certificate,
            last_certificate_units=certificate,
            slack_units=self.slack_units + round(Fraction(slack) * _UNIT),
            flagged=self._counted(self.flags(budget, pinned, optimal)),
        )

    def refused(self, budget: int, pinned: int) -> PressureQueue:
        """Return the state after a turn that was infeasible: nothing was kept, so only flags count.

        Neither Q nor t moves: there was no allocation that either could speak of.
        """
        return replace(self, flagged=self._counted(self.flags(budget, pinned)))

    @property
    def average_occupancy(self) -> float:
        """Mean of G/B over the turns taken; 0 before the first."""
        return self._mean(self.occupied_units)

    @property
    def identity(self) -> float:
        """The same mean by the queue: ``alpha + (Q - sum of clipped) / T``; 0 before the first turn."""
        return self._mean(self.turns * self._alpha_units + self.pressure_units - self.clipped_units)

    @property
    def average_bound(self) -> float:
        """What the average occupancy cannot exceed: ``alpha + Q / T``; alpha before the first turn."""
        return self._mean(self.turns * self._alpha_units + self.pressure_units) if self.turns else self.alpha

    @property
    def largest_pressure(self) -> float:
        """Largest Q so far = largest sum of ``G/B - alpha`` over any window of turns, in budgets."""
        return self.largest_units / _UNIT

    @property
    def last_certificate(self) -> float:
        """Regret certificate of the last turn without its slack, in utility; may be negative."""
        return self.last_certificate_units / _UNIT

    def certificate_of(self, price: float, tokens: int, budget: int) -> float:
        """Return the regret certificate of any turn, without slack: ``price * (alpha - tokens / budget)``."""
        return self._certificate(price, _occupancy(tokens, budget)) / _UNIT

    @property
    def certificate(self) -> float:
        """Regret certificate of all turns without slack, in utility."""
        return self.certificate_units / _UNIT

    @property
    def slack(self) -> float:
        """Sum of the turns' slack, in utility; regret is at most ``certificate + slack``."""
        return self.slack_units / _UNIT

    @property
    def certificate_bound(self) -> float:
        """What `certificate` cannot exceed, known beforehand while the gain stands.

        ``max(alpha, 1 - alpha)^2 * gain * sqrt(T)``: 0.64 * gain * sqrt(T) at alpha = 0.8.
        """
        return max(self.alpha, 1 - self.alpha) ** 2 * self.gain * math.sqrt(self.turns)

    def occupancy_bound(self, largest_price: float) -> float:
        """Return what the average occupancy cannot exceed, known beforehand.

        Parameters
        ----------
        largest_price
            Largest over the turns of the smallest price at which the turn's optimum keeps <= alpha * B.
            A session does not know it: every turn would have to be solved at other prices than its own.
            Measure it as for `suggest_gain`.

        Returns
        -------
        float
            ``alpha + largest_price / (gain * sqrt(T)) + (1 - alpha) / T``; infinite before the first
            turn or without a gain. Holds while no turn is flagged.
        """
        if not self.turns or not self.gain:
            return math.inf
        return (
            self.alpha + largest_price / (self.gain * math.sqrt(self.turns)) + (1 - self.alpha) / self.turns
        )

    def report(self) -> dict[str, Any]:
        """Return what is known online, ready for JSON: numbers by the names of the attributes."""
        return {
            "turns": self.turns,
            "alpha": self.alpha,
            "gain": self.gain,
            "pressure": self.pressure,
            "price": self.price,
            "average_occupancy": self.average_occupancy,
            "identity": self.identity,
            "average_bound": self.average_bound,
            "largest_pressure": self.largest_pressure,
            "last_certificate": self.last_certificate,
            "certificate": self.certificate,
            "certificate_bound": self.certificate_bound,
            "slack": self.slack,
            "flags": dict(zip(FLAGS, self.flagged, strict=True)),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the state for JSON; sums as exact decimal strings, so that no reader rounds them."""
        sums = {name: decimal_text(getattr(self, f"{name}_units"), PLACES) for name in _SUMS}
        head = {"gain": self.gain, "alpha": self.alpha, "turn": self.turn}
        return head | sums | {"flags": dict(zip(FLAGS, self.flagged, strict=True))}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> PressureQueue:
        """Return the state that `to_dict` wrote, to the last bit.

        Raises
        ------
        InvalidState
            When a key is missing, a number is none, or the numbers break the identity.
        """
        try:
            sums = {f"{name}_units": _units(state[name]) for name in _SUMS}
            one, two, three = (int(state["flags"][flag]) for flag in FLAGS)
            queue = cls(
                gain=float(state["gain"]),
                alpha=float(state["alpha"]),
                turn=int(state["turn"]),
                flagged=(one, two, three),
                **sums,
            )
        except (KeyError, TypeError, ValueError, InvalidOperation) as error:
            raise InvalidState("pressure queue", f"{type(error).__name__}: {error}") from None
        drained = queue.turns * queue._alpha_units + queue.pressure_units - queue.clipped_units
        if queue.occupied_units != drained or not 0 <= queue.pressure_units <= queue.largest_units:
            raise InvalidState("pressure queue", "its sums do not satisfy the queue's identity")
        return queue

    @property
    def _alpha_units(self) -> int:
        return round(Fraction(repr(self.alpha)) * _UNIT)

    def _certificate(self, price: float, occupancy: int) -> int:
        return round(Fraction(price) * (self._alpha_units - occupancy))

    def _mean(self, units: int) -> float:
        return units / (self.turns * _UNIT) if self.turns else 0.0

    def _counted(self, flags: tuple[Flag, ...]) -> tuple[int, int, int]:
        one, two, three = (count + (flag in flags) for flag, count in zip(FLAGS, self.flagged, strict=True))
        return one, two, three


_SUMS = ("pressure", "occupied", "clipped", "largest", "certificate", "last_certificate", "slack")


def _occupancy(tokens: int, budget: int) -> int:
    return round(Fraction(tokens * _UNIT, budget)) if budget else 0


def _units(text: str) -> int:
    units = Decimal(text).scaleb(PLACES, _EXACT)
    if units != units.to_integral_value():
        raise ValueError(f"{text!r} is finer than the grid")
    return int(units)


def suggest_gain(delta: float, horizon: int, typical_price: float) -> float:
    """Return the smallest gain that holds the average near its target within a horizon.

    Parameters
    ----------
    delta
        How far the average occupancy may lie above alpha at the horizon, > 0.
    horizon
        Turns T the promise is for, >= 1.
    typical_price
        Price, in utility a budget, at which an optimum comes down to alpha * B: measure it on a
        few turns of your own, for the scale of utilities is yours.

    Returns
    -------
    float
        ``typical_price / (delta * sqrt(horizon))``. A larger gain holds the average more tightly and
        costs more utility: the regret certificate grows like ``gain * sqrt(T)``.
    """
    if not (delta > 0 and horizon >= 1 and typical_price >= 0 and math.isfinite(typical_price)):
        raise ValueError("suggest_gain needs delta > 0, horizon >= 1 and a finite typical_price >= 0")
    return typical_price / (delta * math.sqrt(horizon))
