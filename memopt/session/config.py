"""What a session is told once: gain, target, ladder, solver, and the rules of worth and governance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from memopt.columns import DEFAULT_LADDER, DELETE
from memopt.errors import as_read, meant, reason
from memopt.prompt_cache import MOST_CACHE_PRICE
from memopt.session.counters import WorthRule
from memopt.session.errors import InvalidConfig
from memopt.session.governance import GovernanceRule
from memopt.session.pressure import PressureQueue
from memopt.solvers import SOLVERS

FIXED = ("gain", "alpha", "ladder")
"""What stands from the first turn on: the queue's sums and the levels held speak of these."""


@dataclass(frozen=True)
class Config:
    """The configuration of a session.

    Attributes
    ----------
    gain
        c of the price ``c * Q / sqrt(t)``; 0 = tokens carry no price (see `pressure.suggest_gain`).
    alpha
        Target of the average occupancy.
    ladder
        Level names, richest first, without ``delete``.
    repair
        As in a problem file.
    solver
        Name of the solver. It runs without a time limit, for a turn must replay to the last bit.
    cache_price
        What a full budget behind the first change since the last turn costs more, in utility (see
        `prompt_cache.solve_cached`); 0 = a change costs nothing.
    worth, governance
        Rules of the machines of these names.
    """

    gain: float = 0.0
    alpha: float = 0.8
    ladder: tuple[str, ...] = DEFAULT_LADDER
    repair: Literal["monotone", "none"] = "monotone"
    solver: str = "dp"
    cache_price: float = 0.0
    worth: WorthRule = field(default_factory=WorthRule)
    governance: GovernanceRule = field(default_factory=GovernanceRule)

    def __post_init__(self) -> None:
        PressureQueue(self.gain, self.alpha)
        for name, rule in (("worth", WorthRule), ("governance", GovernanceRule)):
            if not isinstance(getattr(self, name), rule):
                raise TypeError(f"{name} is a {rule.__name__}; Config.from_dict reads one from an object")
        if self.solver not in SOLVERS:
            raise ValueError(f"the solver is one of {', '.join(SOLVERS)}, read {self.solver!r}")
        if not 0 <= self.cache_price <= MOST_CACHE_PRICE:
            raise ValueError(f"the cache price is a number from 0 to 2^40, read {self.cache_price}")
        if not self.ladder or DELETE in self.ladder or len(set(self.ladder)) < len(self.ladder):
            raise ValueError(f"the ladder must name different levels, without {DELETE!r}")
        capped = self.governance.suppressed_level
        if self.governance.mode == "govern" and capped not in (*self.ladder, DELETE):
            raise ValueError(f"the suppressed level {capped!r} is not in the ladder")

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration for JSON."""
        return asdict(self) | {"ladder": list(self.ladder)}

    @classmethod
    def from_dict(cls, declared: object) -> Config:
        """Return the configuration of a JSON object; what it leaves out has its default.

        Raises
        ------
        InvalidConfig
            When a key is unknown or a value is wrong.
        """
        if not isinstance(declared, Mapping):
            raise InvalidConfig(f"a configuration is an object, read {as_read(declared)!r}")
        _refuse_unknown(declared, cls.__dataclass_fields__, "")
        for part, rule in (("worth", WorthRule), ("governance", GovernanceRule)):
            if isinstance(declared.get(part), Mapping):
                _refuse_unknown(declared[part], rule.__dataclass_fields__, f"{part}.")
        try:
            return _reader().validate_python(dict(declared))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"])) or "configuration"
            raise InvalidConfig(f"{place}: {reason(first)}") from None

    def changed(self, wanted: Config) -> list[str]:
        """Return the names of what another configuration has otherwise."""
        return [name for name in self.__dataclass_fields__ if getattr(self, name) != getattr(wanted, name)]


def _refuse_unknown(declared: Mapping[str, Any], known: Mapping[str, Any], where: str) -> None:
    for name in declared:
        if name not in known:
            hint = meant(str(name), known) or f"; known are {', '.join(known)}"
            raise InvalidConfig(f"a configuration has no key {as_read(f'{where}{name}')!r}{hint}")


@cache
def _reader() -> TypeAdapter[Config]:
    return TypeAdapter(Config)
