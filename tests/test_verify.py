"""The cross-check agrees where solvers are right, and catches each way of being wrong."""

from __future__ import annotations

import json
import sys
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peers import FOLDER, item, program_of, regression, unless_measured
from strategies import declarations
from wrong import Corrupted, DefaultGaps, FalseBound, Fixed, FloatObjective, Posing, Unguarded

import memopt
from memopt import Instance, Program, SolverFailed, SolverLimit, SolverMissing, Verdict, verify
from memopt.allocation import decimal_text
from memopt.compile import compile as compiled
from memopt.errors import UnknownSolver
from memopt.families import FAMILIES, generate, generate_columns
from memopt.solvers import Answer, cpsat
from memopt.solvers.cpsat import CpSat
from memopt.solvers.dp import DynamicProgram
from memopt.solvers.exhaustive import Exhaustive
from memopt.solvers.greedy import Greedy
from memopt.verdict import judge
from memopt.verify import verify_program

pytest.importorskip("ortools")
cp_model = pytest.importorskip("ortools.sat.python.cp_model")

TIES = {"budget": 13, "items": [item("a", (9, 3), (4, 3)), item("b", (8, 5)), item("c", (5, 3))]}
UNIT = 10**9
BEST, HEAVY, NOTHING, OVER = (1, 3, 6), (2, 3, 5), (2, 4, 6), (0, 3, 5)
"""Worth 8 in 12 tokens, worth 8 in 13 tokens, worth nothing, and over the budget."""
PRICED = [generate("priced", 12, seed) for seed in range(6)]


def within_cpsat(family: str, items: int, number: int) -> list[Program]:
    """Return programs of a family that CP-SAT takes: of huge-weights, those with a large common divisor."""
    programs = (compiled(generate(family, items, seed)).program for seed in range(20))
    found = list(islice((program for program in programs if cpsat.limit(program).within), number))
    assert len(found) == number
    return found


def named(name: str) -> Instance:
    return Instance.model_validate_json((FOLDER / "data" / f"{name}.json").read_text())


# Agreement


@pytest.mark.parametrize("family", FAMILIES)
def test_dp_and_cpsat_prove_the_same_optimum_on_every_family(family: str) -> None:
    for items in (1, 4, 9):
        for given_program in within_cpsat(family, items, 2):
            assert verify_program(given_program, ["dp", "cpsat"]).kind in ("equal", "infeasible")


@pytest.mark.parametrize("family", FAMILIES)
def test_fewest_tokens_are_proved_by_a_second_cpsat_solve_with_the_value_fixed(family: str) -> None:
    for given_program in within_cpsat(family, 8, 4):
        answer = DynamicProgram().solve(given_program)
        model, chosen = cpsat.build(given_program)
        if answer.selection is None:
            assert cp_model.CpSolver().solve(model) == cp_model.INFEASIBLE
            continue
        audit = given_program.audit(answer.selection)
        cpsat.fix_value(given_program, model, chosen, audit.value)
        solver = cp_model.CpSolver()
        assert solver.solve(model) == cp_model.OPTIMAL
        held = np.flatnonzero([solver.boolean_value(variable) for variable in chosen])
        second = given_program.audit(held)
        assert (second.value, second.tokens, second.broken) == (audit.value, audit.tokens, ())


def test_huge_weights_are_proved_by_enumeration_where_cpsat_refuses() -> None:
    refused = 0
    for seed in range(8):
        verdict = verify(generate("huge-weights", 5, seed), ["cpsat", "exhaustive"])
        mine, peer, enumerated = verdict.answers
        assert mine.proved
        assert (mine.value, mine.tokens) == (enumerated.value, enumerated.tokens)
        assert verdict.kind == ("unproven" if peer.status == "refused" else "equal")
        refused += peer.status == "refused"
    assert 0 < refused < 8


def test_four_solvers_agree() -> None:
    pytest.importorskip("pulp")
    verdict = verify(generate("linked", 6, 1), ("cpsat", "milp", "exhaustive"))
    assert verdict.kind == "equal"
    assert [answer.solver for answer in verdict.answers] == ["dp", "cpsat", "milp", "exhaustive"]
    assert len({(answer.value, answer.tokens, answer.bound) for answer in verdict.answers}) == 1
    assert verdict.reason.startswith("dp, cpsat, milp and exhaustive prove the same optimum, ")


