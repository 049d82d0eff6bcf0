"""Files of JSON lines that grow, are rotated and truncated: one file, or all of a folder.

A file is known by its place on the disk and by what was read of it last, so that it is found again under another name,
and one that was emptied, or another one in its place, is read from its beginning. A line is read
when it is complete: when its newline is there, or when it holds a whole object. Compressed files are read whole, once:
what was read before they were packed is known by its lines.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from everyclaim.core.errors import InputError, SourceError
from everyclaim.core.limits import limits_here
from everyclaim.io.fields import BadRow, RawRow, row_too_large
from everyclaim.io.files import COMPRESSIONS, STREAM_ERRORS, open_unpacked, stream_fault
from everyclaim.io.textrows import parse_line
from everyclaim.monitor.watch.source import AnswerSource, Batch, Found, Rows, Unreadable

_ROWS_NAME = re.compile(r"\.(jsonl|ndjson)([.-].*)?$")  # also as rotation names them: with a number, or a date
_NUMBER_OR_DATE = re.compile(r"[.-](?=\d)[-._:TZ\d]+")
_TAIL = 256  # bytes before the offset, by which a file is known again
_FIRST_LINE = 4096  # bytes of it that go into the key of a row
_ROWS, _BYTES = 200, 8_000_000  # in one batch
_PIECE = 1 << 18  # bytes of a line that is passed over, read at once
_ABANDONED = 600.0  # seconds after which nobody is taken to complete a line


class ReadPosition(NamedTuple):
    """How far one file is read, and what it is known by."""

    offset: int
    tail: str = ""  # digest of what stands before the offset
    lines: int = 0  # before the offset


class LogLine(NamedTuple):
    """One line of a file, from its first byte to behind its last."""

    number: int  # from 1
    start: int
    end: int
    content: bytes
    fault: str
    is_half: bool  # its end may still be written


Step = tuple[list[Found], ReadPosition]


class LogFiles(AnswerSource):
    """A file of JSON lines, also after it was rotated, or a folder of such files."""

    def __init__(self, path: str, rows: Rows, *, may_come_later: bool = True) -> None:
        self._path = Path(path)
        self._rows = rows
        self._limit = limits_here().row
        self.name = str(self._path.absolute())
        self.title = self._path.absolute().name or "files"
        if not self._path.parent.is_dir():
            raise InputError(f"there is no folder {self._path.parent} to watch {self._path.name} in")
        if not (may_come_later or any(self._path.parent.glob(f"{escape(self._path.stem)}*"))):
            raise SourceError(f"there is no file {self._path}")

    async def batches(self, checkpoint: Any) -> AsyncIterator[Batch]:
        """Yield the lines that were added since."""
        before: dict[str, Any] = checkpoint or {"files": {}, "at": 0.0}
        known = {key: ReadPosition(at[0], *at[-2:]) for key, at in before["files"].items()}
        now = time.time()
        files = await asyncio.to_thread(self._files, known, before["at"])
        positions = {key: known[key] for key, _ in files if key in known}
        for key, path in files:
            steps = self._read(path, key, positions.get(key))
            while (step := await asyncio.to_thread(next, steps, None)) is not None:
                found, positions[key] = step
                yield Batch(found, _checkpoint(positions, before["at"]))
        yield Batch((), _checkpoint(positions, now))

    def _files(self, known: Mapping[str, ReadPosition], since: float) -> list[tuple[str, Path]]:
        """Return what is to be read, with keys that outlast a renaming, the oldest first."""
        is_folder = self._path.is_dir()
        found = []
        for path in self._path.rglob("*") if is_folder else self._path.parent.iterdir():
            is_candidate = _is_rows(path, self._path) if is_folder else path.name.startswith(self._path.stem)
            try:
                if not is_candidate or not path.is_file():
                    continue
                status = path.stat()
            except OSError:
                continue  # gone since
            key = f"{status.st_dev}:{status.st_ino}"
            is_live = path == self._path
            # A rotated one that was in the place of ours between two looks; old ones were never asked for.
            is_between = bool(since) and status.st_mtime >= since and _is_rotated(path, self._path)
            if is_folder or is_live or key in known or is_between:
                found.append((status.st_mtime_ns, is_live, key, path))
        if not found and not self._path.exists():
            raise SourceError(f"there is no file {self._path}")
        return [(key, path) for _, _, key, path in sorted(found)]

    def _read(self, path: Path, key: str, position: ReadPosition | None) -> Iterator[Step]:
        """Yield what a file holds behind a position, and the position behind it."""
        try:
            if path.suffix.lower() in COMPRESSIONS:
                yield from self._read_packed(path, position)
            else:
                with path.open("rb") as file:
                    yield from self._read_plain(file, path, key, position)
        except FileNotFoundError:
            return
        except OSError as error:
            raise SourceError(f"cannot read {path}: {error.strerror or error}") from None

    def _read_plain(self, file: BinaryIO, path: Path, key: str, position: ReadPosition | None) -> Iterator[Step]:
        status, offset, lines = os.fstat(file.fileno()), 0, 0
        if position and status.st_size >= position.offset and position.tail in ("", _tail(file, position.offset)):
            offset, lines = position.offset, position.lines
        if offset == status.st_size:
            if position is None:
                yield [], ReadPosition(0)
            return
        file.seek(0)
        first = _digest(file.readline(_FIRST_LINE))
        file.seek(offset)
        found: list[Found] = []
        size = 0
        for line in _lines(file, offset, lines, self._limit):
            if line.is_half:
                if time.time() - status.st_mtime >= _ABANDONED:
                    # Counted once; it is read all the same when somebody goes on with it.
                    why = f"{path.name}, line {line.number:,}: the line is incomplete"
                    found.append(Found(f"half:{key}:{line.start}", Unreadable(why)))
                break
            found += self._found(line, path, first)
            offset, lines, size = line.end, line.number, size + len(line.content)
            if len(found) >= _ROWS or size > _BYTES:
                yield found, ReadPosition(offset, _tail(file, offset), lines)
                file.seek(offset)
                found, size = [], 0
        yield found, ReadPosition(offset, _tail(file, offset), lines)

    def _read_packed(self, path: Path, position: ReadPosition | None) -> Iterator[Step]:
        """Yield what a compressed file holds; its offset is its size when all of it is read, and 0 before."""
        status = path.stat()
        if position and position.offset == status.st_size:
            return
        found: list[Found] = []
        size = 0
        try:
            with open_unpacked(path) as file:
                first = _digest(file.readline(_FIRST_LINE))
            with open_unpacked(path) as file:
                for line in _lines(file, 0, 0, self._limit):
                    found += self._found(line, path, first)
                    size += len(line.content)
                    if len(found) >= _ROWS or size > _BYTES:
                        yield found, ReadPosition(0)
                        found, size = [], 0
        except STREAM_ERRORS as error:
            if isinstance(error, OSError) and error.errno:
                raise
            if time.time() - status.st_mtime < _ABANDONED:  # it is being written
                yield found, ReadPosition(0)
                return
            key = f"packed:{path.name}:{status.st_ino}:{status.st_size}"
            found.append(Found(key, Unreadable(f"{path.name}: {stream_fault(error)}")))
        yield found, ReadPosition(status.st_size)

    def _found(self, line: LogLine, path: Path, first: str) -> list[Found]:
        """Return the answer of a line; none of an empty one. `first` tells rows without an id from other files'."""
        if not line.fault and not line.content.strip():
            return []
        mark, where = _digest(line.content), f"{path.name}, line {line.number:,}"
        content = line.content.removeprefix(b"\xef\xbb\xbf") if line.start == 0 else line.content
        row = BadRow(1, line.fault) if line.fault else parse_line(1, content)
        if isinstance(row, BadRow):
            return [Found(f"{first}:{line.start}:{mark}", Unreadable(f"{where}: {row.reason}"))]
        given = self._rows.given_id(row.values)
        key = f"id:{given}:{mark}" if given else f"{first}:{line.start}:{mark}"
        made = self._rows.sample(row.values, f"{path.name}@{line.start}", where)
        return [Found(key, made, unit=f"id:{given}" if given else "")]


