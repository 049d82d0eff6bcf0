"""The deferral zone of a cascade, fitted to labels: where the first judge may decide alone.

Zones of growing size are tested, those where the judge is surest first, until one cannot be shown to keep its
error at or below the stated rate. Which zones are tried depends on what the judge says alone, never on who is
right, so trying many costs no more than a share of the confidence: fixed-sequence testing from several starts
(Angelopoulos and others, arXiv 2110.01052), each test an exact one for counts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everyclaim.core.types import Label, Probabilities
from everyclaim.stats.bounds import chance_of_at_most, effective_counts, fewest_without_error, upper_bound
from everyclaim.stats.clusters import numbered

Mask = NDArray[np.bool_]
Zones = Callable[[int], Mask]  # how many thousandths from sure → the claims that are settled

STARTS = (1 / 8, 1 / 4, 1 / 2)  # sizes of the zones that the sequences begin with, as shares of all claims
TRIED = 30  # zones, at most
_STEPS = 1000  # edges of a zone are whole thousandths


class LabelledJudgement(NamedTuple):
    """What the first judge says of a claim, and what is true of it."""

    probabilities: Probabilities
    is_supported: bool  # by people
    cluster: Hashable = None  # claims that share passages belong together; None: on its own


@dataclass(frozen=True, slots=True)
class Settled:
    """What the first judge settles, of both sides or of one, and how often it is wrong there.

    `at_most` is the upper bound of the share that is wrong, at the confidence of the fit; None without claims.
    """

    claims: int
    wrong: int
    at_most: float | None


@dataclass(frozen=True, slots=True)
class BandFit:
    """A fitted deferral zone: strictly between `low` and `high`, in the first judge's probability of SUPPORTED.

    A `low` of 0 or a `high` of 1 settles nothing on that side: no zone could be shown to be good.
    """

    low: float
    high: float
    error: float  # the rate asked for
    confidence: float
    claims: int
    clusters: int
    needed: int  # clusters, all without an error, from which on a zone can be shown to be good
    settled: Settled
    as_supported: Settled
    as_not_supported: Settled

    @property
    def share(self) -> float:
        """Share of the labelled claims that the first judge settles."""
        return self.settled.claims / self.claims

    @property
    def why_nothing(self) -> str:
        """Why there is no zone, where there is none, and what would help."""
        if self.clusters < self.needed:
            return (
                f"too few labels: an error of at most {self.error:.1%} needs {self.needed:,} sets of "
                f"passages without an error, there are {self.clusters:,}"
            )
        return (
            f"no claim can be settled: even at full confidence the error exceeds {self.error:.1%}; allow "
            "more, add labels, or use a better judge"
        )


def fit_deferral(
    judgements: Sequence[LabelledJudgement], *, error: float = 0.1, confidence: float = 0.95, each_side: bool = False
) -> BandFit:
    """Find the zone in which the first judge settles the most claims and is wrong in at most `error` of these.

    With probability `confidence` over the draw of the labelled claims the rate holds for claims like them: for
    all that is settled, or with `each_side` also for what is settled as supported and as not supported alone.
    Wrong is a label on the other side of SUPPORTED than people's. Without `each_side` the zone is symmetric.
    """
    says = np.array([judgement.probabilities.supported for judgement in judgements], dtype=float)
    called = np.array([judgement.probabilities.label is Label.SUPPORTED for judgement in judgements])
    wrong = called != np.array([judgement.is_supported for judgement in judgements])
    chance = (1 - confidence) / (2 if each_side else 1)
    groups = (
        place if judgement.cluster is None else (judgement.cluster,) for place, judgement in enumerate(judgements)
    )
    search = _ZoneSearch(wrong, numbered(groups), error, chance)

    def high(edge: int) -> Mask:
        return says >= (_STEPS - edge) / _STEPS

    def low(edge: int) -> Mask:
        return says <= edge / _STEPS

    if each_side:
        edges = search.widest(low), search.widest(high)
    else:
        edges = (search.widest(lambda edge: low(edge) | high(edge)),) * 2
    none = np.zeros(len(says), dtype=bool)
    below, above = low(edges[0]) if edges[0] else none, high(edges[1]) if edges[1] else none
    return BandFit(
        low=edges[0] / _STEPS,
        high=(_STEPS - edges[1]) / _STEPS,
        error=error,
        confidence=confidence,
        claims=len(judgements),
        clusters=len(np.unique(search.clusters)),
        needed=search.needed,
        settled=search.settled(below | above),
        as_supported=search.settled(above),
        as_not_supported=search.settled(below),
    )


def band_fit_to_json(fit: BandFit) -> dict[str, Any]:
    """Write it as plain JSON values."""
    return asdict(fit) | {"share": fit.share}


@dataclass(frozen=True, slots=True)
class _ZoneSearch:
    """Looks for zones. `chance` is the probability, in all, of taking one that is worse than it looks."""

    wrong: Mask
    clusters: NDArray[np.int64]
    error: float
    chance: float

    @property
    def needed(self) -> int:
        return fewest_without_error(self.error, self.chance / len(STARTS))

    def widest(self, zones: Zones) -> int:
        """Return the widest edge whose zone is good, 0 when none is."""
        tried = self._worth_trying(zones)
        found = 0
        for share in STARTS:
            enough = (place for place, (_, size) in enumerate(tried) if size >= share * len(self.wrong))
            for edge, _ in tried[next(enough, len(tried)) :]:
                if chance_of_at_most(*self._counts(zones(edge)), self.error) > self.chance / len(STARTS):
                    break
                found = max(found, edge)
        return found

    def settled(self, zone: Mask) -> Settled:
        """Say what lies in a zone."""
        bound = upper_bound(*self._counts(zone), 1 - self.chance) if zone.any() else None
        return Settled(int(zone.sum()), int(self.wrong[zone].sum()), bound)

    def _worth_trying(self, zones: Zones) -> list[tuple[int, int]]:
        """Return edges with the number of claims in their zones: large enough, and evenly spread by size."""
        sizes = []
        for edge in range(1, _STEPS // 2 + 1):
            zone = zones(edge)
            if len(np.unique(self.clusters[zone])) >= self.needed:
                sizes.append((edge, int(zone.sum())))
        if not sizes:
            return []
        wanted = np.linspace(sizes[0][1], sizes[-1][1], TRIED)
        return list(dict.fromkeys(next(pair for pair in sizes if pair[1] >= least) for least in wanted))

    def _counts(self, zone: Mask) -> tuple[int, int]:
        return effective_counts(self.wrong[zone], self.clusters[zone])
