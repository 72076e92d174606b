"""A file that says anything else than the program is caught, and by how it differs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from foreign import PAIR, TEN

from memopt import Instance, compile
from memopt.export import Export, RereadDiffers, reread

MADE = Export(compile(Instance.model_validate(PAIR)))
LINKED = Export(compile(Instance.model_validate(TEN["links"])))


def _tampered(content: bytes, old: str, new: str) -> bytes:
    assert content.count(old.encode()) >= 1
    return content.replace(old.encode(), new.encode(), 1)


@pytest.mark.parametrize(
    ("form", "old", "new"),
    [
        ("lp", "+ 3000000000 x_a_b__raw", "+ 3000000001 x_a_b__raw"),
        ("lp", "- 1000000000", "+ 1000000000"),
        ("lp", "Maximize", "Minimize"),
        ("lp", "+ 2 x_c__raw <= 9", "+ 2 x_c__raw <= 10"),
        ("lp", "+ 2 x_c__raw <= 9", "+ 2 x_c__raw >= 9"),
        ("lp", "+ 2 x_c__raw", "+ 2.0000001 x_c__raw"),
        ("lp", " item_d: + x_d__raw = 1\n", ""),
        ("lp", "item_c:", "row_c:"),
        ("lp", "x_a_b__delete - x_c__delete = 0", "x_a_b__delete + x_c__delete = 0"),
        ("lp", "x_c__raw x_c__delete x_d__raw\n", "x_c__raw x_c__delete\n"),
        ("lp", "x_c__delete x_d__raw\n", "x_c__delete\nBounds\n x_d__raw <= 1\n"),
        ("lp", "Binaries", "Generals"),
        ("lp", "x_d__raw", "x_e__raw"),
        ("lp", "Subject To", "Subject Too"),
        ("lp", "+ 0 x_d__raw\n", "+ 0 x_d__raw + 7\n"),
        ("mps", "minus_value -3000000000", "minus_value 3000000000"),
        ("mps", "RHS budget 9", "RHS budget 8"),
        ("mps", " L budget", " G budget"),
        ("mps", " BV BOUND x_d__raw", " FR BOUND x_d__raw"),
        ("mps", "'INTORG'", "'INTEND'"),
        ("mps", "ROWS", "OBJSENSE\n MAX\nROWS"),
        ("mps", "COLUMNS", "COLUMN"),
        ("cpsat-text", "domain: [0, 1]", "domain: [0, 2]"),
        ("cpsat-text", "x_c__raw", "x_c__row"),
        ("cpsat-text", "domain: [-9223372036854775808, 9]", "domain: [-9223372036854775808, 10]"),
        ("cpsat-text", "coeffs: [8, 1, 2]", "coeffs: [8, 1, 3]"),
        ("cpsat-text", "scaling_factor: -1", "scaling_factor: 1"),
        ("cpsat-text", "scaling_factor: -1", "scaling_factor: -1 offset: 2"),
        ("cpsat-text", "-3000000000", "-3000000001"),
        ("cpsat-text", "exactly_one", "at_most_one"),
        ("cpsat-json", '"-3000000000"', '"-3000000001"'),
        ("cpsat-json", '"exactlyOne"', '"atMostOne"'),
        ("json", '"tokens": 8', '"tokens": 7'),
        ("json", '"budget": 9', '"budget": 8'),
        ("json", "[[0, 1]]", "[]"),
        ("json", '"x_c__raw"', '"x_c__row"'),
        ("json", '"level": "keywords"', '"level": "summary"'),
        ("json", '{"id": "c", "name"', '{"id": "e", "name"'),
        ("json", '"name": "a_b"', '"name": "a_c"'),
        ("md", "| 8 / 3.000000000 |", "| 7 / 3.000000000 |"),
        ("md", "| 8 / 3.000000000 |", "| 8 / 3.000000001 |"),
        ("md", "| 8 / 3.000000000 |", "| **8 / 3.000000000** |"),
        ("md", "| **0 / 0.000000000** |", "| 0 / 0.000000000 |"),
        ("md", "| 8 / 3.000000000 |  |", "|  | 8 / 3.000000000 |"),
        ("md", "| 8 / 3.000000000 |", "| 8 / three |"),
        ("md", "| 8 / 3.000000000 |", "| 8 / 3.000000000 "),
        ("md", "| a b |", "| a  b |"),
        ("md", "| summary |", "| Summary |"),
        ("latex", "& 8 / 3.000000000 &", "& 7 / 3.000000000 &"),
        ("latex", "& 8 / 3.000000000 &", "& 8 / 3.000000001 &"),
        ("latex", "& 8 / 3.000000000 &", r"& \chosen{8 / 3.000000000} &"),
        ("latex", r"\chosen{0 / 0.000000000}", "0 / 0.000000000"),
        ("latex", "& 8 / 3.000000000 &  &", "&  & 8 / 3.000000000 &"),
        ("latex", "& 8 / 3.000000000 &", "& 8 / 3.000000000"),
        ("latex", "a b & 8", "a c & 8"),
        ("latex", r"\ttfamily summary}", r"\ttfamily Summary}"),
        ("latex", r"\endhead", ""),
    ],
)  # fmt: skip
def test_a_tampered_file_is_caught(form: str, old: str, new: str):
    content = _tampered(MADE.write(form), old, new)
    with pytest.raises(RereadDiffers, match=f"the {form} file reads back differently"):
        _check(MADE, form, content)


def test_a_tampered_exclusive_set_is_caught_in_every_format():
    exclusive = next(row for row in LINKED.model.rows if row.name.startswith("exclusive"))
    last = LINKED.model.names.options[max(exclusive.terms)]
    assert last == "x_m_5__delete"
    for form, old, new in [
        ("lp", f" + {last} >= 2", " >= 2"),
        ("mps", f"{exclusive.name} 2", f"{exclusive.name} 1"),
    ]:
        with pytest.raises(RereadDiffers, match=exclusive.name):
            _check(LINKED, form, _tampered(LINKED.write(form), old, new))
    document = json.loads(LINKED.write("cpsat-json"))
    link = next(each for each in document["constraints"] if each["name"] == exclusive.name)
    link["atMostOne"]["literals"].pop()
    with pytest.raises(RereadDiffers, match=exclusive.name):
        _check(LINKED, "cpsat-json", json.dumps(document).encode())


def test_a_doubled_row_is_caught():
    doubled = "constraints { name: 'item_c' exactly_one { literals: [3, 4] } }\nconstraints {"
    content = _tampered(MADE.write("cpsat-text"), "constraints {", doubled)
    with pytest.raises(RereadDiffers):
        _check(MADE, "cpsat-text", content)


def test_a_binary_model_of_another_program_is_caught():
    other = Export(compile(Instance.model_validate(PAIR | {"budget": 10})))
    with pytest.raises(RereadDiffers, match="row"):
        _check(MADE, "cpsat-binary", other.write("cpsat-binary"))


def test_a_float_objective_is_caught():
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    model = cp_model.CpModel()
    model.maximize(2.5 * model.new_bool_var("x"))
    with pytest.raises(RereadDiffers, match="floats"):
        _check(MADE, "cpsat-text", str(model).encode())


def _check(made: Export, form: Any, content: bytes) -> None:
    if form == "json":
        reread.check_json(content, made.program, made.model)
    elif form in ("md", "latex"):
        reread.check_table(form, content, made.allocation)
    elif form in ("lp", "mps"):
        reread.check_linear(form, content, made.model)
    else:
        reread.check_cpsat(form, content, made.program, made.model)
