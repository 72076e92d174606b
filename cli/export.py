"""`memopt export`: a program as a model file that other solvers and people read."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from memopt import Instance, compile
from memopt.jsontext import parse
from memopt.shortage import find_shortage

from . import files
from .faults import reporting
from .output import emit, say

if TYPE_CHECKING:
    from memopt.export import Export

FILES = {
    "lp": "model.lp",
    "mps": "model.mps",
    "cpsat-text": "model.pbtxt",
    "cpsat-binary": "model.pb",
    "cpsat-json": "model.pb.json",
    "json": "model.json",
    "md": "model.md",
    "latex": "model.tex",
}
"""Every format, and the name of its file in the folder of --all."""
_NAMES = "names.json"


def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Problem file, or - for standard input.")],
    form: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help=f"What to write: {', '.join(FILES)}.")
    ] = None,
    out: Annotated[
        str, typer.Option("--out", metavar="PATH", help="Write here instead of standard output.")
    ] = files.STANDARD,
    everything: Annotated[
        str | None, typer.Option("--all", metavar="DIR", help="Write every format into this folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
) -> None:
    """Write the integer program of an instance in a format that other tools read.

    Each file is read back by a reader that did not write it and compared with the program before it
    appears under its name. Beside PATH, the file PATH.names.json says which item and level each variable
    stands for, and which group or exclusive set each row of a link. CP-SAT's files count tokens in units of
    their common divisor, which that file names; the others hold the declared numbers.
    """
    if (form is None) == (everything is None):
        raise typer.BadParameter("give either --format or --all", param_hint="--format")
    if form is not None and form not in FILES:
        raise typer.BadParameter(f"it is one of {', '.join(FILES)}", param_hint="--format")
    if everything is not None and out != files.STANDARD:
        raise typer.BadParameter("--all writes into its folder alone", param_hint="--out")
    from memopt.export import Export  # not loaded where another command runs

    with reporting(file, as_json=False):
        instance = Instance.model_validate(parse(files.read(file)))
        made = Export(compile(instance), instance)
    if everything is not None:
        _write_all(made, everything, force)
    elif form is not None and out == files.STANDARD:
        emit(made.write(form))
    elif form is not None:
        _write_one(made, form, out, force)
    shortage = find_shortage(made.program)
    if shortage is not None:
        say(f"the program is infeasible, and so is the model ({shortage.code}): {shortage.message}")


def _write_one(made: Export, form: str, out: str, force: bool) -> None:
    with ExitStack() as all_or_none:
        model = all_or_none.enter_context(files.writing(out, force))
        if made.is_named(form):
            all_or_none.enter_context(files.writing(f"{out}.{_NAMES}", force)).write(made.names())
        model.write(made.write(form))
        model.flush()  # a full disk shows here, before the names appear without the model


def _write_all(made: Export, folder: str, force: bool) -> None:
    with files.folder(folder), ExitStack() as all_or_none:

        def opened(name: str) -> BinaryIO:
            return all_or_none.enter_context(files.writing(os.path.join(folder, name), force))

        targets = {form: opened(name) for form, name in FILES.items()}
        opened(_NAMES).write(made.names())
        for form, target in targets.items():
            target.write(made.write(form))
            target.flush()  # a full disk shows here, before the first file appears under its name
