"""Tables in memory, known by their methods: pandas, polars, pyarrow, datasets, any iterable of mappings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from everyclaim.core.errors import InputError
from everyclaim.core.types import Sample
from everyclaim.io.faults import BadRow
from everyclaim.io.fields import listed, shown
from everyclaim.io.jsonlines import RawRow
from everyclaim.io.tables import rows_of_batch
from everyclaim.io.values import RowError, plain


def rows_of_object(source: Any, limit: int) -> tuple[list[str] | None, Iterator[RawRow | BadRow | Sample]]:
    """Return the columns, where the object knows them, and its rows.

    Raises `InputError` for an object that is no table.
    """
    if hasattr(source, "iter_rows") and hasattr(source, "columns"):  # polars
        return list(source.columns), _numbered(source.iter_rows(named=True))
    if hasattr(source, "collect") and hasattr(source, "collect_schema"):  # polars, lazy
        return rows_of_object(source.collect(), limit)
    if hasattr(source, "itertuples"):  # pandas
        names = [str(column) for column in source.columns]
        rows = (dict(zip(names, row, strict=True)) for row in source.itertuples(index=False, name=None))
        return names, _numbered(rows)
    if hasattr(source, "to_batches") and hasattr(source, "schema"):  # a pyarrow table or data set
        return list(source.schema.names), _of_batches(source.to_batches(), limit)
    if hasattr(source, "to_pylist") and hasattr(source, "num_rows"):  # a pyarrow record batch
        return list(source.schema.names), rows_of_batch(source, 0, limit)
    if hasattr(source, "read_next_batch"):  # a pyarrow reader
        return list(source.schema.names), _of_batches(source, limit)
    if isinstance(source, Mapping):
        if source and all(hasattr(part, "features") for part in source.values()):
            raise InputError(f"the data set has the splits {listed(source)}; pass one of them")
        return None, _numbered([source])
    if isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray)):
        return None, _numbered(source)
    raise InputError(
        f"cannot read rows from a {type(source).__name__}; give a path, a table or an iterable of mappings"
    )


def _of_batches(batches: Iterable[Any], limit: int) -> Iterator[RawRow | BadRow]:
    number = 0
    for batch in batches:
        yield from rows_of_batch(batch, number, limit)
        number += batch.num_rows


def _numbered(rows: Iterable[Any]) -> Iterator[RawRow | BadRow | Sample]:
    for number, row in enumerate(rows, 1):
        if isinstance(row, Sample):
            yield row
        elif isinstance(row, Mapping):
            yield _plain_row(number, row)
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
