"""What reading gives before samples are made: rows as they are, rows that were kept out, and things worth a warning.

A bad row never stops the others and is never guessed at: it is a `BadRow` with its place and its
reason. A `ReadReport` collects them, with counts, in bounded memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from everyclaim.core.limits import MB

KEPT_BAD_ROWS = 100


class RawRow(NamedTuple):
    """A row as the file has it. `number` is its line or row number, from 1."""

    number: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row that was kept out.

    `line` is the physical line where the row starts (JSONL, CSV) or the row's number (everything
    else, see `unit`), counted from 1. `rest_lost`: nothing after it could be read either.
    """

    line: int
    reason: str
    unit: Literal["line", "row"] = "line"
    rest_lost: bool = False

    def __str__(self) -> str:
        return f"{self.unit} {self.line}: {self.reason}"


def row_too_large(limit: int) -> str:
    """Say that a row is larger than it may be."""
    return f"the row is larger than max_row_mb={limit / MB:g}"


@dataclass(slots=True)
class ReadReport:
    """What became of the rows of one source.

    `good` and `bad` count all rows; `bad_rows` keeps the first `KEPT_BAD_ROWS` of the bad ones.
    `incomplete` says why the source could not be read to its end, and is empty when it could.
    """

    good: int = 0
    bad: int = 0
    bad_rows: list[BadRow] = field(default_factory=list)
    incomplete: str = ""
    _warnings: dict[str, tuple[int, str]] = field(default_factory=dict)  # how often, and the first example

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line per kind of warning, with how many rows it concerns and the first example."""
        lines = []
        for text, (count, example) in self._warnings.items():
            rows = f"{count} times; " if count > 1 else ""
            lines.append(f"{text} ({rows}first: {example})" if example else text)
        return tuple(lines)

    def add_bad(self, row: BadRow) -> None:
        """Count a bad row."""
        self.bad += 1
        if len(self.bad_rows) < KEPT_BAD_ROWS:
            self.bad_rows.append(row)
        if row.rest_lost:
            self.incomplete = str(row)

    def warn(self, text: str, example: str = "") -> None:
        """Count a warning; `text` names the kind and is the same for all rows of that kind."""
        count, first = self._warnings.get(text, (0, example))
        self._warnings[text] = (count + 1, first)
