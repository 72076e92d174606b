"""`memopt verify`: the exact solver against others, on one instance or on many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from memopt.errors import UnknownFamily, UnknownSolver, writable
from memopt.families import FAMILIES
from memopt.solvers import SOLVERS
from memopt.verify import SUBJECT

from .options import Force, TimeLimit

if TYPE_CHECKING:
    from memopt.report import Asked


def verify(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Problem files, folders of them, JSON Lines; - for standard input.",
            show_default=False,
        ),
    ] = None,
    random: Annotated[
        int | None, typer.Option("--random", min=1, metavar="N", help="Verify N random instances instead.")
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(
            "--family",
            metavar="NAMES",
            help=f"With --random, by commas: {', '.join(FAMILIES)} (default all).",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, metavar="S", help="With --random: the first seed."),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="NAMES",
            help="Solvers to compare dp with, by commas (default cpsat).",
            show_default=False,
        ),
    ] = None,
    time_limit: TimeLimit = None,
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, metavar="N", help="Processes to verify in, 61 at most.")
    ] = 1,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write a report here, a row per instance.")
    ] = None,
    force: Force = False,
    resume: Annotated[
        str | None,
        typer.Option("--resume", metavar="REPORT", help="Go on where this report stopped, and update it."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the verdict, or the summary of many, as one line of JSON.")
    ] = False,
) -> None:
    """Solve with dp and with other solvers, and compare the audited answers exactly.

    Verdicts: equal, infeasible (all prove it), differ, invalid (a selection breaks a constraint),
    unproven (nothing is refuted, but somebody proves nothing). What differs or is invalid is shrunk and
    written to a witness file: exit status 4. One file is shown side by side, many in a table of counts.
    """
    from . import verification  # not loaded where another command runs

    if resume is not None:
        given = {
            "PATH": paths, "--random": random, "--family": family, "--seed": seed, "--against": against,
            "--time-limit": time_limit, "--out": out,
        }  # fmt: skip
        for name, value in given.items():
            if value not in (None, []):
                raise typer.BadParameter("the report to resume says what is verified", param_hint=name)
        verification.resume(resume, jobs, as_json)
        return
    asked = _asked(paths or [], random, family, seed, against, time_limit)
    verification.run(asked, jobs, out, force, as_json)


def _asked(
    paths: Sequence[str],
    random: int | None,
    family: Sequence[str] | None,
    seed: int | None,
    against: Sequence[str] | None,
    time_limit: float | None,
) -> Asked:
    """Return the question that the options ask, or say what is wrong with them."""
    from memopt.report import Asked

    names = _names(against or ["cpsat"], "--against")
    for name in names:
        if name not in SOLVERS:
            raise UnknownSolver(name, SOLVERS)
    if SUBJECT in names:
        raise typer.BadParameter(f"name the others, and not {SUBJECT} itself", param_hint="--against")
    if bool(paths) == (random is not None):
        raise typer.BadParameter("give either files or --random N", param_hint="PATH")
    if random is None:
        if family or seed is not None:
            raise typer.BadParameter("--family and --seed go with --random", param_hint="--random")
        if any(writable(path) != path for path in paths):
            raise typer.BadParameter("a report cannot hold a name that is no UTF-8", param_hint="PATH")
        return Asked(paths=list(paths), against=names, time_limit=time_limit)
    families = _names(family or ["all"], "--family")
    if families == ["all"]:
        families = list(FAMILIES)
    for name in families:
        if name not in FAMILIES:
            raise UnknownFamily(name, FAMILIES)
    return Asked(random=random, families=families, seed=seed or 0, against=names, time_limit=time_limit)


def _names(given: Sequence[str], option: str) -> list[str]:
    """Return the names in an option, which commas part."""
    names = [name.strip() for name in given[0].split(",")]
    if len(given) > 1 or len(set(names)) < len(names):
        raise typer.BadParameter("give it once, with each name once, by commas", param_hint=option)
    return names
