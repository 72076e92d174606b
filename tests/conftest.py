"""Hypothesis draws no seed and keeps no memory; public cases are read where they are laid out."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "memopt",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("memopt")

# A shell that runs the tests in the background has them ignore Ctrl-C, and so would every process they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of cases and data that lies beside the repository, where there is one."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the folder shared/ does not lie beside the repository")
    return folder


@pytest.fixture
def case(shared: Path) -> Callable[[str], dict[str, Any]]:
    """Read a handed case by its number or name."""

    def read(name: str) -> dict[str, Any]:
        (path,) = (shared / "cases").glob(f"{name}*.json")
        data: dict[str, Any] = json.loads(path.read_bytes())
        return data

    return read
