"""Every format a program can be written in, each read back and compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from memopt.allocation import Allocation
from memopt.compile import Compiled
from memopt.export import cpsat, latex, lp, markdown, model_json, mps, names_file, reread
from memopt.export.linear import Linear, linear_model
from memopt.instance import Instance
from memopt.solve import solve_compiled

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel


class Export:
    """A compiled instance on its way into files; what several formats need is made once.

    Parameters
    ----------
    compiled
        The program; an infeasible or empty one has model files like any other.
    instance
        What was compiled, for the names that it gives to groups and exclusive sets.
    """

    def __init__(self, compiled: Compiled, instance: Instance | None = None) -> None:
        self.compiled = compiled
        self.instance = instance
        self.program = compiled.program

    @cached_property
    def model(self) -> Linear:
        """The program as a linear model, with names."""
        return linear_model(self.program)

    @cached_property
    def allocation(self) -> Allocation:
        """The optimum that Markdown and LaTeX mark."""
        return solve_compiled(self.compiled)

    @cached_property
    def _cpsat_model(self) -> CpModel:
        return cpsat.named_model(self.program, self.model)

    def write(self, format: str) -> bytes:  # noqa: A002  # the word of the command line
        """Return the content of a file of a format, once its reader agrees with the program.

        Raises
        ------
        KeyError
            When `FORMATS` has no such format.
        SolverMissing, SolverLimit
            When OR-Tools or HiGHS is needed and not installed, or CP-SAT refuses the program.
        RereadDiffers
            When a reader finds something else than the program.
        """
        return _WRITERS[format](self)

    def is_named(self, format: str) -> bool:  # noqa: A002  # as above
        """Whether files of a format name variables, which only a names file explains."""
        return format in ("lp", "mps", "cpsat-text", "cpsat-binary", "cpsat-json")

    def names(self) -> bytes:
        """Return the content of the names file: what each variable and row stands for."""
        return names_file.write(self.program, self.model, self.instance)

    def _lp(self) -> bytes:
        content = lp.write(self.model)
        reread.check_linear("lp", content, self.model)
        return content

    def _mps(self) -> bytes:
        content = mps.write(self.model)
        reread.check_linear("mps", content, self.model)
        return content

    def _cpsat_text(self) -> bytes:
        content = cpsat.write(self._cpsat_model, "pbtxt")
        reread.check_cpsat("cpsat-text", content, self.program, self.model)
        return content

    def _cpsat_binary(self) -> bytes:
        content = cpsat.write(self._cpsat_model, "pb")
        reread.check_cpsat("cpsat-binary", content, self.program, self.model)
        return content

    def _cpsat_json(self) -> bytes:
        content = cpsat.as_json(cpsat.write(self._cpsat_model, "pb"))
        reread.check_cpsat("cpsat-json", content, self.program, self.model)
        return content

    def _json(self) -> bytes:
        content = model_json.write(self.program, self.model)
        reread.check_json(content, self.program, self.model)
        return content

    def _markdown(self) -> bytes:
        content = markdown.write(self.allocation)
        reread.check_table("md", content, self.allocation)
        return content

    def _latex(self) -> bytes:
        content = latex.write(self.allocation)
        reread.check_table("latex", content, self.allocation)
        return content


_WRITERS: dict[str, Callable[[Export], bytes]] = {
    "lp": Export._lp,
    "mps": Export._mps,
    "cpsat-text": Export._cpsat_text,
    "cpsat-binary": Export._cpsat_binary,
    "cpsat-json": Export._cpsat_json,
    "json": Export._json,
    "md": Export._markdown,
    "latex": Export._latex,
}
FORMATS = tuple(_WRITERS)
"""Names of the formats."""
