"""Governance: from what is known of a memory to what is done about it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from memopt.columns import DELETE
from memopt.session.contrast import Contrast
from memopt.session.errors import InvalidState
from memopt.session.worth import MemoryWorth

Standing = Literal["normal", "suppressed", "deprecated"]
STATES: tuple[Standing, ...] = ("normal", "suppressed", "deprecated")
Arm = Literal["shown", "capped", "withheld"]
MOST_CONTRASTED = 1_000
"""Turns remembered as counted in the contrasts; an outcome of a turn before them all counts there no more."""


@dataclass(frozen=True, slots=True)
class GovernanceRule:
    """What may be done about a memory.

    Attributes
    ----------
    mode
        ``observe``: verdicts are reported, nothing is capped or withheld. ``govern``: they apply.
    threshold
        A memory is suppressed when its whole worth interval lies below this and below the base rate.
    suppressed_level
        Richest level a suppressed memory may hold.
    show
        Rate at which a suppressed or deprecated memory is shown again without a cap.
    withhold
        Rate at which a normal or suppressed memory is withheld. Without it there is no contrast
        evidence, so nothing is ever deprecated.
    seed
        Of the exploration.
    confidence
        Of the contrast's interval, which holds at all times at once.
    least_arm
        Fewest shown and fewest withheld episodes before a contrast says anything.
    """

    mode: Literal["observe", "govern"] = "observe"
    threshold: float = 0.40
    suppressed_level: str = "keywords"
    show: float = 0.05
    withhold: float = 0.0
    seed: int = 0
    confidence: float = 0.95
    least_arm: int = 20

    def __post_init__(self) -> None:
        if not (self.show >= 0 and self.withhold >= 0 and self.show + self.withhold <= 1):
            raise ValueError(f"rates must be >= 0 and sum to at most 1, read {self.show}, {self.withhold}")
        if self.mode not in ("observe", "govern"):
            raise ValueError(f"the mode is observe or govern, read {self.mode!r}")
        if not 0 < self.confidence < 1:
            raise ValueError(f"the confidence must lie between 0 and 1, read {self.confidence}")


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a turn did with one candidate, and how likely it was to.

    Attributes
    ----------
    arm
        ``shown`` (no cap), ``capped`` (at the suppressed level) or ``withheld`` (delete only).
    shown, withheld
        Propensities of those two arms.
    """

    arm: Arm
    shown: float
    withheld: float


@dataclass(frozen=True, slots=True)
class Transition:
    """A memory changed its state, and why.

    Attributes
    ----------
    memory
        Its id.
    before, after
        States.
    reason
        A sentence for a person, with the numbers that decided.
    causal
        Whether randomised contrast evidence decided; else it is association only.
    """

    memory: str
    before: Standing
    after: Standing
    reason: str
    causal: bool


