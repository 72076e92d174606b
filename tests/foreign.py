"""Other people's solvers on exported models: ten instances with awkward ids, and how each solver is run."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memopt import Program

Declared = dict[str, Any]


def _items(ids: list[str], seed: int, **links: dict[str, Any]) -> list[Declared]:
    draw = random.Random(seed)
    items = []
    for name in ids:
        size, worth = draw.randint(20, 90), draw.randint(100, 999)
        levels = {
            level: {"tokens": size // share + 1, "utility": worth / 100 / share**0.5}
            for level, share in [("raw", 1), ("summary", 3), ("keywords", 9)]
        }
        items.append({"id": name, "levels": levels} | links.get(name, {}))
    return items


def _instance(ids: list[str], seed: int, **links: dict[str, Any]) -> Declared:
    items = _items(ids, seed, **links)
    total = sum(item["levels"]["raw"]["tokens"] for item in items)
    return {"budget": total // 2, "price": 0.35, "items": items}


_WILD = ["\\ % comment", "#", "a;b", "[x]", "{y}", "<=", "2x1", "\t", "line\nbreak", "\u202e"]
_LEVELS = {
    "delete!": {"tokens": 40, "utility": 3},
    "e10": {"tokens": 20, "utility": "2.000000001"},
    "\u6458 \u8981": {"tokens": 7, "utility": -1},
}
TEN: dict[str, Declared] = {
    "spaces": _instance(["a b", "a  b", " a b ", "a b c", "a_b", "  "], 1),
    "quotes": _instance(["'", '"', "it's", 'say "x"', "`tick`", "''"], 2),
    "dash-underscore": _instance(["x-1", "x_1", "x--1", "x.1", "-x-1-", "_", "-"], 3),
    "leading-digits": _instance(["1", "2nd", "3.5", "1e5", "0x10", "007"], 4),
    "keywords": _instance(
        ["st", "free", "End", "max", "bounds", "inf", "binary", "e1", "RHS", "budget", "nothing"], 5
    ),
    "long": _instance(["L" * 300, "L" * 299 + "M", "l" * 300, "word " * 60, "L" * 40], 6),
    "chinese": _instance(["\u4f60\u597d", "\u4f60\u597d\u5417", "\u597d", "u597D", "\u4f60 \u597d"], 7),
    "emoji": _instance(["\U0001f600", "\U0001f600" * 2, "\u2764\ufe0f", "caf\u00e9", "cafe", "\u00df"], 8),
    "links": _instance(
        [f"m {n}" for n in range(9)], 9,
        **{f"m {n}": {"group": "a b"} for n in (0, 1, 2)},
        **{f"m {n}": {"exclusive": "\u540c"} for n in (3, 4, 5)},
        **{"m 6": {"pinned": True, "group": "g"}, "m 7": {"group": "g"}, "m 8": {"current": "keywords"}},
    ),
    "wild": {
        "budget": 130, "price": "0.1", "ladder": list(_LEVELS), "repair": "none",
        "items": [{"id": name, "levels": _LEVELS} for name in _WILD],
    },
}  # fmt: skip
"""Instance by what is awkward about it."""

STUCK: Declared = {
    "budget": 3,
    "items": [
        {"id": "rule", "pinned": True, "levels": {"raw": {"tokens": 5, "utility": 1}}},
        {"id": "x", "levels": {"raw": {"tokens": 1, "utility": 1}}},
    ],
}
CONFLICT: Declared = {
    "budget": 30,
    "items": [
        {"id": name, "pinned": True, "exclusive": "e", "levels": {"raw": {"tokens": 5, "utility": 1}}}
        for name in "ab"
    ],
}
PAIR: Declared = {
    "budget": 9,
    "items": [
        {
            "id": "a b",
            "group": "g",
            "levels": {"raw": {"tokens": 8, "utility": 3}, "keywords": {"tokens": 1, "utility": -1}},
        },
        {"id": "c", "group": "g", "levels": {"raw": {"tokens": 2, "utility": 1}}},
        {"id": "d", "pinned": True, "levels": {"raw": {"tokens": 0, "utility": 0}}},
    ],
    "repair": "none",
}
EMPTY: Declared = {"budget": 5, "items": []}
FREE: Declared = {
    "budget": 0,
    "items": [{"id": name, "levels": {"raw": {"tokens": 0, "utility": 0}}} for name in "ab"],
}


def largest() -> Program:
    """A program at the limits: every digit of 2^53 - 1 tokens and 10^12 - 1 units of value counts."""
    return Program(
        budget=2**53 - 1,
        scale=0,
        ladder=("raw", "delete"),
        ids=("a", "b"),
        start=np.array([0, 2, 4]),
        level=np.array([0, 1, 0, 1]),
        tokens=np.array([2**53 - 1, 0, 2**53 - 2, 0]),
        value=np.array([10**12 - 1, 0, 1 - 10**12, 0]),
    )


def run_glpk(model: Path) -> tuple[Path, Path]:
    """Solve a model with glpsol; return what ``--write`` and what ``-o`` wrote."""
    if shutil.which("glpsol") is None:
        pytest.skip("glpsol is not installed (Debian package glpk-utils)")
    written, output = model.with_suffix(".glpk-write"), model.with_suffix(".glpk-output")
    form = "--lp" if model.suffix == ".lp" else "--freemps"
    _run("glpsol", form, model, "--write", written, "-o", output)
    return written, output


def run_cbc(model: Path) -> Path:
    """Solve a model with CBC, gaps 0; return its solution file."""
    from memopt.solvers import backends

    solution = model.with_suffix(".cbc")
    cbc = backends.find("cbc")
    _run(cbc.path, model, "ratioGap", "0", "allowableGap", "0", "solve", "solution", solution)
    return solution


def run_highs(model: Path, style: int = 0) -> Path:
    """Solve a model with HiGHS, gaps 0; return its solution file."""
    import highspy

    from memopt.solvers.backends import silent_highs

    solution = model.with_suffix(f".highs{style}")
    highs = silent_highs(highspy)()
    for name in ("mip_rel_gap", "mip_abs_gap"):
        highs.setOptionValue(name, 0.0)
    assert highs.readModel(str(model)) == highspy.HighsStatus.kOk
    highs.run()
    highs.writeSolution(str(solution), style)
    return solution


RUNS: dict[str, Callable[[Path], Path]] = {
    "glpk-write": lambda model: run_glpk(model)[0],
    "glpk-output": lambda model: run_glpk(model)[1],
    "cbc": run_cbc,
    "highs": run_highs,
    "highs-sparse": lambda model: run_highs(model, 4),
}
"""How to get a solution file of each kind."""


def _run(*command: str | Path) -> None:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, timeout=120, cwd="/"
    )
    assert done.returncode == 0, done.stdout + done.stderr
