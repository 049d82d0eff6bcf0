"""Rows of text: JSON by lines or as a document, and CSV and TSV (a header, then records, quoted the usual way).

A JSON document is an array, an object with one list inside, one object, or several. Of it a sliding window is decoded
value by value with the standard decoder, so that values mean the same in both (NaN, lone surrogates, control
characters), a broken element can be stepped over, and memory holds one element, not the file.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any, BinaryIO

from everyclaim.core.errors import InputError
from everyclaim.core.plaintext import counted
from everyclaim.core.wire import RepeatedKeyError, json_object
from everyclaim.io.fields import BadRow, RawRow, listed, row_too_large
from everyclaim.io.files import STREAM_ERRORS, TextSource, rereadable, stream_fault
from everyclaim.io.values import kind

_PIECE = 1 << 18  # bytes, or characters, of what is passed over, read at once
_CHUNK = 1 << 16
_SIGN = re.compile(r"[^ \t\n\r]")
_STRUCTURE = re.compile(r'["\[\]{}]')
_IN_STRING = re.compile(r'"|\\.', re.DOTALL)
_SCALAR_END = re.compile(r'[ \t\n\r,:"\[\]{}]')
_UNDECODABLE = re.compile(r"[\udc80-\udcff]")  # what `surrogateescape` makes of bytes that are not UTF-8


# Control characters inside strings are data.
DECODER = json.JSONDecoder(strict=False, object_pairs_hook=json_object)


def read_jsonl(source: TextSource, limit: int) -> Iterator[RawRow | BadRow]:
    """Yield each line's object, or why it holds none; a line of more than `limit` bytes is never held as a whole."""
    number = 0
    with source.open() as stream:
        try:
            while line := stream.readline(limit + 1):
                number += 1
                if len(line) > limit and not line.endswith(b"\n"):
                    del line
                    while (piece := stream.readline(_PIECE)) and not piece.endswith(b"\n"):
                        pass
                    yield BadRow(number, row_too_large(limit))
                elif not line.isspace():
                    yield parse_line(number, line)
        except STREAM_ERRORS as error:
            yield BadRow(number + 1, f"{stream_fault(error)}; the rest could not be read", rest_lost=True)


def as_row(number: int, value: Any, unit: Any = "line") -> RawRow | BadRow:
    """Make a row of a decoded JSON value."""
    if isinstance(value, dict):
        return RawRow(number, value)
    return BadRow(number, f"expected an object, found {kind(value)}", unit)


def json_fault(error: ValueError | RecursionError) -> str:
    """Say in words why a text is not a JSON value."""
    if isinstance(error, RepeatedKeyError):
        return str(error)
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {error.msg.removesuffix(' at')} at column {error.pos + 1}"
    return "contains a number with thousands of digits"


def parse_line(number: int, line: bytes) -> RawRow | BadRow:
    """Return the object that a line holds, or why it holds none."""
    try:
        return as_row(number, DECODER.decode(line.decode().rstrip("\r\n")))
    except UnicodeDecodeError as error:
        byte = line[error.start]
        return BadRow(number, f"not valid UTF-8: byte 0x{byte:02x} at byte {error.start + 1} of the line")
    except (ValueError, RecursionError) as error:
        return BadRow(number, json_fault(error) + ("" if line.endswith(b"\n") else "; is the file cut off?"))


# ---- documents


class _BadElementError(ValueError):
    """One value cannot be used; the window stands behind it."""


def read_json(source: TextSource, is_row_key: Callable[[str], bool], limit: int) -> Iterator[RawRow | BadRow]:
    """Yield the rows of a JSON document; one of more than about `limit` bytes is passed over.

    `is_row_key` tells whether a top-level key shows that the object is itself a row. Raises
    `InputError` when the document has several lists that could be the rows.
    """
    with rereadable(source) as file:
        key = None
        if file.head.lstrip().startswith(b"{"):
            with file.open() as stream:
                key = _key_of_rows(file.name, _Window(stream, limit), is_row_key)
        with file.open() as stream:
            number, reason = 0, ""
            try:
                for number, row in enumerate(_rows(_Window(stream, limit), key), 1):
                    yield BadRow(number, row, "row") if isinstance(row, str) else as_row(number, row, "row")
            except STREAM_ERRORS as error:
                reason = stream_fault(error)
            except ValueError as error:
                reason = str(error)
            if reason:
                yield BadRow(number + 1, f"{reason}; the rest could not be read", "row", rest_lost=True)


