"""The sessions that a server keeps: in a database, or in memory while it runs."""

from __future__ import annotations

from memopt.errors import Fault, InvalidInstance
from memopt.session.config import Config
from memopt.session.session import Session
from memopt.session.store import Store


class Sessions:
    """Sessions by name.

    Parameters
    ----------
    store
        Where they are; None = in memory.
    config
        Of those that are new.
    """

    def __init__(self, store: Store | None, config: Config) -> None:
        self._store, self._config = store, config
        self._opened: dict[str, Session] = {}

    def made(self, name: str) -> Session:
        """Return a session; it exists from its first event on."""
        if name not in self._opened:
            log = None if self._store is None else self._store.session(name)
            self._opened[name] = Session(self._config, log)
        return self._opened[name]

    def there(self, name: str) -> Session:
        """Return a session that exists.

        Raises
        ------
        InvalidInstance
            With ``unknown_session`` where it does not.
        """
        known = self._names()
        if name not in known:
            message = f"there is no session {name!r}; there are {', '.join(map(repr, known)) or 'none'}"
            raise InvalidInstance([Fault("unknown_session", message, field="session", read=name)])
        return self.made(name)

    def _names(self) -> list[str]:
        if self._store is not None:
            return self._store.sessions()
        return sorted(name for name, session in self._opened.items() if session.state.number)
