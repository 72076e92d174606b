"""The program of a problem file, for commands that read it without solving."""

from __future__ import annotations

from memopt import Compiled, Instance, compile
from memopt.jsontext import parse

from . import files
from .faults import reporting


def read_compiled(file: str, as_json: bool = False) -> Compiled:
    """Return the compiled instance of a problem file; an invalid one is reported and ends the command."""
    with reporting(file, as_json):
        return compile(Instance.model_validate(parse(files.read(file))))