def test_an_instance_that_everybody_proves_infeasible() -> None:
    verdict = verify(Instance.model_validate({"budget": 2, "items": [item("a", (3, 1), pinned=True)]}))
    assert (verdict.kind, verdict.value, verdict.tokens) == ("infeasible", None, None)
    assert verdict.reason == "dp and cpsat prove that there is no selection"


def test_the_verdict_object_says_everything() -> None:
    verdict = verify(Instance.model_validate(TIES))
    told = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
    assert (told["verdict"], told["value"], told["tokens"]) == ("equal", "8.000000000", 12)
    assert told["digest"] == compiled(Instance.model_validate(TIES)).program.digest
    assert [sorted(answer) for answer in told["answers"]] == 2 * [
        [
            "bound", "limit", "parameters", "proof", "reason", "seconds", "solver", "status", "tokens",
            "value", "version",
        ]
    ]  # fmt: skip
    mine, peer = told["answers"]
    assert (mine["solver"], mine["version"]) == ("dp", memopt.__version__)
    assert (peer["status"], peer["bound"], peer["parameters"]["num_workers"]) == ("optimal", "8.000000000", 1)
    assert verdict.choices(verdict.answers[0]) == {"a": "summary", "b": "raw", "c": "delete"}


def test_large_inputs_in_columns_are_taken_as_well() -> None:
    assert verify(generate_columns("memory-like", 30, 1)).kind == "equal"


# Negative controls: each one is caught


@pytest.mark.parametrize("by", ["score", "density"])
def test_greedy_is_caught(by: Any) -> None:
    for instance in (named(f"greedy-by-{by}-loses"), named("greedy-both-ways-loses")):
        plain = verify(instance, [Greedy(by)])
        mine, other = plain.answers
        assert mine.value is not None
        assert other.value is not None
        lost = decimal_text(mine.value - other.value, plain.program.scale)
        assert mine.value > other.value
        assert (plain.kind, plain.refuted) == ("unproven", ())
        assert plain.reason == f"greedy proves no optimum; greedy is worse by {lost}"
        assert verify(instance, ["cpsat", Posing(Greedy(by))]).kind == "differ"
    found = {verify(instance, [Posing(Greedy(by))]).kind for instance in PRICED}
    assert "differ" in found


def test_a_selection_without_a_proof_that_is_as_good_is_not_called_worse() -> None:
    verdict = verify(Instance.model_validate({"budget": 3, "items": [item("a", (3, 1))]}), ["greedy"])
    assert (verdict.kind, verdict.reason) == ("unproven", "greedy proves no optimum")


def caught(verdict: Verdict) -> bool:
    """Whether a verdict against a certified answer is right: refuted exactly where it is worse."""
    mine, other = verdict.answers
    assert mine.value is not None
    assert other.value is not None
    worse = other.value < mine.value or other.tokens != mine.tokens
    assert verdict.kind == ("differ" if worse else "equal")
    return bool(verdict.refuted)


def test_highs_with_default_gaps_is_caught() -> None:
    pytest.importorskip("highspy")
    assert True in {caught(verify(instance, [DefaultGaps()])) for instance in PRICED}


def test_cpsat_with_a_float_objective_is_caught() -> None:
    assert True in {caught(verify(instance, [FloatObjective()])) for instance in PRICED}


@unless_measured("ortools", "9.15")
def test_huge_weights_with_the_guard_off_are_caught() -> None:
    case = regression("cpsat-huge-weights")
    verdict = verify(Instance.model_validate(case["input"]), [Unguarded()])
    assert verdict.kind == "differ"
    assert [answer.value for answer in verdict.answers] == [
        case["right"] * 10**verdict.program.scale, case["wrong"] * 10**verdict.program.scale,
    ]  # fmt: skip
    assert verdict.reason.endswith(
        "refutes cpsat-unguarded's claim that none is worth more than 65.000000000"
    )


