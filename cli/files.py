"""Files in and out: a path or '-', never half-written, never overwritten unasked."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

STANDARD = "-"
"""Stands for standard input or output in place of a file name."""
_numbers = itertools.count(1)
"""Numbers that tell the temporary files of one process apart: several may be written at a time."""


@contextlib.contextmanager
def reading(path: str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for ``-``, for reading bytes."""
    if path != STANDARD:
        with open(path, "rb") as file:
            yield file
    elif sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    else:
        yield sys.stdin.buffer


def read(path: str) -> bytes:
    """Return all bytes of a file, or of standard input for ``-``."""
    with reading(path) as file:
        return file.read()


def size(path: str) -> int | None:
    """Return the size of a regular file in bytes, None for anything that has no size beforehand."""
    return os.path.getsize(path) if path != STANDARD and os.path.isfile(path) else None


@contextlib.contextmanager
def writing(path: str, force: bool | None) -> Iterator[BinaryIO]:
    """Open a new file for writing bytes; it appears under its name only after all went well.

    The bytes go to a temporary name in the same directory, which is renamed at the end and removed
    after an error.

    Raises
    ------
    FileExistsError
        When the file exists and ``force`` is not given (None: the command has no such option); checked
        before and after the work.
    OSError
        When the path names something that is no regular file.
    """
    target = os.path.realpath(path)
    _refuse_unless_free(path, target, force)
    name = f".memopt-{os.getpid()}-{next(_numbers)}.part"
    temporary = os.path.join(os.path.dirname(target), name)
    opened = None
    try:
        with _said_of(path):
            opened = open(temporary, "xb")  # noqa: SIM115  # closed below; only its opening is judged here
        with opened as file:
            yield file
            with _said_of(path):
                file.flush()
                _refuse_unless_free(path, target, force)
                os.replace(temporary, target)
    except BaseException as error:
        if opened is not None or not isinstance(error, OSError):  # a signal can come right after the opening
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise


@contextlib.contextmanager
def folder(path: str, parents: bool = False) -> Iterator[None]:
    """Make a folder if it is not there, with its parents if asked; after an error, remove what was made."""
    missing: list[str] = []
    while path and not os.path.isdir(path) and (parents or not missing):
        missing.append(path)
        path = os.path.dirname(path)
    made: list[str] = []
    try:
        for name in reversed(missing):
            os.mkdir(name)
            made.append(name)
        yield
    except BaseException:
        for name in reversed(made):
            with contextlib.suppress(OSError):  # somebody else uses it by now
                os.rmdir(name)
        raise


def _refuse_unless_free(path: str, target: str, force: bool | None) -> None:
    try:
        with _said_of(path):  # a name that is too long is refused before the work, not after it
            os.lstat(target)
    except FileNotFoundError:
        return
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not os.path.isfile(target):
        raise OSError(errno.EINVAL, "it is no regular file", path)
    if not force:
        how = "; it is never overwritten" if force is None else "; --force overwrites it"
        raise FileExistsError(errno.EEXIST, f"it exists already{how}", path)


@contextlib.contextmanager
def _said_of(path: str) -> Iterator[None]:
    """Let errors name the file that was asked for, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror, path) from None
