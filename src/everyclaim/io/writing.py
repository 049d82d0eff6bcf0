"""The way out: rows as JSON Lines, JSON, CSV or Parquet, streamed, by the destination's suffix.

In CSV, text that a spreadsheet would run as a formula (it begins with ``= + - @``, a tab or a line
break) gets an apostrophe in front; NUL and lone surrogates, which CSV cannot hold, are replaced by
U+2400 and U+FFFD. Parquet replaces lone surrogates; JSON escapes them.

Results as flat rows, one per claim, are for tables: CSV, Parquet, spreadsheets. The parts of a score are columns of
their own beside it, `component.precision`, as many as the metric has: they are known once the first result with a score
is.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain, repeat
from typing import Any, BinaryIO, Literal

from everyclaim.core.errors import ConfigError, MissingExtraError
from everyclaim.core.plaintext import storable
from everyclaim.core.types import Outcome, Result, tag_values
from everyclaim.core.wire import result_to_json, tags_to_json, to_json
from everyclaim.io.files import COMPRESSIONS, format_of_name
from everyclaim.io.sinks import open_sink

WRITE_FORMATS = ("jsonl", "json", "csv", "tsv", "parquet")
_PARQUET_ROWS = 5000  # per row group
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

Row = Mapping[str, Any]
Columns = Mapping[str, type]  # column name → str, int, float or bool
WriteRow = Callable[[Row], Any]


@contextmanager
def open_rows(
    destination: str | os.PathLike[str],
    *,
    columns: Columns | None = None,
    marked: bool = False,
) -> Iterator[WriteRow]:
    """Give a function that writes one row; the destination appears, whole, when the block ends well.

    `destination` is a path, whose suffix names format and compression, or ``-``: standard output, in JSON Lines. CSV
    and Parquet need the `columns`; nested values become JSON text there. `marked` begins CSV with the byte order mark
    by which spreadsheets know UTF-8.
    Raises `InputError` for a destination that cannot be written to, `ConfigError` for an unknown format, and
    `OperatorError` when writing fails.
    """
    chosen = check_format(destination)
    with open_sink(destination) as stream:
        if chosen == "jsonl":
            yield lambda row: stream.write(_json_bytes(row) + b"\n")
        elif chosen in {"json", "parquet"}:
            with _json_array(stream) if chosen == "json" else _parquet(stream, columns or {}) as write:
                yield write
        else:
            if marked:
                stream.write(codecs.BOM_UTF8)
            yield _csv(stream, "\t" if chosen == "tsv" else ",", columns or {})


def check_format(destination: str | os.PathLike[str]) -> str:
    """Return the format that would be written. Raises what `open_rows` would for it, and opens nothing."""
    name = os.fspath(destination)
    chosen = "jsonl" if name == "-" else format_of_name(name)
    if chosen not in WRITE_FORMATS:
        raise ConfigError(f"{name} has no known suffix; use one of: {', '.join(WRITE_FORMATS)}")
    if chosen == "parquet" and name.lower().endswith(COMPRESSIONS):
        raise ConfigError(f"cannot write {name}: Parquet is already compressed; omit the last suffix")
    if chosen == "parquet" and find_spec("pyarrow") is None:
        raise MissingExtraError("writing Parquet", "tables")
    return chosen


def _json_bytes(row: Row) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:  # lone surrogates can only be escaped
        return json.dumps(row, allow_nan=False).encode()


@contextmanager
def _json_array(stream: BinaryIO) -> Iterator[WriteRow]:
    before = b"[\n"

    def write(row: Row) -> None:
        nonlocal before
        stream.write(before + _json_bytes(row))
        before = b",\n"

    yield write
    stream.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def _csv(stream: BinaryIO, delimiter: str, columns: Columns) -> WriteRow:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)  # CRLF, as RFC 4180 says

    def record(cells: Iterable[Any]) -> None:
        text.seek(0)
        text.truncate()
        writer.writerow(cells)
        stream.write(text.getvalue().encode())

    record(map(_csv_text, columns))
    return lambda row: record(_csv_cell(row.get(name)) for name in columns)


@contextmanager
def _parquet(stream: BinaryIO, columns: Columns) -> Iterator[WriteRow]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(storable(name), types[kind]) for name, kind in columns.items()])
    held: list[list[Any]] = []

    def flush() -> None:
        if held:
            cells = [
                pa.array(column, field.type) for column, field in zip(zip(*held, strict=True), schema, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(cells, schema=schema))
            held.clear()

    def write(row: Row) -> None:
        held.append([_typed(kind, row.get(name)) for name, kind in columns.items()])
        if len(held) == _PARQUET_ROWS:
            flush()

    with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        yield write
        flush()


def _typed(kind: type, value: Any) -> Any:
    if value is None or kind is not str:
        return value if value is None else kind(value)
    return storable(value if isinstance(value, str) else _json_text(value))


def _csv_cell(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return _csv_text(value if isinstance(value, str) else _json_text(value))


def _csv_text(text: str) -> str:
    text = storable(text).replace("\0", "\u2400")
    return f"'{text}" if text.startswith(FORMULA) else text


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


Column = tuple[type, Callable[[Any], Any]]  # what its cells hold, and the way to a cell


def _json(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None


def _probability(name: str) -> Column:
    return float, lambda claim: getattr(claim.verdict.probabilities, name, None)


def _quote(kind: type, name: str) -> Column:
    return kind, lambda claim: getattr(next(iter(claim.verdict.evidence), None), name, None)


_OF_ANSWER: dict[str, Column] = {
    "id": (str, lambda result: result.id),
    "outcome": (str, lambda result: result.outcome.value),
    "score": (float, lambda result: result.score),
    "probability": (float, lambda result: result.probability),
    "reason": (str, lambda result: result.reason),
    "question": (str, lambda result: result.question),
    "model": (str, lambda result: result.model),
    "release": (str, lambda result: result.release),
    "timestamp": (str, lambda result: result.timestamp),
    "tags": (str, lambda result: _json(tags_to_json(result.tags))),
    "warnings": (str, lambda result: "; ".join(result.warnings)),
    "metric": (str, lambda result: result.provenance.metric),
}
_OF_CLAIM: dict[str, Column] = {
    "claim_id": (str, lambda claim: claim.id),
    "claim": (str, lambda claim: claim.text),
    "start": (int, lambda claim: claim.span.start),
    "end": (int, lambda claim: claim.span.end),
    "sentence": (str, lambda claim: claim.sentence),
    "label": (str, lambda claim: claim.verdict.label.value),
    "p_supported": _probability("supported"),
    "p_unsupported": _probability("unsupported"),
    "p_contradicted": _probability("contradicted"),
    "conflict": (bool, lambda claim: claim.verdict.conflict),
    "failure_mode": (str, lambda claim: claim.verdict.failure_mode and claim.verdict.failure_mode.value),
    "difference": (str, lambda claim: claim.verdict.difference and _json(to_json(claim.verdict.difference))),
    "rationale": (str, lambda claim: claim.verdict.rationale),
    "judge": (str, lambda claim: claim.verdict.judge),
    "flags": (str, lambda claim: "; ".join(claim.verdict.flags)),
    "passage_id": _quote(str, "passage_id"),
    "quote_start": _quote(int, "start"),
    "quote_end": _quote(int, "end"),
    "quote": _quote(str, "quote"),
    "evidence": (str, lambda claim: _json([to_json(one) for one in claim.verdict.evidence])),
}
VERDICT_COLUMNS: dict[str, type] = {  # of a claim that was given as such
    **dict.fromkeys(("id", "label", "error", "probabilities", "evidence", "rationale"), str),
    "conflict": bool,
    **dict.fromkeys(("failure_mode", "judge", "flags", "difference", "per_passage", "usage", "provenance"), str),
}
_CLAIM_OF = "claim_of"
RESULT_COLUMNS: dict[str, type] = {
    name: kind for name, (kind, _) in (_OF_ANSWER | {_CLAIM_OF: (str, str)} | _OF_CLAIM).items()
}


def flatten_result(result: Result) -> list[dict[str, Any]]:
    """Return one row per claim with the fields of its sample, columns as in `RESULT_COLUMNS`, and one per component.

    `claim_of` is `response`, or `reference` for a claim of the reference answer, whose evidence is in the
    response. A result without claims is one row whose claim columns are None, so that no sample is lost.
    `passage_id`, `quote_start`, `quote_end` and `quote` are the first evidence, `evidence` is all of
    it as JSON text; so are `tags` and `difference`. `warnings` and `flags` are joined by ``; ``.
    """
    sample = dict.fromkeys(RESULT_COLUMNS) | _sample_columns(result)
    claims = [("response", claim) for claim in result.claims]
    claims += [("reference", claim) for claim in result.reference_claims]
    return [sample | {_CLAIM_OF: of} | _cells(_OF_CLAIM, claim) for of, claim in claims] or [sample]


def flat_table(results: Iterable[Result]) -> tuple[dict[str, type], Iterator[dict[str, Any]]]:
    """Return the columns of these results, and their rows as they come, every row with all of the columns."""
    stream = iter(results)
    first: list[Result] = []
    for result in stream:
        first.append(result)
        if result.outcome is Outcome.SCORED:
            break
    parts = dict.fromkeys((f"component.{name}" for result in first for name in result.components), float)
    names = list(RESULT_COLUMNS)
    place = names.index("probability") + 1
    columns = {name: RESULT_COLUMNS[name] for name in names[:place]} | parts | RESULT_COLUMNS
    empty = dict.fromkeys(columns)
    return columns, (empty | row for result in chain(first, stream) for row in flatten_result(result))


def flat_answers(results: Iterable[Result]) -> Iterator[dict[str, Any]]:
    """Yield one row per answer: the columns of `flatten_result` that are of the sample, and its claims by label."""
    for result in results:
        counts = {label.value.lower(): count for label, count in result.counts.items()}
        yield _sample_columns(result) | {"claims": len(result.claims)} | counts | {"skipped": len(result.skipped)}


def tagged(results: Iterable[Result], rows: Literal["claims", "answers"]) -> list[dict[str, Any]]:
    """Return flat rows with a column of its own for each tag, ``tag.domain``; several values are joined by ``; ``."""
    kept = list(results)
    empty = {f"tag.{name}": None for result in kept for name in result.tags}
    table = flat_table(kept)[1] if rows == "claims" else flat_answers(kept)
    texts = [{f"tag.{name}": "; ".join(tag_values(tag)) for name, tag in result.tags.items()} for result in kept]
    sizes = [max(1, len(result.claims) + len(result.reference_claims)) if rows == "claims" else 1 for result in kept]
    tags = chain.from_iterable(map(repeat, texts, sizes))
    return [row | empty | tag for row, tag in zip(table, tags, strict=True)]


def write_results(results: Iterable[Result], destination: str | os.PathLike[str]) -> None:
    """Write results: the public JSON objects, or flat rows to CSV and Parquet; see `open_rows`."""
    is_flat = format_of_name(os.fspath(destination)) in {"csv", "tsv", "parquet"}
    columns, rows = flat_table(results) if is_flat else ({}, map(result_to_json, results))
    with open_rows(destination, columns=columns) as write:
        for row in rows:
            write(row)


def _sample_columns(result: Result) -> dict[str, Any]:
    return _cells(_OF_ANSWER, result) | {f"component.{name}": part for name, part in result.components.items()}


def _cells(columns: Mapping[str, Column], row: Any) -> dict[str, Any]:
    return {name: read(row) for name, (_, read) in columns.items()}
