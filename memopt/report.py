"""The report of a batch verification: what was asked, by whom it was answered, and a row per instance.

Everything but the times depends on the question and the versions alone, so two runs can be compared:
``content`` is the digest of all that is no time.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from memopt.checked import Status
from memopt.errors import MemoptError
from memopt.jsontext import in_lines
from memopt.provenance import MadeBy, Part
from memopt.verdict import Kind, lacking

Outcome = Kind | Literal["rejected"]
OUTCOMES: tuple[Outcome, ...] = ("equal", "differ", "unproven", "invalid", "infeasible", "rejected")
"""The verdicts, and ``rejected`` for an input that declares no valid instance."""
MOST_NAMED = 10
"""Instances that a summary names of what was not agreed on; the rows have them all."""
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]


class UnusableReport(MemoptError):
    """A file is no report of a verification, or none that this installation can go on with."""


class Said(Part):
    """What one solver said of one instance; see `memopt.checked.Checked`."""

    solver: str
    status: Status
    proved: bool
    value: str | None = None
    tokens: int | None = None
    bound: str | None = None
    limit: str | None = None


class Row(Part):
    """One instance: where it comes from, and what was found.

    Attributes
    ----------
    group
        What it is counted under: the family, or the path that was asked for.
    seed, items
        With the family: what `memopt.families.generate` makes it from.
    path, line
        The file, and the line of it if it has several instances.
    sha256
        Of the text of the instance.
    digest
        Of its program.
    verdict, reason, value, tokens, answers
        See `memopt.verdict.Verdict`; the reason is left out where all solvers agree.
    errors
        Why it was rejected.
    text
        The instance itself, where a solver was refuted.
    seconds
        Wall time a solver.
    """

    group: str
    seed: int | None = None
    items: int | None = None
    path: str | None = None
    line: int | None = None
    sha256: str
    digest: str | None = None
    verdict: Outcome
    reason: str | None = None
    value: str | None = None
    tokens: int | None = None
    answers: list[Said] = Field(default_factory=list)
    errors: list[dict[str, Any]] | None = None
    text: str | None = None
    seconds: dict[str, Seconds] = Field(default_factory=dict)

    @property
    def place(self) -> dict[str, Any]:
        """Where the instance comes from."""
        return self.model_dump(include={"group", "seed", "items", "path", "line"}, exclude_none=True)


class Asked(Part):
    """The question: random instances (how many, of which families, from which seed on) or files."""

    random: Count | None = None
    families: list[str] | None = None
    seed: Count | None = None
    paths: list[str] | None = None
    against: list[str]
    time_limit: Seconds | None = None


class Timing(Part):
    """In how many processes, and how long it took."""

    jobs: Count
    seconds: Seconds = 0.0


class Report(Part):
    """A verification, finished or not; rows stand in the order of the instances."""

    format: Literal["memopt verify 1"] = "memopt verify 1"
    asked: Asked
    made_by: MadeBy
    total: Count
    witnesses: list[str] = Field(default_factory=list)
    timing: Timing
    rows: list[Row] = Field(default_factory=list)

    @classmethod
    def read(cls, content: bytes) -> Report:
        """Read a report.

        Raises
        ------
        UnusableReport
            When the bytes are not exactly what a report was written as.
        """
        try:
            document = json.loads(content)
            stored = {name: document[name] for name in cls.model_fields}
            stored["timing"] = {name: document["timing"][name] for name in Timing.model_fields}
            report = cls.model_validate(stored)
            intact = report.summary() | {"rows": report._rows()} == document
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            first = error.errors()[0]["loc"] if isinstance(error, ValidationError) else ()
            place = "".join(f" at {'.'.join(map(str, first))}" for _ in first[:1])
            raise UnusableReport(f"this is no report of memopt verify{place}") from None
        if not intact:
            raise UnusableReport("the report was changed after it was written; its rows cannot be trusted")
        return report

    def to_bytes(self) -> bytes:
        """Return the report as JSON, one row per line."""
        return in_lines(self.summary(), "rows", self._rows())

    def counts(self) -> dict[str, Counter[Outcome]]:
        """Return how many instances of each group had each outcome, groups in order of appearance."""
        found: dict[str, Counter[Outcome]] = {}
        for row in self.rows:
            found.setdefault(row.group, Counter())[row.verdict] += 1
        return found

    def totals(self) -> Counter[Outcome]:
        """Return how many instances had each outcome."""
        return Counter(row.verdict for row in self.rows)

    def unproven(self) -> dict[str, list[Row]]:
        """Return the rows of each sentence that says why a solver proves nothing."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            for said in row.answers if row.verdict == "unproven" else ():
                if not said.proved:
                    found.setdefault(lacking(said.solver, said.status, said.limit), []).append(row)
        return dict(sorted(found.items()))

    def first(self, outcome: Outcome) -> list[dict[str, Any]]:
        """Return the places of the first instances with an outcome, `MOST_NAMED` at most."""
        return [row.place for row in self.rows if row.verdict == outcome][:MOST_NAMED]

    def summary(self) -> dict[str, Any]:
        """Return all but the rows."""
        solvers: Counter[str] = Counter()
        for row in self.rows:
            solvers.update(row.seconds)
        wall = self.timing.seconds
        return {
            "format": self.format,
            "asked": self.asked.model_dump(exclude_none=True),
            "made_by": self.made_by.model_dump(),
            "total": self.total,
            "verified": len(self.rows),
            "counts": _all_outcomes(self.totals()),
            "groups": {group: _all_outcomes(found) for group, found in self.counts().items()},
            "unproven": {why: len(rows) for why, rows in self.unproven().items()},
            "first": {outcome: self.first(outcome) for outcome in ("differ", "unproven", "invalid")},
            "witnesses": self.witnesses,
            "content": self._content(),
            "timing": {
                "jobs": self.timing.jobs,
                "seconds": wall,
                "instances_per_second": round(len(self.rows) / wall, 1) if wall else None,
                "solver_seconds": {name: round(seconds, 3) for name, seconds in sorted(solvers.items())},
            },
        }

    def _rows(self) -> list[dict[str, Any]]:
        return [row.model_dump(exclude_none=True) for row in self.rows]

    def _content(self) -> str:
        digest = hashlib.sha256(json.dumps([self.total, self.witnesses]).encode())
        for part in (self.asked, self.made_by, *self.rows):
            digest.update(part.model_dump_json(exclude={"seconds"}).encode("utf-8", "backslashreplace"))
        return f"sha256:{digest.hexdigest()}"


def _all_outcomes(found: Counter[Outcome]) -> dict[str, int]:
    return {outcome: found[outcome] for outcome in OUTCOMES}
