from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from foreign import CONFLICT, EMPTY, PAIR, STUCK, TEN

from memopt import Instance, compile
from memopt.export import Export

ASCII = "".join(map(chr, range(32, 127)))
IDS = [
    ASCII, "?`!`--''``<<>>,,", "\\input{x}", "\\", "^^M", "{", "}", "$$", "%", "*star*", "[3cm]", "(",
    "\u4f60\u597d" * 90,
]  # fmt: skip
LEVELS = {"L0 _%&#": {"tokens": 9, "utility": 2}, "L8 _%&#": {"tokens": 1, "utility": 1}}
NASTY: dict[str, Any] = {
    "budget": 90,
    "price": 0.1,
    "ladder": [f"L{n} _%&#" for n in range(9)],
    "items": [{"id": text, "levels": LEVELS} for text in IDS],
}
ALL = TEN | {"pair": PAIR, "stuck": STUCK, "conflict": CONFLICT, "empty": EMPTY, "nasty": NASTY}
SEVERAL = {
    name: ALL[name] for name in ("nasty", "wild", "long", "chinese", "emoji", "links", "stuck", "empty")
}


def _document(declared: dict[str, Any]) -> str:
    return Export(compile(Instance.model_validate(declared))).write("latex").decode()


@pytest.mark.parametrize(
    ("engine", "name"),
    [("pdflatex", name) for name in SEVERAL]
    + [(engine, name) for engine in ("xelatex", "lualatex") for name in ("nasty", "emoji")],
)
def test_the_document_compiles(engine: str, name: str, tmp_path: Path) -> None:
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")
    (tmp_path / "model.tex").write_text(_document(SEVERAL[name]))
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "model.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-3000:]
    assert (tmp_path / "model.pdf").stat().st_size > 1000
    assert "Missing character" not in (tmp_path / "model.log").read_text(errors="replace")


@pytest.mark.parametrize("name", ALL)
def test_the_document_is_plain_and_holds_every_item(name: str) -> None:
    document = _document(ALL[name])
    assert document.isascii()
    body = document[document.index(r"\endhead") :].splitlines()[1:-2]
    assert len(body) == len(ALL[name]["items"])
    assert all(row.endswith(r"\\") for row in body)


@pytest.mark.parametrize("name", TEN)
def test_one_cell_of_each_item_is_framed(name: str) -> None:
    document = _document(TEN[name])
    rows = document[document.index(r"\endhead") :].splitlines()[1:-2]
    assert [row.count(r"\chosen{") for row in rows] == [1] * len(TEN[name]["items"])


def test_ids_are_written_so_that_tex_reads_none_of_their_characters() -> None:
    document = _document(NASTY)
    rows = document[document.index(r"\endhead") :].splitlines()[1:-2]
    cells = [re.sub(r"\\(char\d+|uni|allowbreak)\{(\w*)\}", "", row.partition(" & ")[0]) for row in rows]
    assert not re.search(r"[\\{}$&#^_~%<>|\"'`*\[-]", "".join(cells))
    assert r"\uni{4F60}\uni{597D}" in document


def test_an_infeasible_program_says_why_and_frames_nothing() -> None:
    document = _document(STUCK)
    assert "infeasible" in document
    assert document.count(r"\chosen{") == 0


def test_a_page_is_no_wider_than_tex_can_measure() -> None:
    ladder = [f"level {number}" for number in range(300)]
    item = {"id": "a", "levels": {level: {"tokens": 1, "utility": 1} for level in ladder}}
    document = _document({"budget": 1, "ladder": ladder, "items": [item]})
    assert "paperwidth=500.0cm" in document
