"""The command line, run in this process or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memopt_cli.app import app
from session_inputs import ORIGINAL, TURN
from typer.testing import CliRunner, Result

Run = Callable[..., Result]
RunProcess = Callable[..., "subprocess.CompletedProcess[bytes]"]

TRACE = "Traceback"


@pytest.fixture
def run() -> Run:
    """Run the command in this process: ``run("solve", "-", data=...)``; data that is no text becomes JSON."""

    def call(*arguments: str | Path, data: Any = b"") -> Result:
        content = data if isinstance(data, bytes) else json.dumps(data).encode()
        result = CliRunner().invoke(app, list(map(str, arguments)), input=content)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture
def run_process(tmp_path: Path) -> RunProcess:
    """Run ``python -m memopt`` in a process of its own, in an empty directory."""

    def call(
        *arguments: str | Path, data: bytes = b"", **environment: str
    ) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            [sys.executable, "-m", "memopt", *map(str, arguments)],
            input=data,
            capture_output=True,
            cwd=tmp_path,
            env=os.environ | environment,
            timeout=120,
            check=False,
        )
        assert TRACE.encode() not in done.stdout + done.stderr
        return done

    return call


@pytest.fixture
def db(tmp_path: Path) -> list[str]:
    """Options that name a session in a database which is not there yet."""
    return ["--db", str(tmp_path / "memory.db"), "--session", "s1"]


@pytest.fixture
def begun(run: Run, db: list[str]) -> list[str]:
    """A session with an original, a turn and an outcome."""
    assert run("put", "-", *db, data={"a": ORIGINAL}).exit_code == 0
    assert run("turn", "-", *db, "--gain", "2", "--id", "t1", data=TURN).exit_code == 0
    assert run("outcome", "-", *db, data={"id": "e1", "success": True, "retrieved": ["a"]}).exit_code == 0
    return db


@pytest.fixture
def examples() -> Path:
    """The folder of examples."""
    return Path(__file__).parents[2] / "examples"


@pytest.fixture
def strict_json() -> Callable[[str | bytes], Any]:
    """Read JSON as other languages do: no NaN, no lone surrogate, nothing after the document."""

    def read(text: str | bytes) -> Any:
        def refuse(name: str) -> None:
            raise AssertionError(f"{name} is no JSON")

        if isinstance(text, bytes):
            text = text.decode("utf-8")
        document = json.loads(text, parse_constant=refuse)
        json.dumps(document, ensure_ascii=False).encode("utf-8")
        return document

    return read
