"""Memory Worth by id: outcomes in, counters, classes and confounded pairs out."""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from memopt.session import counters
from memopt.session.counters import LABELS, RETRIEVALS, Floats, Label, WorthRule
from memopt.session.errors import InvalidOutcome, InvalidState
from memopt.session.outcome_faults import outcome_faults

__all__ = ["Credited", "MemoryWorth", "Pair", "Worth", "WorthRule"]

MOST_PAIRED = 200
"""Memories of one outcome up to which its pairs are counted: they are as many as its square."""

Pair = tuple[int, int]
"""Numbers of two memories, the lesser first."""


@dataclass(frozen=True, slots=True)
class MemoryWorth:
    """What is known of one memory.

    Attributes
    ----------
    memory
        Its id.
    plus, minus
        The two counters.
    retrievals
        Raw number of episodes in which it was in the context and an outcome came.
    ratio
        Memory Worth; 0.5 without evidence.
    low, high
        Interval of the ratio.
    label
        ``high``, ``low``, ``mixed`` or ``uncertain``.
    lift
        ratio / base rate; None without evidence or base rate. Association, not cause.
    confounded
        Memories it is (nearly) always retrieved with: the counts cannot tell them apart.
    """

    memory: str
    plus: float
    minus: float
    retrievals: int
    ratio: float
    low: float
    high: float
    label: Label
    lift: float | None
    confounded: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return asdict(self) | {"confounded": list(self.confounded)}


@dataclass(frozen=True, slots=True)
class Credited:
    """What one outcome changed.

    Attributes
    ----------
    weights
        Memory to the weight it was credited with, in the order retrieved.
    unexposed
        Memories retrieved that were not in the context: not credited.
    """

    weights: dict[str, float]
    unexposed: tuple[str, ...] = ()