def _checkpoint(positions: Mapping[str, ReadPosition], at: float) -> dict[str, Any]:
    return {"files": {key: list(position) for key, position in positions.items()}, "at": at}


def _lines(file: BinaryIO, start: int, before: int, limit: int) -> Iterator[LogLine]:
    """Yield lines, of which the last one may be half; of one that is too long only the length."""
    while line := file.readline(limit + 1):
        before += 1
        length, fault, is_ended = len(line), "", line.endswith(b"\n")
        if length > limit and not is_ended:
            line, fault = b"", row_too_large(limit)
            while not is_ended and (piece := file.readline(_PIECE)):
                length += len(piece)
                is_ended = piece.endswith(b"\n")
        is_half = not is_ended and not isinstance(parse_line(1, line), RawRow)
        yield LogLine(before, start, start + length, line, fault, is_half)
        start += length


def _digest(line: bytes) -> str:
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()


def _tail(file: BinaryIO, offset: int) -> str:
    size = min(offset, _TAIL)
    file.seek(offset - size)
    return hashlib.sha256(file.read(size)).hexdigest()[:16]


def _is_rows(path: Path, folder: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return not is_hidden and bool(_ROWS_NAME.search(path.name))


def _is_rotated(path: Path, live: Path) -> bool:
    """Whether a name is that of a file with a number or a date, in front of its suffix or behind it."""
    name = path.name.removesuffix(path.suffix) if path.suffix.lower() in COMPRESSIONS else path.name
    rest = name.removeprefix(live.stem).replace(live.suffix, "", 1) if live.suffix in name else ""
    return bool(_NUMBER_OR_DATE.fullmatch(rest))
