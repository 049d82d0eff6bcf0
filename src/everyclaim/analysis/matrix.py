"""Slices by failure modes: where a run fails, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everyclaim.core.types import FailureMode, Label
from everyclaim.store.figures import Figures

_ORDER = {mode.value: place for place, mode in enumerate(FailureMode)}
_SUPPORTED = list(Label).index(Label.SUPPORTED)


@dataclass(frozen=True, slots=True)
class Row:
    """The scored answers of one value of a tag: their claims, those that fail, and these by failure mode."""

    value: str
    answers: int
    claims: int
    failing: int
    modes: Mapping[str, int]

    def share(self, mode: str) -> float | None:
        """Return the share of the claims that fail like this, within [0, 1]; None without claims."""
        return self.modes.get(mode, 0) / self.claims if self.claims else None

    @property
    def failing_share(self) -> float | None:
        """The share of the claims that fail, within [0, 1]; None without claims."""
        return self.failing / self.claims if self.claims else None


@dataclass(frozen=True, slots=True)
class Matrix:
    """The values of one tag by the failure modes that occur in the run; `whole` is the run.

    An answer with several values of the tag is in the row of each; value "" is "no such tag".
    """

    tag: str
    whole: Row
    rows: tuple[Row, ...]  # those with the most claims first

    @property
    def modes(self) -> tuple[str, ...]:
        """The failure modes that occur, in the order of `FailureMode`."""
        return tuple(sorted(self.whole.modes, key=lambda mode: _ORDER.get(mode, len(_ORDER))))

    @property
    def highest(self) -> float:
        """The highest share of any mode in any row."""
        return max((row.share(mode) or 0.0 for row in self.rows for mode in self.modes), default=0.0)


def matrix_of(figures: Figures, tag: str) -> Matrix:
    """Count a run's claims by the values of a tag and by failure mode."""
    everything = np.ones(len(figures.ids), dtype=bool)
    rows = [_row(figures, value, answers) for value, answers in _values(figures, tag)]
    rows.sort(key=lambda row: (-row.claims, row.value))
    return Matrix(tag, _row(figures, "", everything), tuple(rows))


def _values(figures: Figures, tag: str) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    none = np.ones(len(figures.ids), dtype=bool)
    for value, places in figures.tags.get(tag, {}).items():
        has = np.zeros(len(figures.ids), dtype=bool)
        has[places] = True
        none &= ~has
        yield value, has
    if none.any():
        yield "", none


def _row(figures: Figures, value: str, answers: NDArray[np.bool_]) -> Row:
    scored = answers & figures.scored
    claims = scored[figures.sample]
    failing = claims & (figures.label != _SUPPORTED)
    counts = np.bincount(figures.mode[failing & (figures.mode >= 0)], minlength=len(figures.modes))
    modes = {mode: int(count) for mode, count in zip(figures.modes, counts, strict=True) if count}
    return Row(value, int(scored.sum()), int(claims.sum()), int(failing.sum()), modes)
