from __future__ import annotations

import os
from pathlib import Path

import pytest
from memopt_cli import files


def _write_and_fail(path: Path, error: BaseException, force: bool) -> None:
    with files.writing(str(path), force) as file:
        file.write(b"half of it")
        raise error


def test_a_file_appears_under_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with files.writing(str(out), force=False) as file:
        file.write(b"all of it")
        assert not out.exists()
    assert out.read_bytes() == b"all of it"
    assert list(tmp_path.iterdir()) == [out]


def test_nothing_remains_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _write_and_fail(tmp_path / "out", KeyboardInterrupt(), force=False)
    assert list(tmp_path.iterdir()) == []


def test_an_error_leaves_the_former_file_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"former")
    with pytest.raises(ZeroDivisionError):
        _write_and_fail(out, ZeroDivisionError(), force=True)
    assert out.read_bytes() == b"former"
    assert list(tmp_path.iterdir()) == [out]


def test_an_existing_file_needs_force(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"former")
    with pytest.raises(FileExistsError, match="--force"), files.writing(str(out), force=False):
        pytest.fail("the work must not start")
    with files.writing(str(out), force=True) as file:
        file.write(b"new")
    assert out.read_bytes() == b"new"


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(FileExistsError), files.writing(str(out), force=False):
        out.write_bytes(b"somebody else's")
    assert out.read_bytes() == b"somebody else's"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("force", [False, True])
def test_only_regular_files_are_replaced(force: bool, tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), files.writing(str(tmp_path), force=force):
        pytest.fail("the work must not start")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="no regular file"), files.writing(str(pipe), force=force):
        pytest.fail("the work must not start")


def test_a_link_is_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"former")
    link.symlink_to(target)
    with files.writing(str(link), force=True) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    plain, out = tmp_path / "plain", tmp_path / "out"
    plain.touch()
    with files.writing(str(out), force=False):
        pass
    assert out.stat().st_mode == plain.stat().st_mode


def test_a_folder_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), files.writing(str(tmp_path / "none" / "out"), force=False):
        pytest.fail("the work must not start")


def test_a_name_that_is_too_long_is_an_error_before_the_work(tmp_path: Path) -> None:
    path = str(tmp_path / ("n" * 300))
    with pytest.raises(OSError, match="too long") as refused, files.writing(path, force=False):
        pytest.fail("the work must not start")
    assert refused.value.filename == path


def test_an_error_at_the_end_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    def write() -> None:
        with files.writing(str(tmp_path / "out"), force=False):
            next(tmp_path.iterdir()).unlink()

    with pytest.raises(FileNotFoundError) as refused:
        write()
    assert refused.value.filename == str(tmp_path / "out")


def test_size_is_known_for_regular_files_only(tmp_path: Path) -> None:
    (tmp_path / "five").write_bytes(b"12345")
    assert files.size(str(tmp_path / "five")) == 5
    assert files.size(str(tmp_path)) is None
    assert files.size(files.STANDARD) is None
    assert files.size(str(tmp_path / "none")) is None


def test_a_signal_as_soon_as_the_file_is_there_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opening(name: str, mode: str) -> None:
        open(name, mode).close()
        raise SystemExit(143)  # what SIGTERM becomes

    monkeypatch.setattr(files, "open", opening, raising=False)
    with pytest.raises(SystemExit), files.writing(str(tmp_path / "out"), force=False):
        pass
    assert list(tmp_path.iterdir()) == []
