from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from memopt_cli.app import app
from memopt_cli.version import version_lines
from typer.main import get_command

import memopt
from memopt import Program, SolverFailed, SolverLimit
from memopt.solvers import SOLVERS, Answer

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "memopt"]
EXAMPLE = str(ROOT / "examples" / "trip.json")


def test_version_names_everything(run: Any) -> None:
    done = run("--version")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == f"memopt {memopt.__version__}"
    assert f"numpy {metadata.version('numpy')}" in lines
    assert f"numba {metadata.version('numba')}" in lines
    assert [line.split()[1].rstrip(":") for line in lines if line.startswith("solver ")] == list(SOLVERS)
    assert f"solver cpsat: ortools {metadata.version('ortools')}" in lines


def test_version_says_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "ortools":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    assert "solver cpsat: ortools not installed" in list(version_lines())


def test_without_a_command_the_help_is_shown(run: Any) -> None:
    done = run()
    assert "solve-batch" in done.output
    assert "Exit status" in run("--help").stdout


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["solve"], ["solve", EXAMPLE, "--nonsense"], ["solve", EXAMPLE, "x"]]
)
def test_wrong_usage_is_exit_status_2(arguments: list[str], run: Any) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "memopt" in done.stderr


def _spoken(command: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return every command and every long option of it, as a path of words."""
    found = [path] if path else []
    for parameter in command.params:
        options = [option for option in parameter.opts if option.startswith("--")]
        found += [(*path, option) for option in options if option != "--help"]
    for name, child in getattr(command, "commands", {}).items():
        found += _spoken(child, (*path, name))
    return found


def test_every_command_and_option_is_in_the_readme() -> None:
    spoken = _spoken(get_command(app))
    assert ("solve-batch", "--jobs") in spoken
    assert ("--version",) in spoken
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert ("experiment", "run", "--plot") in spoken

    def is_there(words: tuple[str, ...]) -> bool:
        """Whether an option stands there, or a command with all its words: "run" alone is any word."""
        said = words[-1] if words[-1].startswith("--") else " ".join(words)
        return re.search(rf"(?<![\w-]){re.escape(said)}(?![\w-])", readme) is not None

    assert [" ".join(words) for words in spoken if not is_there(words)] == []


def test_a_small_solve_loads_no_solver_package() -> None:
    code = (
        "import sys; from memopt_cli.app import app\n"
        "try: app(['solve', sys.argv[1]])\n"
        "except SystemExit as done: assert done.code == 0\n"
        "print(sorted({'ortools', 'pulp', 'highspy', 'numba', 'pandas', 'rich.progress'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, EXAMPLE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


class _Failing:
    """A solver that gives up in one way."""

    name = "failing"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def solve(self, program: Program, time_limit: float | None = None) -> Answer:
        raise self.error


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (SolverFailed("failing", "it is broken"), 1, "solver 'failing' gave no usable answer: it is broken"),
        (
            SolverLimit("failing", "tokens_sum", 9, 8),
            2,
            "solver 'failing' refuses this program: tokens_sum is 9",
        ),
        (MemoryError(), 2, "there is not enough memory for this input"),
        (OSError("the line is dead"), 2, "the line is dead"),
    ],
)
def test_a_solver_that_gives_up_is_a_sentence(
    error: Exception, status: int, sentence: str, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memopt_cli.options.get", lambda name: _Failing(error))
    done = run("solve", EXAMPLE)
    assert (done.exit_code, done.stdout) == (status, "")
    assert done.stderr.startswith(f"memopt: {sentence}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "package"),
    [("solve", "ortools"), ("solve-batch", "ortools"), ("solve", "pulp"), ("solve-batch", "pulp")],
)
def test_a_solver_that_is_not_installed_names_the_extra(command: str, package: str, tmp_path: Path) -> None:
    """The package is hidden from the import system; everything else is real."""
    solver = {"ortools": "cpsat", "pulp": "milp"}[package]
    (tmp_path / "one.jsonl").write_text('{"budget": 1, "items": []}\n')
    code = f"import sys; sys.modules[{package!r}] = None; from memopt_cli.main import run; run()"
    arguments = [command, str(tmp_path / "one.jsonl"), "--solver", solver]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"memopt: solver {solver!r} needs {package}, which is not installed")
    assert "pip install 'memopt[solvers]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_module_runs_the_command(run_process: Any) -> None:
    done = run_process("solve", EXAMPLE, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["status"] == "optimal"


def test_the_program_that_is_installed_is_the_same(run_process: Any) -> None:
    entry = next(point for point in metadata.entry_points(group="console_scripts") if point.name == "memopt")
    assert entry.value == "memopt_cli.main:run"


def test_a_terminal_without_unicode_still_gets_utf_8_json(run_process: Any, strict_json: Any) -> None:
    example = ROOT / "examples" / "customer-zh.json"
    done = run_process("solve", example, "--json", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    first = json.loads(example.read_bytes())["items"][0]["id"]
    assert first in strict_json(done.stdout)["choices"]
    table = run_process("solve", example, PYTHONIOENCODING="ascii")
    assert table.returncode == 0
    assert first.encode("unicode_escape") in table.stdout


def _shell(line: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell line in which $M stands for the command; bash, for pipefail."""
    command = f"set -o pipefail; {line.replace('$M', ' '.join(COMMAND))}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=120, check=False)
    assert b"Traceback" not in done.stdout + done.stderr
    assert b"Exception ignored" not in done.stderr
    return done


@pytest.mark.parametrize("command", [f"solve {EXAMPLE}", f"solve {EXAMPLE} --json", "schema", "--version"])
def test_a_closed_pipe_ends_quietly(command: str) -> None:
    done = _shell(f"$M {command} | true")
    assert done.returncode == 141
    assert done.stderr == b""


def test_a_batch_whose_reader_leaves_ends_quietly(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_bytes(Path(EXAMPLE).read_bytes().replace(b"\n", b" ") + b"\n")
    path.write_bytes(path.read_bytes() * 200)
    done = _shell(f"$M solve-batch {path} | head -c 10")
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("command", [f"solve {EXAMPLE}", f"solve {EXAMPLE} --json", "schema"])
def test_a_full_disk_is_a_sentence(command: str) -> None:
    done = _shell(f"$M {command} > /dev/full")
    assert done.returncode == 2
    assert done.stderr == b"memopt: No space left on device\n"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("$M solve - <&-", b"memopt: standard input is closed\n"),
        (f"$M solve {EXAMPLE} >&-", b"memopt: standard output is closed\n"),
        (f"$M solve {EXAMPLE} --json >&-", b"memopt: standard output is closed\n"),
        ("$M solve nowhere.json 2>&-", b""),
    ],
)
def test_closed_streams_are_sentences(line: str, sentence: bytes) -> None:
    done = _shell(line)
    assert done.returncode == 2
    assert done.stderr == sentence


