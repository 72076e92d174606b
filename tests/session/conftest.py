"""Databases for the tests of sessions: an SQLite file, and a PostgreSQL server of their own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_OTHER_USERS = ("postgres", "nobody")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server: the one given, or one that lives as long as the tests."""
    given = os.environ.get("MEMOPT_TEST_POSTGRES")
    if given:
        yield given
        return
    pytest.importorskip("psycopg")
    initdb, server = _program("initdb"), _program("postgres")
    if initdb is None or server is None:
        pytest.skip("there is no PostgreSQL server here; MEMOPT_TEST_POSTGRES may name one")
    as_user = _user()
    folder = Path(tempfile.mkdtemp(prefix="memopt-postgres-"))
    try:
        if as_user:
            shutil.chown(folder, as_user)
        data = folder / "data"
        made = [initdb, "-D", data, "-U", "memopt", "--auth=trust", "--no-sync", "--encoding=UTF8"]
        subprocess.run(made, check=True, capture_output=True, user=as_user, cwd=folder, timeout=120)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = ["-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", folder, "-F"]
        with open(folder / "log", "wb") as log:
            running = subprocess.Popen(
                [server, *options], user=as_user, cwd=folder, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            url = f"postgresql://memopt@127.0.0.1:{port}/postgres"
            _wait_for(url, running, folder / "log")
            yield url
        finally:
            running.send_signal(signal.SIGINT)  # a fast shutdown, of this process alone
            running.wait(timeout=60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database: a new SQLite file, and a schema of its own on PostgreSQL."""
    if request.param == "sqlite":
        yield str(tmp_path / "memory.db")
        return
    import psycopg

    url = request.getfixturevalue("postgres")
    schema = f"test_{os.getpid()}_{time.monotonic_ns()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{schema}"')
        yield f"{url}?options=-csearch_path%3D{schema}"
        connection.execute(f'DROP SCHEMA "{schema}" CASCADE')


def _program(name: str) -> str | None:
    """Return the path of a program of PostgreSQL, where Debian puts it or on PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def _user() -> str | None:
    """Return whom the server runs as: PostgreSQL refuses root."""
    if os.getuid() != 0:
        return None
    import pwd

    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in _OTHER_USERS:
        if name in known:
            return name
    pytest.skip("PostgreSQL refuses root, and there is no other user to run it as")


def _wait_for(url: str, running: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    for _ in range(300):
        if running.poll() is not None:
            break
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"PostgreSQL did not start: {log.read_text(errors='replace')}")
