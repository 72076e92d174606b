from __future__ import annotations

import re
from typing import Any

import pytest
from foreign import CONFLICT, EMPTY, PAIR, STUCK, TEN

from memopt import Instance, compile, solve
from memopt.export import Export


def _page(declared: dict[str, Any]) -> str:
    return Export(compile(Instance.model_validate(declared))).write("md").decode()


def _table(page: str) -> list[list[str]]:
    """Return the cells of the last table, with its escapes undone."""
    lines = page[page.index("| item |") :].splitlines()
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    return [[re.sub(r"\\([^\w\s])", r"\1", cell.strip()) for cell in row] for row in cells]


def test_the_page_has_figures_links_and_every_number():
    page = _page(PAIR)
    assert "| budget | 9 tokens |" in page
    assert "| status | optimal |" in page
    assert "- group: a b + c" in page
    assert _table(page)[2:] == [
        ["a b", "8 / 3.000000000", "", "", "1 / -1.000000000", "**0 / 0.000000000**"],
        ["c", "2 / 1.000000000", "", "", "", "**0 / 0.000000000**"],
        ["d", "**0 / 0.000000000**", "", "", "", ""],
    ]


@pytest.mark.parametrize("name", TEN)
def test_chosen_cells_are_bold_whatever_the_ids(name: str):
    table = _table(_page(TEN[name]))
    ladder = table[0][1:]
    best = solve(Instance.model_validate(TEN[name]))
    rows = table[2:]
    assert len(rows) == len(best.choices)
    assert {len(row) for row in rows} == {len(ladder) + 1}
    bold = [[level for level, cell in zip(ladder, row[1:], strict=True) if cell[:2] == "**"] for row in rows]
    assert bold == [[best.choices[item]] for item in best.compiled.program.ids]


def test_what_does_not_print_shows_as_its_escape():
    ids = [row[0] for row in _table(_page(TEN["wild"]))[2:]]
    assert r"line\nbreak" in ids
    assert r"\u202e" in ids


@pytest.mark.parametrize("declared", [STUCK, CONFLICT], ids=["stuck", "conflict"])
def test_an_infeasible_program_says_why_and_marks_nothing(declared: dict[str, Any]):
    page = _page(declared)
    assert "| status | infeasible |" in page
    assert "| why | " in page
    assert "**" not in page


def test_a_program_without_items_is_a_page():
    assert "| items | 0 |" in _page(EMPTY)


def test_no_character_of_an_id_formats():
    for mark in "\\`*_[]<>&|~$#:@!":
        item = {"id": f"a{mark}b", "levels": {"raw": {"tokens": 1, "utility": 1}}}
        assert f"| a\\{mark}b |" in _page({"budget": 1, "items": [item]})
