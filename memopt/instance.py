"""The declaration: what a user writes, validated as a whole, every fault reported at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic.dataclasses import dataclass

from memopt import jsontext
from memopt.array_faults import array_faults
from memopt.columns import DEFAULT_LADDER, DELETE, Columns
from memopt.errors import Fault, InvalidBudget, InvalidInstance
from memopt.faults import declaration_faults, declaration_warnings
from memopt.number import Number, Utility, exact, read_number

MOST_TOKENS = 2**53 - 1
"""Largest token count or budget: JSON readers everywhere keep integers exactly up to here."""

Tokens = Annotated[int, Field(strict=True, ge=0, le=MOST_TOKENS)]
Text = Annotated[str, Field(strict=True, min_length=0)]
Name = Annotated[str, Field(strict=True, min_length=1)]


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class Option:
    """One item at one level: what it costs and what it is worth.

    Attributes
    ----------
    tokens
        Cost in tokens, integer >= 0; None = the level is absent.
    utility
        Worth in utility, finite float or decimal string.
    text
        The text itself; memopt never reads it.
    """

    tokens: Tokens | None = None
    utility: Utility = None
    text: Text | None = None

    @model_serializer(mode="wrap")
    def _without_nothing(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what was not given: a utility of null would not be read again."""
        return {name: value for name, value in handler(self).items() if value is not None}


class Item(BaseModel):
    """One memory: an id, its levels and what constrains it.

    Attributes
    ----------
    id
        Unique name.
    levels
        Level name to option; a level that is absent, null or without tokens is no candidate.
    order
        Position in the conversation, for display.
    current
        Level held now; richer levels are no candidates.
    pinned
        Whether the item may not be deleted.
    min_level
        With ``pinned``: the poorest level the item may shrink to.
    group
        Name shared by items that are all present or all deleted.
    exclusive
        Name shared by items (or groups) of which at most one is present.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Name
    levels: dict[Name, Option | None]
    order: Annotated[int, Field(strict=True)] | None = None
    current: Name | None = None
    pinned: Annotated[bool, Field(strict=True)] = False
    min_level: Name | None = None
    group: Name | None = None
    exclusive: Name | None = None


class Window(BaseModel):
    """A budget derived from a model's context window.

    Attributes
    ----------
    window
        Size of the whole context in tokens.
    reserved
        Tokens held back, part by part (system prompt, tool schemas, reply).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    window: Tokens
    reserved: dict[Name, Tokens] = Field(default_factory=dict)

    @property
    def budget(self) -> int:
        """Tokens left for memories; negative when the parts exceed the window."""
        return self.window - sum(self.reserved.values())

    @classmethod
    def read(cls, budget: Budget) -> Window:
        """Return a budget as a window, however it is given.

        Raises
        ------
        InvalidBudget
            With every fault of it.
        """
        try:
            read = Instance.model_validate({"budget": budget, "items": []}).budget
        except InvalidInstance as error:
            told = [(fault, fault.message.removeprefix("the instance: ")) for fault in error.faults]
            raise InvalidBudget([replace(fault, message=said) for fault, said in told]) from None
        return read if isinstance(read, Window) else cls(window=read)


Budget = int | Window | Mapping[str, Any]
"""A hard capacity in tokens, or a window with its reserved parts."""


