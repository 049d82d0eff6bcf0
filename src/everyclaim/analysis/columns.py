"""A few numbers per sample, in flat arrays: what a summary keeps of its results.

About 30 bytes a sample, 4 more per slice and 8 per component, whatever the answers' lengths.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from everyclaim.analysis.slices import values_of
from everyclaim.core.bands import LOWER_BOUNDS, Band, band_of
from everyclaim.core.protocols import Tally
from everyclaim.core.types import FailureMode, Label, Outcome, Result, Usage

_OUTCOMES = tuple(Outcome)
_MODES = tuple(FailureMode)

_COUNTS = ("calls", "prompt_tokens", "completion_tokens", "cache_hits", "cache_read_tokens", "cache_write_tokens")


@dataclass(frozen=True, slots=True)
class Selection:
    """The numbers of some samples, one row each."""

    outcome: NDArray[np.int8]  # index into Outcome
    score: NDArray[np.float64]  # NaN: no number
    labels: dict[Label, NDArray[np.int32]]  # claims per label; 0 unless scored
    clusters: NDArray[np.uint64] | None  # None: every sample is its own
    components: dict[str, NDArray[np.float64]] = field(default_factory=dict)  # NaN: undefined, or not scored
    modes: dict[FailureMode, int] = field(default_factory=dict)  # claims by why they fail, of scored answers
    lower_is_better: bool = False

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which rows have the outcome `scored`."""
        return np.equal(self.outcome, _OUTCOMES.index(Outcome.SCORED))

    @property
    def numbered(self) -> NDArray[np.bool_]:
        """Which rows have a score, by their claims or by a policy."""
        return np.isfinite(self.score)

    @property
    def quality(self) -> NDArray[np.float64]:
        """The scores, turned where necessary so that 1 is the best."""
        return 1 - self.score if self.lower_is_better else self.score

    def outcomes(self) -> dict[Outcome, int]:
        """Count every outcome."""
        counts = np.bincount(self.outcome, minlength=len(_OUTCOMES))
        return {outcome: int(count) for outcome, count in zip(_OUTCOMES, counts, strict=True)}

    def bands(self) -> dict[Band, int]:
        """Count the scores in every band."""
        values, counts = np.unique(self.quality[self.numbered], return_counts=True)
        bands = dict.fromkeys(LOWER_BOUNDS, 0)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            bands[band_of(value)] += count
        return bands


