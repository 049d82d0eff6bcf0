"""Files of JSON lines that grow, are rotated and truncated: one file, or all of a folder.

A file is known by its place on the disk, by how it begins and by what was read of it last, so that it is found again
under another name, and one that was emptied, or another one in its place, is read from its beginning. A line is read
when it is complete: when its newline is there, or when it holds a whole object. Compressed files are read whole, once:
what was read before they were packed is known by its lines.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from everyclaim.core.errors import InputError, SourceError
from everyclaim.core.limits import limits_here
from everyclaim.io.faults import BadRow
from everyclaim.io.files import COMPRESSIONS, STREAM_ERRORS, open_unpacked, stream_fault
from everyclaim.io.jsonlines import RawRow, parse_line, row_too_large
from everyclaim.monitor.watching.rows import Rows
from everyclaim.monitor.watching.source import Batch, Found, Loaded, Return, Unreadable

_ROWS_NAME = re.compile(r"\.(jsonl|ndjson)([.-].*)?$")  # also as rotation names them: with a number, or a date
_NUMBER_OR_DATE = re.compile(r"[.-](?=\d)[-._:TZ\d]+")
_HEAD = 256  # bytes by which a file is known again
_FIRST_LINE = 4096  # bytes of it that go into the key of a row
_ROWS, _BYTES = 200, 8_000_000  # in one batch
_PIECE = 1 << 18  # bytes of a line that is passed over, read at once
_ABANDONED = 600.0  # seconds after which nobody is taken to complete a line


class _Place(NamedTuple):
    """Where reading of one file stands."""

    offset: int
    head: str
    head_size: int
    tail: str = ""  # digest of what stands before the offset


_UNREAD = _Place(0, "", 0)


class _Line(NamedTuple):
    start: int
    end: int
    content: bytes
    fault: str
    is_half: bool = False  # its end may still be written


class Tail:
    """A file of JSON lines, also after it was rotated, or a folder of such files."""

    takes_scores = False

    def __init__(self, path: str | os.PathLike[str], rows: Rows) -> None:
        self._path = Path(path)
        self._rows = rows
        self._limit = limits_here().row
        self.name = str(self._path.absolute())
        self.title = self._path.absolute().name or "files"
        if not self._path.parent.is_dir():
            raise InputError(f"there is no folder {self._path.parent} to watch {self._path.name} in")

    async def open(self) -> None:
        """Files are opened as they are read."""

    async def close(self) -> None:
        """Nothing is kept open."""

    async def send_back(self, results: Sequence[Return]) -> Mapping[str, bool]:
        """Files take no scores."""
        return {one.answer: True for one in results}

    async def batches(self, checkpoint: Any) -> AsyncIterator[Batch]:
        """Yield the lines that were added since."""
        before: dict[str, Any] = checkpoint or {"files": {}, "at": 0.0}
        places = {key: _Place(*place) for key, place in before["files"].items()}
        at = time.time()
        files = await asyncio.to_thread(self._files, places, before["at"])
        present = {key: places[key] for key, _ in files if key in places}
        for key, path in files:
            reading = self._read(path, present.get(key))
            while (step := await asyncio.to_thread(next, reading, None)) is not None:
                found, present[key] = step
                yield Batch(found, _checkpoint(present, before["at"]))
        yield Batch((), _checkpoint(present, at))

    def _files(self, known: Mapping[str, _Place], since: float) -> list[tuple[str, Path]]:
        """Return what is to be read, with names that outlast a renaming, the oldest first."""
        if self._path.is_dir():
            paths = [path for path in self._path.rglob("*") if _is_rows(path, self._path)]
        else:
            paths = [path for path in self._path.parent.iterdir() if _may_be_rotated(path, self._path)]
        found = []
        for path in paths:
            try:
                status = path.stat()
            except OSError:
                continue  # gone since
            key = f"{status.st_dev}:{status.st_ino}"
            is_ours = self._path.is_dir() or path == self._path or key in known
            # One that was in the place of ours between two looks; old ones were never asked for.
            if is_ours or (since and status.st_mtime >= since and _is_rotated(path, self._path)):
                found.append((status.st_mtime_ns, path == self._path, key, path))
        if not found and not self._path.exists():
            raise SourceError(f"there is nothing at {self._path} to read yet")
        return [(key, path) for _, _, key, path in sorted(found)]

    def _read(self, path: Path, place: _Place | None) -> Iterator[tuple[list[Found], _Place]]:
        """Yield what a file holds behind a place, and the place behind it."""
        try:
            if path.suffix.lower() in COMPRESSIONS:
                yield from self._read_packed(path, place)
                return
            with path.open("rb") as file:
                yield from self._read_open(file, path, place)
        except FileNotFoundError:
            return
        except OSError as error:
            raise SourceError(f"cannot read {path}: {error.strerror or error}") from None

    def _read_open(self, file: BinaryIO, path: Path, place: _Place | None) -> Iterator[tuple[list[Found], _Place]]:
        status = os.fstat(file.fileno())
        offset = 0
        if place and status.st_size >= place.offset and _is_as_it_was(file, place):
            offset = place.offset
        if offset == status.st_size:
            if place is None:
                yield [], _place(file, 0)
            return
        file.seek(0)
        first = _first_line(file.readline(_FIRST_LINE))
        file.seek(offset)
        may_grow = time.time() - status.st_mtime < _ABANDONED
        found: list[Found] = []
        size = 0
        for line in _lines(file, offset, self._limit):
            if line.is_half:
                found += [] if may_grow else [self._half(line, path, f"{status.st_dev}:{status.st_ino}")]
                break
            if one := self._found(line, path, first):
                found.append(one)
            offset, size = line.end, size + len(line.content)
            if len(found) >= _ROWS or size > _BYTES:
                yield found, _place(file, offset)
                file.seek(offset)
                found, size = [], 0
        yield found, _place(file, offset)

    def _read_packed(self, path: Path, place: _Place | None) -> Iterator[tuple[list[Found], _Place]]:
        """Yield what a compressed file holds; its place is its size when all of it is read, and 0 before."""
        found: list[Found] = []
        size, status = 0, path.stat()
        if place and place.offset == status.st_size:
            return
        try:
            with open_unpacked(path) as file:
                first = _first_line(file.readline(_FIRST_LINE))
            with open_unpacked(path) as file:
                for line in _lines(file, 0, self._limit):
                    if one := self._found(line, path, first):
                        found.append(one)
                    size += len(line.content)
                    if len(found) >= _ROWS or size > _BYTES:
                        yield found, _UNREAD
                        found, size = [], 0
        except STREAM_ERRORS as error:
            if isinstance(error, OSError) and error.errno:
                raise
            if time.time() - status.st_mtime < _ABANDONED:  # it is being written
                yield found, _UNREAD
                return
            reason = _returning(Unreadable(f"{path.name}: {stream_fault(error)}"))
            found.append(Found(f"packed:{path.name}:{status.st_ino}:{status.st_size}", reason))
        yield found, _Place(status.st_size, "", 0)

    def _half(self, line: _Line, path: Path, file: str) -> Found:
        """Count half a line that nobody goes on with, once; it is read all the same when somebody does."""
        reason = f"{path.name}, byte {line.start:,}: half a line, cut off: its end is not written"
        return Found(f"half:{file}:{line.start}", _returning(Unreadable(reason)))

    def _found(self, line: _Line, path: Path, first: str) -> Found | None:
        if not line.fault and not line.content.strip():
            return None
        mark = hashlib.sha256(line.content.rstrip(b"\r\n")).hexdigest()
        where = f"{path.name}, byte {line.start:,}"
        content = line.content.removeprefix(b"\xef\xbb\xbf") if line.start == 0 else line.content
        row = parse_line(1, content) if not line.fault else BadRow(1, line.fault)
        if isinstance(row, BadRow):
            return Found(f"{first}:{line.start}:{mark}", _returning(Unreadable(f"{where}: {row.reason}")))
        given = self._rows.given_id(row.values)
        is_named = given is not None and given != ""
        key = f"id:{given}:{mark}" if is_named else f"{first}:{line.start}:{mark}"
        made = self._rows.sample(row.values, f"{path.name}@{line.start}")
        if isinstance(made, Unreadable):
            made = Unreadable(f"{where}: {made.reason}")
        return Found(key, _returning(made), unit=f"id:{given}" if is_named else "")


def _checkpoint(places: Mapping[str, _Place], at: float) -> dict[str, Any]:
    return {"files": {name: list(one) for name, one in places.items()}, "at": at}


def _returning(made: Loaded) -> Any:
    async def load() -> Loaded:
        return made

    return load


def _lines(file: BinaryIO, start: int, limit: int) -> Iterator[_Line]:
    """Yield lines, of which the last one may be half; of one that is too long only the length."""
    while line := file.readline(limit + 1):
        length, fault, is_ended = len(line), "", line.endswith(b"\n")
        if length > limit and not is_ended:
            line, fault = b"", row_too_large(limit)
            while not is_ended and (piece := file.readline(_PIECE)):
                length += len(piece)
                is_ended = piece.endswith(b"\n")
        is_half = not is_ended and not isinstance(parse_line(1, line), RawRow)
        yield _Line(start, start + length, line, fault, is_half)
        start += length


def _first_line(line: bytes) -> str:
    """Return what tells a file's rows without an id from those of other files."""
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()


