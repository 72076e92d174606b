"""`memopt count`: what texts, a chat or a provider's usage report weigh in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from memopt.errors import Fault, as_read
from memopt.text.chat_json import parse
from memopt.text.errors import InvalidMessages
from memopt.text.message_faults import named_once
from memopt.text.messages import read_messages
from memopt.text.render import count_whole, tokens_of
from memopt.text.tokens import TokenCounter, counter
from memopt.text.usage import context_tokens

from . import files
from .faults import reporting
from .options import AsJson, Tokenizer
from .output import emit, emit_text, json_bytes
from .tables import figures, table


def count(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A chat; an object with texts by name under texts, or with usage under calls; or -.",
        ),
    ],
    tokenizer: Tokenizer = "bytes",
    as_json: AsJson = False,
) -> None:
    """Count tokens: of every text and of a chat's messages together, or of the latest context.

    A chat is counted on its rendered whole, for sums of parts can be too small. Usage is read, not
    counted: every call's prompt holds those before it, so nothing is added up.
    """
    with reporting(file, as_json):
        found = _counted(parse(files.read(file)), tokenizer)
    if as_json:
        emit(json_bytes(found))
        return
    rows = [(name, f"{tokens:,}") for name, tokens in found.get("texts", found.get("messages", {})).items()]
    total = found["tokens"]
    what = [("tokens", "no call" if total is None else f"{total:,}")]
    if "tokenizer" in found:
        what.append(("tokenizer", found["tokenizer"]))
    emit_text((table(("text", "tokens"), rows) if rows else "") + figures(what))


def _counted(given: Any, tokenizer: str) -> dict[str, Any]:
    if isinstance(given, dict) and "role" not in given:
        named_once(given)
    if isinstance(given, dict) and isinstance(given.get("calls"), list) and "role" not in given:
        wrong = [call for call in given["calls"] if not isinstance(call, Mapping)]
        if wrong:
            raise _invalid("calls", "calls is a list of usage objects", wrong[0])
        for call in given["calls"]:
            named_once(call)
        return {"tokens": context_tokens(given["calls"])}
    counts = counter(tokenizer)
    if isinstance(given, dict) and "texts" in given and "role" not in given:
        return _texts(given["texts"], counts)
    messages = read_messages(given)
    return {
        "tokens": count_whole(messages, counts),
        "tokenizer": counts.name,
        "messages": {message.id: tokens_of(message, counts) for message in messages},
    }


def _texts(given: Any, counts: TokenCounter) -> dict[str, Any]:
    if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
        raise _invalid("texts", "texts is an object of texts by name", given)
    named_once(given)
    found = {name: counts.count(text) for name, text in given.items()}
    return {"tokens": sum(found.values()), "tokenizer": counts.name, "texts": found}


def _invalid(field: str, reason: str, read: Any) -> InvalidMessages:
    told = as_read(read)
    return InvalidMessages([Fault("not_texts", f"{reason}, read {told!r}", field=field, read=told)])
