"""Opening what a reader is given: compression by magic, encoding by byte-order mark, format by name or look.

`identify` names a source and takes its fingerprint, so that a run over it can be resumed.

Everything below works on one binary stream of UTF-8 text. What goes wrong while bytes are being
read (a truncated archive, a broken disk) is one of `STREAM_ERRORS`, told in words by `stream_fault`.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from everyclaim.core.errors import InputError
from everyclaim.io.sinks import zstd

FORMATS = ("jsonl", "json", "csv", "tsv", "parquet", "arrow")
COMPRESSIONS = (".gz", ".xz", ".zst", ".bz2")
STREAM_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, UnicodeError)

_HEAD = 8192
_CHUNK = 1 << 18
_BY_SUFFIX = {f".{name}": name for name in FORMATS} | {".ndjson": "jsonl", ".feather": "arrow"}
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_UNPACKERS: dict[bytes, Callable[[io.BufferedReader], Any]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream, mode="rb"),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
    b"\x28\xb5\x2f\xfd": zstd.ZstdFile,
}
_TABLE_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
_BEFORE_ROWS = codecs.BOM_UTF8 + b" \t\r\n"


@dataclass(frozen=True, slots=True)
class TextSource:
    """A text file or standard input: `open()` starts at its beginning, in UTF-8 without a mark."""

    name: str
    head: bytes  # the first bytes, uncompressed
    open: Callable[[], BinaryIO]
    again: bool = True  # whether it can be opened more than once


def format_of_name(path: str) -> str | None:
    """Return the format that a file's name says, looking through compression suffixes."""
    name = Path(path)
    if name.suffix.lower() in COMPRESSIONS:
        name = name.with_suffix("")
    return _BY_SUFFIX.get(name.suffix.lower())


def format_of_head(head: bytes) -> str | None:
    """Return the format that a file's first bytes look like."""
    for magic, table in _TABLE_MAGIC.items():
        if head.startswith(magic):
            return table
    start = head.lstrip()
    if start.startswith(b"["):
        return "json"
    if start.startswith(b"{"):
        first_line = start.split(b"\n", 1)[0].strip()
        return "jsonl" if first_line.endswith(b"}") or (len(first_line) > 1 and b"\n" not in start) else "json"
    first_line = head.split(b"\n", 1)[0]
    if b"\t" in first_line:
        return "tsv"
    return "csv" if b"," in first_line or b";" in first_line else None


def open_text(path: str) -> TextSource:
    """Open a file, or standard input for ``-``. Raises `InputError` when there is no text to read."""
    if path == "-":
        raw = getattr(sys.stdin, "buffer", None)
        if raw is None:
            raise InputError("standard input is not a byte stream here; pass a file")
        return _open_once("standard input", _Stream(_chunks_of(raw)))  # not ours to close
    source = Path(path)
    if not source.is_file():  # a pipe can be read only once
        return _open_once(path, _open_file(source))
    with _open_utf8(path, _open_file(source)) as stream:
        head = _peek(stream, path)
    return TextSource(path, head, lambda: _open_utf8(path, _open_file(source)))


def open_unpacked(path: Path) -> BinaryIO:
    """Open a file's bytes, uncompressed where it is. Raises `OSError`; reading raises one of `STREAM_ERRORS`."""
    raw = path.open("rb")
    try:
        return _unpacked(raw)
    except STREAM_ERRORS:
        raw.close()
        raise


@contextmanager
def rereadable(source: TextSource) -> Iterator[TextSource]:
    """Give a source that can be opened again and again; a pipe is copied to a temporary file for it."""
    if source.again:
        yield source
        return
    with source.open() as stream, tempfile.TemporaryDirectory(prefix="everyclaim-") as folder:
        copy = Path(folder, "input")
        with copy.open("wb") as file:
            shutil.copyfileobj(stream, file, _CHUNK)
        yield TextSource(source.name, source.head, lambda: copy.open("rb"))


def stream_fault(error: BaseException) -> str:
    """Say in words what went wrong while bytes were being read."""
    if isinstance(error, UnicodeDecodeError):
        return f"the text is not valid {error.encoding} ({error.reason})"
    if isinstance(error, EOFError):
        return "the compressed file is cut off"
    if isinstance(error, (zlib.error, lzma.LZMAError, zstd.ZstdError, gzip.BadGzipFile)):
        return f"the compressed file is damaged ({error})"
    if isinstance(error, OSError):
        return f"reading failed ({error.strerror or error})"
    return str(error)


def path_exists(path: Path) -> bool:
    """Whether there is something at a path. Raises `InputError` for a path that no file system takes."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:  # a name too long, a NUL in it, a folder that is closed to us
        raise InputError(f"cannot open {str(path)[:200]!r}: {getattr(error, 'strerror', None) or error}") from None
    return True


def _open_file(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"cannot open {path}: {error.strerror}") from None


def _open_once(name: str, raw: BinaryIO | io.RawIOBase) -> TextSource:
    stream = _open_utf8(name, raw)
    head = _peek(stream, name)
    return TextSource(name, head, lambda: stream, again=False)


def _peek(stream: BinaryIO, name: str) -> bytes:
    try:
        head = cast("io.BufferedReader", stream).peek(_HEAD)[:_HEAD]
    except STREAM_ERRORS as error:
        stream.close()
        raise InputError(f"cannot read {name}: {stream_fault(error)}") from None
    if not head:
        stream.close()
        raise InputError(f"{name} is empty")
    return head


def _open_utf8(name: str, raw: BinaryIO | io.RawIOBase) -> BinaryIO:
    """Uncompress and recode a stream to UTF-8 without a byte-order mark; closing it closes `raw`."""
    stream = raw
    try:
        stream = _unpacked(raw)
        start = stream.peek(4)
        mark, encoding = next((mark for mark in _MARKS if start.startswith(mark[0])), (b"", ""))
        if encoding == "utf-8":
            stream.read(len(mark))
        elif encoding:
            recoded = (text.encode() for text in codecs.iterdecode(_chunks_of(stream), encoding))
            stream = io.BufferedReader(_Stream(recoded, stream), _CHUNK)
    except STREAM_ERRORS as error:
        stream.close()
        raise InputError(f"cannot read {name}: {stream_fault(error)}") from None
    return stream


def _unpacked(raw: BinaryIO | io.RawIOBase) -> io.BufferedReader:
    stream: io.BufferedReader = io.BufferedReader(_Stream(_chunks_of(raw), raw), _CHUNK)
    head = stream.peek(max(map(len, _UNPACKERS)))
    unpack = next((unpack for magic, unpack in _UNPACKERS.items() if head.startswith(magic)), None)
    return stream if unpack is None else io.BufferedReader(_Stream(_chunks_of(unpack(stream)), stream), _CHUNK)


def _chunks_of(stream: Any) -> Iterator[bytes]:
    read = getattr(stream, "read1", stream.read)
    while chunk := read(_CHUNK):
        yield chunk


class _Stream(io.RawIOBase):
    """A binary stream made of chunks; closes what it owns."""

    def __init__(self, chunks: Iterator[bytes], owned: BinaryIO | io.RawIOBase | None = None) -> None:
        super().__init__()
        self._chunks = chunks
        self._owned = owned
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        if self._owned is not None and not self._owned.closed:
            self._owned.close()
        super().close()


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
            last, head = chunk[-1:], head or chunk.lstrip(_BEFORE_ROWS)[:1]
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
