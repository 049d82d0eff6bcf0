"""Tables in memory, known by their methods: pandas, polars, pyarrow, datasets, any iterable of rows or of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from everyclaim.core.errors import InputError
from everyclaim.core.types import Sample
from everyclaim.io.faults import BadRow
from everyclaim.io.fields import listed, shown
from everyclaim.io.jsonlines import RawRow
from everyclaim.io.tables import rows_of_batch
from everyclaim.io.values import RowError, plain

Row = RawRow | BadRow | Sample


def rows_of_object(source: Any, limit: int) -> tuple[list[str] | None, Iterator[Row]]:
    """Return the columns, where the object knows them, and its rows.

    Raises `InputError` for an object that is no table.
    """
    if isinstance(source, type):
        raise InputError(f"cannot read rows from the class {source.__name__}; pass an instance")
    if table := _rows_of_table(source, 0, limit):
        return table
    if isinstance(source, Mapping):
        if source and all(hasattr(part, "features") for part in source.values()):
            raise InputError(f"the data set has the splits {listed(source)}; pass one of them")
        if source and all(isinstance(plain(column), list) for column in source.values()):
            raise InputError("cannot read rows from a mapping of columns; pass a list of rows, or a data frame")
        return None, _numbered([source], 0, limit)
    if isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray, memoryview)):
        return None, _numbered(source, 0, limit)
    raise InputError(
        f"cannot read rows from a {type(source).__name__}; pass a path, a table or an iterable of mappings"
    )


def is_table(source: Any) -> bool:
    """Say whether an object is a table of rows: a frame, an Arrow table or reader."""
    return not isinstance(source, Mapping | type) and _rows_of_table(source, 0, 0) is not None


def row_mapping(row: Any) -> Mapping[Any, Any] | None:
    """Return one row as a mapping: itself, a named tuple, a dataclass, a pandas Series, a pydantic model; else None."""
    if isinstance(row, Mapping):
        return row
    if isinstance(row, type):
        return None
    for method in ("_asdict", "model_dump", "to_dict"):
        if callable(convert := getattr(row, method, None)):
            made = convert()
            return made if isinstance(made, Mapping) else None
    return {part.name: getattr(row, part.name) for part in fields(row)} if is_dataclass(row) else None


def _rows_of_table(source: Any, before: int, limit: int) -> tuple[list[str], Iterator[Row]] | None:
    """Return the columns of a table and its rows, numbered after those `before` it; None for what is no table.

    Raises `InputError` for two columns of one name.
    """
    if hasattr(source, "iter_rows") and hasattr(source, "columns"):  # polars
        return list(source.columns), _numbered(source.iter_rows(named=True), before, limit)
    if hasattr(source, "collect") and hasattr(source, "collect_schema"):  # polars, lazy
        return _rows_of_table(source.collect(), before, limit)
    if hasattr(source, "itertuples"):  # pandas
        names = _named_once([str(column) for column in source.columns])
        rows = (dict(zip(names, row, strict=True)) for row in source.itertuples(index=False, name=None))
        return names, _numbered(rows, before, limit)
    if hasattr(source, "to_reader") and hasattr(source, "projected_schema"):  # a pyarrow scanner
        return _rows_of_table(source.to_reader(), before, limit)
    if hasattr(source, "to_batches") and hasattr(source, "schema"):  # a pyarrow table or data set
        return _named_once(source.schema.names), _of_batches(source.to_batches(), before, limit)
    if hasattr(source, "to_pylist") and hasattr(source, "num_rows"):  # a pyarrow record batch
        return _named_once(source.schema.names), rows_of_batch(source, before, limit)
    if hasattr(source, "read_next_batch"):  # a pyarrow reader
        return _named_once(source.schema.names), _of_batches(source, before, limit)
    return None


def _named_once(names: Iterable[str]) -> list[str]:
    found = list(names)
    if twice := next((name for name, count in Counter(found).items() if count > 1), None):
        raise InputError(f"the table has {found.count(twice)} columns named {shown(twice)}; rename them")
    return found


def _of_batches(batches: Iterable[Any], before: int, limit: int) -> Iterator[RawRow | BadRow]:
    number = before
    for batch in batches:
        yield from rows_of_batch(batch, number, limit)
        number += batch.num_rows


def _numbered(rows: Iterable[Any], before: int, limit: int) -> Iterator[Row]:
    number = before
    for row in rows:
        if not isinstance(row, Mapping | Sample) and (table := _rows_of_table(row, number, limit)):  # read in chunks
            for part in table[1]:
                number += 1
                yield part
            continue
        number += 1
        if isinstance(row, Sample):
            yield row
        elif (values := row_mapping(row)) is not None:
            yield _plain_row(number, values)
        else:
            yield BadRow(number, f"expected a mapping, found a {type(row).__name__}", "row")


def _plain_row(number: int, row: Mapping[Any, Any]) -> RawRow | BadRow:
    """Make the missing values of all libraries None, so that the next name of a field gets its turn."""
    values: dict[str, Any] = {}
    for name, value in row.items():
        try:
            values[str(name)] = plain(value)
        except RowError as error:
            return BadRow(number, f"{shown(name)} {error}", "row")
    return RawRow(number, values)
