"""What may be written over: a file that we wrote before, and nothing that holds something else or that the call reads.

The files of one call are compared by what they are, not by how they are spelled: links of both kinds, relative paths
and redirected standard streams are seen through.
"""

from __future__ import annotations

import csv
import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from everyclaim.core.errors import ConfigError
from everyclaim.io.files import STREAM_ERRORS, format_of_name, open_unpacked
from everyclaim.io.writing import RESULT_COLUMNS

_HEAD = 4096  # bytes of a file in which it says what it is
_ROW = 1 << 26  # bytes of a row at most
_MARKS = {"outcome", "label"}  # of a result, of a verdict
_OF_VERDICTS = {
    "id", "label", "error", "probabilities", "evidence", "rationale", "conflict", "failure_mode", "difference", "judge",
    "flags", "usage", "provenance",
}  # fmt: skip


class FileKind(NamedTuple):
    """A kind of document that we write, and how one begins."""

    name: str
    begins: re.Pattern[bytes]


PAGE = FileKind(
    "an HTML page of everyclaim",
    re.compile(rb'\s*<!doctype html>.*<meta name="generator" content="everyclaim', re.DOTALL | re.IGNORECASE),
)
DOCUMENT = FileKind("JSON of everyclaim", re.compile(rb'\s*\{\s*"schema":'))
RULES = FileKind("a rules file of everyclaim", re.compile(rb"# Rules for Prometheus, written by `everyclaim"))
DASHBOARD = FileKind("a dashboard of everyclaim", re.compile(rb'\s*\{\s*"uid": "everyclaim"'))
TEST_SUITE = FileKind("JUnit XML of everyclaim", re.compile(rb'\s*(?:<\?xml[^>]*>\s*)?<testsuite package="everyclaim"'))
MARKDOWN = FileKind("Markdown of everyclaim", re.compile(rb"<!-- everyclaim|## everyclaim: "))
RUBRIC = FileKind("a rubric that everyclaim fitted", re.compile(rb"# Fitted by everyclaim"))
TUNING = FileKind("a tuning file of everyclaim", re.compile(rb'\s*\{"kind": "everyclaim'))


def check_replaced(destination: str | os.PathLike[str], kind: FileKind | None = None) -> None:
    """Refuse to write over a file that is none of this kind, or where none is named, no rows of results or verdicts.

    What is not there, holds nothing, or is a device, has nothing to lose. Raises `ConfigError`.
    """
    name = os.fspath(destination)
    if name == "-" or not os.path.isfile(name) or not os.path.getsize(name):  # noqa: PTH113, PTH202 - as given
        return
    try:
        if kind is None:
            is_ours = _holds_our_rows(Path(name))
        else:
            with Path(name).open("rb") as file:
                is_ours = bool(kind.begins.match(file.read(_HEAD)))
    except (*STREAM_ERRORS, ValueError, ImportError):
        is_ours = False  # it cannot be read, so it is not known to be ours
    if not is_ours:
        what = kind.name if kind else "results of everyclaim"
        raise ConfigError(f"{name} exists and is not {what}: choose another name, or move it away")


def _holds_our_rows(path: Path) -> bool:
    if format_of_name(path.name) == "parquet":
        from pyarrow.parquet import read_schema

        return _are_ours(read_schema(path).names)
    with open_unpacked(path) as file:
        first = file.readline(_ROW)
        if format_of_name(path.name) in {"csv", "tsv"}:
            delimiter = "\t" if format_of_name(path.name) == "tsv" else ","
            return _are_ours(next(csv.reader([first.decode()], delimiter=delimiter)))
        if first == b"[\n":  # a JSON array, a row a line
            first = file.readline(_ROW).rstrip(b",\n")
        row = json.loads(first)
        return row == [] or (isinstance(row, dict) and "provenance" in row and not row.keys().isdisjoint(_MARKS))


def _are_ours(columns: list[str]) -> bool:
    """Whether a table has the columns of results or of verdicts, and none that somebody added."""
    results = {name for name in columns if not name.startswith("component.")}
    return results == RESULT_COLUMNS.keys() or {"label", "usage", "provenance"} <= results <= _OF_VERDICTS


class _FileIdentity(NamedTuple):
    path: Path | None  # links followed; None for a stream
    file: tuple[int, int] | None  # device and number on it; None for what is not there yet, and for a folder
    is_folder: bool = False

    def is_same(self, other: _FileIdentity) -> bool:
        return any(own is not None and own == theirs for own, theirs in zip(self[:2], other[:2], strict=True))

    def holds(self, other: _FileIdentity) -> bool:
        """Whether this is a folder and the other is in it, and not in a hidden part of it."""
        if not self.is_folder or not self.path or not other.path or not other.path.is_relative_to(self.path):
            return False
        return not any(part.startswith(".") for part in other.path.relative_to(self.path).parts)


def check_apart(reads: Mapping[str, Any], writes: Mapping[str, Any], *, in_folders: bool = False) -> None:
    """Refuse to write what is read, into a folder that is read, or one place twice.

    Keys say what each is (``--out``, ``the store``); ``-`` is a standard stream, and what is no path is passed over.
    With `in_folders`, a new file may appear in a folder that is read. Raises `ConfigError`.
    """
    sources, taken = [*_places(reads, sys.stdin)], list[tuple[str, _FileIdentity]]()
    for name, given, place in _places(writes, sys.stdout):
        for source, read, other in sources:
            if place.is_same(other):
                raise ConfigError(f"{_named(name, given)} would overwrite {_named(source, read)}: choose another name")
            if not in_folders and other.holds(place):
                raise ConfigError(
                    f"{_named(name, given)} would be written into {_named(source, read)}: choose another folder"
                )
        if before := next((before for before, other in taken if place.is_same(other)), None):
            raise ConfigError(f"{before} and {name} are both {given}: choose different names")
        taken.append((name, place))


def _places(given: Mapping[str, Any], stream: Any) -> Iterator[tuple[str, str, _FileIdentity]]:
    for name, value in given.items():
        text = os.fspath(value) if isinstance(value, str | os.PathLike) else ""
        if text and (place := _of_stream(stream) if text == "-" else _of_path(text)):
            yield name, text, place


def _of_path(text: str) -> _FileIdentity | None:
    name = text.removeprefix("sqlite:///")
    if "\0" in text or "://" in name:
        return None
    path = Path(os.path.realpath(name))
    try:
        status = path.stat()
    except OSError:
        return _FileIdentity(path, None)
    if stat.S_ISDIR(status.st_mode):
        return _FileIdentity(path, None, is_folder=True)
    # Devices and pipes hold nothing that could be lost.
    return _FileIdentity(path, (status.st_dev, status.st_ino)) if stat.S_ISREG(status.st_mode) else None


def _of_stream(stream: Any) -> _FileIdentity | None:
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError):  # none, closed, or made of something else
        return None
    return _FileIdentity(None, (status.st_dev, status.st_ino)) if stat.S_ISREG(status.st_mode) else None


def _named(name: str, given: str) -> str:
    return name if given == "-" else f"{name} {given}"
