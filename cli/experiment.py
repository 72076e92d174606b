"""`memopt experiment`: the papers' experiments, published figures beside measured ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from memopt.errors import counted
from memopt.experiments.registry import NAMES, experiment

from . import files
from .exits import Exit
from .experiment_report import cited, report, settings, span, wrapped
from .options import AsJson
from .output import emit, emit_text, json_bytes, say
from .progress import share
from .tables import table

if TYPE_CHECKING:
    from memopt.experiments.experiment import Experiment, Parameters

experiments = typer.Typer(
    no_args_is_help=True, help="Run the papers' experiments and compare with what was published."
)
_PNG = ".png"


@experiments.command("list")
def list_experiments(as_json: AsJson = False) -> None:
    """Print every experiment: its name, paper, default seeds, title and parameters."""
    known = [experiment(name) for name in NAMES]
    if as_json:
        emit(json_bytes([_described(each) for each in known]))
        return
    # The title comes last: it alone may take several lines.
    rows = [(e.name, e.paper.name, e.number or "-", span(e.seeds), e.title) for e in known]
    emit_text(table(("name", "paper", "no.", "seeds", "title"), rows, left=5, whole=True))
    emit_text("no.: which experiment of the paper it is; -: none of them.\n")
    for paper in dict.fromkeys(e.paper for e in known):
        emit_text(wrapped(f"{cited(paper)} {paper.known_from}", later="  "))
    emit_text("\nParameters, for --set:\n")
    width = max(map(len, NAMES))
    for e in known:
        emit_text(wrapped(settings(dict(e.parameters())), f"  {e.name:{width}}  ", " " * (width + 4)))


@experiments.command("run")
def run_experiment(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"One of {', '.join(NAMES)}.")],
    seeds: Annotated[
        str | None,
        typer.Option(
            "--seeds",
            metavar="LIST|COUNT",
            help="42,43,44 (42, is a list of one), or how many: the first of the default ones.",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a parameter; may be given again."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Write the result here, as JSON; never over a file."),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw curves with error bands, as PNG; the name ends in .png."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run an experiment and print published figures beside measured ones.

    The same seeds give the same bytes. Files are written whole or not at all, and their folders are made.
    """
    from memopt.experiments.plotting import drawing
    from memopt.experiments.result import result, to_bytes

    chosen, parameters, numbers = _request(name, seeds, changes or [], out, plot)
    picture = None if plot is None else drawing()  # before the run: matplotlib may be missing
    with ExitStack() as all_or_none:
        result_file, plot_file = (_opened(all_or_none, path) for path in (out, plot))
        with share(chosen.name) as advance:
            runs = chosen.run(parameters, numbers, advance)
        document = result(chosen, parameters, runs)
        if result_file is not None:
            result_file.write(to_bytes(document))
        if picture is not None and plot_file is not None:
            chosen.plot(parameters, runs, picture)
            picture.savefig(plot_file, format="png", metadata={"Software": None})
    if as_json:
        emit(json_bytes(document))
        return
    for text in report(chosen, parameters, document):
        emit_text(text)
    emit_text("".join(f"{path}: written\n" for path in (out, plot) if path is not None))


def _request(
    name: str, seeds: str | None, changes: Sequence[str], out: str | None, plot: str | None
) -> tuple[Experiment[Any], Parameters, tuple[int, ...]]:
    """Return the experiment, parameters and seeds asked for, or say all that is wrong and end the command."""
    from memopt.experiments.asked import InvalidRequest, read_seeds, read_settings

    reasons: list[str] = []
    chosen = None
    if name in NAMES:
        chosen = experiment(name)
    else:
        reasons.append(f"there is no experiment {name!r}; there are {', '.join(NAMES)}")
    numbers: tuple[int, ...] = ()
    parameters = None
    try:
        numbers = read_seeds(seeds, () if chosen is None else chosen.seeds)
    except InvalidRequest as error:
        reasons += error.reasons
    try:
        parameters = None if chosen is None else read_settings(changes, chosen.parameters)
    except InvalidRequest as error:
        reasons += error.reasons
    for option, path in (("--out", out), ("--plot", plot)):
        if path == files.STANDARD:
            reasons.append(f"{option} names a file; --json prints the result")
    if plot not in (None, files.STANDARD) and os.path.splitext(plot)[1].lower() != _PNG:
        reasons.append(f"--plot draws PNG alone: the name must end in {_PNG}, read {plot!r}")
    if out is not None and plot is not None and os.path.realpath(out) == os.path.realpath(plot):
        reasons.append("--out and --plot name the same file")
    if reasons or chosen is None or parameters is None:
        say(f"{counted(len(reasons), 'fault')} in what is asked", *_indented(reasons))
        raise typer.Exit(Exit.INVALID)
    return chosen, parameters, numbers


def _opened(all_or_none: ExitStack, path: str | None) -> BinaryIO | None:
    if path is None:
        return None
    all_or_none.enter_context(files.folder(os.path.dirname(path), parents=True))
    return all_or_none.enter_context(files.writing(path, force=None))


def _described(known: Experiment[Any]) -> dict[str, Any]:
    from memopt.experiments.result import plain, source

    return {
        "name": known.name,
        "title": known.title,
        "source": source(known),
        "seeds": list(known.seeds),
        "parameters": plain(known.parameters().model_dump()),
    }


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]
