"""The way out: rows as JSON Lines, JSON, CSV or Parquet, streamed, by the destination's suffix.

In CSV, text that a spreadsheet would run as a formula (it begins with ``= + - @``, a tab or a line
break) gets an apostrophe in front; NUL and lone surrogates, which CSV cannot hold, are replaced by
U+2400 and U+FFFD. Parquet replaces lone surrogates; JSON escapes them.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, BinaryIO

from everyclaim.core.errors import ConfigError, InputError, MissingExtraError
from everyclaim.io.files import COMPRESSIONS, format_of_name
from everyclaim.io.sinks import open_sink

WRITE_FORMATS = ("jsonl", "json", "csv", "tsv", "parquet")
_LOOKAHEAD_ROWS = 1000
_PARQUET_ROWS = 5000  # per row group
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

Row = Mapping[str, Any]
Columns = Mapping[str, type]  # column name → str, int, float or bool
WriteRow = Callable[[Row], None]


def write_rows(
    rows: Iterable[Row],
    destination: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users look for
    columns: Columns | None = None,
) -> int:
    """Write rows as they come, and return how many there were.

    See `open_rows` for the parameters. When `rows` raises, nothing is left at the destination.
    """
    count = 0
    with open_rows(destination, format=format, columns=columns) as write:
        for row in rows:
            write(row)
            count += 1
    return count


@contextmanager
def open_rows(
    destination: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - as `write_rows`
    columns: Columns | None = None,
    marked: bool = False,
) -> Iterator[WriteRow]:
    """Give a function that writes one row; the destination appears, whole, when the block ends well.

    `destination` is a path or ``-``; its suffix names format and compression (`format` names the
    format where it does not; standard output is JSON Lines unless told). CSV and Parquet need the
    `columns` beforehand, or take those of the first 1000 rows; nested values become JSON text there.
    `marked` begins CSV with the byte order mark by which spreadsheets know UTF-8.
    Raises `InputError` for a destination that cannot be written to or a row that does not fit the
    columns, `ConfigError` for an unknown format, `OperatorError` when writing fails.
    """
    chosen = check_format(destination, format)
    with open_sink(destination) as stream:
        if chosen == "jsonl":
            yield _json_lines(stream)
        elif chosen == "json":
            with _json_array(stream) as write:
                yield write
        else:
            table = (
                _CsvTable(stream, "\t" if chosen == "tsv" else ",") if chosen != "parquet" else _ParquetTable(stream)
            )
            if marked and isinstance(table, _CsvTable):
                stream.write(codecs.BOM_UTF8)
            with _with_columns(table, columns) as write:
                yield write


def check_format(destination: str | os.PathLike[str], given: str | None = None) -> str:
    """Return the format that would be written. Raises what `open_rows` would for it, and opens nothing."""
    name = os.fspath(destination)
    chosen = given or ("jsonl" if name == "-" else format_of_name(name))
    if chosen not in WRITE_FORMATS:
        what = f"unknown format {given!r}" if given else f"the name {name} has no known suffix"
        raise ConfigError(f"{what}; use a suffix or a format among: {', '.join(WRITE_FORMATS)}")
    if chosen == "parquet" and name.lower().endswith(COMPRESSIONS):
        raise ConfigError(f"cannot write {name}: Parquet is already compressed; omit the last suffix")
    if chosen == "parquet" and find_spec("pyarrow") is None:
        raise MissingExtraError("writing Parquet", "tables")
    return chosen


def _json_bytes(row: Row) -> bytes:
    try:
        try:
            return json.dumps(row, ensure_ascii=False, allow_nan=False).encode()
        except UnicodeEncodeError:  # lone surrogates can only be escaped
            return json.dumps(row, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"a row cannot be written as JSON: {error}") from None


def _json_lines(stream: BinaryIO) -> WriteRow:
    def write(row: Row) -> None:
        stream.write(_json_bytes(row) + b"\n")

    return write


@contextmanager
def _json_array(stream: BinaryIO) -> Iterator[WriteRow]:
    before = b"[\n"

    def write(row: Row) -> None:
        nonlocal before
        stream.write(before + _json_bytes(row))
        before = b",\n"

    yield write
    stream.write(b"[]\n" if before == b"[\n" else b"\n]\n")


@contextmanager
def _with_columns(table: _CsvTable | _ParquetTable, columns: Columns | None) -> Iterator[WriteRow]:
    """Hold the first rows back until the columns are known, then check every row against them."""
    known: dict[str, type] = dict(columns or {})
    held: list[Row] | None = None if known else []
    count = 0

    def write_known(row: Row, number: int) -> None:
        extra = next((name for name in row if name not in known), None)
        if extra is not None:
            columns_now = ", ".join(known)
            raise InputError(f"row {number} has a field {extra!r} without a column; the columns are: {columns_now}")
        table.write([row.get(name) for name in known])

    def release() -> None:
        nonlocal held
        rows, held = held or [], None
        known.update(_columns_of(rows))
        table.begin(known)
        for number, row in enumerate(rows, 1):
            write_known(row, number)

    def write(row: Row) -> None:
        nonlocal count
        count += 1
        if held is None:
            write_known(row, count)
            return
        held.append(row)
        if count == _LOOKAHEAD_ROWS:
            release()

    if known:
        table.begin(known)
    yield write
    if held is not None:
        release()
    table.end()


def _columns_of(rows: Sequence[Row]) -> dict[str, type]:
    """Take the columns of rows in order of appearance; a column of mixed or nested values is text."""
    kinds: dict[str, set[type]] = {}
    for row in rows:
        for name, value in row.items():
            kinds.setdefault(name, set())
            if value is not None:
                kinds[name].add(type(value))
    return {name: _common_type(found) for name, found in kinds.items()}


def _common_type(found: set[type]) -> type:
    if found == {bool}:
        return bool
    if found == {int}:
        return int
    return float if found and found <= {int, float} else str


class _CsvTable:
    def __init__(self, stream: BinaryIO, delimiter: str) -> None:
        self._stream = stream
        self._text = io.StringIO(newline="")
        self._writer = csv.writer(self._text, delimiter=delimiter)  # CRLF, as RFC 4180 says

    def begin(self, columns: Columns) -> None:
        self._record([_csv_text(name) for name in columns])

    def write(self, values: list[Any]) -> None:
        self._record([_csv_cell(value) for value in values])

    def end(self) -> None:
        """Nothing to do: every record is written at once."""

    def _record(self, cells: list[Any]) -> None:
        self._text.seek(0)
        self._text.truncate()
        self._writer.writerow(cells)
        self._stream.write(self._text.getvalue().encode())


class _ParquetTable:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._columns: dict[str, type] = {}
        self._values: dict[str, list[Any]] = {}
        self._schema: Any = None
        self._writer: Any = None
        self._rows = 0

    def begin(self, columns: Columns) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
        self._columns = dict(columns)
        self._values = {name: [] for name in columns}
        self._schema = pa.schema([(_no_surrogates(name), types[kind]) for name, kind in columns.items()])
        self._writer = pq.ParquetWriter(self._stream, self._schema, compression="zstd")

    def write(self, values: list[Any]) -> None:
        for (name, kind), value in zip(self._columns.items(), values, strict=True):
            self._values[name].append(_typed(name, kind, value))
        self._rows += 1
        if self._rows >= _PARQUET_ROWS:
            self._flush()

    def end(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            arrays = [
                pa.array(cells, field.type) for cells, field in zip(self._values.values(), self._schema, strict=True)
            ]
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
            self._rows = 0
            for cells in self._values.values():
                cells.clear()


def _typed(name: str, kind: type, value: Any) -> Any:
    if value is None:
        return None
    if kind is str:
        return _no_surrogates(value if isinstance(value, str) else _json_text(value))
    if isinstance(value, kind) or (kind is float and isinstance(value, int)):
        return kind(value)
    raise InputError(
        f"the column {name!r} contains {kind.__name__} values, then {value!r:.80}; declare its type as str"
    )


def _csv_cell(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return _csv_text(value if isinstance(value, str) else _json_text(value))


def _csv_text(text: str) -> str:
    text = _no_surrogates(text).replace("\0", "\u2400")
    return f"'{text}" if text.startswith(FORMULA) else text


def _json_text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError, TypeError) as error:
        raise InputError(f"a value cannot be written as text: {error}") from None


def _no_surrogates(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
