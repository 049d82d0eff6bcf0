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
from everyclaim.io.writing import RESULT_COLUMNS, VERDICT_COLUMNS

_HEAD = 4096  # bytes of a file in which it says what it is
_ROW = 1 << 26  # bytes of a row at most
_MARKS = {"outcome", "label"}  # of a result, of a verdict
_Place = set[Path | tuple[int, int]]  # links followed; device and number on it, of what is there


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
    return results == RESULT_COLUMNS.keys() or {"label", "usage", "provenance"} <= results <= VERDICT_COLUMNS.keys()


def check_apart(reads: Mapping[str, Any], writes: Mapping[str, Any], *, in_folders: bool = False) -> None:
    """Refuse to write what is read, into a folder that is read, or one place twice.

    Keys say what each is (``--out``, ``the store``); ``-`` is a standard stream, and what is no path is passed over.
    With `in_folders`, a new file may appear in a folder that is read. Raises `ConfigError`.
    """
    sources, taken = [*_places(reads, sys.stdin)], list[tuple[str, _Place]]()
    for name, given, place in _places(writes, sys.stdout):
        for source, read, other in sources:
            if place & other:
                raise ConfigError(f"{_named(name, given)} would overwrite {_named(source, read)}: choose another name")
            if not in_folders and _is_inside(place, other):
                raise ConfigError(
                    f"{_named(name, given)} would be written into {_named(source, read)}: choose another folder"
                )
        if before := next((before for before, other in taken if place & other), None):
            raise ConfigError(f"{before} and {name} are both {given}: choose different names")
        taken.append((name, place))


def _places(given: Mapping[str, Any], stream: Any) -> Iterator[tuple[str, str, _Place]]:
    for name, value in given.items():
        text = os.fspath(value) if isinstance(value, str | os.PathLike) else ""
        if text and (place := _place(text, stream)):
            yield name, text, place


def _place(text: str, stream: Any) -> _Place:
    """Return what a file is known by; nothing for devices and pipes, which hold nothing that could be lost."""
    name = text.removeprefix("sqlite:///")
    if "\0" in name or "://" in name:
        return set()
    found: _Place = set() if text == "-" else {Path(os.path.realpath(name))}
    try:
        status = os.fstat(stream.fileno()) if text == "-" else Path(name).stat()
    except (AttributeError, OSError, ValueError):  # not there yet; of a stream: none, closed, or made of something else
        return found
    if stat.S_ISREG(status.st_mode):
        return found | {(status.st_dev, status.st_ino)}
    return found if stat.S_ISDIR(status.st_mode) else set()


def _is_inside(place: _Place, other: _Place) -> bool:
    """Whether the other is a folder and the place is in it, and not in a hidden part of it."""
    folders = [one for one in other if isinstance(one, Path) and one.is_dir()]
    inside = [
        one.relative_to(folder)
        for one in place
        for folder in folders
        if isinstance(one, Path) and one.is_relative_to(folder)
    ]
    return any(not any(part.startswith(".") for part in path.parts) for path in inside)


def _named(name: str, given: str) -> str:
    return name if given == "-" else f"{name} {given}"