class Columns:
    """Grows by one row per result."""

    def __init__(self, slices: tuple[str, ...], *, by_question: bool) -> None:
        self.slices = slices
        self._by_question = by_question
        self._outcome = array("b")
        self._score = array("d")
        self._labels = {label: array("i") for label in Label}
        self._cluster = array("Q")
        self._components: dict[str, array[float]] = {}
        self._mode, self._mode_row = array("b"), array("q")  # one entry for each failing claim
        self._slice = {tag: array("i") for tag in slices}
        self._values: dict[str, dict[tuple[str, ...], int]] = {tag: {} for tag in slices}
        self._costs = array("d")
        self._cost_known = True
        self._lower_is_better = False
        self._usage = dict.fromkeys(_COUNTS, 0)

    def add(self, result: Result) -> None:
        """Keep one result's numbers."""
        self.add_tally(Tally(result.outcome, result.score, result.counts))
        self._lower_is_better |= result.provenance.lower_is_better
        if result.outcome is Outcome.SCORED:
            self._add_components(result.components)
            self._add_modes(result)
        if self._by_question:
            self._cluster.append(_question_key(result.question, len(self._outcome)))
        for tag in self.slices:
            codes = self._values[tag]
            self._slice[tag].append(codes.setdefault(values_of(result, tag), len(codes)))
        self._add_usage(result.usage)

    def add_tally(self, tally: Tally) -> None:
        """Keep what a result comes to, without its slices and its cost."""
        is_scored = tally.outcome is Outcome.SCORED
        self._outcome.append(_OUTCOMES.index(tally.outcome))
        self._score.append(math.nan if tally.score is None else tally.score)
        for label, counts in self._labels.items():
            counts.append(tally.counts.get(label, 0) if is_scored else 0)

    def _add_components(self, components: Mapping[str, float | None]) -> None:
        """Write the parts of the newest row; rows before it that have none of these are filled up with NaN."""
        for name, part in components.items():
            column = self._components.setdefault(name, array("d"))
            column.extend([math.nan] * (len(self._outcome) - 1 - len(column)))
            column.append(math.nan if part is None else part)

    def _add_modes(self, result: Result) -> None:
        for claim in result.claims:
            if claim.verdict.failure_mode is not None:
                self._mode.append(_MODES.index(claim.verdict.failure_mode))
                self._mode_row.append(len(self._outcome) - 1)

    def _modes_of(self, rows: NDArray[np.intp] | None = None) -> dict[FailureMode, int]:
        """Count the failing claims of these rows, or of all, by why they fail."""
        codes = np.array(self._mode, dtype=np.int8)
        if rows is not None:
            inside = np.zeros(len(self._outcome), dtype=bool)
            inside[rows] = True
            codes = codes[inside[np.array(self._mode_row, dtype=np.int64)]]
        counts = np.bincount(codes, minlength=len(_MODES)).tolist()
        return {mode: count for mode, count in zip(_MODES, counts, strict=True) if count}

    def _add_usage(self, usage: Usage) -> None:
        for name in self._usage:
            self._usage[name] += getattr(usage, name)
        if usage.cost is None:
            self._cost_known = False
        elif usage.cost:
            self._costs.append(usage.cost)

    def usage(self) -> Usage:
        """Return what all results cost together; the cost is unknown when one of them is."""
        return Usage(**self._usage, cost=math.fsum(self._costs) if self._cost_known else None)

    def everything(self) -> Selection:
        """Return all rows. Arrays are copied: one that is lent out could not grow any more."""
        return Selection(
            outcome=np.array(self._outcome, dtype=np.int8),
            score=np.array(self._score, dtype=np.float64),
            labels={label: np.array(counts, dtype=np.int32) for label, counts in self._labels.items()},
            clusters=np.array(self._cluster, dtype=np.uint64) if self._by_question else None,
            components={name: _padded(column, len(self._outcome)) for name, column in self._components.items()},
            modes=self._modes_of(),
            lower_is_better=self._lower_is_better,
        )

    def parts(self, tag: str, whole: Selection) -> Iterator[tuple[str, Selection]]:
        """Return the rows of `whole` for every value of a tag, values sorted; a row with several values is in each."""
        codes = np.array(self._slice[tag], dtype=np.int32)
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(self._values[tag]) + 1))
        having: dict[str, list[NDArray[np.intp]]] = {}
        for values, code in self._values[tag].items():
            for value in values:
                having.setdefault(value, []).append(order[starts[code] : starts[code + 1]])
        for value, found in sorted(having.items()):
            rows = np.sort(np.concatenate(found))
            yield (
                value,
                Selection(
                    outcome=whole.outcome[rows],
                    score=whole.score[rows],
                    labels={label: counts[rows] for label, counts in whole.labels.items()},
                    clusters=None if whole.clusters is None else whole.clusters[rows],
                    components={name: column[rows] for name, column in whole.components.items()},
                    modes=self._modes_of(rows),
                    lower_is_better=whole.lower_is_better,
                ),
            )


def _padded(column: array[float], length: int) -> NDArray[np.float64]:
    """Return a column as long as there are rows: those behind its last number have none."""
    whole = np.full(length, math.nan)
    whole[: len(column)] = column
    return whole


def _question_key(question: str, position: int) -> int:
    """Name the cluster of a question in 64 bits; without a question a sample is alone."""
    text = question.strip()
    body = text.encode("utf-8", "surrogatepass") if text else b"\0" + position.to_bytes(8, "big")
    return int.from_bytes(blake2b(body, digest_size=8).digest(), "big")
