"""How often governance errs in a simulated world: rates of both errors, over seeds."""

from __future__ import annotations

from benchmarks.governed_world import GOOD, HARMFUL, IDLE, SEEDS, TURNS, live
from benchmarks.report import Column, Report, Row
from memopt.session.governance import GovernanceRule, Governor

SETTINGS = ((0.05, 0.0, 1), (0.05, 0.1, 1), (0.2, 0.1, 1), (0.2, 0.2, 1), (0.2, 0.1, 10))
"""Rates at which a suppressed memory is shown and a normal one withheld, and outcomes of a turn."""


def measure(seeds: int = SEEDS, turns: int = TURNS) -> Report:
    """Let worlds live under several rates of exploration, and count what governance got wrong."""
    notes = (
        f"{turns:,} turns a world. The harmful memory lowers success by .30 wherever it is shown, the good "
        "one raises it by .20 but is asked for by hard tasks alone, so that its worth is low; eight idle "
        "ones do nothing. Without withholding nothing can be deprecated: association is no cause.",
        "missed: worlds in which the harmful memory is not deprecated at the end. wrongly deprecated: worlds "
        "in which the good one ever was; of the idle memories of all worlds, those that ever were.",
    )
    return Report("governance", [_row(*each, seeds, turns) for each in SETTINGS], COLUMNS, notes)


def _row(show: float, withhold: float, outcomes: int, seeds: int, turns: int) -> Row:
    rules = [GovernanceRule("govern", show=show, withhold=withhold, seed=seed) for seed in range(seeds)]
    lives = [live(Governor(rule), rule.seed, outcomes=outcomes, turns=turns) for rule in rules]
    return {
        "show": show,
        "withhold": withhold,
        "outcomes": outcomes,
        "seeds": seeds,
        "harmful_missed": sum(life.governor.state(HARMFUL) != "deprecated" for life in lives),
        "good_deprecated": sum(life.ever(GOOD, "deprecated") for life in lives),
        "good_suppressed": sum(life.ever(GOOD, "suppressed") for life in lives),
        "idle_deprecated": sum(life.ever(name, "deprecated") for life in lives for name in IDLE),
        "idle": seeds * len(IDLE),
    }


COLUMNS = (
    Column("shown", lambda row: f"{row['show']:g}"),
    Column("withheld", lambda row: f"{row['withhold']:g}"),
    Column("outcomes a turn", lambda row: str(row["outcomes"])),
    Column("harmful missed", lambda row: f"{row['harmful_missed']} of {row['seeds']}"),
    Column("good wrongly deprecated", lambda row: f"{row['good_deprecated']} of {row['seeds']}"),
    Column("good ever suppressed", lambda row: f"{row['good_suppressed']} of {row['seeds']}"),
    Column("idle wrongly deprecated", lambda row: f"{row['idle_deprecated']} of {row['idle']}"),
)