class Worth:
    """Counters of the memories of a session.

    Not immutable, unlike the machines beside it: `record` writes into the table, for a table of 10^5
    memories is not copied for each outcome. It may hold any part of a session's memories: to add one
    outcome under a lock, load the rows of that outcome, record, store the same rows.

    A memory has a number: its place among those known, from 1.

    Attributes
    ----------
    rule
        How outcomes are weighed and judged.
    pairs
        Episodes in which two memories were in the context together.
    """

    def __init__(self, rule: WorthRule | None = None, known: Iterable[str] = ()) -> None:
        self.rule = WorthRule() if rule is None else rule
        self.pairs: dict[Pair, int] = {}
        self._rows: dict[str, int] = {}
        self._table = counters.new_table(16)  # row 0: all episodes
        self.know(known)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, memory: str) -> bool:
        return memory in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    @property
    def table(self) -> Floats:
        """The counters, shape ``[memories, 4]``, rows in the order the memories became known."""
        return self._table[1 : len(self._rows) + 1]

    @property
    def overall(self) -> Floats:
        """The row of all episodes with a memory in the context, each of weight 1; shape ``[1, 4]``."""
        return self._table[:1]

    @property
    def base_rate(self) -> float:
        """Share of successes over all episodes with a memory in the context; 0.5 before the first."""
        return float(counters.ratio(self.overall)[0])

    @property
    def episodes(self) -> int:
        """Number of those episodes."""
        return int(self.overall[0, RETRIEVALS])

    def know(self, memories: Iterable[str]) -> None:
        """Make memories known, without evidence; those known already stay as they are."""
        for memory in memories:
            self._rows.setdefault(memory, len(self._rows) + 1)
        while len(self._rows) >= len(self._table):
            self._table = np.concatenate([self._table, counters.new_table(len(self._table))])

    def number(self, memory: str) -> int:
        """Return the number of a memory."""
        return self._rows[memory]

    def pairs_of(self, memories: Collection[str]) -> Iterator[Pair]:
        """Return every pair of the memories of an outcome; none where they are more than `MOST_PAIRED`."""
        if len(memories) > MOST_PAIRED:
            return iter(())
        return combinations(sorted([self._rows[memory] for memory in memories]), 2)

    def counts(self, memory: str) -> tuple[float, float]:
        """Return the two counters of a memory."""
        plus, minus = self._table[self._rows[memory], :2].tolist()
        return plus, minus

    def row(self, memory: str) -> list[float] | None:
        """Return the counters of a memory; None while it has no evidence."""
        if memory not in self:
            return None
        row: list[float] = self._table[self._rows[memory]].tolist()
        return row if any(row) else None

    def part(self, memories: Iterable[str]) -> Worth:
        """Return a copy with some memories alone and no pairs; the base rate stays that of all."""
        names = list(memories)
        made = Worth(self.rule, names)
        made.overall[:] = self.overall
        for memory in names:
            if memory in self:
                made.table[made._rows[memory] - 1] = self._table[self._rows[memory]]
        return made

    def record(
        self,
        retrieved: Sequence[str],
        success: bool,
        scores: Sequence[float] | None = None,
        exposed: Collection[str] | None = None,
        known: Container[str] | None = None,
    ) -> Credited:
        """Credit an outcome to the memories that were in the context.

        Recording the same outcome twice counts it twice: whoever stores events keeps their ids.

        Parameters
        ----------
        retrieved
            Ids, each once; none = nothing changes, not even the base rate.
        success
            Whether the episode succeeded.
        scores
            Retrieval scores (or given weights) beside `retrieved`, finite and >= 0; scaled over what
            was exposed; all zero = uniform.
        exposed
            Ids truly in the context; None = all retrieved.
        known
            Ids that may be retrieved: they become known here with their first credit. None = those known.

        Raises
        ------
        InvalidOutcome
            With every fault: ``memory_not_text``, ``unknown_memory``, ``duplicate_memory``,
            ``scores_missing``, ``scores_length``, ``score_not_number``, ``score_negative``,
            ``retrieved_not_list``, ``scores_not_list``, ``success_not_boolean``. Nothing is counted then.
        """
        needed = self.rule.weights == "given"
        there = self._rows if known is None else known
        faults = [*outcome_faults(retrieved, success, scores, there, needed)]
        if faults:
            raise InvalidOutcome(faults)
        seen = [index for index, name in enumerate(retrieved) if exposed is None or name in exposed]
        names = [retrieved[index] for index in seen]
        unexposed = tuple(name for name in retrieved if exposed is not None and name not in exposed)
        if not names:
            return Credited({}, unexposed)
        weights = [1.0 / len(names)] * len(names)
        if scores is not None and self.rule.weights != "uniform":
            weights = counters.retrieval_weights([scores[index] for index in seen]).tolist()
        self.know(names)
        rows = [0, *[self._rows[name] for name in names]]
        counters.record(self._table, rows, [1.0, *weights], success, self.rule.half_life)
        for pair in self.pairs_of(names):
            self.pairs[pair] = self.pairs.get(pair, 0) + 1
        return Credited(dict(zip(names, weights, strict=True)), unexposed)

    def confounded(self) -> list[tuple[tuple[str, str], float]]:
        """Return pairs that are (nearly) always retrieved together, with their overlap, most first.

        Only pairs seen together at least `WorthRule.least_evidence` times are told: with less, both
        are uncertain anyhow.
        """
        pairs = [pair for pair, times in self.pairs.items() if times >= self.rule.least_evidence]
        if not pairs:
            return []
        times = self._table[:, RETRIEVALS]
        one, other = np.array(pairs).T
        shares = counters.overlap([self.pairs[pair] for pair in pairs], times[one], times[other])
        names = ["", *self._rows]
        found = [
            ((min(names[one], names[other]), max(names[one], names[other])), share)
            for (one, other), share in zip(pairs, shares.tolist(), strict=True)
            if share >= self.rule.overlap
        ]
        return sorted(found, key=lambda entry: (-entry[1], entry[0]))

    def reports(self, memories: Iterable[str] | None = None) -> list[MemoryWorth]:
        """Return what is known of some memories, with or without evidence; None = of all, by number."""
        names = [*(self._rows if memories is None else memories)]
        rows = np.array([self._rows.get(name, -1) for name in names], dtype=np.int64)
        table = np.where(rows[:, None] > 0, self._table[rows], 0.0)
        low, high = counters.interval(table, self.rule)
        lifts = counters.lift(table, self.base_rate)
        partners: dict[str, list[str]] = {}
        for (one, other), _ in self.confounded():
            partners.setdefault(one, []).append(other)
            partners.setdefault(other, []).append(one)
        columns = (counters.ratio(table), low, high, counters.classify(table, self.rule), lifts)
        return [
            MemoryWorth(
                memory, row[0], row[1], int(row[RETRIEVALS]), share, least, most, LABELS[label],
                None if math.isnan(lifted) else lifted, tuple(sorted(partners.get(memory, ()))),
            )
            for memory, row, share, least, most, label, lifted in zip(
                names, table.tolist(), *(column.tolist() for column in columns), strict=True
            )
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the state for JSON, pairs by numbers; floats survive it to the last bit."""
        return {
            "rule": asdict(self.rule),
            "memories": dict(zip(self._rows, self.table.tolist(), strict=True)),
            "overall": self.overall[0].tolist(),
            "pairs": [[*pair, times] for pair, times in self.pairs.items()],
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Worth:
        """Return the state that `to_dict` wrote, or any part of its memories and pairs.

        A memory may also be given by its two counters alone; its retrievals then weighed 1 each.

        Raises
        ------
        InvalidState
            When a key is missing or a number is negative or none.
        """
        try:
            made = cls(WorthRule(**state["rule"]), state["memories"])
            rows = [_row(values) for values in state["memories"].values()]
            made.table[:] = np.array(rows).reshape(-1, 4)
            made.overall[0] = _row(state["overall"])
            made.pairs = {(one, other): times for one, other, times in state["pairs"]}
            for pair, times in made.pairs.items():
                if {*map(type, pair), type(times)} != {int} or not (0 < pair[0] < pair[1] <= len(made)):
                    raise ValueError(f"pairs must be of the numbers 1 to {len(made)}, read {pair}")
                if times < 1:
                    raise ValueError(f"a pair must be counted at least once, read {times}")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidState("worth", f"{type(error).__name__}: {error}") from None
        return made


def _row(values: Sequence[float]) -> list[float]:
    row = [float(value) for value in values]
    if len(row) == 2:
        row += [sum(row), sum(row)]
    if len(row) != 4 or not all(math.isfinite(value) and value >= 0 for value in row):
        raise ValueError(f"counters must be four numbers >= 0, read {list(values)}")
    return row
