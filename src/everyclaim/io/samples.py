"""The way in: find the reader for a source, and make its rows into samples, claims or documents.

Documents of a knowledge source are read here, too: a folder of text files, or the rows of a table.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, starmap
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, Unpack, get_args

from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.limits import MB, SizeLimits, limits_here
from everyclaim.core.plaintext import did_you_mean
from everyclaim.core.types import Label, Sample, SplitMark
from everyclaim.io.fields import (
    CLAIM_FIELDS,
    DOCUMENT_FIELDS,
    LABEL_FIELDS,
    MARK_FIELDS,
    SAMPLE_FIELDS,
    BadRow,
    Fields,
    RawRow,
    ReadReport,
    has_path,
    listed,
)
from everyclaim.io.files import (
    FORMATS,
    TextSource,
    format_of_head,
    format_of_name,
    open_text,
    path_exists,
)
from everyclaim.io.messages import ConversationOptions, History, Turns, rows_of
from everyclaim.io.rows import ClaimRow, DocumentRow, LabelRow, RowMaker
from everyclaim.io.tables import Row, files_of_folder, files_of_split, read_tables, rows_of_object
from everyclaim.io.textrows import delimiter_of, read_header, read_json, read_jsonl
from everyclaim.io.values import RowError, tags_of

LOOKAHEAD_ROWS = 1000
_REQUIRED = ""  # among the names that are needed: any of those of the required field

T = TypeVar("T", Sample, ClaimRow, DocumentRow, LabelRow)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A source that is ready to be read. `columns` where they are known before the rows."""

    name: str
    columns: Sequence[str] | None
    rows: Iterator[Row]
    unit: Literal["line", "row"] = "row"
    may_be_empty: bool = False  # a table in memory; an empty file is a mistake


def read_samples(
    source: Any,
    *,
    mapping: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002 - the word users look for
    slices: Sequence[str] | Mapping[str, bool] = (),
    on_bad_row: Callable[[BadRow], None] | None = None,
    report: ReadReport | None = None,
    contexts: bool = True,
    **conversations: Unpack[ConversationOptions],
) -> Iterator[Sample]:
    """Read samples one by one, in bounded memory.

    `source`: a path, ``-`` for standard input, a folder that Hugging Face `datasets` saved, a pandas,
    polars or pyarrow table, or an iterable of mappings or `Sample`s. `mapping` is their field name →
    ours, `format` one of `FORMATS` where the name does not say, `slices` names fields to take into
    the tags; a mapping says of each whether the source must have it. Fields that nothing uses are
    taken too, where they hold short texts, numbers or truth values, and not too many different ones.
    Rows that cannot be used go to `on_bad_row` and into `report`; warnings into `report`, one of them
    where no row has `contexts`, unless these are not needed. Of a conversation (`messages`) the last answer is read, or
    all of them (`turns`); its `history` is context, or evidence as well. A row beyond the limits that hold here
    (`core.limits`) is one that cannot be used.

    Raises `InputError`, on the first step of the iteration, for a source that cannot be read at all,
    has no field for the response, or lacks a field that `mapping` or `slices` names (seen in none of
    its first 1000 rows); `MissingExtraError` for tables without pyarrow; `ConfigError` for bad options.
    """
    fields = Fields(SAMPLE_FIELDS, mapping, slices, others=True)
    for name, words in (("turns", get_args(Turns)), ("history", get_args(History))):
        if (value := conversations.get(name, words[0])) not in words:
            raise ConfigError(f"{name}={value!r}: use one of {', '.join(words)}")
    fields.conversations = dict(conversations)
    return _rows(source, format, fields, RowMaker.sample, report, on_bad_row, contexts=contexts)


@dataclass(frozen=True, slots=True)
class RowType(Generic[T]):
    """What rows are read as: the fields that they may have, and how one is made of them."""

    fields: Mapping[str, tuple[str, ...]]
    make: Callable[[RowMaker, int, Mapping[str, Any]], T]


CLAIMS = RowType(CLAIM_FIELDS, RowMaker.claim)  # given, each with its passages
DOCUMENTS = RowType(DOCUMENT_FIELDS, RowMaker.document)  # for folders of text files see `read_documents`
LABELS = RowType(LABEL_FIELDS, partial(RowMaker.said, kind="label", words=Label, needed=("sample_id",)))
MARKS = RowType(MARK_FIELDS, partial(RowMaker.said, kind="mark", words=SplitMark, needed=("sample_id", "claim")))


def read_rows(
    rows: RowType[T],
    source: Any,
    *,
    mapping: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002 - as `read_samples`
    report: ReadReport | None = None,
    contexts: bool = False,
) -> Iterator[T]:
    """Read other rows than samples one by one; with `contexts` a warning says where no row has passages.

    Parameters and errors are those of `read_samples`.
    """
    return _rows(source, format, Fields(rows.fields, mapping), rows.make, report, contexts=contexts)


