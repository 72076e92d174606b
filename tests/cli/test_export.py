from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import CONFLICT, EMPTY, PAIR, STUCK, TEN
from memopt_cli.export import FILES

from memopt import Instance, compile
from memopt.export import FORMATS, Export, RereadDiffers, formats


def _problem(folder: Path, declared: Any) -> Path:
    path = folder / "problem.json"
    path.write_text(json.dumps(declared))
    return path


def _made(declared: Any) -> Export:
    instance = Instance.model_validate(declared)
    return Export(compile(instance), instance)


def test_the_command_knows_the_formats_of_the_library():
    assert tuple(FILES) == FORMATS


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_is_written_with_the_names_its_variables_need(form: str, run: Any, tmp_path: Path):
    made = _made(TEN["links"])
    problem, out = _problem(tmp_path, TEN["links"]), tmp_path / "model"
    done = run("export", problem, "--format", form, "--out", out)
    assert (done.exit_code, done.output) == (0, "")
    assert out.read_bytes() == made.write(form)
    named = form not in ("json", "md", "latex")
    assert {path.name for path in tmp_path.iterdir()} == {"problem.json", "model"} | (
        {"model.names.json"} if named else set()
    )
    if named:
        assert (tmp_path / "model.names.json").read_bytes() == made.names()


def test_without_a_path_the_model_alone_goes_to_standard_output(run: Any):
    done = run("export", "-", "--format", "cpsat-binary", data=PAIR)
    assert done.exit_code == 0
    assert done.stdout_bytes == _made(PAIR).write("cpsat-binary")


@pytest.mark.parametrize("exists", [False, True])
def test_all_formats_are_written_into_a_folder(exists: bool, run: Any, tmp_path: Path):
    problem, folder = _problem(tmp_path, PAIR), tmp_path / "models"
    if exists:
        folder.mkdir()
        (folder / "notes.txt").write_text("mine")
    done = run("export", problem, "--all", folder)
    assert (done.exit_code, done.output) == (0, "")
    made = _made(PAIR)
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert written == {name: made.write(form) for form, name in FILES.items()} | {
        "names.json": made.names()
    } | ({"notes.txt": b"mine"} if exists else {})


@pytest.mark.parametrize("occupied", ["model.lp", "model.tex", "names.json"])
def test_all_is_nothing_where_one_file_exists(occupied: str, run: Any, tmp_path: Path):
    problem, folder = _problem(tmp_path, PAIR), tmp_path / "models"
    folder.mkdir()
    (folder / occupied).write_text("precious")
    refused = run("export", problem, "--all", folder)
    assert refused.exit_code == 2
    assert refused.stderr == f"memopt: '{folder / occupied}': it exists already; --force overwrites it\n"
    assert [path.name for path in folder.iterdir()] == [occupied]
    assert run("export", problem, "--all", folder, "--force").exit_code == 0
    assert len(list(folder.iterdir())) == len(FORMATS) + 1


@pytest.mark.parametrize("occupied", ["model.lp", "model.lp.names.json"])
def test_model_and_names_are_written_both_or_not_at_all(occupied: str, run: Any, tmp_path: Path):
    problem = _problem(tmp_path, PAIR)
    (tmp_path / occupied).write_text("precious")
    arguments = ("export", problem, "--format", "lp", "--out", tmp_path / "model.lp")
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert "--force overwrites it" in refused.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"problem.json", occupied}
    assert (tmp_path / occupied).read_text() == "precious"
    assert run(*arguments, "--force").exit_code == 0
    assert (tmp_path / "model.lp").read_bytes() == _made(PAIR).write("lp")