@unless_measured("ortools", "9.15")
def test_the_public_case_of_huge_weights_is_caught(shared: Any) -> None:
    case = json.loads((shared / "cases" / "59-huge-weights.json").read_text())
    instance = Instance.model_validate(case["input"])
    verdict = verify(instance, [Unguarded()])
    assert (verdict.kind, verdict.value, verdict.tokens) == ("differ", "262.000000000", 63000000009)
    assert verify(instance, ["exhaustive"]).kind == "equal"


def test_cpsat_with_the_guard_on_refuses_huge_weights_by_name() -> None:
    verdict = verify(Instance.model_validate(regression("cpsat-huge-weights")["input"]))
    assert (verdict.kind, verdict.answers[1].status, verdict.answers[1].limit) == (
        "unproven", "refused", "tokens_sum",
    )  # fmt: skip
    assert "tokens_sum is 8,794,308,732, at most 2,147,483,647 is safe" in verdict.reason


def _other_items_option(program: Program, selection: Any) -> Any:
    selection[0] = selection[1]
    return selection


@pytest.mark.parametrize(
    ("corrupt", "reason"),
    [
        (_other_items_option, "one option an item: 1 items have none of theirs ('a')"),
        (lambda program, selection: selection[:-1], "shape: "),
        (lambda program, selection: selection.astype(float), "shape: "),
        (lambda program, selection: selection + 10**6, "one option an item: 3 items"),
        (lambda program, selection: program.start[:-1].copy(), "budget: 22 tokens are 9 over 13"),
    ],
    ids=["another item's option", "an item short", "floats", "out of range", "over budget"],
)
def test_a_corrupted_selection_is_invalid_whatever_its_status(corrupt: Any, reason: str) -> None:
    verdict = verify(Instance.model_validate(TIES), ["cpsat", Corrupted(corrupt)])
    assert (verdict.kind, verdict.answers[2].status) == ("invalid", "invalid")
    assert verdict.reason.startswith(f"corrupted's selection breaks a constraint: {reason}")
    assert verdict.value == "8.000000000"
    json.dumps(verdict.to_dict())
    assert set(verdict.choices(verdict.answers[2])) in (set(), {"a", "b", "c"})


def test_a_selection_over_the_budget_keeps_its_recomputed_tokens() -> None:
    over = verify(
        Instance.model_validate(TIES), [Corrupted(lambda program, selection: program.start[:-1].copy())]
    ).answers[1]
    assert over.tokens == 22


def test_a_broken_link_is_invalid() -> None:
    linked = Instance.model_validate(
        {"budget": 9, "items": [item("a", (1, 1), group="g"), item("b", (1, 1), group="g")]}
    )
    verdict = verify(linked, [Corrupted(lambda program, selection: np.array([0, 3]))])
    assert (verdict.kind, verdict.reason) == (
        "invalid", "corrupted's selection breaks a constraint: group: of ['a', 'b'] only ['a'] are present",
    )  # fmt: skip


def test_optimal_with_a_false_bound_is_caught() -> None:
    verdict = verify(Instance.model_validate(TIES), [FalseBound()])
    assert verdict.kind == "differ"
    assert verdict.reason == (
        "dp selects 8.000000000 in 12 tokens, which refutes "
        "false-bound's claim that none is worth more than 0.000000000"
    )


# The rules, one by one


