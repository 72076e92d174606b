"""Real input: every LoCoMo instance solved by the DP, CP-SAT and HiGHS, with equal values and tokens."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import locomo
from benchmarks.report import Column, Report, Row, milliseconds
from memopt import Allocation, Instance
from memopt.compile import compile as compiled
from memopt.solve import solve_compiled
from memopt.solvers import Solver, get, jit
from memopt.solvers.milp import Milp


def solvers() -> dict[str, Solver]:
    """Return the three solvers that must agree."""
    return {"dp": get("dp"), "cpsat": get("cpsat"), "highs": Milp("highs")}


def measure(
    conversations: list[locomo.Conversation],
    count: locomo.Count,
    budgets: tuple[int, ...],
    say: Callable[[str], None],
) -> Report:
    """Solve every conversation at every budget by every solver.

    Raises
    ------
    ValueError
        When an answer is not proved, or two answers differ.
    SolverMissing
        When a solver is not installed.
    """
    jit.prepare()
    rows = []
    for name, instance in locomo.instances(conversations, count, budgets):
        say(f"{name} at {instance.capacity:,} tokens")
        rows.append(_row(name, instance, answers(instance)))
    notes = (
        "One instance a conversation, an item a session: raw = dated turns with captions, summary = dated "
        f"observations, abstraction = session summary, keywords = date and {locomo.KEYWORDS} words of "
        "highest tf-idf; tokens by o200k_base; utility = "
        f"{' / '.join(f'{fidelity:g}' for fidelity in locomo.FIDELITY.values())} x observations; price 0.",
        f"All {len(rows)} instances: dp, cpsat and highs proved the same value and the same tokens.",
        "Wall ms of one call of each solver with everything it does: model, both passes (largest value, "
        "then fewest tokens), reading the answer.",
    )
    return Report("locomo", rows, COLUMNS, notes)


def answers(instance: Instance) -> dict[str, Allocation]:
    """Return the proved answer of every solver to an instance; all are equal."""
    program = compiled(instance)
    found = {name: solve_compiled(program, solver) for name, solver in solvers().items()}
    kinds = {(answer.status, answer.value, answer.tokens) for answer in found.values()}
    if len(kinds) != 1 or found["dp"].status != "optimal":
        told = {name: (a.status, a.value, a.tokens) for name, a in found.items()}
        raise ValueError(f"the solvers do not agree: {told}")
    return found


def _row(name: str, instance: Instance, found: dict[str, Allocation]) -> Row:
    ours = found["dp"]
    held = list(ours.choices.values())
    return {
        "conversation": name,
        "budget": instance.capacity,
        "items": len(held),
        "value": ours.value,
        "tokens": ours.tokens,
        "levels": {level: held.count(level) for level in (*instance.ladder, "delete")},
        "seconds": {solver: answer.seconds for solver, answer in found.items()},
    }


COLUMNS = (
    Column("conversation", lambda row: str(row["conversation"]), right=False),
    Column("budget", lambda row: f"{row['budget']:,}"),
    Column("items", lambda row: str(row["items"])),
    Column("value", lambda row: f"{float(row['value']):.2f}"),
    Column("tokens", lambda row: f"{row['tokens']:,}"),
    Column("raw/summ/abst/keyw/del", lambda row: "/".join(map(str, row["levels"].values()))),
    Column("ms dp", lambda row: milliseconds(row["seconds"]["dp"])),
    Column("cpsat", lambda row: milliseconds(row["seconds"]["cpsat"])),
    Column("highs", lambda row: milliseconds(row["seconds"]["highs"])),
)
