"""The driver: ``python -m benchmarks.run COMMAND``, one of `COMMANDS`, or ``all``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from memopt_cli.files import writing
from rich.console import Console

from benchmarks import (
    agreement,
    chat_speed,
    chats,
    end_to_end,
    experiments,
    first_run,
    governance,
    locomo,
    locomo_questions,
    log_worth,
    outcomes,
    replay,
    speed,
    tau_bench,
    turns,
)
from benchmarks.report import Report, load_average, summary
from benchmarks.subjects import SPEED
from memopt.errors import SolverMissing
from memopt.text.errors import TokenizerUnavailable
from memopt.text.tokens import counter

RESULTS = Path(__file__).parent / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run benchmarks, print their tables and write the summary; returns the exit status."""
    asked = _parser().parse_args(arguments)
    names = list(COMMANDS) if asked.command == "all" else [asked.command]
    out = asked.out or RESULTS / f"{asked.command}{'-quick' if asked.quick else ''}.json"
    try:
        with writing(str(out), asked.force) as file:
            before = load_average()
            reports = [report for name in names if (report := COMMANDS[name](asked)) is not None]
            file.write(summary(reports, asked.quick, (before, load_average())))
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    console = Console()
    for report in reports:
        report.print(console)
    console.print(f"written to {out}", highlight=False, soft_wrap=True)
    return 0


def _speed(asked: argparse.Namespace) -> Report:
    quick = asked.quick
    subjects = [
        subject.at_most(asked.items, 1 if quick else None)
        for subject in SPEED
        if not quick or subject.items <= 100_000
    ]
    return speed.measure(subjects, 20.0 if quick else 60.0, 1 if quick else 5, _say)


def _end_to_end(asked: argparse.Namespace) -> Report:
    items = min(asked.items or 1_000, 1_000)
    if asked.quick:
        return end_to_end.measure(items, (1,), 20.0, 3)
    return end_to_end.measure(items, (1, 2, 3), 60.0, 5)


def _turn(asked: argparse.Namespace) -> Report:
    items = min(asked.items or 1_000, 1_000)
    if asked.quick:
        return turns.measure(items, (1,), 20.0, 1)
    return turns.measure(items, (1, 2, 3), 60.0, 5)


def _outcomes(asked: argparse.Namespace) -> Report:
    return outcomes.measure(2_000 if asked.quick else 100_000, 1_000 if asked.quick else 10_000)


def _first_run(asked: argparse.Namespace) -> Report:
    return first_run.measure(1 if asked.quick else 5, not asked.quick, _say)


def _locomo(asked: argparse.Namespace) -> Report | None:
    def measured() -> Report:
        conversations, count = locomo.load(asked.data), locomo.o200k()
        return agreement.measure(
            conversations[:1] if asked.quick else conversations, count, locomo.BUDGETS, _say
        )

    return _if_there("locomo", measured)


def _replay(asked: argparse.Namespace) -> Report | None:
    def measured() -> Report:
        quick = asked.quick
        conversations, questions = locomo.load(asked.data), locomo_questions.load(asked.data)
        return replay.measure(
            conversations[:1] if quick else conversations,
            questions,
            counter("cl100k").count,
            locomo_questions.stemmer(),
            locomo.BUDGETS[::2] if quick else locomo.BUDGETS,
            _say,
            compare=not quick,
        )

    return _if_there("replay", measured)


def _experiments(asked: argparse.Namespace) -> Report | None:
    try:
        return experiments.measure(2 if asked.quick else None, say=_say)
    except SolverMissing as error:
        _say(f"experiments is left out: {error}")
        return None


def _chats(asked: argparse.Namespace) -> Report | None:
    return _if_there("chats", lambda: chats.measure(chats.load(asked.quick), _say))


def _chat_speed(asked: argparse.Namespace) -> Report | None:
    return _if_there("chat-speed", lambda: chat_speed.measure(tau_bench.load(), 1 if asked.quick else 9))


def _if_there(name: str, measured: Callable[[], Report]) -> Report | None:
    """Return the report, or None with a message where the data or a package is missing."""
    try:
        return measured()
    except FileNotFoundError as error:
        _say(f"{name} is left out: there is no {error.filename}")
    except (ImportError, SolverMissing, TokenizerUnavailable) as error:
        _say(f"{name} is left out: {error}")
    return None


COMMANDS: dict[str, Callable[[argparse.Namespace], Report | None]] = {
    "speed": _speed,
    "end-to-end": _end_to_end,
    "turn": _turn,
    "outcomes": _outcomes,
    "first-run": _first_run,
    "locomo": _locomo,
    "replay": _replay,
    "experiments": _experiments,
    "governance": lambda asked: governance.measure(2, 200) if asked.quick else governance.measure(),
    "log-worth": lambda asked: _if_there("log-worth", log_worth.measure),
    "chats": _chats,
    "chat-speed": _chat_speed,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("command", choices=(*COMMANDS, "all"))
    parser.add_argument("--quick", action="store_true", help="fewer seeds, turns, sizes; shorter limits")
    parser.add_argument("--items", type=_positive, metavar="N", help="no program gets more than N items")
    parser.add_argument("--data", type=Path, default=locomo.FILE, help="the file locomo10.json")
    parser.add_argument("--out", type=Path, help="JSON summary (default: benchmarks/results/COMMAND.json)")
    parser.add_argument("--force", action="store_true", help="overwrite the summary if it exists")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
