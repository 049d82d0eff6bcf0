"""What may be written over: a file that we wrote before, and nothing that holds something else."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path
from typing import NamedTuple

from everyclaim.core.errors import ConfigError
from everyclaim.io.files import STREAM_ERRORS, format_of_name, open_unpacked
from everyclaim.io.flat import RESULT_COLUMNS

_HEAD = 4096  # bytes of a file in which it says what it is
_ROW = 1 << 26  # bytes of a row at most
_MARKS = {"outcome", "label"}  # of a result, of a verdict
_OF_VERDICTS = {
    "id", "label", "error", "probabilities", "evidence", "rationale", "conflict", "failure_mode", "difference", "judge",
    "flags", "usage", "provenance",
}  # fmt: skip


class Kind(NamedTuple):
    """A kind of document that we write, and how one begins."""

    name: str
    begins: re.Pattern[bytes]


PAGE = Kind(
    "a page of everyclaim",
    re.compile(rb'\s*<!doctype html>.*<meta name="generator" content="everyclaim', re.DOTALL | re.IGNORECASE),
)
DOCUMENT = Kind("JSON that everyclaim wrote", re.compile(rb'\s*\{\s*"schema":'))
RULES = Kind("a file of rules that everyclaim wrote", re.compile(rb"# Rules for Prometheus, written by `everyclaim"))
DASHBOARD = Kind("a dashboard that everyclaim wrote", re.compile(rb'\s*\{\s*"uid": "everyclaim"'))
TEST_SUITE = Kind("test results of everyclaim", re.compile(rb'\s*(?:<\?xml[^>]*>\s*)?<testsuite package="everyclaim"'))
MARKDOWN = Kind("Markdown that everyclaim wrote", re.compile(rb"<!-- everyclaim|## everyclaim: "))
TUNING = Kind("a tuning that everyclaim wrote", re.compile(rb'\s*\{"kind": "everyclaim'))


def check_replaced(destination: str | os.PathLike[str], kind: Kind | None = None) -> None:
    """Refuse to write over a file that is none of this kind, or where none is named, no rows of results or verdicts.

    What is not there, holds nothing, or is a device, has nothing to lose. Raises `ConfigError`.
    """
    name = os.fspath(destination)
    if name == "-" or not os.path.isfile(name) or not os.path.getsize(name):  # noqa: PTH113, PTH202 - as given
        return
    try:
        is_ours = _holds_our_rows(Path(name)) if kind is None else bool(kind.begins.match(_head(Path(name))))
    except (*STREAM_ERRORS, ValueError, ImportError):
        is_ours = False  # it cannot be read, so it is not known to be ours
    if not is_ours:
        what = kind.name if kind else "results that everyclaim wrote"
        raise ConfigError(f"{name} is there, and is not {what}: give another name, or move it away")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


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
