from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from foreign import CONFLICT, EMPTY, FREE, STUCK, TEN
from hypothesis import given, settings
from strategies import Declared, declarations

from memopt import Instance, SolverLimit, SolverMissing, compile
from memopt.export import FORMATS, Export, RereadDiffers
from memopt.families import FAMILIES, generate, generate_columns

SPECIAL = {"stuck": STUCK, "conflict": CONFLICT, "empty": EMPTY, "free": FREE}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("declared", [*TEN.values(), *SPECIAL.values()], ids=[*TEN, *SPECIAL])
def test_every_format_is_written_and_reads_back_right(declared: Any, form: str):
    made = Export(compile(Instance.model_validate(declared)))
    assert made.write(form) == made.write(form) != b""


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_written_in_every_format(family: str):
    made = Export(compile(generate(family, 12, 3)))
    for form in FORMATS:
        if family == "huge-weights" and form.startswith("cpsat"):
            with pytest.raises(SolverLimit):
                made.write(form)
        else:
            assert made.write(form)


@settings(max_examples=40)
@given(declarations())
def test_any_program_is_written_and_reads_back_right(declared: Declared):
    made = Export(compile(Instance.model_validate(declared)))
    for form in FORMATS:
        try:
            assert made.write(form)
        except SolverLimit:
            assert form.startswith("cpsat")


def test_the_order_of_the_items_changes_nothing():
    turned = TEN["links"] | {"items": TEN["links"]["items"][::-1]}
    for form in FORMATS:
        one, other = (Export(compile(Instance.model_validate(each))) for each in (TEN["links"], turned))
        assert one.write(form) == other.write(form)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_ten_thousand_items_are_written(form: str):
    made = Export(compile(generate_columns("memory-like", 10_000, 1)))
    assert len(made.write(form)) > 10**6


@pytest.mark.parametrize(
    ("package", "forms"),
    [("highspy", ["lp", "mps"]), ("ortools", ["cpsat-text", "cpsat-binary", "cpsat-json"])],
)
def test_without_the_reader_nothing_is_written_and_the_extra_is_named(
    package: str, forms: list[str], monkeypatch: pytest.MonkeyPatch
):
    hidden = [name for name in sys.modules if name.partition(".")[0] == package]
    for name in {package, *hidden}:
        monkeypatch.setitem(sys.modules, name, None)
    made = Export(compile(Instance.model_validate(TEN["links"])))
    for form in FORMATS:
        if form in forms:
            with pytest.raises(SolverMissing, match=r"pip install 'memopt\[solvers\]'"):
                made.write(form)
        else:
            assert made.write(form)


def test_reading_back_prints_nothing():
    code = (
        "import sys, json; from memopt import Instance, compile; from memopt.export import FORMATS, Export\n"
        "made = Export(compile(Instance.model_validate(json.load(sys.stdin))))\n"
        "for form in FORMATS: made.write(form)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(TEN["links"]),
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_a_model_file_of_another_program_is_not_given_to_anyone(monkeypatch: pytest.MonkeyPatch):
    made, other = (Export(compile(Instance.model_validate(TEN[name]))) for name in ("links", "spaces"))
    content = other.write("json")
    monkeypatch.setattr("memopt.export.model_json.write", lambda *_: content)
    with pytest.raises(RereadDiffers, match="digest"):
        made.write("json")