@pytest.fixture
def ties() -> Program:
    return program_of(TIES)


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (
            {"selection": BEST, "bound": 8 * UNIT},
            "equal",
            "dp and x prove the same optimum, 8.000000000 in 12 tokens",
        ),
        ({"selection": BEST}, "unproven", "x proves no optimum"),
        ({"selection": BEST, "bound": 8 * UNIT + 1}, "unproven", "x proves no optimum"),
        ({"selection": NOTHING, "bound": 8 * UNIT}, "unproven", "x proves no optimum"),
        (
            {"selection": NOTHING, "bound": 7 * UNIT},
            "differ",
            "x's claim that none is worth more than 7.000000000",
        ),
        (
            {"selection": BEST, "bound": 8 * UNIT - 1},
            "differ",
            "x's claim that none is worth more than 7.999999999",
        ),
        (
            {"selection": HEAVY, "bound": 8 * UNIT},
            "differ",
            "x's claim that none of that value has fewer than 13 tokens",
        ),
        (
            {"selection": HEAVY, "bound": 8 * UNIT, "fewest": False},
            "unproven",
            "x does not prove that the tokens are the fewest",
        ),
        (
            {"selection": BEST, "bound": 8 * UNIT, "fewest": False},
            "unproven",
            "x does not prove that the tokens are the fewest",
        ),
        ({"infeasible": True}, "differ", "x's claim that there is none"),
        ({"selection": BEST, "infeasible": True}, "differ", "x's claim that there is none"),
        ({"bound": 7 * UNIT}, "differ", "x's claim that none is worth more than 7.000000000"),
        ({"claimed": "UNKNOWN"}, "unproven", "x found no selection"),
        ({"selection": OVER, "bound": 11 * UNIT}, "invalid", "x's selection breaks a constraint: budget: "),
        ({"selection": OVER}, "invalid", "x's selection breaks a constraint: budget: "),
    ],
)
def test_what_an_answer_beside_a_right_one_amounts_to(
    answer: dict[str, Any], kind: str, reason: str, ties: Program
) -> None:
    selection = None if answer.get("selection") is None else np.array(answer["selection"])
    verdict = verify_program(ties, ["dp", Fixed(Answer(**(answer | {"selection": selection})), "x")])
    assert verdict.kind == kind
    assert reason in verdict.reason
    claims = {
        "infeasible": "there is none",
        "bound": "worth more",
        "fewest": "fewer than",
        "constraint": "breaks",
    }
    assert [claim for solver, claim in verdict.refuted if solver == "x" and claims[claim] in reason] == (
        [claim for solver, claim in verdict.refuted] if kind in ("differ", "invalid") else []
    )
    assert bool(verdict.refuted) == (kind in ("differ", "invalid"))
    if kind == "differ":
        assert verdict.reason.startswith("dp selects 8.000000000 in 12 tokens, which refutes x's claim")


def fixed(name: str, selection: Any = None, **claims: Any) -> Fixed:
    return Fixed(Answer(None if selection is None else np.array(selection), **claims), name)


def test_a_better_selection_refutes_a_proof_even_if_it_proves_nothing_itself(ties: Program) -> None:
    proved = fixed("proved", NOTHING, bound=0)
    verdict = verify_program(ties, [proved, fixed("lucky", HEAVY)])
    assert (verdict.kind, verdict.value, verdict.tokens) == ("differ", "8.000000000", 13)
    assert verdict.reason.startswith("lucky selects 8.000000000 in 13 tokens, which refutes proved's claim")


def test_dp_itself_can_be_the_one_that_is_refuted(ties: Program) -> None:
    wrong = Fixed(Answer(np.array(NOTHING), bound=0), "dp")
    assert verify_program(ties, [wrong, CpSat()]).reason.startswith("cpsat selects")


def test_a_broken_constraint_comes_before_any_difference(ties: Program) -> None:
    verdict = verify_program(ties, ["dp", fixed("x", NOTHING, bound=0), fixed("y", OVER, bound=0)])
    assert (verdict.kind, verdict.value) == ("invalid", "8.000000000")


def test_two_that_prove_infeasibility_and_one_that_was_stopped_prove_nothing_together(ties: Program) -> None:
    no = fixed("no", infeasible=True)
    assert verify_program(ties, [no, no]).kind == "infeasible"
    assert verify_program(ties, [no, fixed("stopped")]).kind == "unproven"
    assert verify_program(ties, [no, fixed("yes", NOTHING)]).kind == "differ"


def test_no_selection_is_no_answer_of_a_limit(ties: Program) -> None:
    class Refusing:
        name = "refusing"

        def __init__(self, error: Exception) -> None:
            self.error = error

        def solve(self, program: Program, time_limit: float | None = None) -> Answer:
            raise self.error

    refused = verify_program(ties, ["dp", Refusing(SolverLimit("refusing", "capacity", 9, 8))])
    assert (refused.kind, refused.answers[1].status, refused.answers[1].limit) == (
        "unproven", "refused", "capacity",
    )  # fmt: skip
    failed = verify_program(ties, ["dp", Refusing(SolverFailed("refusing", "it broke down"))])
    assert (failed.kind, failed.answers[1].status) == ("unproven", "failed")
    assert "it broke down" in failed.reason
    with pytest.raises(SolverMissing):
        verify_program(ties, ["dp", Refusing(SolverMissing("refusing", "package", "solvers"))])


