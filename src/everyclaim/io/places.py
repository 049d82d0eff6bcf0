"""The files that one call reads and writes, held apart: nothing that is read may be written over.

Places are compared by what they are, not by how they are spelled: links of both kinds, relative paths and redirected
standard streams are seen through.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everyclaim.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class _Place:
    path: str | None  # links followed; None for a stream
    file: tuple[int, int] | None  # device and number on it; None for what is not there yet
    is_folder: bool = False

    def is_same(self, other: _Place) -> bool:
        return (self.path is not None and self.path == other.path) or (
            self.file is not None and self.file == other.file
        )

    def holds(self, other: _Place) -> bool:
        """Whether this is a folder and the other is in it, and not in a hidden part of it."""
        if not self.is_folder or self.path is None or other.path is None:
            return False
        inside = Path(other.path)
        return inside.is_relative_to(self.path) and not any(
            part.startswith(".") for part in inside.relative_to(self.path).parts
        )


def check_apart(reads: Mapping[str, Any], writes: Mapping[str, Any], *, in_folders: bool = False) -> None:
    """Refuse to write what is read, into a folder that is read, or one place twice.

    Keys say what each is (``--out``, ``the store``); ``-`` is a standard stream, and what is no path is passed over.
    With `in_folders`, a new file may appear in a folder that is read. Raises `ConfigError`.
    """
    sources = [(name, given, place) for name, given, place in _places(reads, sys.stdin)]
    taken: list[tuple[str, _Place]] = []
    for name, given, place in _places(writes, sys.stdout):
        for source, read, other in sources:
            if place.is_same(other):
                raise ConfigError(f"{_named(name, given)} is {_named(source, read)}, which is read: give another name")
            if not in_folders and other.holds(place):
                raise ConfigError(f"{_named(name, given)} is in {_named(source, read)}, which is read: write elsewhere")
        for before, other in taken:
            if place.is_same(other):
                raise ConfigError(f"{before} and {name} are both {given}: give one of them another name")
        taken.append((name, place))


def _places(given: Mapping[str, Any], stream: Any) -> list[tuple[str, str, _Place]]:
    found = []
    for name, value in given.items():
        if isinstance(value, str | os.PathLike) and (text := os.fspath(value)):
            place = _of_stream(stream) if text == "-" else _of_path(text)
            if place is not None:
                found.append((name, text, place))
    return found


def _of_path(text: str) -> _Place | None:
    path = os.path.realpath(text.removeprefix("sqlite:///")) if "\0" not in text else ""
    if not path or ("://" in text and not text.startswith("sqlite:///")):
        return None
    try:
        status = os.stat(path)  # noqa: PTH116 - of a path that is text
    except OSError:
        return _Place(path, None)
    if stat.S_ISDIR(status.st_mode):
        return _Place(path, None, is_folder=True)
    # Devices and pipes hold nothing that could be lost.
    return _Place(path, (status.st_dev, status.st_ino)) if stat.S_ISREG(status.st_mode) else None


def _of_stream(stream: Any) -> _Place | None:
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError):  # none, closed, or made of something else
        return None
    return _Place(None, (status.st_dev, status.st_ino)) if stat.S_ISREG(status.st_mode) else None


def _named(name: str, given: str) -> str:
    return name if given == "-" else f"{name} {given}"
