"""Sessions in a database, by SQLAlchemy 2 Core: SQLite for a path, PostgreSQL for its URL.

An event and what it changes of the state are written in one transaction, so whatever kills a process
leaves the state of the last event that was committed. Writers of a session exclude one another:
SQLite takes its write lock at the beginning, PostgreSQL locks the row of the session.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from itertools import chain
from typing import Any

from memopt.errors import as_read
from memopt.session.config import Config
from memopt.session.errors import InvalidConfig, InvalidEvent, InvalidState, StoreFailed, StoreMissing
from memopt.session.events import START, AnyEvent, Record, canonical, from_text
from memopt.session.state import Key, State, from_rows, value

WAIT_SECONDS = 60.0
"""How long SQLite waits for another writer."""
_UNHEARD_SECONDS = 0.5
"""How long it waits at a time: an interrupt is heard in between."""
_AT_ONCE = 500
"""Ids or numbers asked for in one query."""
_CACHE_KIB = 64 * 1024
"""Memory for the pages of an SQLite file: pairs of memories are rows all over it, changed again and again."""
_POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")
_SQLITE = "sqlite://"


class Store:
    """A database of sessions.

    Parameters
    ----------
    where
        Path of an SQLite file (made when there is none), its URL (``sqlite:///PATH``), or a PostgreSQL URL.
    create
        Whether tables are made where there are none; otherwise opening changes nothing.

    Raises
    ------
    StoreMissing
        When SQLAlchemy, or psycopg for PostgreSQL, is not installed.
    StoreFailed
        When the database cannot be opened, or holds no sessions and is not to be made.
    """

    def __init__(self, where: str | os.PathLike[str], create: bool = True) -> None:
        self._sql = _sqlalchemy()
        self.tables = _Tables(self._sql)
        self._identity: tuple[str, int, int] | None = None
        with self._told():
            self.engine = _engine(self._sql, os.fspath(where))
            try:
                self._open(create)
            except BaseException:
                self.close()
                raise
        self._identity = _identity(self._path)

    def session(self, name: str) -> StoredLog:
        """Return the log of the session of a name.

        Raises
        ------
        StoreFailed
            When the name is no text.
        """
        if not isinstance(name, str):
            raise StoreFailed(f"the name of a session is a text, read {as_read(name)!r}")
        return StoredLog(self, name)

    def sessions(self) -> list[str]:
        """Return the names of the sessions that have events, sorted."""
        table = self.tables.sessions
        with self._told(), self.engine.connect() as connection:
            rows = connection.execute(self._sql.select(table.c.name).where(table.c.events > 0))
            with _broken("list of sessions"):
                return sorted(json.loads(name) for (name,) in rows)

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def begun(self, write: bool) -> Iterator[Any]:
        """Begin a transaction; committed at the end, rolled back after an error."""
        options: dict[str, Any] = {"memopt_write": write}
        if self.engine.dialect.name != "sqlite" and not write:
            options["isolation_level"] = "REPEATABLE READ"  # several queries, one view
        with self._told(), self.engine.connect() as plain:
            connection = plain.execution_options(**options)
            with connection.begin():
                self._refuse_another_file()
                yield connection
                self._refuse_another_file()

    def _refuse_another_file(self) -> None:
        """Raise where the file that is open has lost its name: what is written to it is lost, too."""
        if self._identity is not None and self._identity != _identity(self._identity[0]):
            what = f"the database was moved, removed or replaced while it was open: {self._path!r}"
            raise StoreFailed(what)

    @property
    def _path(self) -> str | None:
        """Path of an SQLite file; None of a server and of what is in memory."""
        engine = getattr(self, "engine", None)  # there is none while it is being made
        path = engine.url.database if engine is not None and engine.dialect.name == "sqlite" else None
        return None if path == ":memory:" else path or None

    def _open(self, create: bool) -> None:
        """Make the tables where there are none."""
        if self._made():
            return
        if not create:
            raise StoreFailed("there are no sessions in the database")
        try:
            with self.begun(write=True) as connection:
                self.tables.metadata.create_all(connection)
        except StoreFailed:
            if not self._made():  # another process may have made them at the same time
                raise

    def _made(self) -> bool:
        names = set(self.tables.names)
        there = names.intersection(self._sql.inspect(self.engine).get_table_names())
        if there and there != names:
            file = self._file()
            raise StoreFailed(f"the tables were made by another version of memopt{file and f' ({file})'}")
        return bool(there)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (self._sql.exc.SQLAlchemyError, sqlite3.Error) as error:
            reason = str(getattr(error, "orig", None) or error).strip().splitlines()
            file = self._file()
            said = f"{reason[0] if reason else type(error).__name__}{file and f' ({file})'}"
            raise StoreFailed(f"the database failed: {said}") from error

    def _file(self) -> str:
        """Return what is to be known of the file of a database that failed; nothing of a server's."""
        path = self._path
        if path is None:
            return ""
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            return f"{path!r}: there is no folder {folder!r}"
        if not os.access(folder, os.W_OK) or (os.path.exists(path) and not os.access(path, os.W_OK)):
            return f"{path!r}: the file and its folder must be writable, even to read"
        return repr(path)


class StoredLog:
    """Keeps one session in a store; see `log.Log`."""

    def __init__(self, store: Store, name: str) -> None:
        self._store, self.name = store, name

    @contextmanager
    def reading(self) -> Iterator[StoredTransaction]:
        """Begin a transaction that only reads."""
        with self._store.begun(write=False) as connection:
            yield StoredTransaction(self._store, connection, self.name, lock=False)

    @contextmanager
    def writing(self) -> Iterator[StoredTransaction]:
        """Begin a transaction that excludes other writers of the session."""
        with self._store.begun(write=True) as connection:
            yield StoredTransaction(self._store, connection, self.name, lock=True)


class StoredTransaction:
    """A transaction on one session; see `log.Transaction`."""

    def __init__(self, store: Store, connection: Any, name: str, lock: bool) -> None:
        self._sql: Any = store._sql
        self._tables, self._connection, self._name = store.tables, connection, _text(name)
        self._insert = _inserter(store.engine.dialect.name)
        row = self._head(lock)
        if row is None and lock:
            new = {"name": self._name, "events": 0, "digest": START, "config": "{}"}
            made = self._insert(store.tables.sessions).values(new).on_conflict_do_nothing()
            connection.execute(made)
            row = self._head(lock)
        head: tuple[Any, str, str] = tuple(row) if row else (0, START, "{}")
        with _broken("session"):
            self._length = int(head[0])
        _, self._digest, self._config = head

    def length(self) -> int:
        """Return the number of events."""
        return self._length

    def digest(self, number: int) -> str | None:
        """Return the digest of the events up to one, None where there is no such event."""
        if number in (0, self._length):
            return self._digest if number else START
        events = self._tables.events
        query = self._sql.select(events.c.digest).where(events.c.session == self._name)
        found: str | None = self._connection.execute(query.where(events.c.number == number)).scalar()
        return found

    def load(self) -> State | None:
        """Return the stored state, None where there is none."""
        if not self._length:
            return None
        table, pairs = self._tables.state, self._tables.pairs
        query = self._sql.select(table.c.part, table.c.whose, table.c.value)
        rows = self._connection.execute(query.where(table.c.session == self._name))
        counts = self._sql.select(pairs.c.one, pairs.c.other, pairs.c.times)
        together = self._connection.execute(counts.where(pairs.c.session == self._name))
        with _broken("session"):
            config = Config.from_dict(json.loads(self._config))
            entries: Iterable[tuple[Key, Any]] = chain(
                ((("pair", (one, other)), times) for one, other, times in together),
                (((part, json.loads(whose)), json.loads(stored)) for part, whose, stored in rows),
            )
            return from_rows(config, self.length(), self._digest, entries)

    def since(self, number: int) -> Iterator[Record]:
        """Yield the events after one, in order."""
        events = self._tables.events
        return self._records(events.c.number > number)

    def find(self, ids: Sequence[str]) -> dict[str, Record]:
        """Return the events of these ids."""
        events = self._tables.events
        wanted = [_text(name) for name in ids]
        return {
            made.event.id: made for some in _portions(wanted) for made in self._records(events.c.id.in_(some))
        }

    def at(self, numbers: Sequence[int]) -> list[Record]:
        """Return the events of these numbers."""
        events = self._tables.events
        return [made for some in _portions(numbers) for made in self._records(events.c.number.in_(some))]

    def append(self, records: Sequence[Record], changed: Iterable[Key], state: State) -> None:
        """Add events, and make the rows changed those of the state."""
        self._many(
            self._sql.insert(self._tables.events),
            ("session", "number", "id", "kind", "body", "digest"),
            [
                (self._name, event.number, _text(event.id), event.kind, text, digest)
                for event, text, digest in records
            ],
        )
        keys = [*changed]
        named = sorted([(part, _text(whose), whose) for part, whose in keys if isinstance(whose, str)])
        rows = [
            (self._name, part, text, canonical(value(state, (part, whose)))) for part, text, whose in named
        ]
        self._upsert(self._tables.state, rows)
        pairs = sorted([whose for _, whose in keys if not isinstance(whose, str)])
        self._upsert(self._tables.pairs, [(self._name, *pair, state.worth.pairs[pair]) for pair in pairs])
        sessions = self._tables.sessions
        head = {"events": state.number, "digest": state.digest, "config": canonical(state.config.to_dict())}
        self._connection.execute(self._sql.update(sessions).where(sessions.c.name == self._name).values(head))

    def _upsert(self, table: Any, rows: list[tuple[Any, ...]]) -> None:
        """Write rows, each its key and its value, over those that have the same key."""
        *key, last = (column.name for column in table.columns)
        insert = self._insert(table)
        statement = insert.on_conflict_do_update(index_elements=key, set_={last: insert.excluded[last]})
        self._many(statement, (*key, last), rows)

    def _many(self, statement: Any, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
        """Run a statement for many rows, past SQLAlchemy's own work on every row."""
        if not rows:
            return
        made = statement.compile(dialect=self._connection.dialect, column_keys=list(columns))
        if made.positional:
            order = [columns.index(name) for name in made.positiontup]
            in_order = order == sorted(order)
            sent: list[Any] = rows if in_order else [tuple(row[index] for index in order) for row in rows]
        else:
            sent = [dict(zip(columns, row, strict=True)) for row in rows]
        self._connection.exec_driver_sql(str(made), sent)

    def _head(self, lock: bool) -> Any:
        table = self._tables.sessions
        query = self._sql.select(table.c.events, table.c.digest, table.c.config)
        query = query.where(table.c.name == self._name)
        if lock:
            query = query.with_for_update()  # PostgreSQL; SQLite has locked everything by now
        return self._connection.execute(query).one_or_none()

    def _records(self, condition: Any) -> Iterator[Record]:
        events = self._tables.events
        query = self._sql.select(events.c.body, events.c.digest).where(events.c.session == self._name)
        for body, digest in self._connection.execute(query.where(condition).order_by(events.c.number)):
            yield Record(_event(body), body, digest)


class _Tables:
    """The tables; names and keys are JSON text, which any database can hold, but for the pairs of numbers."""

    names = ("memopt_sessions", "memopt_events", "memopt_state", "memopt_pairs")

    def __init__(self, sql: Any) -> None:
        self.metadata = sql.MetaData()
        sessions, events, state, pairs = self.names
        self.sessions = sql.Table(
            sessions,
            self.metadata,
            sql.Column("name", sql.Text, primary_key=True),
            sql.Column("events", sql.Integer, nullable=False),
            sql.Column("digest", sql.Text, nullable=False),
            sql.Column("config", sql.Text, nullable=False),
        )
        self.events = sql.Table(
            events,
            self.metadata,
            sql.Column("session", sql.Text, primary_key=True),
            sql.Column("number", sql.Integer, primary_key=True, autoincrement=False),
            sql.Column("id", sql.Text, nullable=False),
            sql.Column("kind", sql.Text, nullable=False),
            sql.Column("body", sql.Text, nullable=False),
            sql.Column("digest", sql.Text, nullable=False),
            sql.UniqueConstraint("session", "id"),
        )
        self.state = sql.Table(
            state,
            self.metadata,
            sql.Column("session", sql.Text, primary_key=True),
            sql.Column("part", sql.Text, primary_key=True),
            sql.Column("whose", sql.Text, primary_key=True),
            sql.Column("value", sql.Text, nullable=False),
            sqlite_with_rowid=False,
        )
        self.pairs = sql.Table(
            pairs,
            self.metadata,
            sql.Column("session", sql.Text, primary_key=True),
            sql.Column("one", sql.Integer, primary_key=True),
            sql.Column("other", sql.Integer, primary_key=True),
            sql.Column("times", sql.Integer, nullable=False),
            sqlite_with_rowid=False,
        )


def _identity(path: str | None) -> tuple[str, int, int] | None:
    """Return what tells a file from all others, its path first; None where there is none."""
    try:
        found = os.stat(path or "")
    except OSError:
        return None
    return os.path.abspath(path or ""), found.st_dev, found.st_ino


def _sqlalchemy() -> Any:
    try:
        return import_module("sqlalchemy")
    except ImportError:
        raise StoreMissing(
            "a store needs SQLAlchemy, which is not installed: pip install 'sqlalchemy>=2'"
        ) from None


def _engine(sql: Any, where: str) -> Any:
    if where.startswith(_POSTGRES):
        url = _url(sql, "postgresql+psycopg://" + where.partition("://")[2])
        try:
            return sql.create_engine(url)
        except ImportError:
            hint = "pip install 'memopt[postgres]'"
            raise StoreMissing(f"PostgreSQL needs psycopg, which is not installed: {hint}") from None
    if "://" in where and not where.startswith(_SQLITE):
        kind = where.partition("://")[0]
        raise StoreFailed(f"a database is an SQLite file or a PostgreSQL URL, not one of {kind!r}")
    url = _url(sql, where) if where.startswith(_SQLITE) else sql.URL.create("sqlite", database=where)
    options: dict[str, Any] = {"connect_args": {"timeout": _UNHEARD_SECONDS}}
    if url.database in (None, "", ":memory:"):  # every connection would be a database of its own
        options["connect_args"]["check_same_thread"] = False
        options |= {"poolclass": sql.QueuePool, "pool_size": 1, "max_overflow": 0}
    engine = sql.create_engine(url, **options)
    sql.event.listen(engine, "connect", _prepare_sqlite)
    sql.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _url(sql: Any, where: str) -> Any:
    """Return a URL; what is wrong with it is told without it, for it may hold a password."""
    try:
        return sql.make_url(where)
    except (ValueError, sql.exc.ArgumentError):
        raise StoreFailed("the URL of the database cannot be read: is the port a number?") from None


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")


def _patiently(execute: Callable[[str], object], statement: str) -> None:
    """Run a statement; while another process writes, try again."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            execute(statement)
            return
        except Exception as error:
            reason = getattr(error, "orig", error)  # SQLAlchemy wraps SQLite's
            busy = isinstance(reason, sqlite3.OperationalError) and _code(reason) == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _code(error: sqlite3.OperationalError) -> int:
    return error.sqlite_errorcode & 0xFF


def _begin_sqlite(connection: Any) -> None:
    write = connection.get_execution_options().get("memopt_write", False)  # what only reads waits for nobody
    if write:  # a file put back from a backup may have lost it; elsewhere it costs nothing
        _patiently(connection.exec_driver_sql, "PRAGMA journal_mode=WAL")
    _patiently(connection.exec_driver_sql, "BEGIN IMMEDIATE" if write else "BEGIN")


def _inserter(dialect: str) -> Any:
    return import_module(f"sqlalchemy.dialects.{dialect}").insert


@contextmanager
def _broken(what: str) -> Iterator[None]:
    """Name what cannot be read of what was stored: somebody else has written there."""
    try:
        yield
    except (ValueError, TypeError, LookupError, RecursionError, InvalidEvent, InvalidConfig) as error:
        raise InvalidState(what, f"{type(error).__name__}: {error}") from None


def _event(body: str) -> AnyEvent:
    with _broken("log"):
        return from_text(body)


@lru_cache(2**14)
def _text(name: str) -> str:
    """Return a name as JSON text."""
    return canonical(name)


def _portions(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for begin in range(0, len(values), _AT_ONCE):
        yield values[begin : begin + _AT_ONCE]