def _rows(window: _Window, key: str | None) -> Iterator[Any]:
    """Yield the rows under a key, of a top-level array, or top-level values one after the other: see `_element`."""
    if key is not None:
        yield from (value for name, is_of_list, value in _entries(window) if name == key and is_of_list)
    elif window.peek() == "[":
        yield from (_element(window) for _ in _items(window, "[", "]"))
        if window.peek():
            raise ValueError("there is more text after the array")
    else:
        while window.peek():
            yield _element(window)
            if window.peek() == ",":
                window.skip(",")


def _element(window: _Window) -> Any:
    """Return the next value, a text where it cannot be used: why (a string is no row, either)."""
    try:
        value = window.value()
    except _BadElementError as error:
        return str(error)
    return "expected an object, found text" if isinstance(value, str) else value


def _items(window: _Window, begin: str, end: str) -> Iterator[None]:
    """Go through an array or an object, the window standing before each item, which the caller must consume."""
    window.skip(begin)
    while window.peek() != end:
        yield
        mark = window.peek()
        if mark == ",":
            window.skip(",")
            if window.peek() == end:
                raise ValueError(f"expected another item but found {end!r}")
        elif mark != end:
            raise ValueError(f"expected ',' or {end!r} but found {mark!r}" if mark else "it is cut off")
    window.skip(end)


def _entries(window: _Window) -> Iterator[tuple[str, bool, Any]]:
    """Yield what an object holds: the key, whether a list is there, and the value, or each element of that list."""
    for _ in _items(window, "{", "}"):
        key = window.value()
        if not isinstance(key, str) or window.peek() != ":":
            raise ValueError("not valid JSON: expected a key and ':'")
        window.skip(":")
        if window.peek() == "[":
            yield from ((key, True, _element(window)) for _ in _items(window, "[", "]"))
        else:
            yield key, False, window.value()


def _key_of_rows(name: str, window: _Window, is_row_key: Callable[[str], bool]) -> str | None:
    """Find the key whose list holds the rows; None when the object is itself a row, or broken."""
    lists: dict[str, None] = {}
    with suppress(ValueError, *STREAM_ERRORS):  # reading the rows will say what is wrong
        for key, is_of_list, value in _entries(window):
            if is_row_key(key):
                return None
            lists |= {key: None} if is_of_list and isinstance(value, dict) else {}
        if len(lists) > 1:
            raise InputError(
                f"{name} contains several lists of objects ({listed(lists)}); keep only the one with the rows"
            )
    return next(iter(lists)) if len(lists) == 1 else None


