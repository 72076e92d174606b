from __future__ import annotations

import json

import pytest
from foreign import PAIR

from memopt import Instance, compile
from memopt.errors import InvalidSolution
from memopt.export import Export
from memopt.export.solution_files import SolutionFile, read_solution

MODEL = Export(compile(Instance.model_validate(PAIR)))
VARIABLES = ("x_a__raw", "x_a__delete")
LONG = "x_" + "L" * 40 + "__raw"

HIGHS = """Model status
Optimal

# Primal solution values
Feasible
Objective 3
# Columns 2
x_a__raw 1
x_a__delete -0
# Rows 2
budget 9
item_a 1

# Dual solution values
None
"""
HIGHS_SPARSE = """Model status
Time limit reached

# Primal solution values
Feasible
Objective 3
# Columns -1 sparse
x_a__raw 0.9999999999 0
"""
CBC = """Optimal - objective value 3.00000000
      0 x_a__raw                   1           1.2345679e+11
**    1 x_a__delete               -1                       0
"""
GLPK_WRITE = """c Problem:
c Status:     INTEGER OPTIMAL
c
s mip 2 2 o 3
i 1 9
i 2 1
j 1 1
j 2 0
e o f
"""
GLPK_BASIC = """c Status:     OPTIMAL
s bas 1 2 f f 3
i 1 b 0 0
j 1 b 0.5 0
j 2 l 0 0
e o f
"""
GLPK_OUTPUT = f"""Problem:
Rows:       2
Status:     INTEGER NON-OPTIMAL
Objective:  value = 3 (MAXimum)

   No.   Row name        Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 budget                      9                           9

   No. Column name       Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 x_a__raw     *              1             0             1
     2 {LONG}
                    *              0             0             1
     3 y            B            0.5             0

Integer feasibility conditions:

KKT.PE: max.abs.err = 0.00e+00 on row 0
"""
GUROBI = """# Solution for model memopt
# Objective value = 3
x_a__raw 1
x_a__delete 0  # the end
"""


HIGHS_PRETTY = """Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                   0            1            1               Integer     x_a__raw
"""


def _read(text: str) -> SolutionFile:
    return read_solution(text.encode(), VARIABLES)


@pytest.mark.parametrize(
    ("text", "kind", "claimed", "entries"),
    [
        (HIGHS, "highs", "Optimal", [(8, "x_a__raw", "1"), (9, "x_a__delete", "-0")]),
        (HIGHS_SPARSE, "highs", "Time limit reached", [(8, "x_a__raw", "0.9999999999")]),
        (CBC, "cbc", "Optimal", [(2, "x_a__raw", "1"), (3, "x_a__delete", "-1")]),
        (GLPK_WRITE, "glpk-write", "INTEGER OPTIMAL", [(7, "x_a__raw", "1"), (8, "x_a__delete", "0")]),
        (GLPK_BASIC, "glpk-write", "", [(4, "x_a__raw", "0.5"), (5, "x_a__delete", "0")]),
        (
            GLPK_OUTPUT,
            "glpk-output",
            "INTEGER NON-OPTIMAL",
            [(12, "x_a__raw", "1"), (14, LONG, "0"), (15, "y", "0.5")],
        ),
        (GUROBI, "names", "", [(3, "x_a__raw", "1"), (4, "x_a__delete", "0")]),
    ],
)
def test_each_kind_of_file_is_read(text: str, kind: str, claimed: str, entries: list[tuple[int, str, str]]):
    for variant in (text, "\ufeff" + text, text.replace("\n", "\r\n")):
        file = _read(variant)
        assert (file.kind, file.claimed, file.faults) == (kind, claimed, ())
        assert [(entry.line, entry.name, entry.value) for entry in file.entries] == entries


