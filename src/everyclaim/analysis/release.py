"""A release against the one before: the sentence, slices by failure modes, claims that changed, labels, the rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from everyclaim.analysis.comparison import Comparison
from everyclaim.analysis.deltas import Delta
from everyclaim.analysis.rollback import RollBack
from everyclaim.analysis.trend import Trend
from everyclaim.core.plaintext import wrapped

RELEASE_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ModeTable:
    """Failure modes by the values of a slice: what share of claims each was, and is."""

    slice: str
    values: tuple[str, ...]
    deltas: Mapping[str, Mapping[str, Delta]]  # mode → value → delta


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """What there is to say of a release. `trend` is over its parts and those before, where there are three or more."""

    comparison: Comparison
    rule: RollBack
    trend: Trend | None = None
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What changed, in words."""
        return self.comparison.sentence

    @property
    def mode_tables(self) -> tuple[ModeTable, ...]:
        """Failure modes by slice, a table for each slice that was asked for."""
        found: dict[str, dict[str, dict[str, Delta]]] = {}
        for delta in self.comparison.numbers.parts:
            if delta.mode is not None and len(delta.where) == 1:
                (tag, value), *_ = delta.where
                found.setdefault(tag, {}).setdefault(delta.mode, {})[value] = delta
        return tuple(
            ModeTable(tag, tuple(sorted({value for deltas in modes.values() for value in deltas})), modes)
            for tag, modes in found.items()
        )

    def __str__(self) -> str:
        """Tell in a few lines what changed and what the rule says."""
        return "\n".join(wrapped(line) for line in (self.sentence, self.rule.sentence, *self.notes))

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""
        calibration = self.comparison.calibration
        return {
            "schema": RELEASE_SCHEMA,
            "rule": self.rule.to_json(),
            "comparison": self.comparison.to_json(),
            "notes": list(self.notes),
            "trend": self.trend.to_json() if self.trend else None,
            "calibration": calibration.to_json() if calibration else None,
        }