class Instance(BaseModel):
    """The declared problem of one turn.

    Attributes
    ----------
    memopt
        Version of the problem format.
    budget
        Hard capacity in tokens, or a `Window` it is derived from.
    price
        Price lambda >= 0: the objective is the sum of ``utility - price / budget * tokens``.
    ladder
        Level names, richest first; ``delete`` (0 tokens, utility 0) always ends it unsaid.
    repair
        ``monotone`` raises a richer level's utility to that of a poorer one; ``none`` does not.
    items
        The memories.

    Raises
    ------
    InvalidInstance
        From every way of making one, with all faults in one report.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    memopt: Literal[1] = 1
    budget: Tokens | Window
    price: Number = 0.0
    ladder: tuple[Name, ...] = DEFAULT_LADDER
    repair: Literal["monotone", "none"] = "monotone"
    items: tuple[Item, ...]

    @model_validator(mode="wrap")
    @classmethod
    def _report_everything(cls, value: Any, handler: ModelWrapValidatorHandler[Instance]) -> Instance:
        try:
            instance = handler(value)
        except ValidationError as error:
            raise InvalidInstance(
                declaration_faults(value, error.errors(include_url=False)), declaration_warnings(value)
            ) from None
        faults = declaration_faults(value, instance=instance)
        if faults:
            raise InvalidInstance(faults, declaration_warnings(instance))
        return instance

    @classmethod
    def model_validate_json(  # type: ignore[override]  # the other arguments of pydantic's do not apply
        cls, json_data: str | bytes | bytearray
    ) -> Instance:
        """Read an instance from JSON text, reporting every fault with its place."""
        return cls.model_validate(jsontext.parse(json_data))

    @classmethod
    def from_arrays(
        cls,
        tokens: ArrayLike,
        utility: ArrayLike,
        budget: int,
        price: float | str = 0.0,
        ids: Sequence[str] | None = None,
    ) -> Columns:
        """Declare a large instance by columns, without an object per item.

        Parameters
        ----------
        tokens
            Integers, shape ``[n, L]``, richest level first; below 0 = the level is absent.
        utility
            Floats, shape ``[n, L]``; read only where tokens >= 0.
        budget
            Hard capacity in tokens.
        price
            Price lambda >= 0.
        ids
            Item ids, shape ``[n]``; None = items are known by their position.

        Returns
        -------
        Columns
            Accepted by `solve` and `compile` wherever an `Instance` is. The ladder is the default
            one for L = 4, else ``L0`` ... .

        Raises
        ------
        InvalidInstance
            With every kind of fault, each with the first places where it occurs.
        """
        counts, worths = _array(tokens), _array(utility)
        faults = array_faults(counts, worths, budget, price, ids)
        if faults or counts is None or worths is None:
            raise InvalidInstance(faults)
        levels = counts.shape[1]
        return Columns(
            budget=int(budget),
            price=read_number(price),
            ladder=DEFAULT_LADDER if levels == 4 else tuple(f"L{j}" for j in range(levels)),
            repair=True,
            ids=None if ids is None else tuple(ids),
            tokens=counts.astype(np.int64),
            utility=worths.astype(np.float64),
        )

    @property
    def capacity(self) -> int:
        """The budget in tokens, derived from the window if that is how it was given."""
        return self.budget.budget if isinstance(self.budget, Window) else self.budget

    @cached_property
    def warnings(self) -> tuple[Fault, ...]:
        """What is allowed but looks like a mistake."""
        return tuple(declaration_warnings(self))

    def columns(self) -> Columns:
        """Return the instance in columns."""
        rank = {name: index for index, name in enumerate(self.ladder)}
        rank[DELETE] = len(self.ladder)
        cells = [
            (row, rank[name], option.tokens, option.utility)
            for row, item in enumerate(self.items)
            for name, option in item.levels.items()
            if option is not None and option.tokens is not None and option.utility is not None
        ]
        tokens = np.full((len(self.items), len(self.ladder)), -1, dtype=np.int64)
        utility = np.zeros(tokens.shape, dtype=np.float64)
        if cells:
            rows, ranks, counts, worths = zip(*cells, strict=True)
            tokens[rows, ranks] = counts
            utility[rows, ranks] = np.array(list(map(float, worths)))
        return Columns(
            budget=self.capacity,
            price=self.price,
            ladder=self.ladder,
            repair=self.repair == "monotone",
            ids=tuple(item.id for item in self.items),
            tokens=tokens,
            utility=utility,
            decimals={(row, level): exact(u) for row, level, _, u in cells if isinstance(u, str)},
            richest=self._per_item(lambda item: 0 if item.current is None else rank[item.current]),
            poorest=self._per_item(lambda item: self._poorest(item, rank)),
            group=self._links([item.group for item in self.items]),
            exclusive=self._links([item.exclusive for item in self.items]),
        )

    def _per_item(self, of: Callable[[Item], int]) -> NDArray[np.int64]:
        return np.fromiter(map(of, self.items), dtype=np.int64, count=len(self.items))

    @staticmethod
    def _poorest(item: Item, rank: dict[str, int]) -> int:
        if not item.pinned:
            return rank[DELETE]
        if item.min_level is not None:
            return rank[item.min_level]
        highest = 0 if item.current is None else rank[item.current]
        held = (rank[name] for name, option in item.levels.items() if option and option.tokens is not None)
        return min(level for level in held if level >= highest)

    @staticmethod
    def _links(names: list[str | None]) -> NDArray[np.int64] | None:
        known = {name: number for number, name in enumerate(sorted(set(filter(None, names))))}
        if not known:
            return None
        return np.array([-1 if name is None else known[name] for name in names], dtype=np.int64)


def _array(values: ArrayLike) -> NDArray[Any] | None:
    """Return values as an array, or None where their rows differ in length."""
    try:
        return np.asarray(values)
    except ValueError:
        return None