class _Window:
    """A JSON text, of which no more than one value is held."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._buffer = ""
        self._at = 0

    def peek(self) -> str:
        """Return the next character that is not space, without passing it; empty at the end."""
        while not (match := _SIGN.search(self._buffer, self._at)):
            self._at = len(self._buffer)
            if not self._more(self._at):
                return ""
        self._at = match.start()
        return match[0]

    def skip(self, mark: str) -> None:
        if self.peek() != mark:
            raise ValueError(f"not valid JSON: expected {mark!r}")
        self._at += 1

    def value(self) -> Any:
        """Decode the next value and pass it.

        Raises `_BadElementError` when it is none or too large, and `ValueError` when it has no end.
        """
        text = self._text()
        if text is None or len(text) > self._limit:
            raise _BadElementError(row_too_large(self._limit))
        if not text.isascii() and _UNDECODABLE.search(text):
            raise _BadElementError("contains bytes that are not valid UTF-8")
        try:
            return DECODER.decode(text)
        except (ValueError, RecursionError) as error:
            raise _BadElementError(json_fault(error).partition(" at column")[0]) from None

    def _text(self) -> str | None:
        """Pass a value by its brackets and quotes, and return it as it is written; None where it is too large."""
        pattern = _STRUCTURE if self.peek() in {"{", "[", '"'} else _SCALAR_END
        start, depth, is_kept = self._at, 0, True
        while True:
            match = pattern.search(self._buffer, self._at)
            if match is None:
                is_cut = pattern is _IN_STRING and self._buffer.endswith("\\")  # an escape goes on in the next piece
                self._at = len(self._buffer) - is_cut
                if self._at - start > self._limit:
                    start, is_kept = self._at, False
                if not self._more(start):
                    if pattern is not _SCALAR_END:
                        raise ValueError("not valid JSON: a value is cut off")
                    break
                start = 0
            elif pattern is _SCALAR_END:
                self._at = match.start()
                break
            else:
                self._at = match.end()
                if match[0] == '"':
                    pattern = _STRUCTURE if pattern is _IN_STRING else _IN_STRING
                elif pattern is _STRUCTURE:
                    depth += 1 if match[0] in "{[" else -1
                if pattern is _STRUCTURE and depth <= 0:
                    break
        text = self._buffer[start : self._at]
        if is_kept and not text:
            raise ValueError(f"not valid JSON: expected a value but found {self.peek()!r}")
        return text if is_kept else None

    def _more(self, start: int) -> bool:
        """Read on, dropping what is before `start`; reads as much again as is held, so that growing stays linear."""
        held = self._buffer[start:]
        data = self._stream.read(max(_CHUNK, len(held)))
        self._buffer, self._at = held + self._decoder.decode(data, final=not data), self._at - start
        return bool(data) or len(self._buffer) > len(held)


# ---- CSV and TSV


def read_header(source: TextSource, delimiter: str, limit: int) -> tuple[list[str], Iterator[RawRow | BadRow]]:
    """Return the column names and the rows; one of more than `limit` characters is passed over.

    Raises `InputError` without a usable header.
    """
    if csv.field_size_limit() <= limit:  # process-wide, so it is only ever raised
        csv.field_size_limit(limit + 1)
    records = _records(source, delimiter, limit)
    first = next(records, None)
    if first is None:
        raise InputError(f"{source.name} has no rows")
    if isinstance(first, BadRow):
        records.close()
        raise InputError(f"the header of {source.name} cannot be read: {first.reason}")
    return first, records


def delimiter_of(source: TextSource) -> str:
    """Tell comma, semicolon and tab apart by the header: the one it has most of."""
    return max(",;\t", key=lambda mark: source.head.partition(b"\n")[0].count(mark.encode()))


def _records(source: TextSource, delimiter: str, limit: int) -> Generator[Any]:
    """Yield the header, then rows by the lines that they start at; blank lines are passed over."""
    header: list[str] = []
    with source.open() as stream:
        lines = _Lines(io.TextIOWrapper(stream, "utf-8", errors="surrogateescape", newline=""), limit)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        while True:
            line = lines.count + 1
            lines.size = lines.quotes = 0
            try:
                cells = next(reader)
            except StopIteration:
                return
            except _TooLargeError as error:
                yield BadRow(line, str(error), rest_lost=lines.ended)
                continue
            except csv.Error as error:
                lost = str(error) == "unexpected end of data"
                reason = "a quote is opened here and never closed" if lost else f"not valid CSV: {error}"
                yield BadRow(line, reason, rest_lost=lost)
                if lost:
                    return
                continue
            except STREAM_ERRORS as error:
                yield BadRow(line, f"{stream_fault(error)}; the rest could not be read", rest_lost=True)
                return
            if any(not cell.isascii() and _UNDECODABLE.search(cell) for cell in cells):
                yield BadRow(line, "not valid UTF-8; save the file as UTF-8")
            elif len(cells) <= 1 and not "".join(cells).strip():
                continue
            elif not header:
                yield (header := cells)
            elif len(cells) != len(header):
                yield BadRow(line, f"has {counted(len(cells), 'cell')}, the header has {len(header)}")
            elif any("\0" in cell for cell in cells):
                yield BadRow(line, "contains a NUL byte")
            else:
                yield RawRow(line, dict(zip(header, cells, strict=True)))


class _TooLargeError(Exception):
    """A record is larger than it may be; the lines go on behind it."""


class _Lines:
    """The lines of a text, for a csv reader: a record of too many characters is passed over, and raised."""

    def __init__(self, text: io.TextIOWrapper, limit: int) -> None:
        self._text = text
        self._limit = limit
        self.size = 0  # of the record so far
        self.quotes = 0  # in it: as long as their number is odd, a line break belongs to a cell
        self.count = 0
        self.ended = False

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._text.readline(self._limit + 1 - self.size)
        if not line:
            self.ended = True
            raise StopIteration
        self.size += len(line)
        if self.size > self._limit:
            self._pass(line)
            raise _TooLargeError(row_too_large(self._limit) + ("; is a quote unclosed?" if self.ended else ""))
        self.quotes += line.count('"')
        self.count += 1
        return line

    def _pass(self, piece: str) -> None:
        while piece:
            self.quotes += piece.count('"')
            if piece.endswith(("\n", "\r")):
                self.count += 1
                if self.quotes % 2 == 0:
                    return
            piece = self._text.readline(_PIECE)
        self.ended = True