def _rows(
    source: Any,
    given_format: str | None,
    fields: Fields,
    make: Callable[[RowMaker, int, Mapping[str, Any]], T],
    report: ReadReport | None,
    on_bad_row: Callable[[BadRow], None] | None = None,
    *,
    contexts: bool = False,
) -> Iterator[T]:
    """Read the rows of a source as something; limits are those that hold at the call, not at the first step."""
    kept = report if report is not None else ReadReport()
    maker = RowMaker(fields, kept.warn, limits_here())

    def read() -> Iterator[T]:
        opened = _open(source, given_format, fields, maker.limits.row)
        if fields.conversations is not None:
            opened = replace(opened, rows=_expanded(opened.rows, fields, opened.unit))
        columns = _Columns(fields, opened)
        maker.reads_cells = opened.columns is not None and opened.unit == "line"

        def made_of(ordinal: int, row: Row) -> Any:
            try:
                if isinstance(row, RawRow):
                    return make(maker, ordinal, row.values)
                return maker.again(ordinal, row) if isinstance(row, Sample) else row
            except RowError as error:
                return BadRow(row.number if isinstance(row, RawRow) else ordinal, str(error), opened.unit)

        with closing(_as_generator(opened.rows)) as rows:
            for one in starmap(made_of, enumerate(_after_lookahead(rows, columns), 1)):
                if not isinstance(one, BadRow):
                    kept.good += 1
                    yield one
                    continue
                kept.add_bad(one)
                if on_bad_row:
                    on_bad_row(one)
        if contexts:
            columns.warn_of_missing_contexts(kept)

    return read()


def _expanded(rows: Iterator[Row], fields: Fields, unit: Literal["line", "row"]) -> Iterator[Row]:
    """Put the rows of its answers in the place of a row that holds a conversation."""
    with closing(_as_generator(rows)) as given:
        for place, row in enumerate(given, 1):
            try:
                found = rows_of(row.values, fields, place) if isinstance(row, RawRow) else []
            except RowError as error:
                yield BadRow(row.number if isinstance(row, RawRow) else place, str(error), unit)
                continue
            if found and isinstance(row, RawRow):
                yield from (RawRow(row.number, one) for one in found)
            else:
                yield row


def _as_generator(rows: Iterator[Row]) -> Any:
    """Make any iterator closable, so that files are closed when reading stops early."""
    return rows if hasattr(rows, "close") else (row for row in rows)


class _Columns:
    """Watches whether the fields that must be somewhere are seen, early enough to stop before any work."""

    def __init__(self, fields: Fields, opened: _Opened) -> None:
        self._fields = fields
        self._source = opened
        self._seen: dict[str, None] = {}
        self.missing = {*fields.named, *fields.needed_slices}  # what was not seen yet
        self.missing |= set() if fields.required in fields.mapped else {_REQUIRED}
        self._tags: dict[str, None] = {}
        self._contexts = False
        self._first_bad: BadRow | None = None
        if opened.columns is not None:
            columns = list(opened.columns)
            self._see_row(dict.fromkeys(columns))
            if twice := next((name for name in fields.wanted(columns) if columns.count(name) > 1), None):
                places = " and ".join(str(place) for place, name in enumerate(columns, 1) if name == twice)
                raise self._fault(InputError(f"the columns {places} are both named {twice!r}: rename all but one"))

    def see(self, row: Row) -> None:
        if isinstance(row, Sample):
            tags = row.tags if isinstance(row.tags, Mapping) else {}  # it may hold anything yet
            self.missing &= self._fields.needed_slices - tags.keys()
            self._tags.update(dict.fromkeys(map(str, tags)) if len(self._tags) < 200 else {})
            self._contexts = self._contexts or bool(row.passages)
        elif isinstance(row, BadRow):
            self._first_bad = self._first_bad or row
        else:
            self._see_row(row.values)

    def check(self, *, any_rows: bool = True) -> None:
        """Raise `InputError` for what was not seen, also for no rows where there should be some."""
        if not any_rows:
            if self._source.may_be_empty:
                return
            raise InputError(f"{self._source.name} has no rows")
        if self.missing - self._fields.needed_slices and not self._seen and self._first_bad:
            raise InputError(f"no row of {self._source.name} can be read; the first problem is in {self._first_bad}")
        if _REQUIRED in self.missing:
            raise self._fault(self._fields.missing_required(self._seen))
        if self.missing:
            raise self._fault(self._fields.missing_mapped(min(self.missing), [*self._seen, *self._tags]))

    def warn_of_missing_contexts(self, report: ReadReport) -> None:
        """Warn when nothing was judged against anything, which is rarely meant."""
        if report.good and not self._contexts:
            report.warn(
                f"no row has a field for the contexts; the fields are: {listed(self._seen)}. Map one: "
                "--map THEIRS=contexts"
                if self._seen
                else "no Sample has passages, so every claim is unsupported"
            )

    def _see_row(self, values: Mapping[str, Any]) -> None:
        if len(self._seen) < 200:
            self._seen.update(dict.fromkeys(values))
        self.missing = {name for name in self.missing if not self._has(values, name)}
        self._contexts = self._contexts or self._fields.has(values, "contexts")

    def _has(self, values: Mapping[str, Any], name: str) -> bool:
        if name == _REQUIRED:
            return self._fields.has_required(values)
        if has_path(values, name) or name not in self._fields.needed_slices:
            return has_path(values, name)
        with suppress(RowError):  # the row will be kept out for it
            return name in tags_of(self._fields.get(values, "tags"))
        return False

    def _fault(self, error: InputError) -> InputError:
        return InputError(f"{self._source.name}: {error}")


