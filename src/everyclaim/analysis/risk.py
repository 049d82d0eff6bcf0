"""A guard's promise: the share of wrong claims among those shown, fitted to people's labels, and for which answers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from everyclaim.analysis.estimates import percent
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.types import Label, Provenance, Result, Sample
from everyclaim.stats.risk import risk_threshold
from everyclaim.text.language import name_of
from everyclaim.verify.languages import answer_language

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
        """Say what is promised."""
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