def test_standard_error_may_be_closed() -> None:
    assert _shell(f"$M solve {EXAMPLE} 2>&-").returncode == 0


LINE = b'{"budget": 1, "items": []}' + b" " * 20_000 + b"\n"


@pytest.mark.parametrize(
    ("number", "status", "sentence"),
    [
        (signal.SIGINT, 130, b"memopt: interrupted; no file was left half-written\n"),
        (signal.SIGTERM, 143, b"memopt: interrupted; no file was left half-written\n"),
    ],
)
def test_a_signal_leaves_no_file_behind(
    number: signal.Signals, status: int, sentence: bytes, tmp_path: Path
) -> None:
    command = [*COMMAND, "solve-batch", "-", "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        while not list(tmp_path.glob(".memopt-*.part")):
            assert child.poll() is None
            time.sleep(0.01)
        child.send_signal(number)
        _, said = child.communicate()
    assert (child.returncode, said) == (status, sentence)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_a_batch_in_several_processes() -> None:
    command = [*COMMAND, "solve-batch", "-", "--jobs", "2"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes, start_new_session=True) as child:
        child.stdin.write(LINE * 7)  # more chunks than may wait: the first answer comes
        child.stdin.flush()
        assert child.stdout.readline().startswith(b'{"line": 1, "status": "optimal"')
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does it: to the workers, too
        _, said = child.communicate()
    assert (child.returncode, said) == (130, b"memopt: interrupted; no file was left half-written\n")


def _python(code: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, check=False)


def test_an_interrupt_while_everything_is_loaded_is_one_sentence() -> None:
    done = _python(
        "import importlib.abc, os, signal, sys\n"
        "class Interrupting(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'numpy':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from memopt_cli.main import run\n"
        "run()\n"
    )
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr == b"memopt: interrupted; no file was left half-written\n"


def test_an_interrupt_inside_the_exec_of_a_text_leaves_the_exit_status_alone(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text(
        "import signal, sys\n"
        "from memopt_cli import app, main\n"
        "def interrupted(prog_name):\n"
        "    try:\n"
        "        exec('signal.raise_signal(signal.SIGINT)')\n"
        "    except KeyboardInterrupt:\n"
        "        sys.exit(130)\n"
        "app.app = interrupted\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "main.run()\n"
    )
    command = [sys.executable, "-m", "interrupted"]
    assert subprocess.run(command, cwd=tmp_path, timeout=120, check=False).returncode == 130


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs SIGHUP")
def test_what_nohup_ignores_stays_ignored() -> None:
    done = _python(
        "import signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from memopt_cli.main import run\n"
        "sys.argv = ['memopt', '--version']\n"
        "try:\n"
        "    run()\n"
        "finally:\n"
        "    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN\n"
        "    assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL\n"
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("columns", ["0", "", "00"])
def test_a_terminal_of_no_width_is_one_of_unknown_width(columns: str) -> None:
    usual = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    shown = [
        subprocess.run([*COMMAND, "solve", EXAMPLE], env=env, capture_output=True, check=True).stdout
        for env in (usual | {"COLUMNS": columns}, usual)
    ]
    zero, unset = ([line for line in each.splitlines() if b" ms " not in line] for each in shown)
    assert zero == unset != []
