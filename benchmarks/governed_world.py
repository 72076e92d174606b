"""A simulated world with one harmful memory, one good one that only hard tasks ask for, and idle ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from memopt.session.governance import Governor, Standing, Transition
from memopt.session.worth import MemoryWorth, Worth

HARMFUL, GOOD = "harmful", "good"
IDLE = [f"idle-{number}" for number in range(8)]
TURNS, SEEDS = 2_000, 20
EASY, HARD = 0.75, 0.30
EFFECT = {HARMFUL: -0.30, GOOD: 0.20}
_LOOK_EVERY = 40


@dataclass
class Life:
    """What became of the memories of one world."""

    governor: Governor
    reports: dict[str, MemoryWorth] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)

    def ever(self, memory: str, state: Standing) -> bool:
        """Whether a memory was ever in a state."""
        return any(change.memory == memory and change.after == state for change in self.transitions)


def live(
    governor: Governor,
    seed: int,
    effect: dict[str, float] | None = None,
    outcomes: int = 1,
    turns: int = TURNS,
) -> Life:
    """Run a world: every task is hard or easy, memories are shown, capped or withheld, outcomes come.

    One task, its candidates and what chance decides of them make a turn; it has as many outcomes as wanted.

    The harmful memory is a candidate in half of all tasks, the good one in all hard tasks and in no
    other, each idle one in a third. What is capped still has half its effect.
    """
    effect = EFFECT if effect is None else effect
    chance = np.random.Generator(np.random.PCG64([seed, 1]))
    worth = Worth(known=[HARMFUL, GOOD, *IDLE])
    life = Life(governor)
    for turn in range(1, turns + 1):
        hard = chance.random() < 0.5
        candidates = [HARMFUL] if chance.random() < 0.5 else []
        candidates += [GOOD] if hard else []
        candidates += [
            name for name, drawn in zip(IDLE, chance.random(len(IDLE)), strict=True) if drawn < 1 / 3
        ]
        assigned = life.governor.assign(turn, candidates)
        success_rate = HARD if hard else EASY
        exposed = set()
        for name in candidates:
            arm = assigned[name].arm if name in assigned else "shown"
            if arm != "withheld":
                exposed.add(name)
                success_rate += effect.get(name, 0.0) * (0.5 if arm == "capped" else 1.0)
        for _ in range(outcomes):
            success = bool(chance.random() < success_rate)
            worth.record(candidates, success, exposed=exposed)
            life.governor = life.governor.record(turn, assigned, success)
        if turn % _LOOK_EVERY == 0:
            life.governor, changes = life.governor.judge(worth.reports(), worth.base_rate)
            life.transitions += changes
    life.reports = {report.memory: report for report in worth.reports()}
    return life
