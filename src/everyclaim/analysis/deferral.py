"""Thresholds with a guaranteed error rate, fitted to labels: a cascade's deferral zone, and what a guard may show.

The deferral zone is where the first judge may decide alone. Zones of growing size are tested, those where the judge is
surest first, until one cannot be shown to keep its error at or below the stated rate. Which zones are tried depends on
what the judge says alone, never on who is right, so trying many costs no more than a share of the confidence:
fixed-sequence testing from several starts (Angelopoulos and others, arXiv 2110.01052), each test an exact one for
counts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from everyclaim.analysis import percent
from everyclaim.analysis.labels import LabelledItem
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.types import Label, Probabilities, Provenance, Result, Sample
from everyclaim.stats.proportions import chance_of_at_most, effective_counts, fewest_without_error, upper_bound
from everyclaim.stats.thresholds import fixed_sequences, risk_threshold
from everyclaim.stats.types import numbered
from everyclaim.text.language import name_of
from everyclaim.verify.languages import answer_language

Mask = NDArray[np.bool_]
Judgement = LabelledItem[Probabilities]  # of the first judge
Zones = Callable[[int], Mask]  # how many thousandths from sure → the claims that are settled

STARTS = (1 / 8, 1 / 4, 1 / 2)  # sizes of the zones that the sequences begin with, as shares of all claims
TRIED = 30  # zones, at most
WORTH = 0.02  # least share of uncertain claims for which a second judge is proposed
_STEPS = 1000  # edges of a zone are whole thousandths


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
    def needs_second(self) -> bool:
        """Whether claims can be settled and enough are uncertain, at least 2 %, to ask a second judge."""
        return bool(self.settled.claims) and 1 - self.share >= WORTH

    @property
    def why_nothing(self) -> str:
        """Why there is no zone, where there is none, and what would help."""
        if self.clusters < self.needed:
            return (
                f"too few labels: an error of at most {percent(self.error)} needs {self.needed:,} sets of "
                f"passages without an error, there are {self.clusters:,}"
            )
        return (
            f"no claim can be settled: even at full confidence the error exceeds {percent(self.error)}; allow "
            "more, add labels, or use a better judge"
        )

    def to_json(self) -> dict[str, Any]:
        """Write it as plain JSON values."""
        return asdict(self) | {"share": self.share}


def fit_deferral(
    judgements: Sequence[Judgement], *, error: float = 0.1, confidence: float = 0.95, each_side: bool = False
) -> BandFit:
    """Find the zone in which the first judge settles the most claims and is wrong in at most `error` of these.

    With probability `confidence` over the draw of the labelled claims the rate holds for claims like them: for
    all that is settled, or with `each_side` also for what is settled as supported and as not supported alone.
    Wrong is a label on the other side of SUPPORTED than people's. Without `each_side` the zone is symmetric.
    """
    says = np.array([judgement.said.supported for judgement in judgements], dtype=float)
    called = np.array([judgement.said.label is Label.SUPPORTED for judgement in judgements])
    wrong = called != np.array([judgement.is_supported for judgement in judgements])
    chance = (1 - confidence) / (2 if each_side else 1)
    groups = (place if one.document is None else (one.document,) for place, one in enumerate(judgements))
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
        starts = [[edge for edge, size in tried if size >= share * len(self.wrong)] for share in STARTS]

        def chance(edge: int) -> float:
            return chance_of_at_most(*self._counts(zones(edge)), self.error)

        return max(fixed_sequences(starts, chance, self.chance), default=0)

    def settled(self, zone: Mask) -> Settled:
        bound = upper_bound(*self._counts(zone), 1 - self.chance) if zone.any() else None
        return Settled(int(zone.sum()), int(self.wrong[zone].sum()), bound)

    def _worth_trying(self, zones: Zones) -> list[tuple[int, int]]:
        """Return edges with the number of claims in their zones: large enough, and evenly spread by size."""
        sizes = []
        for edge in range(1, _STEPS // 2):  # a half is on neither side
            zone = zones(edge)
            if len(np.unique(self.clusters[zone])) >= self.needed:
                sizes.append((edge, int(zone.sum())))
        if not sizes:
            return []
        wanted = np.linspace(sizes[0][1], sizes[-1][1], TRIED)
        return list(dict.fromkeys(next(pair for pair in sizes if pair[1] >= least) for least in wanted))

    def _counts(self, zone: Mask) -> tuple[int, int]:
        return effective_counts(self.wrong[zone], self.clusters[zone])


CONFIDENCE = 0.95
_FEWEST, _DRIFT = 50, 4.0  # answers before a stream is compared with the calibration, and standard errors


@dataclass(frozen=True, slots=True)
class RiskPromise:
    """Claims whose probability of support is at least `threshold` may be shown: of them at most `risk` are wrong.

    Each answer weighs the same. It holds for answers like the labelled ones: by the same judge and decomposer, in the
    same languages, of the same generators. `mean` and `spread` are of the mean probability of an answer.
    """

    risk: float
    threshold: float
    answers: int  # labelled
    claims: int
    withheld: float  # share of the run's claims
    judge: str
    decomposer: str
    languages: tuple[str, ...]
    models: tuple[str, ...]
    mean: float
    spread: float
    confidence: float = CONFIDENCE

    def __str__(self) -> str:
        return (
            f"at most {percent(self.risk)} of the shown claims are unsupported, with "
            f"{percent(self.confidence)} confidence, for answers like the {self.answers:,} labelled ones; "
            f"{percent(self.withheld)} of claims are withheld"
        )

    def to_json(self) -> dict[str, Any]:
        """Write it as plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote. Raises `InputError` for anything else."""
        try:
            found = cls(**{**row, "languages": tuple(row["languages"]), "models": tuple(row["models"])})
            json.dumps(found.to_json())
        except (TypeError, KeyError, ValueError):
            raise InputError(
                "not a calibrated risk; `everyclaim calibrate RUN LABELS --risk 0.02 --save FILE` writes one"
            ) from None
        return found

    def check_made_by(self, provenance: Provenance) -> None:
        """Raise `ConfigError` where another judge or decomposer is used than was calibrated."""
        for what, ours, used in (
            ("judge", self.judge, provenance.verifier),
            ("decomposer", self.decomposer, provenance.decomposer),
        ):
            if ours != used:
                raise ConfigError(f"the risk was calibrated for the {what} {ours!r}, not for {used!r}")

    def outside(self, result: Result, sample_language: str) -> str:
        """Say why an answer is not like the labelled ones; empty when it is."""
        if sample_language and sample_language not in self.languages:
            return f"the answer is in {name_of(sample_language)}, for which there are no labels"
        if self.models and result.model and result.model not in self.models:
            return f"the answer is by {result.model}, for which there are no labels"
        return ""

    def has_drifted(self, count: int, mean: float) -> bool:
        """Whether a stream of so many answers has other probabilities than the calibration, by more than chance."""
        return count >= _FEWEST and abs(mean - self.mean) > _DRIFT * self.spread * math.sqrt(
            1 / count + 1 / self.answers
        )


def answer_mean(result: Result) -> float | None:
    """Return the mean probability of support of an answer's claims; None where it has none."""
    found = [claim.verdict.probabilities.supported for claim in result.claims if claim.verdict.probabilities]
    return sum(found) / len(found) if found else None


