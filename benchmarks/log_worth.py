"""Memory Worth of real logs, and what governance makes of them: nobody withheld anything there."""

from __future__ import annotations

from collections import Counter

from benchmarks import memory_logs
from benchmarks.memory_logs import Log
from benchmarks.report import Column, Report, Row
from memopt.session.config import Config
from memopt.session.governance import GovernanceRule
from memopt.session.session import Outcome, Session


def measure() -> Report:
    """Credit the outcomes of every log, and judge the memories by `govern`."""
    logs = {
        "reflexion": memory_logs.reflexion(),
        "tau-bench airline": memory_logs.airline(),
        **memory_logs.cheatsheets(),
    }
    rows = [_row(name, log) for name, log in logs.items()]
    notes = [
        "Reflexion's reflections by task, tau-bench's policy rules nearest to the task (all are correct), "
        "Dynamic Cheatsheet's retrieved episodes. An outcome an episode, in order; weights 1/k.",
        "Logs without randomised withholding can suppress, never deprecate: association is not cause.",
        *(f"{row['log']}: {said}" for row in rows for said in row["reasons"]),
    ]
    return Report("log-worth", rows, COLUMNS, notes)


def _row(name: str, log: Log) -> Row:
    session = Session(Config(governance=GovernanceRule("govern")))
    session.put({memory: memory for memory in log.memories})
    session.outcomes([Outcome(success, retrieved) for retrieved, success in log.episodes])
    known = session.worth()
    verdicts = session.verdicts()
    states = Counter(state for state, _ in verdicts.values())
    most = max(known, key=lambda each: (each.retrievals, each.memory))
    return {
        "log": name,
        "memories": len(known),
        "episodes": len(log.episodes),
        "base_rate": session.state.worth.base_rate,
        "labels": dict(sorted(Counter(each.label for each in known).items())),
        "most": {"memory": most.memory, "retrievals": most.retrievals, "worth": most.ratio,
                 "low": most.low, "high": most.high, "lift": most.lift},
        "suppressed": states["suppressed"],
        "deprecated": states["deprecated"],
        "reasons": [f"{memory!r} {state}: {reason}" for memory, (state, reason) in verdicts.items()
                    if state != "normal"],
    }  # fmt: skip


def _classes(labels: dict[str, int]) -> str:
    return ", ".join(f"{memories} {label}" for label, memories in labels.items())


def _most(row: Row) -> str:
    most = row["most"]
    lift = "-" if most["lift"] is None else f"{most['lift']:.2f}"
    return f"{most['retrievals']}x, {most['worth']:.2f} ({most['low']:.2f} to {most['high']:.2f}), {lift}"


COLUMNS = (
    Column("log", lambda row: str(row["log"]), right=False),
    Column("memories", lambda row: str(row["memories"])),
    Column("episodes", lambda row: str(row["episodes"])),
    Column("base rate", lambda row: f"{row['base_rate']:.2f}"),
    Column(
        "classes", lambda row: ", ".join(f"{n} {label}" for label, n in row["labels"].items()), right=False
    ),
    Column("most retrieved: worth (interval), lift", _most, right=False),
    Column("suppressed", lambda row: str(row["suppressed"])),
    Column("deprecated", lambda row: str(row["deprecated"])),
)
