"""The arguments of the tools of `memopt mcp`: their schemas, and every fault in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memopt import Instance, Window
from memopt.errors import Fault, InvalidInstance, as_read, reason
from memopt.text.messages import read_messages
from memopt.text.tokens import KNOWN

from .schema import problem_schema
from .sessions import DEFAULT

SessionName = Annotated[str, Field(min_length=1)]


class Arguments(BaseModel):
    """Base of the arguments of every tool; one that the tool does not know is a fault."""

    model_config = ConfigDict(extra="forbid")


class Allocate(Arguments):
    """Arguments of `allocate`."""

    instance: Any = Field(None, description="Items with levels, and a budget. Give this, or messages.")
    messages: list[Any] | None = Field(
        None, description="A chat in OpenAI's format; its levels and utilities are made. Needs a budget."
    )
    budget: Any = Field(
        None, description="Of the messages to send: tokens, or a window with what is reserved."
    )
    tokenizer: str | None = Field(
        None, description=f"Counts the messages: {', '.join(KNOWN)}. By default bytes, which bound them all."
    )
    session: SessionName | None = Field(
        None, description="Take a turn of this session, new or not: levels only fall, pressure sets a price."
    )
    event: str | None = Field(None, description="Id of the turn; the same id again changes nothing.")


class RecordOutcome(Arguments):
    """Arguments of `record_outcome`."""

    session: SessionName = DEFAULT
    success: bool = Field(strict=True, description="Whether the episode succeeded.")
    retrieved: list[str] = Field(description="Ids of the memories that were retrieved for it.")
    id: str | None = Field(None, description="Id of the episode; the same id again counts once.")
    scores: list[float] | None = Field(None, description="Retrieval scores beside the ids.")
    turn: str | None = Field(None, description="Id of the turn whose context it had; by default the last.")


class Explain(Arguments):
    """Arguments of `explain`."""

    item: str = Field(description="Id of the item, or of the message, whose level is to be explained.")
    instance: Any = Field(None, description="What was allocated without a session.")
    session: SessionName | None = Field(None, description="The session whose turn it was.")
    turn: str | None = Field(None, description="Id of the turn; by default the last one.")


class Status(Arguments):
    """Arguments of `status`."""

    session: SessionName = DEFAULT


A = TypeVar("A", bound=Arguments)


def schema_of(model: type[Arguments]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, the problem format in the words of `memopt schema`."""
    schema = model.model_json_schema()
    del schema["title"], schema["description"]
    fields = schema["properties"]
    for field in fields.values():
        field.pop("title", None)
        if field.get("default", ...) is None:
            del field["default"]
    if "instance" in fields:
        problem = problem_schema()
        schema["$defs"] = problem.pop("$defs") | {"Instance": problem}
        fields["instance"]["$ref"] = "#/$defs/Instance"
    if "budget" in fields:
        fields["budget"] |= {
            key: part for key, part in problem["properties"]["budget"].items() if key == "anyOf"
        }
    return schema


def read(model: type[A], given: Mapping[str, Any]) -> A:
    """Return the arguments of a tool.

    Raises
    ------
    InvalidInstance
        With every fault of the arguments, of a chat and its budget, and of an instance unless a session
        reads it by its own ladder.
    """
    faults: list[Fault] = []
    try:
        told = model.model_validate(dict(given))
    except ValidationError as error:
        faults += map(_fault, error.errors(include_url=False))
    for check in _checks(given):
        try:
            check()
        except InvalidInstance as error:
            faults += error.faults
    if faults:
        raise InvalidInstance(faults)
    return told


def _checks(given: Mapping[str, Any]) -> Iterator[Callable[[], object]]:
    if given.get("instance") is not None and given.get("session") is None:
        yield lambda: Instance.model_validate(given["instance"])
    if given.get("messages") is not None:
        yield lambda: read_messages(given["messages"])
        yield lambda: _read_budget(given.get("budget"))


def _read_budget(budget: Any) -> None:
    """Read the budget of messages.

    Raises
    ------
    InvalidInstance
        With every fault of it.
    """
    if budget is None:
        message = "messages need a budget: tokens, or a window with what is reserved"
        raise InvalidInstance([Fault("missing", message, field="budget")])
    Window.read(budget)


def _fault(error: Any) -> Fault:
    place = ".".join(map(str, error["loc"]))
    return Fault(error["type"], f"{place}: {reason(error)}", field=place, read=as_read(error["input"]))