@pytest.mark.parametrize(
    ("text", "optimal", "infeasible", "empty"),
    [
        (HIGHS, True, False, False),
        (HIGHS_SPARSE, False, False, False),
        ("Model status\nInfeasible\n\n# Primal solution values\nNone\n", False, True, True),
        ("Model status\nTime limit reached\n\n# Primal solution values\nNone\n", False, False, True),
        ("Model status", False, False, True),
        ("Infeasible - objective value 0.00\n", False, True, True),
        ("Integer infeasible - objective value 0.00\n 0 x_a__raw 0.5 0\n", False, True, False),
        ("Stopped on time - objective value 3.00\n 0 x_a__raw 1 0\n", False, False, False),
        ("Optimal (within gap tolerance) - objective value 3.00\n 0 x_a__raw 1 0\n", False, False, False),
        (GLPK_WRITE, True, False, False),
        (GLPK_WRITE.replace(" o 3", " n 0"), False, True, False),
        (GLPK_WRITE.replace(" o 3", " u 0"), False, False, True),
        (GLPK_OUTPUT, False, False, False),
        (GLPK_OUTPUT.replace("NON-OPTIMAL", "EMPTY"), False, True, False),
        (GUROBI, False, False, False),
        ("# no solution\n", False, False, True),
    ],
)
def test_what_the_solver_claims_is_understood(text: str, optimal: bool, infeasible: bool, empty: bool):
    file = _read(text)
    assert (file.claims_optimal, file.claims_infeasible, file.is_empty) == (optimal, infeasible, empty)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (HIGHS.replace("x_a__raw 1", "x_a__raw"), 8),
        (HIGHS.replace("x_a__raw 1", "x_a__raw one"), 8),
        (CBC.replace(" 1           1.2", " ? 1.2"), 2),
        (CBC + "junk\n", 4),
        (GLPK_WRITE.replace("j 2 0", "j 2"), 8),
        (GLPK_OUTPUT.replace("*              1", "*            one"), 12),
        (GUROBI + "x_b 1 2\n", 5),
    ],
)
def test_a_line_that_makes_no_sense_is_a_fault_with_its_number(text: str, line: int):
    (fault,) = _read(text).faults
    assert fault.code == "unreadable_line"
    assert fault.message.startswith(f"line {line} ")


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (HIGHS, "# Rows"),
        (HIGHS_SPARSE, "\n"),
        (CBC, "\n"),
        (GLPK_WRITE, "e o f"),
        (GLPK_BASIC, "e o f"),
        (GLPK_OUTPUT, "\n\nInteger"),
    ],
)
def test_a_file_that_is_cut_off_before_the_end_of_its_values_is_a_fault(text: str, end: str):
    """Or 1e-12, cut to 1, would be another selection."""
    last = text.rindex(end)
    for size in range(text.rindex("\n", 0, last - 1) + 1, last):
        file = _read(text[:size].rstrip("\n"))
        assert not file.entries or "cut_off" in [fault.code for fault in file.faults]
    assert _read(text[: last + len(end)]).faults == ()


@pytest.mark.parametrize("text", [HIGHS, HIGHS_SPARSE])
def test_a_column_that_was_announced_and_is_lacking_is_a_fault(text: str):
    lacking = text.replace("# Columns 2", "# Columns 3").replace("# Columns -1", "# Columns -2")
    assert [fault.code for fault in _read(lacking).faults] == ["cut_off"]


def test_a_column_that_the_model_lacks_is_kept_by_its_number():
    for index in ("3", "0", "-1", "x"):
        entries = _read(GLPK_WRITE.replace("j 2 0", f"j {index} 0")).entries
        assert entries[1].name.startswith("column ")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\xff\xfe\x00", "not_utf8"),
        (b'{"a": 1}', "unknown_format"),
        (b"once upon a time", "unknown_format"),
        (b"# a page\n\nwith words\n", "unknown_format"),
        (json.dumps(PAIR, indent=1).encode(), "unknown_format"),
        (MODEL.write("lp"), "unknown_format"),
        (MODEL.write("mps"), "unknown_format"),
        (MODEL.write("json"), "unknown_format"),
        (MODEL.names(), "unknown_format"),
    ],
)
def test_what_is_no_solution_file_is_said(content: bytes, code: str):
    with pytest.raises(InvalidSolution) as caught:
        read_solution(content, VARIABLES)
    assert [fault.code for fault in caught.value.faults] == [code]


def test_the_pretty_style_of_highs_is_refused_with_the_style_to_write():
    with pytest.raises(
        InvalidSolution, match=r"pretty style \(1\): write its raw style, writeSolution\(file, 0\)"
    ):
        _read(HIGHS_PRETTY)


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        (HIGHS, 3),
        (HIGHS.replace("Objective 3\n", "Objective -31170183171\nObjective_bound 7\n"), -31170183171),
        (HIGHS.replace("Objective 3\n", "").replace("item_a 1", "item_objective 1"), None),
        (CBC, 3),
        (GLPK_WRITE, None),
        (
            GLPK_WRITE.replace("c Status", "c Objective:  value = 3.117018317e+10 (MAXimum)\nc Status"),
            31170183170,
        ),
        (GLPK_OUTPUT, 3),
        (GUROBI, 3),
        ("x_a__raw 1\n", None),
    ],
)
def test_the_objective_that_a_file_states_is_read(text: str, objective: float | None):
    assert _read(text).objective == objective
