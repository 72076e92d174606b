"""`memopt fit`: of a chat, the messages to send, never over the budget."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memopt import Window
from memopt.text.fit import Fitted
from memopt.text.fit import fit as fit_chat

from . import files
from .faults import reporting
from .options import AsJson, Tokenizer
from .output import emit, json_bytes, say_text
from .sessions import DEFAULT, ConfigFile, EventId, Gain, SessionName, asked, tell
from .tables import figures, table

AUTO = "auto"
_MOST_DIGITS = 18
"""Most digits of a reserved part; no valid budget has more."""


def fit(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="OpenAI chat dicts: a JSON list, an object with messages, or JSON Lines; or -.",
        ),
    ],
    window: Annotated[int, typer.Option("--window", metavar="TOKENS", help="The model's context window.")],
    reserve: Annotated[
        str | None,
        typer.Option(
            "--reserve",
            metavar="PARTS",
            help="Tokens held back, as system=auto,tools=3100,reply=1024; system=auto: it is in the chat.",
        ),
    ] = None,
    tokenizer: Tokenizer = "bytes",
    db: Annotated[
        str | None,
        typer.Option(
            "--db", metavar="PATH|URL", help="Take a turn of a session: SQLite file or PostgreSQL URL."
        ),
    ] = None,
    session: SessionName = DEFAULT,
    event: EventId = None,
    config: ConfigFile = None,
    gain: Gain = None,
    cache_price: Annotated[
        float | None,
        typer.Option(
            "--cache-price",
            metavar="NUMBER",
            help="Extra cost of a full budget kept behind the first change since the last turn; 0 = none.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the messages to send of a chat: same order, groups whole, never over the budget.

    The messages go to standard output, the report to standard error. With `--db` it is a turn of a
    session: levels only fall, and the price follows the pressure.
    """
    reserved = _reserved(reserve)
    given = {"--id": event, "--config": config, "--gain": gain, "--cache-price": cache_price}
    given["--session"] = None if session == DEFAULT else session
    needless = [name for name, value in given.items() if value is not None]
    if db is None and needless:
        raise typer.BadParameter(f"{needless[0]} is of a session: give --db, too")
    with reporting("--window and --reserve", as_json):
        budget = Window.read({"window": window, "reserved": reserved})
    with reporting(file, as_json):
        chat = files.read(file)
        if db is None:
            fitted = fit_chat(chat, budget, tokenizer)
        else:
            fitted = tell(
                db,
                session,
                lambda running: fit_chat(chat, budget, tokenizer, running, event_id=event),
                asked(config, gain, None, cache_price),
            )
    if as_json:
        emit(json_bytes(_document(fitted)))
        return
    emit(json_bytes(fitted.messages, indent=1))
    say_text(_rendered(fitted))


def _reserved(parts: str | None) -> dict[str, int]:
    """Return the tokens held back by part; `system=auto` adds none: the chat's own are counted with it."""
    reserved: dict[str, int] = {}
    for part in filter(None, (parts or "").split(",")):
        name, _, tokens = (piece.strip() for piece in part.partition("="))
        if name in reserved:
            raise typer.BadParameter(f"--reserve names {name!r} twice")
        if tokens == AUTO and name == "system":
            continue
        if not (name and tokens.isascii() and tokens.isdecimal() and len(tokens) <= _MOST_DIGITS):
            raise typer.BadParameter(f"--reserve has parts like reply=1024 or system=auto, read {part!r}")
        reserved[name] = int(tokens)
    return reserved


def _document(fitted: Fitted) -> dict[str, Any]:
    return {
        "messages": fitted.messages,
        "report": fitted.report.to_dict(),
        "allocation": dict(fitted.allocation),
    }


def _rendered(fitted: Fitted) -> str:
    """Return the report for a person."""
    report = fitted.report
    rows = [
        (row.index, row.id, row.role, row.level, f"{row.tokens_before:,}", f"{row.tokens:,}")
        for row in report.rows
    ]
    asked_for = "" if report.recorded_before else f" of {report.budget:,}"
    after = f"{report.tokens_after:,}{asked_for}"
    found: list[tuple[str, object]] = [
        ("tokens", f"{report.tokens_before:,} before, {after} after, counted together by {report.tokenizer}"),
        ("levels", ", ".join(f"{level} {count:,}" for level, count in report.counts.items())),
        ("price", f"{report.price:.6g}"),
    ]
    if report.prefix_tokens is not None:
        parts = f"{fitted.allocation['tokens']:,} of {fitted.allocation['budget']:,}"
        what = "parts added up, without what the whole costs beside them (the reply's start)"
        found.append(("in the log", f"{parts}: {what}"))
        found.append(("unchanged", f"{report.prefix_tokens:,} leading tokens since the last turn"))
    if report.recorded_before:
        found.append(("recorded", "before: nothing is changed"))
    found += [(fault.code, fault.message) for fault in report.diagnostics]
    return table(("#", "message", "role", "level", "before", "after"), rows, left=4) + figures(found)
