"""What the answers of several solvers to one program amount to.

A solver is believed in nothing but its selection, recomputed. What it says beyond that is a claim (a
bound, fewest tokens, infeasibility), and one better selection refutes it. Integers are compared with
``==``: there is no tolerance anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memopt.allocation import decimal_text
from memopt.checked import Checked, Status
from memopt.program import Program

Kind = Literal["equal", "differ", "unproven", "invalid", "infeasible"]
Refuted = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answers of several solvers side by side, and what they amount to.

    Attributes
    ----------
    kind
        ``equal``: all prove the same value and tokens; ``infeasible``: all prove that there is no
        selection; ``differ``: a selection refutes somebody's claim; ``invalid``: a selection breaks a
        constraint; ``unproven``: nothing is refuted, but somebody proves nothing.
    reason
        The verdict in words.
    program
        What was solved.
    answers
        Every solver's, in the order asked.
    refuted
        Who is wrong in what: a solver, and its ``constraint``, ``bound``, ``fewest`` or ``infeasible``.
    """

    kind: Kind
    reason: str
    program: Program
    answers: tuple[Checked, ...]
    refuted: Refuted = ()

    @property
    def value(self) -> str | None:
        """Largest value that a selection reaches, as an exact decimal string in utility."""
        best = _best(self.answers)
        return None if best is None else self._decimal(best.value)

    @property
    def tokens(self) -> int | None:
        """Fewest tokens with which a selection reaches the value."""
        best = _best(self.answers)
        return None if best is None else best.tokens

    def choices(self, answer: Checked) -> dict[str, str]:
        """Return the level name of every item in an answer; empty when it has no selection."""
        return {} if answer.selection is None else self.program.choices(answer.selection)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict object of ``--json``."""
        return {
            "verdict": self.kind,
            "reason": self.reason,
            "refuted": [list(claim) for claim in self.refuted],
            "value": self.value,
            "tokens": self.tokens,
            "digest": self.program.digest,
            "answers": [
                {
                    "solver": answer.solver,
                    "version": answer.version,
                    "value": self._decimal(answer.value),
                    "tokens": answer.tokens,
                    "status": answer.status,
                    "bound": self._decimal(answer.bound),
                    "proof": answer.proof,
                    "limit": answer.limit,
                    "reason": answer.reason,
                    "seconds": round(answer.seconds, 6),
                    "parameters": answer.parameters,
                }
                for answer in self.answers
            ],
        }

    def _decimal(self, units: int | None) -> str | None:
        return None if units is None else decimal_text(units, self.program.scale)


def judge(program: Program, answers: Sequence[Checked]) -> Verdict:
    """Compare the checked answers to a program; constraints first, then refutations, then proofs."""
    kind, reason, refuted = _compare(answers, program.scale)
    return Verdict(kind, reason, program, tuple(answers), refuted)


def _compare(answers: Sequence[Checked], scale: int) -> tuple[Kind, str, Refuted]:
    broken = [answer for answer in answers if answer.status == "invalid"]
    if broken:
        reasons = [f"{answer.solver}'s selection breaks a constraint: {answer.reason}" for answer in broken]
        return "invalid", "; ".join(reasons), tuple((answer.solver, "constraint") for answer in broken)
    best, solvers = _best(answers), _listed([answer.solver for answer in answers])
    if best is not None:
        worth = f"{decimal_text(best.value or 0, scale)} in {best.tokens:,} tokens"
        wrong = [(answer, claim) for answer in answers if (claim := _refuted_claim(answer, best))]
        if wrong:
            claims = _listed([_in_words(answer, claim, scale) for answer, claim in wrong])
            reason = f"{best.solver} selects {worth}, which refutes {claims}"
            return "differ", reason, tuple((answer.solver, claim) for answer, claim in wrong)
    unproved = [_lacking(answer) + _worse(answer, best, scale) for answer in answers if not answer.proved]
    if unproved:
        return "unproven", "; ".join(unproved), ()
    if best is None:
        return "infeasible", f"{solvers} prove that there is no selection", ()
    return "equal", f"{solvers} prove the same optimum, {worth}", ()


def _best(answers: Sequence[Checked]) -> Checked | None:
    """Return the feasible answer of the largest value, then of the fewest tokens, then the first."""
    feasible = [answer for answer in answers if answer.value is not None and answer.status != "invalid"]
    return max(feasible, key=lambda answer: (answer.value, -(answer.tokens or 0)), default=None)


def _refuted_claim(answer: Checked, best: Checked) -> str:
    """Return which claim of an answer the best selection refutes, or nothing."""
    if answer.status == "infeasible":
        return "infeasible"
    if answer.bound is not None and best.value is not None and answer.bound < best.value:
        return "bound"
    return "fewest" if answer.proved and (best.tokens or 0) < (answer.tokens or 0) else ""


def _in_words(answer: Checked, claim: str, scale: int) -> str:
    said = {
        "infeasible": "there is none",
        "bound": f"none is worth more than {decimal_text(answer.bound or 0, scale)}",
        "fewest": f"none of that value has fewer than {answer.tokens:,} tokens" if answer.tokens else "",
    }
    return f"{answer.solver}'s claim that {said[claim]}"


def lacking(solver: str, status: Status, limit: str | None) -> str:
    """Return why a solver proves nothing, in words that are the same for all instances of a kind."""
    return f"{solver} {_LACKING[status]}" + ("" if limit is None else f" beyond its limit {limit}")


_LACKING: dict[Status, str] = {
    "optimal": "does not prove that the tokens are the fewest",
    "feasible": "proves no optimum",
    "unknown": "found no selection",
    "refused": "refuses a program",
    "failed": "gave no usable answer",
}


def _lacking(answer: Checked) -> str:
    return answer.reason or lacking(answer.solver, answer.status, answer.limit)


def _worse(answer: Checked, best: Checked | None, scale: int) -> str:
    """Return how far the selection of an answer that proves nothing is from the best one, if it is."""
    if best is None or best.value is None or answer.value is None or answer.value == best.value:
        return ""
    return f"; {answer.solver} is worse by {decimal_text(best.value - answer.value, scale)}"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