def test_a_time_limit_costs_the_proof_and_nothing_else() -> None:
    verdict = verify(generate_columns("priced", 200, 1), time_limit=1)
    assert (verdict.kind, verdict.answers[0].status) == ("unproven", "optimal")


@pytest.mark.parametrize("solver", [CpSat(fewest_tokens=False), DynamicProgram(most_states=1)])
def test_a_solver_says_itself_that_its_tokens_may_not_be_the_fewest(solver: Any) -> None:
    for seed in range(5):
        given_program = compiled(generate("priced", 12, seed)).program
        assert not solver.solve(given_program).fewest
        assert verify_program(given_program, ["dp", solver]).kind == "unproven"


def test_every_exact_solver_claims_fewest_tokens() -> None:
    pytest.importorskip("pulp")
    given_program = compiled(generate("duplicates", 6, 1)).program
    solvers = ["dp", "cpsat", "milp", "exhaustive"]
    assert all(answer.proved for answer in verify_program(given_program, solvers).answers)


@pytest.mark.parametrize("against", [(), ("dp",), ("cpsat", "dp")])
def test_dp_is_not_its_own_witness(against: Any) -> None:
    with pytest.raises(ValueError, match="name at least one, and not dp"):
        verify(Instance.model_validate(TIES), against)


def test_an_unknown_solver_is_named() -> None:
    with pytest.raises(UnknownSolver, match="no solver 'magic'"):
        verify(Instance.model_validate(TIES), ["magic"])


def test_without_ortools_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(SolverMissing, match=r"memopt\[solvers\]"):
        verify(Instance.model_validate(TIES))


@settings(max_examples=150)
@given(declarations(), st.data())
def test_whatever_a_liar_says_it_is_never_called_equal_to_the_truth(declared: Any, data: Any) -> None:
    """Beside one honest solver, only the right value in the right number of tokens can be `equal`."""
    given_program = program_of(declared)
    truth = Exhaustive().solve(given_program)
    options = st.integers(-1, len(given_program.value))
    anything = st.lists(options, min_size=len(given_program), max_size=len(given_program))
    possible = st.tuples(*(st.sampled_from(given_program.options(i)) for i in range(len(given_program))))
    selection = data.draw(st.none() | anything | possible)
    chosen = None if selection is None else np.array(selection, dtype=np.int64)
    value = 0 if chosen is None else given_program.audit(chosen).value
    bound = data.draw(st.none() | st.sampled_from([value, value - 1, value + 1, truth.bound or 0]))
    liar = Fixed(
        Answer(chosen, infeasible=data.draw(st.booleans()), bound=bound, fewest=data.draw(st.booleans())),
        "liar",
    )
    verdict = verify_program(given_program, data.draw(st.permutations([Exhaustive(), liar])))
    if verdict.kind == "equal":
        assert chosen is not None
        assert truth.selection is not None
        audit, right = given_program.audit(chosen), given_program.audit(truth.selection)
        assert (audit.value, audit.tokens, audit.broken) == (right.value, right.tokens, ())
    elif verdict.kind == "infeasible":
        assert truth.infeasible
        assert liar.answer.infeasible
    assert verdict.value == judge(given_program, verdict.answers[::-1]).value
    assert verdict.kind == judge(given_program, verdict.answers[::-1]).kind


def test_one_solver_may_be_named_by_text_alone() -> None:
    verdict = verify(Instance.model_validate(TIES), "cpsat")
    assert [answer.solver for answer in verdict.answers] == ["dp", "cpsat"]
    with pytest.raises(ValueError, match="name at least one, and not dp"):
        verify(Instance.model_validate(TIES), "dp")
    with pytest.raises(UnknownSolver, match="'magic'"):
        verify(Instance.model_validate(TIES), "magic")


def test_the_fewest_tokens_are_the_best_whoever_is_asked_first(ties: Program) -> None:
    verdict = verify_program(ties, [fixed("x", HEAVY, bound=8 * UNIT, fewest=True), "dp"])
    assert (verdict.kind, verdict.tokens) == ("differ", 12)
    assert verdict.refuted == (("x", "fewest"),)
