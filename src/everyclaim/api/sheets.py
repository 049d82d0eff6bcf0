"""Sheets that people fill in: written for them, and never over what they have begun."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from everyclaim.core.errors import ConfigError, UserError
from everyclaim.core.plaintext import counted
from everyclaim.io import LabelRow, MarkRow, ReadReport, open_rows

Row = Mapping[str, Any]
Read = Callable[..., Iterable[LabelRow | MarkRow]]

_STANDARD = "-"


def write_sheet(
    rows: Sequence[Row], destination: str | os.PathLike[str], *, read: Read, flat: Callable[[Row], Row]
) -> None:
    """Write rows: JSONL, JSON, or CSV that spreadsheets open (UTF-8 with its mark, no formulas), each laid out `flat`.

    `read` reads such a sheet. Raises `ConfigError` where the file is one already, and somebody has begun to fill it in.
    """
    _keep_filled(destination, read)
    is_flat = os.fspath(destination).lower().endswith((".csv", ".tsv"))
    with open_rows(destination, columns={name: str for row in rows[:1] for name in row}, marked=True) as write:
        for row in rows:
            write(flat(row) if is_flat else row)


def _keep_filled(destination: str | os.PathLike[str], read: Read) -> None:
    name = os.fspath(destination)
    if name == _STANDARD or not Path(name).is_file() or not Path(name).stat().st_size:
        return
    report = ReadReport()
    try:
        begun = sum(
            (row.label if isinstance(row, LabelRow) else row.mark) is not None for row in read(name, report=report)
        )
    except UserError:
        raise ConfigError(f"{name} is there, and is no sheet to fill in: give another name, or move it away") from None
    if begun + report.bad:
        raise ConfigError(f"{name} is begun: {counted(begun + report.bad, 'row')} filled in, which would be lost; give"
                          " another name, or move it away")  # fmt: skip
