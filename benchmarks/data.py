"""Where the public data sets lie, beside the repository: they are read there and never copied."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parents[2] / "shared" / "data"
