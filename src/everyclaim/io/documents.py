"""Documents of a knowledge source: a folder of text files, or the rows of a table, one by one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from everyclaim.core.errors import InputError
from everyclaim.core.limits import MB, SizeLimits
from everyclaim.io.faults import BadRow, ReadReport
from everyclaim.io.files import path_exists
from everyclaim.io.rows import DocumentRow
from everyclaim.io.samples import DOCUMENTS, read_rows

SUFFIXES = (".txt", ".md", ".markdown")
LARGEST_FILE = SizeLimits().row  # bytes
_HEADING = re.compile(r"#\s+(\S.*?)\s*#*\s*(?:\n|$)")


def read_documents(
    source: Any,
    *,
    mapping: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002 - as `read_samples`
    report: ReadReport | None = None,
) -> Iterator[DocumentRow]:
    """Read documents one by one, one in memory at a time.

    `source`: a folder with .txt and .md files, at any depth; a table of `text`, `title` and `id` (JSONL, JSON, CSV,
    TSV, Parquet, Arrow, ``-``, a frame); or an iterable of mappings or `DocumentRow`s. A file's id is its path in the
    folder, its title its first heading, else its name. What cannot be used is kept out and goes into `report`.

    Raises `InputError` for a source that cannot be read at all or holds no document.
    """
    kept = report if report is not None else ReadReport()
    is_path = isinstance(source, str | os.PathLike)
    folder = Path(source) if is_path and os.fspath(source) != "-" else None
    if folder and path_exists(folder) and folder.is_dir() and next(_paths(folder), None):
        found = _files(folder, kept)
    else:
        found = read_rows(DOCUMENTS, source, mapping=mapping, format=format, report=kept)
    first = next(found, None)
    if first is None:
        why = f"; the first problem is in {kept.bad_rows[0]}" if kept.bad_rows else ""
        raise InputError(f"{os.fspath(source) if is_path else 'the input'} has no document{why}")
    yield first
    yield from found


def _paths(folder: Path) -> Iterator[Path]:
    """Yield the text files below a folder in one fixed order, without what is hidden; links are not followed down."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                yield Path(place, name)


def _files(folder: Path, report: ReadReport) -> Iterator[DocumentRow]:
    for number, path in enumerate(_paths(folder), start=1):
        name = path.relative_to(folder).as_posix()
        try:
            text = _text(path)
        except (OSError, UnicodeError, ValueError) as error:
            why = getattr(error, "strerror", None) or getattr(error, "reason", None) or error
            report.add_bad(BadRow(number, f"{name}: cannot be read ({why})", "row"))
            continue
        if not text.strip():
            report.add_bad(BadRow(number, f"{name}: empty", "row"))
            continue
        report.good += 1
        heading = _HEADING.match(text.lstrip())
        yield DocumentRow(name, heading[1] if heading else path.stem.replace("_", " ").replace("-", " "), text)


def _text(path: Path) -> str:
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"larger than {LARGEST_FILE // MB} MB; split it or pass rows")
    return path.read_text("utf-8-sig")
