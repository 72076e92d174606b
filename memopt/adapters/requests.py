"""Base class of the adapters that fit every request of an agent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Generic, TypeVar

from memopt.instance import Budget, Window
from memopt.session.session import Session
from memopt.text.content import COSTS
from memopt.text.fit import Fitted, fit
from memopt.text.ladders import Ladders, default_ladders
from memopt.text.render import count_whole
from memopt.text.tokens import TokenCounter, counter
from memopt.text.utility import Utility

Run = TypeVar("Run")
Beside = Sequence[Mapping[str, Any]] | str
"""A part of a request beside its messages: chat dicts, or a text."""


class FitsRequests(Generic[Run]):
    """Fits what a framework is about to send; a base beside the framework's own.

    Parameters
    ----------
    budget, tokenizer, utility, ladders, costs
        See `memopt.text.fit.fit`. The budget holds for the whole request.
    session
        A session, or what returns that of a run; None = every request by itself.
    on_fit
        Told of every fit, from the thread it is made in: ``fitted.report`` has tokens, levels and price.

    Raises
    ------
    InvalidInstance
        When the budget is wrong.
    """

    def __init__(
        self,
        budget: Budget,
        tokenizer: str | Callable[[str], int] | TokenCounter = "bytes",
        session: Session | Callable[[Run], Session] | None = None,
        utility: Utility | None = None,
        *,
        ladders: Ladders = default_ladders,
        costs: Mapping[str, int] = COSTS,
        on_fit: Callable[[Fitted], None] | None = None,
    ) -> None:
        super().__init__()
        self._window = Window.read(budget)
        self._counter = counter(tokenizer)
        self._session, self._utility, self._on_fit = session, utility, on_fit
        self._ladders, self._costs = ladders, costs

    def _fit(
        self,
        run: Run,
        chat: Sequence[Mapping[str, Any]],
        beside: Mapping[str, Beside],
        pinned: Collection[str],
        event_id: str | None = None,
    ) -> Fitted:
        """Fit chat dicts into what is left beside the other parts of a request.

        Parameters
        ----------
        beside
            What else is sent, by name; a reserved part of the budget with that name has the size it says.

        Raises
        ------
        TypeError
            When ``session`` is, or returns, something else than a session.
        """
        session = self._session(run) if callable(self._session) else self._session
        if not isinstance(session, Session | None):
            kind = type(session).__name__
            raise TypeError(f"session is a Session, or a function that returns that of a run, not a {kind}")
        counted = {
            name: self._counter.count(part)
            if isinstance(part, str)
            else count_whole(part, self._counter, self._costs)
            for name, part in beside.items()
        }
        left = self._window.model_copy(update={"reserved": {**counted, **self._window.reserved}})
        fitted = fit(
            chat, left, self._counter, session, self._utility,
            ladders=self._ladders, pinned=pinned, costs=self._costs, event_id=event_id,
        )  # fmt: skip
        if self._on_fit is not None:
            self._on_fit(fitted)
        return fitted
