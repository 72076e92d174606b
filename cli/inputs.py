"""Instances in files, in folders and on the lines of JSON Lines."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from memopt.campaign import Given

from . import files

_LINES = (".jsonl", ".ndjson")
VERDICT_SUFFIX = ".verdict.json"
"""Ending of the verdicts written beside instances: in a folder they are not taken for instances."""


class Inputs:
    """The instances that paths name, in the order of the paths; they can be gone through more than once.

    A folder stands for all the ``.json``, ``.jsonl`` and ``.ndjson`` files in and below it, by name.
    A file holds one instance; or one per line, if its name says so or its first line is a whole one.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._files = [(path, file) for path in paths for file in _files(path)]
        flowing = {file for _, file in self._files if files.size(file) is None}
        self._read = {file: files.read(file) for file in sorted(flowing)}  # a pipe can be read only once

    def __iter__(self) -> Iterator[Given]:
        for path, file in self._files:
            for line, text in self._texts(file):
                yield Given(path, file, line, text)

    def count(self) -> int:
        """Return how many instances there are."""
        return sum(1 for _ in self)

    def _texts(self, file: str) -> Iterator[tuple[int | None, bytes]]:
        if file.endswith(_LINES) and file not in self._read:
            with files.reading(file) as lines:
                yield from _filled(lines)
            return
        content = self._read.get(file)
        if content is None:
            content = files.read(file)
        filled = list(_filled(content.splitlines()))
        if file.endswith(_LINES) or (len(filled) > 1 and _is_json(filled[0][1])):
            yield from filled
        else:
            yield None, content


def _files(path: str) -> list[str]:
    if path == files.STANDARD or not os.path.isdir(path):
        return [path]
    found = sorted(
        file
        for folder, _, names in os.walk(path, onerror=_refuse)
        for name in names
        if name.endswith((".json", *_LINES)) and not name.endswith(VERDICT_SUFFIX)
        if not _flows(file := os.path.join(folder, name))
    )
    if not found:
        raise FileNotFoundError(errno.ENOENT, "it holds no .json, .jsonl or .ndjson file", path)
    return found


def _refuse(error: OSError) -> NoReturn:
    raise error  # a folder that cannot be read must not count as verified


def _flows(file: str) -> bool:
    """Whether a file in a folder is a pipe or a device: reading one may never end."""
    return os.path.exists(file) and not os.path.isfile(file)


def _filled(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield number and text, without its line end, of every line that is not blank."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, line.rstrip(b"\r\n")


def _is_json(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text.removeprefix(b"\xef\xbb\xbf")), dict)
    except (ValueError, RecursionError):
        return False
