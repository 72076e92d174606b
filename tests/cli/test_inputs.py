from __future__ import annotations

import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from memopt_cli.inputs import Inputs

from memopt.campaign import Given

ONE, TWO = b'{"budget": 1, "items": []}', b'{"budget": 2, "items": []}'


def found(*paths: Any) -> list[tuple[str, int | None, bytes]]:
    return [
        (Path(given.path).name, given.line, given.text) for given in Inputs([str(path) for path in paths])
    ]


def test_a_file_is_one_instance(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{\n "budget": 1,\n "items": []\n}\n')
    assert list(Inputs([str(path)])) == [Given(str(path), str(path), None, path.read_bytes())]


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json", "a"])
def test_lines_are_instances_where_the_name_or_the_first_line_says_so(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"\n" + ONE + b"\r\n  \n" + TWO)
    assert found(path) == [(name, 2, ONE), (name, 4, TWO)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_one_line_is_one_instance(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(ONE + b"\n")
    assert [text.rstrip() for _, _, text in found(path)] == [ONE]


def test_a_line_that_is_broken_is_still_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"nonsense\n" + TWO)
    assert found(path) == [("a.jsonl", 1, b"nonsense"), ("a.jsonl", 2, TWO)]


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"[1]\n[2]\n", b"nonsense\nmore", b"{\n}\n", b"[" * 99_999 + b"\n{}"]
)
def test_what_is_no_json_lines_is_one_document(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    assert found(path) == [("a.json", None, content)]


def test_a_folder_stands_for_its_files_in_order(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", "deep/c.jsonl", "w.verdict.json", "readme.md", "report.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(ONE)
    assert [name for name, _, _ in found(tmp_path)] == ["a.json", "b.json", "c.jsonl"]
    assert {given.group for given in Inputs([str(tmp_path)])} == {str(tmp_path)}
    assert [name for name, _, _ in found(tmp_path / "w.verdict.json")] == ["w.verdict.json"]


def test_a_folder_without_any_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no"):
        Inputs([str(tmp_path)])


def test_inputs_can_be_counted_and_gone_through_again(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(ONE + b"\n" + TWO)
    inputs = Inputs([str(path), str(path)])
    assert (inputs.count(), len(list(inputs)), len(list(inputs))) == (4, 4, 4)


def test_a_missing_file_is_an_error_when_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Inputs([str(tmp_path / "none.json")]).count()


@pytest.mark.parametrize("name", ["pipe", "pipe.jsonl"])
def test_a_pipe_is_read_once_and_gone_through_as_often_as_wanted(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=[ONE + b"\n" + TWO])
    writer.start()
    inputs = Inputs([str(path), str(path)])
    writer.join()
    assert inputs.count() == 4
    assert [given.text for given in inputs] == [ONE, TWO, ONE, TWO]


def test_a_pipe_in_a_folder_is_no_file_of_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    (tmp_path / "b.json").write_bytes(ONE)
    assert [name for name, _, _ in found(tmp_path)] == ["b.json"]


def test_a_folder_or_a_link_in_a_folder_that_cannot_be_followed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.json").write_bytes(ONE)
    (tmp_path / "b.json").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError, match=r"b\.json"):
        Inputs([str(tmp_path)])
    (tmp_path / "b.json").unlink()
    (tmp_path / "deep").mkdir()
    real = os.scandir

    def refusing(path: str) -> Any:  # root may read everything, so permissions would show nothing
        if path.endswith("deep"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(PermissionError):
        Inputs([str(tmp_path)])
