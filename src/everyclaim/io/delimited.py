"""CSV and TSV: a header, then records, quoted the usual way, cells of any length."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Generator, Iterator

from everyclaim.core.errors import InputError
from everyclaim.io.faults import BadRow
from everyclaim.io.files import STREAM_ERRORS, TextSource, stream_fault
from everyclaim.io.jsonlines import LONGEST_LINE, RawRow

_DECLARED = re.compile(
    rb'"?sep=([^\r\n])"?[,;\t]*\r?\n', re.IGNORECASE
)  # a first line by which Excel tells its delimiter
_UNDECODABLE = re.compile(r"[\udc80-\udcff]")  # what `surrogateescape` makes of bytes that are not UTF-8


def read_header(source: TextSource, delimiter: str) -> tuple[list[str], Iterator[RawRow | BadRow]]:
    """Return the column names and the rows. Raises `InputError` when there is no usable header.

    A delimiter that the file itself declares goes over the one given.
    """
    if csv.field_size_limit() < LONGEST_LINE:  # process-wide, so it is only ever raised
        csv.field_size_limit(LONGEST_LINE)
    declared = _DECLARED.match(source.head)
    records = _records(source, declared[1].decode("latin-1") if declared else delimiter)
    if declared:
        next(records, None)
    first = next(records, None)
    if first is None:
        raise InputError(f"{source.name} holds no rows")
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
            yield BadRow(line, f"has {_count(len(cells))}, the header has {len(header)}")
        elif any("\0" in cell for cell in cells):
            yield BadRow(line, "holds a NUL byte")
        else:
            yield RawRow(line, dict(zip(header, cells, strict=True)))


def _records(source: TextSource, delimiter: str) -> Generator[tuple[int, list[str]] | BadRow]:
    """Yield the line each record starts at, and its cells; blank lines are passed over."""
    with source.open() as stream:
        lines = io.TextIOWrapper(stream, "utf-8", errors="surrogateescape", newline="")
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                fault = str(error)
                lost = fault == "unexpected end of data" or "field larger" in fault
                reason = "a quote is opened here and never closed" if lost else f"not valid CSV: {fault}"
                yield BadRow(line, reason, rest_lost=lost)
                if lost:
                    return
                continue
            except STREAM_ERRORS as error:
                yield BadRow(line, f"{stream_fault(error)}; nothing after this could be read", rest_lost=True)
                return
            if any(not cell.isascii() and _UNDECODABLE.search(cell) for cell in cells):
                yield BadRow(line, "not valid UTF-8; save the file as UTF-8")
            elif len(cells) > 1 or "".join(cells).strip():
                yield line, cells


def _count(cells: int) -> str:
    return f"{cells} cell" if cells == 1 else f"{cells} cells"