def _after_lookahead(rows: Iterable[Row], columns: _Columns) -> Iterator[Row]:
    """Hold the first rows back until every field that must be somewhere was seen."""
    stream = iter(rows)
    held: list[Row] = []
    for row in islice(stream, LOOKAHEAD_ROWS):
        columns.see(row)
        held.append(row)
        if not columns.missing:
            break
    else:
        columns.check(any_rows=bool(held))
    yield from held
    held.clear()
    for row in stream:
        columns.see(row)
        yield row


def _open(source: Any, given: str | None, fields: Fields, row: int) -> _Opened:
    if given is not None and given not in FORMATS:
        raise ConfigError(
            f"unknown format {given!r}; known formats: {', '.join(FORMATS)}{did_you_mean(given, FORMATS)}"
        )
    if not isinstance(source, (str, os.PathLike)):
        if given:
            raise ConfigError(f"format={given!r} is for files and standard input, not for a {type(source).__name__}")
        columns, rows = rows_of_object(source, row)
        return _Opened("the input", columns, rows, may_be_empty=True)
    path = os.fspath(source)
    if not path:
        raise InputError("the file name is empty")
    if path != "-":
        if not path_exists(Path(path)):
            split = files_of_split(Path(path))
            if not split:
                raise InputError(f"there is no file {path}")
            return _open_tables(path, split, fields, row)
        if Path(path).is_dir():
            return _open_tables(path, files_of_folder(Path(path)), fields, row)
        if (given or format_of_name(path)) in {"parquet", "arrow"}:
            return _open_tables(path, [Path(path)], fields, row)
    return _open_text_rows(open_text(path), path, given, fields, row)


def _open_text_rows(text: TextSource, path: str, given: str | None, fields: Fields, row: int) -> _Opened:
    looks = format_of_head(text.head)
    if looks in {"parquet", "arrow"}:
        if path == "-" or not text.again:
            raise InputError(f"{text.name} is a {looks} table; these cannot be read from a pipe, pass the file")
        return _open_tables(path, [Path(path)], fields, row)
    chosen = given or format_of_name(path) or looks
    if chosen == "jsonl" and not given and text.head.lstrip().startswith(b"["):
        chosen = "json"  # an array under the wrong name
    if chosen == "jsonl":
        return _Opened(text.name, None, read_jsonl(text, row), "line")
    if chosen == "json":
        return _Opened(text.name, None, read_json(text, lambda key: fields.has_required({key: None}), row))
    if chosen in {"csv", "tsv"}:
        header, rows = read_header(text, "\t" if chosen == "tsv" else delimiter_of(text), row)
        return _Opened(text.name, header, rows, "line")
    raise InputError(f"cannot tell the format of {text.name}; pass one of: {', '.join(FORMATS)}")


def _open_tables(name: str, paths: list[Path], fields: Fields, row: int) -> _Opened:
    return _Opened(name, *read_tables(paths, fields.wanted, row))


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
        text, why = "", "empty"
        try:
            if path.stat().st_size > LARGEST_FILE:
                why = f"cannot be read (larger than {LARGEST_FILE // MB} MB; split it or pass rows)"
            else:
                text = path.read_text("utf-8-sig")
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or getattr(error, "reason", None) or str(error)
            why = f"cannot be read ({why})"
        if not text.strip():
            report.add_bad(BadRow(number, f"{name}: {why}", "row"))
            continue
        report.good += 1
        heading = _HEADING.match(text.lstrip())
        yield DocumentRow(name, heading[1] if heading else path.stem.replace("_", " ").replace("-", " "), text)
