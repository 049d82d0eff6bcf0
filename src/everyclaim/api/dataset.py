"""What a source of samples is called, what its content's fingerprint is, and how many rows it has."""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Mapping, Sequence, Sized
from pathlib import Path
from typing import Any, NamedTuple

_CHUNK = 1 << 20
_BEFORE = codecs.BOM_UTF8 + b" \t\r\n"  # the first row


class Identity(NamedTuple):
    """`fingerprint` is empty for what cannot be read twice (a pipe, a generator): no run over it resumes by itself."""

    name: str
    fingerprint: str
    total: int | None  # rows, when that is cheap to know


def identify(source: Any) -> Identity:
    """Name a source and take its fingerprint, reading a file once from end to end.

    What cannot be opened is left to the reader, which says why.
    """
    if not isinstance(source, str | os.PathLike) or str(source) == "-":
        kind = "stdin" if isinstance(source, str) else type(source).__name__
        return Identity(f"<{kind}>", "", _count_rows(source) if kind != "stdin" else None)
    path = Path(source)
    try:
        if path.is_file():
            return Identity(str(path.resolve()), *_digest_of_file(path))
        if path.is_dir():
            return Identity(str(path.resolve()), _digest_of_folder(path), None)
    except OSError:
        pass
    return Identity(str(path), "", None)


def _count_rows(source: Any) -> int | None:
    if isinstance(source, Mapping):
        return 1  # one row, not as many as it has fields
    if isinstance(source, Sequence) and source and hasattr(source[0], "columns"):
        return None  # tables, not rows
    return len(source) if isinstance(source, Sized) and not isinstance(source, type) else None


def _digest_of_file(path: Path) -> tuple[str, int | None]:
    digest = hashlib.blake2b(digest_size=16)
    newlines, last, head = 0, b"\n", b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            newlines += chunk.count(b"\n")
            last, head = chunk[-1:], head or chunk.lstrip(_BEFORE)[:1]
    is_lines = path.suffix in {".jsonl", ".ndjson"} and head != b"["  # a JSON list may be called so, too
    return digest.hexdigest(), newlines + (last != b"\n") if is_lines else None


def _digest_of_folder(folder: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue  # no data: a store that is kept there changes with every run
        status = path.stat()
        digest.update(
            f"{path.relative_to(folder)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "replace")
        )
    return digest.hexdigest()
