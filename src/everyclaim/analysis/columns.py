"""Numbers by row, column by column, in flat arrays that grow: eight bytes for each, whatever the answers' lengths."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


class NumberColumns:
    """Grows by one row at a time; a row need not have every column."""

    def __init__(self) -> None:
        self._columns: dict[str, array[float]] = {}
        self.length = 0

    def append(self, row: Mapping[str, float | None]) -> None:
        """Add a row; None is no number."""
        for name, value in row.items():
            column = self._columns.get(name)
            if column is None:
                column = self._columns[name] = array("d")
            if len(column) < self.length:
                column.extend([math.nan] * (self.length - len(column)))
            column.append(math.nan if value is None else value)
        self.length += 1

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return the columns, each as long as there are rows: NaN where a row has none.

        They are copied: an array that is lent out could not grow any more.
        """
        found = {}
        for name, column in self._columns.items():
            found[name] = np.full(self.length, math.nan)
            found[name][: len(column)] = column
        return found
