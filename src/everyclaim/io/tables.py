"""Tables: Parquet and Arrow files, folders that Hugging Face `datasets` writes (with pyarrow), and tables in memory.

Those in memory are known by their methods: pandas, polars, pyarrow, datasets, any iterable of rows or of tables.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from everyclaim.core.errors import InputError, needed_for
from everyclaim.core.types import Sample
from everyclaim.io.fields import BadRow, RawRow, listed, row_too_large, shown
from everyclaim.io.values import RowError, plain, row_mapping

_ROWS_AT_ONCE = 64  # decoded to Python objects together, where they have no more than
_BYTES_AT_ONCE = 4_000_000
_BAD_CELL = (ValueError, OverflowError, ArithmeticError, TypeError)
_SPLIT = re.compile(r"(?P<split>[\w.]+?)(-\d+(-of-\d+)?(-[0-9a-f]+)?)?\.parquet")

Row = RawRow | BadRow | Sample
Wanted = Callable[[Iterable[str], Iterable[str]], list[str]]  # all columns, those of scalars → those to read


def read_tables(paths: Sequence[Path], wanted: Wanted, limit: int) -> tuple[list[str], Iterator[RawRow | BadRow]]:
    """Return the columns of Arrow tables in one or more files of one schema, and their rows, numbered through.

    `wanted` chooses among the columns; the others are not decoded. Rows of more than `limit` bytes are bad rows.
    """
    with closing(_open(paths[0])) as batches:
        return list(next(batches)), _numbered(_rows_of_files(paths, wanted, limit))


def _numbered(rows: Iterable[Any]) -> Iterator[Any]:
    """Give rows their numbers; a text, in the place of a row, says why it cannot be had."""
    for number, row in enumerate(rows, 1):
        if isinstance(row, str):
            yield BadRow(number, row, "row")
        elif isinstance(row, BadRow):
            yield replace(row, line=number)
        else:
            yield row if isinstance(row, Sample) else RawRow(number, row)


def _rows_of_files(paths: Sequence[Path], wanted: Wanted, limit: int) -> Iterator[Any]:
    for path in paths:
        with closing(_open(path, wanted)) as batches:
            try:
                next(batches)
                yield from _rows_of_batches(batches, limit)
            except InputError as error:
                yield BadRow(0, f"{error}; the rest could not be read", "row", rest_lost=True)
                return


def _rows_of_batches(batches: Iterable[Any], limit: int) -> Iterator[Any]:
    """Yield the rows of Arrow record batches, a few decoded at a time; those of more than `limit` bytes never."""
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            yield from _decoded(batch.slice(start, _ROWS_AT_ONCE), limit)


def _decoded(piece: Any, limit: int) -> Iterable[Any]:
    """Yield a few rows, or in the place of one why it cannot be had."""
    if piece.nbytes <= min(_BYTES_AT_ONCE, limit):
        with suppress(*_BAD_CELL):  # one spoils the piece
            rows: list[Any] = piece.to_pylist()
            return rows
    return (_row_or_reason(piece.slice(place, 1), limit) for place in range(piece.num_rows))


def files_of_folder(folder: Path) -> list[Path]:
    """Return the data files of a datasets folder. Raises `InputError` naming its splits when there are several."""
    if (folder / "dataset_dict.json").is_file():
        splits = _json_list(folder / "dataset_dict.json", "splits")
        if len(splits) == 1:
            return files_of_folder(folder / splits[0])
        raise InputError(f"{folder} has the splits {', '.join(splits)}; pass one, as in {folder / splits[0]}")
    if (folder / "state.json").is_file():
        return [folder / name for name in _json_list(folder / "state.json", "_data_files", "filename")]
    by_split = _parquet_by_split(folder)
    if not by_split:
        raise InputError(f"{folder} is a folder, but not one saved by `datasets`; pass its files")
    if len(by_split) > 1:
        names = sorted(by_split)
        raise InputError(f"{folder} has the splits {', '.join(names)}; pass one, as in {folder / names[0]}")
    return next(iter(by_split.values()))


def files_of_split(path: Path) -> list[Path]:
    """Return the Parquet files of a split named like a path (``folder/train``), none when there are none."""
    return _parquet_by_split(path.parent).get(path.name, []) if path.parent.is_dir() else []


def _parquet_by_split(folder: Path) -> dict[str, list[Path]]:
    by_split: dict[str, list[Path]] = {}
    for path in sorted([*folder.glob("*.parquet"), *folder.glob("data/*.parquet")]):
        match = _SPLIT.fullmatch(path.name)
        by_split.setdefault(match["split"] if match else path.stem, []).append(path)
    return by_split


def _json_list(path: Path, key: str, inner: str | None = None) -> list[str]:
    """Read a list of file or folder names out of a datasets description."""
    try:
        found = json.loads(path.read_text("utf-8"))[key]
        names = [item[inner] if inner else item for item in found]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{path} was not written by `datasets`: no list of {key.strip('_')}") from None
    # A description must not reach outside its folder.
    if not names or any(not isinstance(name, str) or Path(name).name != name for name in names):
        raise InputError(f"{path} names no data files in its own folder")
    return names


def _open(path: Path, wanted: Wanted | None = None) -> Generator[Any]:
    """Yield the column names, then record batches. Raises `InputError` for files that are no tables."""
    with needed_for("reading Parquet and Arrow", "tables"):
        import pyarrow as pa
    try:
        with path.open("rb") as file:
            head = file.read(6)
            if not head:
                raise InputError(f"{path} is empty")
            file.seek(0)
            yield from _parquet(file, wanted) if head.startswith(b"PAR1") else _arrow(file, head, wanted)
    except (pa.ArrowException, OSError, ValueError, KeyError, EOFError, OverflowError, MemoryError) as error:
        reason = str(error).strip().split("\n", 1)[0][:200]
        raise InputError(f"{path} cannot be read as a table: {reason or type(error).__name__}") from None


def _parquet(file: Any, wanted: Wanted | None) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as table:
        names = table.schema_arrow.names
        yield names
        if wanted:
            kept = set(wanted(names, _scalars(table.schema_arrow)))
            paths = [table.schema.column(place).path for place in range(len(table.schema))]
            # Leaf columns of top-level ones, since a name with a dot in it would be taken for a path.
            columns = [path for path in paths if path.split(".")[0] in kept or path in kept]
            yield from table.iter_batches(batch_size=_rows_at_once(table), columns=columns)


def _rows_at_once(table: Any) -> int:
    """Return how many rows of a Parquet file fit into memory together, by the size of its largest rows on average."""
    groups = [table.metadata.row_group(place) for place in range(table.metadata.num_row_groups)]
    largest = max((group.total_byte_size / max(1, group.num_rows) for group in groups), default=0.0)
    return int(max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE / max(1.0, largest))))


def _arrow(file: Any, head: bytes, wanted: Wanted | None) -> Iterator[Any]:
    import pyarrow as pa

    if head == b"ARROW1":
        opened = pa.ipc.open_file(file)
        batches = (opened.get_batch(place) for place in range(opened.num_record_batches))
    else:
        opened = pa.ipc.open_stream(file)
        batches = iter(opened)
    yield opened.schema.names
    if wanted:
        kept = [opened.schema.names.index(name) for name in wanted(opened.schema.names, _scalars(opened.schema))]
        for batch in batches:
            batch.validate(full=True)  # a damaged file would otherwise be read past its buffers
            yield batch.select(kept)


def _scalars(schema: Any) -> list[str]:
    import pyarrow as pa

    types = pa.types
    simple = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    return [
        field.name
        for field in schema
        if types.is_dictionary(field.type) or any(is_simple(field.type) for is_simple in simple)
    ]


def _row_or_reason(row: Any, limit: int) -> Any:
    if row.nbytes > limit:
        return row_too_large(limit)
    try:
        return row.to_pylist()[0]
    except _BAD_CELL as error:
        return f"a cell cannot be read: {error}"


# ---- in memory


def rows_of_object(source: Any, limit: int) -> tuple[list[str] | None, Iterator[Row]]:
    """Return the columns, where the object knows them, and its rows.

    Raises `InputError` for an object that is no table.
    """
    if isinstance(source, type):
        raise InputError(f"cannot read rows from the class {source.__name__}; pass an instance")
    if table := _rows_of_table(source, limit):
        return table[0], _numbered(table[1])
    if isinstance(source, Mapping):
        if source and all(hasattr(part, "features") for part in source.values()):
            raise InputError(f"the data set has the splits {listed(source)}; pass one of them")
        if source and all(isinstance(plain(column), list) for column in source.values()):
            raise InputError("cannot read rows from a mapping of columns; pass a list of rows, or a data frame")
        return None, _numbered(_rows_of_items([source], limit))
    if isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray, memoryview)):
        return None, _numbered(_rows_of_items(source, limit))
    raise InputError(
        f"cannot read rows from a {type(source).__name__}; pass a path, a table or an iterable of mappings"
    )


def is_table(source: Any) -> bool:
    """Say whether an object is a table of rows: a frame, an Arrow table or reader."""
    return not isinstance(source, Mapping | type) and _rows_of_table(source, 0) is not None


def _rows_of_table(source: Any, limit: int) -> tuple[list[str], Iterator[Any]] | None:
    """Return the columns of a table and its rows; None for what is no table.

    Raises `InputError` for two columns of one name.
    """
    if hasattr(source, "iter_rows") and hasattr(source, "columns"):  # polars
        return list(source.columns), _rows_of_items(source.iter_rows(named=True), limit)
    if hasattr(source, "collect") and hasattr(source, "collect_schema"):  # polars, lazy
        return _rows_of_table(source.collect(), limit)
    if hasattr(source, "itertuples"):  # pandas
        names = _named_once([str(column) for column in source.columns])
        rows = (dict(zip(names, row, strict=True)) for row in source.itertuples(index=False, name=None))
        return names, _rows_of_items(rows, limit)
    if hasattr(source, "to_reader") and hasattr(source, "projected_schema"):  # a pyarrow scanner
        return _rows_of_table(source.to_reader(), limit)
    if hasattr(source, "to_batches") and hasattr(source, "schema"):  # a pyarrow table or data set
        return _named_once(source.schema.names), _rows_of_batches(source.to_batches(), limit)
    if hasattr(source, "to_pylist") and hasattr(source, "num_rows"):  # a pyarrow record batch
        return _named_once(source.schema.names), _rows_of_batches([source], limit)
    if hasattr(source, "read_next_batch"):  # a pyarrow reader
        return _named_once(source.schema.names), _rows_of_batches(source, limit)
    return None


def _named_once(names: Iterable[str]) -> list[str]:
    found = list(names)
    if twice := next((name for name, count in Counter(found).items() if count > 1), None):
        raise InputError(f"the table has {found.count(twice)} columns named {shown(twice)}; rename them")
    return found


def _rows_of_items(rows: Iterable[Any], limit: int) -> Iterator[Any]:
    for row in rows:
        if isinstance(row, Sample):
            yield row
        elif not isinstance(row, Mapping) and (table := _rows_of_table(row, limit)):  # read in chunks
            yield from table[1]
        elif (values := row_mapping(row)) is not None:
            yield _plain_row(values)
        else:
            yield f"expected a mapping, found a {type(row).__name__}"


def _plain_row(row: Mapping[Any, Any]) -> dict[str, Any] | str:
    """Make the missing values of all libraries None, so that the next name of a field gets its turn."""
    values: dict[str, Any] = {}
    for name, value in row.items():
        try:
            values[str(name)] = plain(value)
        except RowError as error:
            return f"{shown(name)} {error}"
    return values