def fit_risk(
    risk: float,
    rows: Sequence[tuple[int, float | None, Label]],
    labelled: Sequence[tuple[Sample, Result]],
    run: Sequence[float],
) -> RiskPromise:
    """Fit a promise. `rows` are labelled claims: answer, probability, what people say; `run` all its probabilities.

    Raises `ConfigError` where the labels allow none.
    """
    if not 0 < risk < 1:
        raise ConfigError(f"risk is {risk:g}, but must be between 0 and 1, as in 0.02")
    known = [(place, math.nan if found is None else found, label) for place, found, label in rows]
    answers = len({place for place, _, _ in known})
    threshold = risk_threshold(
        [found for _, found, _ in known],
        [float(label is Label.SUPPORTED) for _, _, label in known],
        [place for place, _, _ in known],
        risk,
    )
    if threshold is None:
        fewest = math.ceil(math.log((1 - CONFIDENCE) / 2) / math.log1p(-risk))
        raise ConfigError(
            f"a risk of {percent(risk)} cannot be guaranteed with labels of {answers} answers: label "
            f"claims of at least {fewest} randomly selected answers, or allow a higher risk"
        )
    means = [found for _, result in labelled if (found := answer_mean(result)) is not None]
    mean = sum(means) / len(means)
    first = labelled[0][1].provenance
    return RiskPromise(
        risk=risk,
        threshold=threshold,
        answers=answers,
        claims=len(known),
        withheld=sum(not found >= threshold for found in run) / len(run),
        judge=first.verifier,
        decomposer=first.decomposer,
        languages=tuple(sorted({answer_language(sample.response, sample.question) for sample, _ in labelled})),
        models=tuple(sorted({sample.model for sample, _ in labelled if sample.model})),
        mean=mean,
        spread=math.sqrt(sum((one - mean) ** 2 for one in means) / max(1, len(means) - 1)),
    )
