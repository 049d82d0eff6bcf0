"""One row of a source → a sample, by the rules that rows of files have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from everyclaim.core.limits import limits_here
from everyclaim.core.types import Sample
from everyclaim.io.fields import SAMPLE_FIELDS, Fields
from everyclaim.io.rows import RowMaker
from everyclaim.io.values import RowError
from everyclaim.monitor.watching.source import Unreadable


class Rows:
    """Makes samples of rows. Raises `ConfigError` for a mapping that names no field of ours."""

    def __init__(self, mapping: Mapping[str, str] | None = None, slices: Sequence[str] = ()) -> None:
        self._fields = Fields(SAMPLE_FIELDS, mapping, [name for name in slices if name not in {"model", "release"}])
        self._limits = limits_here()

    def given_id(self, row: Mapping[str, Any]) -> Any:
        """Return the row's own id, None where it has none."""
        return self._fields.get(row, "id")

    def sample(self, row: Mapping[str, Any], otherwise: str) -> Sample | Unreadable:
        """Make a sample, with this id where the row has none; or say why it cannot be one."""
        try:
            made = RowMaker(self._fields, lambda *_: None, self._limits).sample(1, row)
        except RowError as error:
            return Unreadable(str(error))
        return made if self.given_id(row) not in {None, ""} else replace(made, id=otherwise)
