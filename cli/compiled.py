"""The program of a problem file, for commands that look at it without solving."""

from __future__ import annotations

from memopt import Compiled, Instance, InvalidInstance, compile
from memopt.jsontext import parse

from . import files
from .faults import report_invalid


def read_compiled(file: str, as_json: bool = False) -> Compiled:
    """Return the compiled instance of a problem file; an invalid one is reported and ends the command."""
    try:
        return compile(Instance.model_validate(parse(files.read(file))))
    except InvalidInstance as error:
        report_invalid(file, error, as_json)
