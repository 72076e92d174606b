"""`memopt log`: the events of a session, for a person or for a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any

import typer

from memopt.errors import counted
from memopt.session.config import Config
from memopt.session.events import (
    AnyEvent,
    ConfigEvent,
    OutcomeEvent,
    PutEvent,
    Record,
    RefreshEvent,
    TurnEvent,
)

from .options import AsJson, Force
from .output import emit_text, json_bytes, writing_to
from .sessions import DEFAULT, KnownDatabase, SessionName, is_file_of, opened
from .tables import table


def log(
    db: KnownDatabase,
    session: SessionName = DEFAULT,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write the JSON Lines here, for `replay`.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Print the events of a session; with `--json` or `--out` as JSON Lines that `replay` reads."""
    with opened(db, session, create=False) as running:
        records = running.events()
    if out is None and not as_json:
        emit_text(table(("number", "id", "kind", "what"), _rows(records), left=4))
        return
    if out is not None and is_file_of(db, out):
        raise typer.BadParameter("it is the database itself", param_hint="--out")
    with writing_to(out, force) as write:
        write_log(records, write)


def write_log(records: Iterable[Record], write: Callable[[bytes], object]) -> None:
    """Write events as JSON Lines."""
    for made in records:
        write(json_bytes(made.line()))


def _rows(records: Iterable[Record]) -> Iterator[tuple[object, ...]]:
    config: Mapping[str, Any] | None = None
    for made in records:
        event = made.event
        yield event.number, event.id, event.kind, told(event, config)
        if isinstance(event, ConfigEvent):
            config = event.config


def told(event: AnyEvent, config: Mapping[str, Any] | None = None) -> str:
    """Return an event in words; ``config`` is the configuration that stood before it."""
    match event:
        case TurnEvent():
            share = f"{event.tokens:,} of {event.budget:,} tokens, price {event.price:.4g}"
            return f"turn {event.turn}: {share}, {counted(len(event.choices), 'item')}"
        case OutcomeEvent():
            ended = "success" if event.success else "failure"
            return f"{ended}, {len(event.weights):,} of {len(event.retrieved):,} retrieved credited"
        case RefreshEvent():
            return f"{counted(len(event.opened), 'item')} opened after turn {event.turn}"
        case PutEvent():
            return counted(len(event.texts), "original")
        case ConfigEvent():
            return _configured(event.config, config)


def _configured(config: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    """Return what changed; of the first configuration gain, alpha and what is not the default."""
    now = dict(_flat(config))
    was = dict(_flat(Config().to_dict() if before is None else before))
    if before is None:
        shown = [name for name in now if name in ("gain", "alpha") or now[name] != was.get(name)]
        return ", ".join(f"{name} {now[name]}" for name in shown)
    changed = [name for name in now if now[name] != was.get(name)]
    return ", ".join(f"{name} {was.get(name)} -> {now[name]}" for name in changed)


def _flat(config: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, str]]:
    """Yield the values of a configuration in words, each by its name with that of its part before it."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{where}{name}.")
        elif isinstance(value, list):
            yield f"{where}{name}", "/".join(map(str, value))
        else:
            yield f"{where}{name}", str(value).removesuffix(".0") if isinstance(value, float) else str(value)
