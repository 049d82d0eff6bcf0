"""CSV and TSV: a header, then records, quoted the usual way, cells of any length."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Generator, Iterator

from everyclaim.core.errors import InputError
from everyclaim.core.plaintext import counted
from everyclaim.io.faults import BadRow, RawRow, row_too_large
from everyclaim.io.files import STREAM_ERRORS, TextSource, stream_fault

_PIECE = 1 << 18  # characters of a record that is passed over, read at once
_DECLARED = re.compile(
    rb'"?sep=([^\r\n])"?[,;\t]*\r?\n', re.IGNORECASE
)  # a first line by which Excel tells its delimiter
_UNDECODABLE = re.compile(r"[\udc80-\udcff]")  # what `surrogateescape` makes of bytes that are not UTF-8


def read_header(source: TextSource, delimiter: str, limit: int) -> tuple[list[str], Iterator[RawRow | BadRow]]:
    """Return the column names and the rows; one of more than `limit` characters is passed over.

    A delimiter that the file itself declares goes over the one given. Raises `InputError` when there is no usable
    header.
    """
    if csv.field_size_limit() <= limit:  # process-wide, so it is only ever raised
        csv.field_size_limit(limit + 1)
    declared = _DECLARED.match(source.head)
    records = _records(source, declared[1].decode("latin-1") if declared else delimiter, limit)
    if declared:
        next(records, None)
    first = next(records, None)
    if first is None:
        raise InputError(f"{source.name} has no rows")
    if isinstance(first, BadRow):
        records.close()
        raise InputError(f"the header of {source.name} cannot be read: {first.reason}")
    header = first[1]
    return header, _rows(header, records)


def delimiter_of(source: TextSource) -> str:
    """Tell comma, semicolon and tab apart by the header: the one it has most of."""
    line = source.head.split(b"\n", 1)[0]
    return max(",;\t", key=lambda mark: line.count(mark.encode()))


def _rows(header: list[str], records: Iterator[tuple[int, list[str]] | BadRow]) -> Iterator[RawRow | BadRow]:
    for record in records:
        if isinstance(record, BadRow):
            yield record
            continue
        line, cells = record
        if len(cells) != len(header):
            yield BadRow(line, f"has {counted(len(cells), 'cell')}, the header has {len(header)}")
        elif any("\0" in cell for cell in cells):
            yield BadRow(line, "contains a NUL byte")
        else:
            yield RawRow(line, dict(zip(header, cells, strict=True)))


def _records(source: TextSource, delimiter: str, limit: int) -> Generator[tuple[int, list[str]] | BadRow]:
    """Yield the line each record starts at, and its cells; blank lines are passed over."""
    with source.open() as stream:
        lines = _Lines(io.TextIOWrapper(stream, "utf-8", errors="surrogateescape", newline=""), limit)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        while True:
            line = lines.count + 1
            lines.begin_record()
            try:
                cells = next(reader)
            except StopIteration:
                return
            except _TooLargeError as error:
                yield BadRow(line, str(error), rest_lost=lines.ended)
                continue
            except csv.Error as error:
                fault = str(error)
                lost = fault == "unexpected end of data"
                reason = "a quote is opened here and never closed" if lost else f"not valid CSV: {fault}"
                yield BadRow(line, reason, rest_lost=lost)
                if lost:
                    return
                continue
            except STREAM_ERRORS as error:
                yield BadRow(line, f"{stream_fault(error)}; the rest could not be read", rest_lost=True)
                return
            if any(not cell.isascii() and _UNDECODABLE.search(cell) for cell in cells):
                yield BadRow(line, "not valid UTF-8; save the file as UTF-8")
            elif len(cells) > 1 or "".join(cells).strip():
                yield line, cells


class _TooLargeError(Exception):
    """A record is larger than it may be; the lines go on behind it."""


class _Lines:
    """The lines of a text, for a csv reader: a record of too many characters is passed over, and raised."""

    def __init__(self, text: io.TextIOWrapper, limit: int) -> None:
        self._text = text
        self._limit = limit
        self._size = 0  # of the record so far
        self._quotes = 0  # in it: as long as their number is odd, a line break belongs to a cell
        self.count = 0
        self.ended = False

    def begin_record(self) -> None:
        self._size = self._quotes = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._text.readline(self._limit + 1 - self._size)
        if not line:
            self.ended = True
            raise StopIteration
        self._size += len(line)
        if self._size > self._limit:
            self._pass(line)
            raise _TooLargeError(row_too_large(self._limit) + ("; is a quote unclosed?" if self.ended else ""))
        self._quotes += line.count('"')
        self.count += 1
        return line

    def _pass(self, piece: str) -> None:
        """Read to the end of the record."""
        while piece:
            self._quotes += piece.count('"')
            if piece.endswith(("\n", "\r")):
                self.count += 1
                if self._quotes % 2 == 0:
                    return
            piece = self._text.readline(_PIECE)
        self.ended = True
