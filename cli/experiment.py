"""`memopt experiment`: the papers' experiments, published figures beside measured ones."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from memopt.experiments.registry import NAMES, experiment

from . import files
from .output import emit, emit_text, json_bytes, say
from .progress import share
from .sessions import AsJson
from .status import Exit
from .tables import figures, table

if TYPE_CHECKING:
    from memopt.experiments.experiment import Claims, Experiment, Parameters

experiments = typer.Typer(
    no_args_is_help=True, help="Run the papers' experiments and compare with what was published."
)
_HEADINGS = ("measured", "published", "ours", "±", "difference", "met")
_WIDTH = 100


@experiments.command("list")
def list_experiments(as_json: AsJson = False) -> None:
    """Print every experiment: its name, title, default seeds and parameters."""
    known = [experiment(name) for name in NAMES]
    if as_json:
        emit(json_bytes([_described(each) for each in known]))
        return
    emit_text(table(("name", "title", "seeds"), ((e.name, e.title, _span(e.seeds)) for e in known), left=2))
    emit_text("\nParameters, for --set:\n")
    emit_text(figures((f"  {e.name}", _settings(e.parameters())) for e in known))


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
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a parameter; may be given again."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Write the result here, as JSON; never over a file."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Draw curves with error bands, as PNG.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run an experiment and print published figures beside measured ones.

    The same seeds give the same bytes. Files are written whole or not at all, and their folders are made.
    """
    from memopt.experiments.plotting import drawing
    from memopt.experiments.result import result, to_bytes

    chosen, parameters, numbers = _request(name, seeds, settings or [], out, plot)
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
    changed = _settings(parameters, parameters.model_fields_set) or "none"
    emit_text(f"{chosen.title}\n{_counted(numbers)}; parameters changed: {changed}\n")
    emit_text(table(_HEADINGS, map(_row, document["table"])))
    emit_text("".join(f"{line}\n" for line in _claimed(chosen.claims)))
    emit_text("".join(f"{path}: written\n" for path in (out, plot) if path is not None))


def _request(
    name: str, seeds: str | None, settings: Sequence[str], out: str | None, plot: str | None
) -> tuple[Experiment[Any], Parameters, tuple[int, ...]]:
    """Return what is asked for, or say everything that is wrong with it and end the command."""
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
        parameters = None if chosen is None else read_settings(settings, chosen.parameters)
    except InvalidRequest as error:
        reasons += error.reasons
    for option, path in (("--out", out), ("--plot", plot)):
        if path == files.STANDARD:
            reasons.append(f"{option} names a file; --json prints the result")
    if out is not None and plot is not None and os.path.realpath(out) == os.path.realpath(plot):
        reasons.append("--out and --plot name the same file")
    if reasons or chosen is None or parameters is None:
        say(f"{len(reasons)} fault{'' if len(reasons) == 1 else 's'} in what is asked", *_indented(reasons))
        raise typer.Exit(Exit.INVALID)
    return chosen, parameters, numbers


def _opened(all_or_none: ExitStack, path: str | None) -> BinaryIO | None:
    if path is None:
        return None
    all_or_none.enter_context(files.folder(os.path.dirname(path), parents=True))
    return all_or_none.enter_context(files.writing(path, force=None))


def _described(known: Experiment[Any]) -> dict[str, Any]:
    from memopt.experiments.result import plain

    return {
        "name": known.name,
        "title": known.title,
        "seeds": list(known.seeds),
        "parameters": plain(known.parameters().model_dump()),
    }


def _settings(parameters: Parameters, names: set[str] | None = None) -> str:
    """Return parameters as `--set` takes them."""
    return " ".join(
        f"{name}={','.join(map(str, value)) if isinstance(value, tuple) else str(value)}"
        for name, value in parameters.model_dump(include=names).items()
    )


def _span(seeds: Sequence[int]) -> str:
    """Return seeds in few words: 0-19, or a list."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]}-{seeds[-1]}"
    return ", ".join(map(str, seeds))


def _counted(seeds: Sequence[int]) -> str:
    return f"{len(seeds):,} seed{'' if len(seeds) == 1 else 's'}: {_span(seeds)}"


def _row(row: dict[str, Any]) -> list[str]:
    met = {True: "yes", False: "no", None: "-"}[row["met"]]
    numbers = [_number(row[name]) for name in ("published", "ours", "spread")]
    difference = "-" if row["difference"] is None else f"{_number(row['difference'], '+')}"
    return [row["name"], *numbers, difference, met]


def _number(value: float | None, sign: str = "") -> str:
    """Return a rate to three digits after the point, a large figure to one or, if it is whole, to none."""
    if value is None:
        return "-"
    if abs(value) < 100:
        return f"{value:{sign}.3f}"
    return f"{value:{sign},.1f}".removesuffix(".0")


def _claimed(claims: Claims) -> Iterator[str]:
    """Yield what the figures do and do not show."""
    if claims.component_only:
        yield "Component only: a mechanism is exercised, no agent and no language model."
    if claims.diagnostic_only:
        yield "Diagnostic only: no improvement of any task is claimed."
    for heading, sentences in (("Shows:", claims.shows), ("Does not show:", claims.shows_not)):
        if sentences:
            yield heading
        for sentence in sentences:
            yield from textwrap.wrap(sentence, _WIDTH, initial_indent="  - ", subsequent_indent="    ")


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]