def test_a_file_that_reads_back_differently_is_not_written(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The writer is real but for one coefficient; so is the reader that catches it."""
    real = formats.lp.write
    monkeypatch.setattr(formats.lp, "write", lambda model: real(model).replace(b"3000000000", b"3000000001"))
    problem = _problem(tmp_path, PAIR)
    for arguments in (("--format", "lp", "--out", tmp_path / "model.lp"), ("--all", tmp_path / "models")):
        done = run("export", problem, *arguments)
        assert done.exit_code == 2
        assert done.stderr.startswith("memopt: the lp file reads back differently: ")
        assert [path.name for path in tmp_path.iterdir()] == ["problem.json"]
    with pytest.raises(RereadDiffers):
        _made(PAIR).write("lp")


@pytest.mark.parametrize("arguments", [("--format", "lp", "--out", "model.lp"), ("--all", "models")])
def test_a_full_disk_leaves_no_part_of_the_files(
    arguments: tuple[str, ...], run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A limit on the size of a file stands for the disk: the names fit, the model does not."""
    resource = pytest.importorskip("resource")
    made, real = _made(PAIR), Export.write
    assert len(made.names()) < 600 < len(made.write("lp"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def on_a_full_disk(export: Export, form: str) -> bytes:
        content = real(export, form)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, before[1]))
        return content

    monkeypatch.setattr(Export, "write", on_a_full_disk)
    monkeypatch.chdir(tmp_path)
    problem = _problem(tmp_path, PAIR)
    try:
        done = run("export", problem, *arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (done.exit_code, done.stderr) == (2, "memopt: File too large\n")
    assert [path.name for path in tmp_path.iterdir()] == ["problem.json"]


def test_a_program_beyond_the_limits_of_cpsat_is_refused_whole(run: Any, tmp_path: Path):
    levels = {"raw": {"tokens": 2**31 + 1, "utility": 1}}
    huge = {"budget": 2**33, "items": [{"id": name, "levels": levels} for name in "ab"]}
    huge["items"].append({"id": "c", "levels": {"raw": {"tokens": 1, "utility": 1}}})
    problem = _problem(tmp_path, huge)
    done = run("export", problem, "--all", tmp_path / "models")
    assert done.exit_code == 2
    assert "solver 'cpsat' refuses this program: tokens_sum" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["problem.json"]
    assert run("export", problem, "--format", "lp", "--out", tmp_path / "model.lp").exit_code == 0


@pytest.mark.parametrize(
    ("declared", "code"),
    [(STUCK, "pinned_exceeds_budget"), (CONFLICT, "pinned_conflict")],
    ids=["stuck", "conflict"],
)
def test_an_infeasible_program_is_written_and_said(declared: Any, code: str, run: Any, tmp_path: Path):
    done = run("export", _problem(tmp_path, declared), "--all", tmp_path / "models")
    assert done.exit_code == 0
    assert done.stdout == ""
    assert done.stderr.startswith(f"memopt: the program is infeasible, and so is the model ({code}): ")
    assert len(list((tmp_path / "models").iterdir())) == len(FORMATS) + 1


def test_a_program_without_items_is_written(run: Any, tmp_path: Path):
    done = run("export", _problem(tmp_path, EMPTY), "--all", tmp_path / "models")
    assert (done.exit_code, done.output) == (0, "")
    assert "nothing" in (tmp_path / "models" / "model.lp").read_text()


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ([], "--format"),
        (["--format", "lp", "--all", "x"], "--format"),
        (["--format", "xml"], "--format"),
        (["--all", "x", "--out", "y"], "--out"),
    ],
)
def test_wrong_usage_names_the_option(arguments: list[str], option: str, run: Any, tmp_path: Path):
    done = run("export", _problem(tmp_path, PAIR), *arguments)
    assert done.exit_code == 2
    assert option in done.stderr
    assert done.stdout == ""


def test_an_invalid_instance_is_reported_and_nothing_written(run: Any, tmp_path: Path):
    problem = _problem(tmp_path, {"budget": -1, "items": []})
    done = run("export", problem, "--all", tmp_path / "models")
    assert done.exit_code == 2
    assert "budget_negative" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["problem.json"]


def test_a_missing_folder_is_a_sentence(run: Any, tmp_path: Path):
    problem = _problem(tmp_path, PAIR)
    done = run("export", problem, "--format", "lp", "--out", tmp_path / "none" / "model.lp")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "No such file or directory" in done.stderr
    done = run("export", problem, "--all", tmp_path / "none" / "models")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
