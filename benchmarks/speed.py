"""Solve time against solve time: the DP, CP-SAT, HiGHS and one numpy pass on the same programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from statistics import median

from benchmarks.clock import Contestant, Timing, alternate
from benchmarks.peers import SOLVERS, ArgmaxPass, Outcome, Solving
from benchmarks.report import Column, Report, Row, milliseconds, verdict
from benchmarks.subjects import Subject
from memopt.compile import compile as compiled
from memopt.errors import SolverMissing
from memopt.solvers import jit

DP_LIMIT = 20.0
"""Seconds the DP gets, so that no family can hang the table."""

Say = Callable[[str], None]


def measure(subjects: Iterable[Subject], limit: float, rounds: int, say: Say) -> Report:
    """Measure every subject against its rivals.

    Parameters
    ----------
    limit
        Seconds a rival gets for one call.
    rounds
        Turns of each contestant on each program.
    say
        Told what is measured next.
    """
    jit.prepare()
    rows = []
    for subject in subjects:
        measured = []
        for seed in subject.seeds:
            say(f"{subject.family}, {subject.items:,} items, seed {seed}")
            measured.append(_Measured(subject, seed, limit, rounds))
        rows += [_row(subject, rival, target, measured) for rival, target in subject.rivals.items()]
    return Report("speed", rows, COLUMNS, _notes(limit, rounds))


class _Measured:
    """One program, measured."""

    def __init__(self, subject: Subject, seed: int, limit: float, rounds: int) -> None:
        columns = subject.columns(seed)
        self.program = compiled(columns).program
        self.solvers: dict[str, Solving] = {"dp": SOLVERS["dp"](self.program, DP_LIMIT)}
        self.missing: dict[str, str] = {}
        for rival in subject.rivals.keys() & SOLVERS.keys():
            try:
                self.solvers[rival] = SOLVERS[rival](self.program, limit)
            except SolverMissing as error:
                self.missing[rival] = error.package
        contestants: dict[str, Contestant] = {**self.solvers}
        if "numpy" in subject.rivals:
            contestants["numpy"] = ArgmaxPass(columns, self.program)
        self.timings = alternate(contestants, rounds)
        self.outcomes = {name: solver.outcome() for name, solver in self.solvers.items()}
        proved = {o.value for o in self.outcomes.values() if o.status == "optimal"}
        if len(proved) > 1:
            raise ValueError(
                f"{subject.family} seed {seed}: proved optima differ: {sorted(map(str, proved))}"
            )

    @property
    def gap(self) -> Decimal:
        """How far the DP's value lies below its bound, in utility; 0 when optimal."""
        ours = self.outcomes["dp"]
        return Decimal((ours.bound or 0) - (ours.value or 0)).scaleb(-self.program.scale)

    def ratio(self, rival: str) -> float:
        """Return the ratio of CPU times that the targets are about."""
        ours, theirs = self.timings["dp"].cpu, self.timings[rival].cpu
        return ours / theirs if rival == "numpy" else theirs / ours

    def unfinished(self, rival: str) -> bool:
        """Whether the rival stopped at its limit, so that its time is only a lower bound."""
        return rival in self.outcomes and self.outcomes[rival].status != "optimal"


def _row(subject: Subject, rival: str, target: float | None, measured: list[_Measured]) -> Row:
    row: Row = {"family": subject.family, "items": subject.items, "seeds": list(subject.seeds)}
    row |= {"rival": rival, "target": target, "dp": _figures(measured, "dp")}
    row["dp"]["gap"] = float(max(one.gap for one in measured))
    if rival in measured[0].missing:
        return row | {"missing": measured[0].missing[rival], "met": None}
    ratios = [one.ratio(rival) for one in measured]
    proved = row["dp"]["status"] == "optimal"
    unfinished = any(one.unfinished(rival) for one in measured)
    ratio, worst = median(ratios), max(ratios) if rival == "numpy" else min(ratios)
    met: bool | None = None
    if target is not None:
        met = proved and (ratio <= target if rival == "numpy" else ratio >= target)
        if not met and proved and unfinished:
            met = None
    row[rival] = _figures(measured, rival)
    return row | {"ratio": ratio, "worst": worst, "lower_bound": unfinished, "met": met}


def _figures(measured: list[_Measured], name: str) -> Row:
    """Return the medians over the seeds, and the least that was proved."""
    timings: list[Timing] = [one.timings[name] for one in measured]
    figures: Row = {"cpu": median(t.cpu for t in timings), "wall": median(t.wall for t in timings)}
    outcomes: list[Outcome] = [one.outcomes[name] for one in measured if name in one.outcomes]
    statuses = {outcome.status for outcome in outcomes}
    status = next((word for word in ("none", "feasible", "optimal") if word in statuses), None)
    return figures | ({"status": status} if status else {})


def _shown_ratio(row: Row, key: str) -> str:
    if key not in row:
        return f"{row['missing']} is not installed" if key == "ratio" else "-"
    if row["dp"]["status"] != "optimal":
        return "-"
    sign = ">" if row["lower_bound"] else ""
    return f"{sign}{row[key]:,.1f} {'passes' if row['rival'] == 'numpy' else 'x'}"


def _shown_target(row: Row) -> str:
    if row["target"] is None:
        return "-"
    return f"<= {row['target']:g} passes" if row["rival"] == "numpy" else f">= {row['target']:g} x"


COLUMNS = (
    Column("family", lambda row: str(row["family"]), right=False),
    Column("items", lambda row: f"{row['items']:,}"),
    Column("seeds", lambda row: str(len(row["seeds"]))),
    Column("dp cpu ms", lambda row: milliseconds(row["dp"]["cpu"])),
    Column("wall", lambda row: milliseconds(row["dp"]["wall"])),
    Column("status", lambda row: str(row["dp"]["status"]), right=False),
    Column("gap", lambda row: f"{row['dp']['gap']:g}"),
    Column("rival", lambda row: str(row["rival"]), right=False),
    Column("cpu ms", lambda row: milliseconds(row.get(row["rival"], {}).get("cpu"))),
    Column("wall", lambda row: milliseconds(row.get(row["rival"], {}).get("wall"))),
    Column("status", lambda row: str(row.get(row["rival"], {}).get("status", "-")), right=False),
    Column("ratio", lambda row: _shown_ratio(row, "ratio")),
    Column("worst seed", lambda row: _shown_ratio(row, "worst")),
    Column("target", _shown_target),
    Column("", lambda row: verdict(row["met"]), right=False),
)


def _notes(limit: float, rounds: int) -> tuple[str, ...]:
    return (
        "Five options an item; solve time against solve time on the same compiled program; "
        f"median of {rounds} turns, taken alternately, then of the seeds. Ratios are of process CPU time.",
        "cpsat is the bare solve of CP-SAT with one worker: without building the model and without the "
        "second pass for the fewest tokens. highs is the bare run of HiGHS: one thread, gaps 0, default "
        "tolerances. dp is the whole DP, fewest tokens included, kernels loaded.",
        f"'>': the rival stopped at its limit of {limit:g} s, so the ratio is a lower bound. "
        f"The DP's limit is {DP_LIMIT:g} s.",
        "numpy is one pass (values - mu * tokens).argmax(axis=1) over int64 arrays of the same data.",
    )
