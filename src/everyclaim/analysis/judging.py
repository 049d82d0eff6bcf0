"""How the judging itself went: what a cascade spared, where judges of a panel or repeats of one judge differed.

All of it is counted from stored verdicts: who decided (`Verdict.judge`), and the flags `audited`,
`audit_disagreed`, `disagreement` and `unstable`. Claims without passages were put to no judge and are left out.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everyclaim.core.errors import ConfigError
from everyclaim.core.spec import Spec
from everyclaim.core.types import Provenance, Result, Verdict
from everyclaim.stats.intervals import Estimate, clustered_ratios
from everyclaim.stats.types import Floats, Sampling


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


@dataclass(frozen=True, slots=True)
class CascadeSummary:
    """What the first judge of a cascade spared the second."""

    first: str
    settled: Estimate  # share of the judged claims that the first judge was sure of, those audited among them
    agreement: Estimate  # share of the audited claims that the second judge gave the same label
    spared: int  # answers that the second judge saw nothing of
    saved: float | None  # what those would have cost, in US dollars, by the mean of the others; None: not known


@dataclass(frozen=True, slots=True)
class JudgingSummary:
    """What can be said of the judges; None where it does not arise."""

    judges: Mapping[str, int]  # claims by the judge that decided
    cascade: CascadeSummary | None
    disagreement: Estimate | None  # of a panel: share of claims that its judges did not label alike
    flips: Estimate | None  # with repeats: share of claims that were not labelled alike every time


@dataclass(frozen=True, slots=True)
class _JudgeKind:
    """What a result's provenance says of its judge."""

    first: str = ""  # of a cascade
    is_panel: bool = False
    repeats: frozenset[str] = frozenset()  # which judges vote with themselves: "" the only one, "2" the second


class JudgingCollector:
    """Collects what results say of their judges. Rows are kept only for judges that there is something to say of."""

    def __init__(self) -> None:
        self._last: tuple[Provenance | None, _JudgeKind] = (None, _JudgeKind())
        self._judges: Counter[str] = Counter()
        self._rows = NumberColumns()
        self._first = ""
        self._is_panel = False

    def add(self, result: Result, place: int) -> None:
        """Collect one scored result; `place` counts all results from 0."""
        kind = self._kind(result.provenance)
        self._judges.update(claim.verdict.judge for claim in result.claims)
        if kind == _JudgeKind():
            return
        self._first = self._first or kind.first
        self._is_panel = self._is_panel or kind.is_panel
        verdicts = [claim.verdict for claim in result.claims if "no_passages" not in claim.verdict.flags]
        audited = [verdict for verdict in verdicts if "audited" in verdict.flags]
        voted = [verdict for verdict in verdicts if _votes(kind, verdict)]
        row = {
            "judged": len(verdicts),
            "settled": len(audited) + sum(bool(kind.first) and _is_by(verdict, kind.first) for verdict in verdicts),
            "audited": len(audited),
            "agreed": sum("audit_disagreed" not in verdict.flags for verdict in audited),
            "torn": sum("disagreement" in verdict.flags for verdict in verdicts),
            "voted": len(voted),
            "flipped": sum("unstable" in verdict.flags for verdict in voted),
        }
        usage = result.usage
        cost = None if usage.cache_hits else usage.cost  # what it would be without a cache is not known
        self._rows.append({"place": place, "cost": cost} | row)

    def finish(self, clusters: NDArray[np.uint64] | None, sampling: Sampling) -> JudgingSummary:
        """Add up; `clusters` are those of all results."""
        rows = defaultdict(lambda: np.zeros(0), self._rows.arrays())
        of_rows = None if clusters is None else clusters[rows["place"].astype(int)]
        settled, agreement, torn, flips = clustered_ratios(
            [rows["settled"], rows["agreed"], rows["torn"], rows["flipped"]],
            [rows["judged"], rows["audited"], rows["judged"], rows["voted"]],
            of_rows,
            sampling,
        )
        return JudgingSummary(
            judges={name: self._judges[name] for name in sorted(self._judges)},
            cascade=self._cascade(rows, settled, agreement) if self._first else None,
            disagreement=torn if self._is_panel else None,
            flips=flips if flips.n else None,
        )

    def _cascade(self, rows: Mapping[str, Floats], settled: Estimate, agreement: Estimate) -> CascadeSummary:
        unasked = (rows["settled"] == rows["judged"]) & (rows["audited"] == 0)
        costs = rows["cost"]
        paid = {is_asked: costs[(unasked != is_asked) & np.isfinite(costs)] for is_asked in (True, False)}
        spared, saved = int(unasked.sum()), None
        if not spared:
            saved = 0.0
        elif len(paid[True]):
            # What both kinds cost, such as splitting the answer, was not spared.
            anyway = float(paid[False].mean()) if len(paid[False]) else 0.0
            saved = spared * max(0.0, float(paid[True].mean()) - anyway)
        return CascadeSummary(self._first, settled, agreement, spared, saved)

    def _kind(self, provenance: Provenance) -> _JudgeKind:
        if self._last[0] != provenance:  # one run has one
            self._last = (provenance, _kind(provenance))
        return self._last[1]


def _kind(provenance: Provenance) -> _JudgeKind:
    try:
        spec = Spec.parse(provenance.verifier)
    except ConfigError:
        return _JudgeKind()
    repeats = {key for key, value in provenance.parameters.items() if key.endswith("repeats") and value != "1"}
    first = spec.argument.partition(">")[0] if spec.name == "cascade" else ""
    is_panel = spec.name == "panel"
    return _JudgeKind(
        first, is_panel, frozenset() if is_panel else frozenset(key.rpartition(".")[0] for key in repeats)
    )


def _votes(kind: _JudgeKind, verdict: Verdict) -> bool:
    """Whether the judge that decided was asked several times."""
    if not kind.first:
        return bool(kind.repeats)
    return ("1" if _is_by(verdict, kind.first) else "2") in kind.repeats


def _is_by(verdict: Verdict, judge: str) -> bool:
    return verdict.judge.partition("?")[0] == judge and "audited" not in verdict.flags