def _place(file: BinaryIO, offset: int) -> _Place:
    head, size = _digest(file, 0, _HEAD)
    return _Place(offset, head, size, _before(file, offset))


def _is_as_it_was(file: BinaryIO, place: _Place) -> bool:
    """Whether a file still begins as it did, and holds before the place what was read there."""
    is_same = _digest(file, 0, place.head_size)[0] == place.head
    return is_same and place.tail in ("", _before(file, place.offset))


def _before(file: BinaryIO, offset: int) -> str:
    size = min(offset, _HEAD)
    return _digest(file, offset - size, size)[0]


def _digest(file: BinaryIO, start: int, size: int) -> tuple[str, int]:
    """Return a digest of what a file holds from there on, and of how many bytes it is."""
    file.seek(start)
    found = file.read(size)
    return hashlib.sha256(found).hexdigest()[:16], len(found)


def _is_rows(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    is_hidden = any(part.startswith(".") for part in parts)
    return not is_hidden and bool(_ROWS_NAME.search(path.name)) and path.is_file()


def _may_be_rotated(path: Path, live: Path) -> bool:
    return path.name.startswith(live.stem) and path.is_file()


def _is_rotated(path: Path, live: Path) -> bool:
    """Whether a name is that of a file with a number or a date, in front of its suffix or behind it."""
    name = path.name
    if path.suffix.lower() in COMPRESSIONS:
        name = name.removesuffix(path.suffix)
    rest = name.removeprefix(live.stem).replace(live.suffix, "", 1) if live.suffix in name else ""
    return bool(_NUMBER_OR_DATE.fullmatch(rest))
