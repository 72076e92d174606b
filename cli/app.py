"""The commands of `memopt`, and what every failure says and returns."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from memopt.errors import MemoptError, SolverFailed

from .count import count
from .exits import Exit
from .experiment import experiments
from .export import export
from .fit import fit
from .import_solution import import_solution
from .inspect import inspect
from .log import log
from .mcp import mcp
from .outcome import outcome
from .output import abandon_output, emit, say, say_interrupted
from .put import put
from .refresh import refresh
from .replay import replay
from .schema import schema
from .simulate import simulate
from .solve import solve
from .solve_batch import solve_batch
from .status import status
from .turn import turn
from .verify import verify
from .version import version_lines
from .worth import worth

_STATUSES = (
    "Exit status: 0 solved; 1 a solver gave no usable answer; 2 invalid input, wrong usage, a file that "
    "cannot be read or written, or a solver that is unknown, not installed or refuses the program; "
    "3 infeasible; 4 a solver's answer is wrong, solvers disagree, or a replayed log differs; "
    "130 interrupted; 141 nobody reads the output any more; 143 asked to end (SIGTERM or SIGHUP)."
)


class Commands(TyperGroup):
    """The commands, with every expected failure turned into one sentence and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; see `_STATUSES`."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say_interrupted()
            raise typer.Exit(Exit.INTERRUPTED) from None
        except SystemExit as ended:
            if ended.code == Exit.TERMINATED:
                say_interrupted()
            raise
        except BrokenPipeError:
            abandon_output()
            raise typer.Exit(Exit.READER_GONE) from None
        except SolverFailed as error:
            say(str(error))
            raise typer.Exit(Exit.FAILED) from None
        except MemoptError as error:
            say(str(error))
            raise typer.Exit(Exit.INVALID) from None
        except OSError as error:
            abandon_output()
            reason = error.strerror or str(error)
            say(reason if error.filename is None else f"{error.filename!r}: {reason}")
            raise typer.Exit(Exit.INVALID) from None
        except MemoryError:
            say("there is not enough memory for this input")
            raise typer.Exit(Exit.INVALID) from None


app = typer.Typer(
    name="memopt",
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    epilog=_STATUSES,
    help="Choose one fidelity level for every memory of an agent, exactly, within a token budget.",
)
app.command("solve")(solve)
app.command("solve-batch")(solve_batch)
app.command("verify")(verify)
app.command("export")(export)
app.command("import-solution")(import_solution)
app.command("inspect")(inspect)
app.command("schema")(schema)
app.command("fit")(fit)
app.command("count")(count)
app.command("turn")(turn)
app.command("outcome")(outcome)
app.command("refresh")(refresh)
app.command("put")(put)
app.command("status")(status)
app.command("worth")(worth)
app.command("log")(log)
app.command("replay")(replay)
app.command("simulate")(simulate)
app.command("mcp")(mcp)
app.add_typer(experiments, name="experiment")


@app.callback()
def _memopt(
    version: Annotated[bool, typer.Option("--version", help="Print every component's version.")] = False,
) -> None:
    if version:
        emit("".join(f"{line}\n" for line in version_lines()).encode())
        raise typer.Exit