@dataclass(frozen=True, slots=True)
class Governor:
    """States and contrast evidence of the memories; `record` and `judge` return the next governor.

    Attributes
    ----------
    rule
        What may be done.
    states
        Memory to its state; normal ones are absent.
    contrasts
        Memory to its contrast evidence.
    contrasted
        Numbers of the turns counted there, the `MOST_CONTRASTED` latest.

    Notes
    -----
    normal -> suppressed: evidence is enough (not uncertain) and the whole worth interval lies below the
    threshold and below the base rate, unless contrast evidence shows that the memory helps.
    Any state -> deprecated: the contrast's whole interval lies above zero (it succeeds more without).
    suppressed -> normal: the ratio itself is back at the threshold or at the base rate, or contrast
    evidence shows that the memory helps. deprecated -> suppressed: the contrast's estimate is at
    zero or below. Entering takes a whole interval, leaving the estimate alone: no flutter.
    Pinned memories are normal, and so are the members of their groups, for what must be present cannot
    be withheld. Any other group is drawn for as a whole: its members come and go together, so their
    contrasts are those of the group. The archive is never touched from here, and a cap or a withholding is
    no downgrade: see `FidelityLedger.after`.

    Chance decides once a turn, however many outcomes the turn has. Only the first of them counts for
    the contrasts; more would be the same draw over again. (Worth counts them all.) This is our choice.
    """

    rule: GovernanceRule = field(default_factory=GovernanceRule)
    states: Mapping[str, Standing] = field(default_factory=dict)
    contrasts: Mapping[str, Contrast] = field(default_factory=dict)
    contrasted: frozenset[int] = frozenset()

    def state(self, memory: str) -> Standing:
        """Return the state of a memory."""
        return self.states.get(memory, "normal")

    def assign(
        self,
        turn: int,
        candidates: Iterable[str],
        exempt: Container[str] = (),
        groups: Mapping[str, str] | None = None,
    ) -> dict[str, Assignment]:
        """Return what a turn does with its candidates, by seed, turn, ids and groups alone.

        Parameters
        ----------
        turn
            Number of the turn: the draws are those of PCG64 seeded with (seed, turn), one per group or
            memory without one, in the order of (first) ids, so neither a restart nor the order of
            candidates changes them.
        candidates
            Ids offered.
        exempt
            Ids that must be left alone: pinned, or of one group with what is.
        groups
            Memory to its group, where it has one. A group is withheld as a whole, as
            often as the member that is withheld most; no member is shown more often than that leaves.

        Returns
        -------
        dict
            Only the candidates for which anything but plain showing was possible; log it whole.
            Empty in mode ``observe``.
        """
        if self.rule.mode == "observe":
            return {}
        free = [memory for memory in sorted(candidates) if memory not in exempt]
        chances = [each for each in map(self._together, _units(free, groups or {})) if each]
        draws = np.random.PCG64([self.rule.seed, turn]).random_raw(len(chances)) >> np.uint64(11)
        drawn = {
            memory: Assignment(_arm(int(draw) / 2**53, shown, withheld), shown, withheld)
            for unit, draw in zip(chances, draws, strict=True)
            for memory, (shown, withheld) in unit.items()
        }
        return dict(sorted(drawn.items()))

    def cap(self, assignment: Assignment) -> str | None:
        """Return the richest level an assignment leaves, ``delete`` for withheld, None for no cap."""
        return {"shown": None, "capped": self.rule.suppressed_level, "withheld": DELETE}[assignment.arm]

    def record(self, turn: int, assignments: Mapping[str, Assignment], success: bool) -> Governor:
        """Return the governor after an outcome of a turn with these assignments.

        Parameters
        ----------
        turn
            Number of the turn. Its first outcome counts; later ones, and those of turns that came
            before all of `contrasted` when that is full, change nothing.
        assignments, success
            Of the turn, and of the outcome.
        """
        if turn in self.contrasted:
            return self
        changed = {
            memory: self.contrasts.get(memory, Contrast()).after(
                assigned.arm, assigned.shown, assigned.withheld, success
            )
            for memory, assigned in assignments.items()
            if assigned.shown > 0 and assigned.withheld > 0
        }
        if not changed:
            return self
        contrasted = self.contrasted | {turn}
        if len(contrasted) > MOST_CONTRASTED:
            earliest = min(contrasted)
            if turn == earliest:
                return self
            contrasted -= {earliest}
        return replace(self, contrasts={**self.contrasts, **changed}, contrasted=contrasted)

    def judge(
        self, reports: Iterable[MemoryWorth], base_rate: float, exempt: Mapping[str, str] | None = None
    ) -> tuple[Governor, list[Transition]]:
        """Return the governor after a look at the evidence, and every change of state.

        Parameters
        ----------
        reports
            Of the memories to look at; the states of others stay.
        base_rate
            Share of successes over all episodes.
        exempt
            Ids that are left alone, each with why.
        """
        states = dict(self.states)
        found = []
        for report in reports:
            memory, before = report.memory, self.state(report.memory)
            if exempt is None or memory not in exempt:
                verdict = self._verdict(before, report, base_rate)
            else:
                verdict = ("normal", exempt[memory], False)
            after, reason, causal = verdict
            if after == before:
                continue
            found.append(Transition(memory, before, after, reason, causal))
            states[memory] = after
            if after == "normal":
                del states[memory]
        return replace(self, states=states) if found else self, found

    def reason(self, report: MemoryWorth, base_rate: float) -> str:
        """Return why a memory is in its state; of normal ones only why one of low worth is, else nothing."""
        state = self.state(report.memory)
        if state != "normal":
            return self._verdict(state, report, base_rate)[1]
        if report.label != "low":
            return ""
        if report.high < min(self.rule.threshold, base_rate):
            return "shown at random, more succeeds"
        bars = {
            f"{self.rule.threshold:.2f}": self.rule.threshold,
            f"the base rate {base_rate:.2f}": base_rate,
        }
        reached = " and ".join(name for name, bar in bars.items() if report.high >= bar)
        return f"its worth of {_interval(report)} does not lie wholly below {reached}"

    def to_dict(self) -> dict[str, Any]:
        """Return the state for JSON; floats survive it to the last bit."""
        return {
            "rule": asdict(self.rule),
            "states": dict(self.states),
            "contrasts": {memory: list(evidence) for memory, evidence in self.contrasts.items()},
            "contrasted": sorted(self.contrasted),
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Governor:
        """Return the state that `to_dict` wrote.

        Raises
        ------
        InvalidState
            When a key is missing or a state is none of `STATES`.
        """
        try:
            unknown = set(state["states"].values()) - set(STATES)
            if unknown:
                raise ValueError(f"there is no state {sorted(map(str, unknown))}")
            return cls(
                GovernanceRule(**state["rule"]),
                dict(state["states"]),
                {memory: Contrast(*evidence) for memory, evidence in state["contrasts"].items()},
                frozenset(map(int, state["contrasted"])),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidState("governance", f"{type(error).__name__}: {error}") from None

    def _together(self, unit: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Return the propensities of memories that come and go together; none that is always shown."""
        alone = {memory: self._propensities(self.state(memory)) for memory in unit}
        withheld = max(held for _, held in alone.values())
        joint = {
            memory: (shown if held == withheld else min(shown, 1 - withheld), withheld)
            for memory, (shown, held) in alone.items()
        }
        return {memory: chance for memory, chance in joint.items() if chance[0] < 1}

    def _propensities(self, state: Standing) -> tuple[float, float]:
        """Return how likely a memory in a state is shown, and how likely withheld."""
        rule = self.rule
        if state == "normal":
            return 1 - rule.withhold, rule.withhold
        if state == "deprecated" or rule.suppressed_level == DELETE:
            return rule.show, 1 - rule.show
        return rule.show, rule.withhold

    def _verdict(self, before: Standing, report: MemoryWorth, base_rate: float) -> tuple[Standing, str, bool]:
        rule, contrast = self.rule, self.contrasts.get(report.memory, Contrast())
        least, most = contrast.interval(rule.confidence)
        enough = min(contrast.shown, contrast.withheld) >= rule.least_arm
        bar = min(rule.threshold, base_rate)
        with_and_without = (
            f"{contrast.withheld_won} of {contrast.withheld} episodes succeeded without it, "
            f"{contrast.shown_won} of {contrast.shown} with it"
        )
        if before == "deprecated":
            if contrast.effect <= 0:
                return "suppressed", f"it no longer does harm: {with_and_without}", True
            return before, f"withheld at random, more succeeds: {with_and_without}", True
        if enough and least > 0:
            return "deprecated", f"withheld at random, more succeeds: {with_and_without}", True
        helps = enough and most < 0
        if before == "normal" and not helps and report.label != "uncertain" and report.high < bar:
            reason = (
                f"its worth of {_interval(report)} lies below {rule.threshold:.2f} "
                f"and the base rate {base_rate:.2f}: association only"
            )
            return "suppressed", reason, False
        if before == "suppressed" and helps:
            return "normal", f"shown at random, more succeeds: {with_and_without}", True
        if before == "suppressed" and report.ratio >= bar:
            return "normal", f"its worth of {report.ratio:.2f} is back at {bar:.2f}", False
        standing = f"its worth of {_interval(report)} is not back at {bar:.2f}: association only"
        return before, standing if before == "suppressed" else "", False


def _units(memories: Iterable[str], groups: Mapping[str, str]) -> list[list[str]]:
    """Return the memories by group, each without one alone, in the order of their first."""
    units: dict[tuple[bool, str], list[str]] = {}
    for memory in memories:
        key = (True, groups[memory]) if memory in groups else (False, memory)
        units.setdefault(key, []).append(memory)
    return [*units.values()]


def _interval(report: MemoryWorth) -> str:
    return f"{report.ratio:.2f} ({report.low:.2f} to {report.high:.2f})"


def _arm(draw: float, shown: float, withheld: float) -> Arm:
    if draw < shown:
        return "shown"
    return "withheld" if draw >= 1 - withheld else "capped"
