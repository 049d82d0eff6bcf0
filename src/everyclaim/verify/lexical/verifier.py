"""The verifier itself: claims and passages in, verdicts with evidence out. The fastest tier, and offline.

All passages are judged together: the best windows may come from different passages. A passage that says the same as
another, or nothing to the point, changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, check_declared, read
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Label, Passage, Probabilities, Verdict
from everyclaim.verify.exact import compared_exactly
from everyclaim.verify.lexical.answers import after_answers
from everyclaim.verify.lexical.comparison import compare
from everyclaim.verify.lexical.conflicts import with_conflict
from everyclaim.verify.lexical.evidence import covering, laid_out, reading_of
from everyclaim.verify.lexical.features import measure
from everyclaim.verify.lexical.findings import explain
from everyclaim.verify.lexical.model import shipped_model
from everyclaim.verify.lexical.modes.classify import Failure, classify
from everyclaim.verify.lexical.shortlist import Shortlist
from everyclaim.verify.lexical.vectors import shipped_vectors

_NEAR = 0.05  # of one half: too near to call

Threshold = Annotated[float, Range(above=0, below=1), Opt("probability above which a claim is supported")]


@dataclass(frozen=True, slots=True)
class LexicalVerifier:
    """Judge claims by how their words line up with the passages. Deterministic, needs no key and no network.

    A claim is `SUPPORTED` when its probability is above `threshold`; a threshold other than 0.5 shifts the reported
    probabilities with it. See `decided` for the other two labels.
    """

    threshold: Threshold = 0.5

    def __post_init__(self) -> None:
        check_declared(self, "the lexical verifier")

    @property
    def spec(self) -> str:
        """Name and model version, and the threshold where it is not the usual one."""
        options = {} if self.threshold == 0.5 else {"threshold": f"{self.threshold:g}"}
        return str(Spec("lexical", shipped_model().version, options))

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge every claim against all the passages together; one verdict per claim, in order."""
        shortlist = Shortlist.of(passages)
        return [self._judge(claim, passages, shortlist, question[:2000]) for claim in claims]

    def failing(
        self, claims: Sequence[Claim], labels: Sequence[Label], passages: Sequence[Passage], question: str = ""
    ) -> list[Failure | None]:
        """Measure claims that somebody found to fail, without judging them; None where there is nothing to compare."""
        shortlist = Shortlist.of(passages)
        found: list[Failure | None] = []
        for claim, label in zip(claims, labels, strict=True):
            it = failure(claim, label, shortlist, question)
            if it is not None:
                row = measure(it.compared)
                it = it._replace(row=row, against=float(shipped_model().predict([row])[1][0]))
            found.append(it)
        return found

    def _judge(self, claim: Claim, passages: Sequence[Passage], shortlist: Shortlist, question: str) -> Verdict:
        """Judge one claim."""
        reading, source, pieces = laid_out(claim.text, shortlist)
        if not reading.content or not source.places:
            return nothing_to_check(claim, self.spec, blank=not source.places)
        compared = compare(reading, source, shipped_vectors(), reading_of(question) if question.strip() else None)
        row = measure(compared)
        supported, contradicted = shipped_model().predict([row])
        against = float(contradicted[0])
        probabilities = three_way(shifted(float(supported[0]), self.threshold), against)
        probabilities = after_answers(probabilities, compared.named)
        label = decided(probabilities, shipped_model().alarm.level(row))
        failed = Failure(claim.text, label, compared, row, pieces, against)
        found = None if label is Label.SUPPORTED else classify(failed, passages)
        shown = covering(compared.alignment, source, pieces, passages)
        findings = explain(compared, row, found, shown)
        verdict = Verdict(
            claim_id=claim.id,
            label=label,
            probabilities=probabilities,
            evidence=shown,
            rationale=findings.rationale,
            judge=self.spec,
            failure_mode=found.mode if found else None,
            flags=(*findings.flags, *unsure(probabilities)),
            difference=found.difference if found else None,
        )
        return compared_exactly(claim, with_conflict(verdict, compared, pieces, passages, question), passages)


def failure(claim: Claim, label: Label, shortlist: Shortlist, question: str = "") -> Failure | None:
    """Lay a claim that fails beside its passages, without judging it anew; None where there is nothing to compare.

    It is enough to find what differs where the mode is known; nothing is measured that only tells modes apart.
    """
    reading, source, pieces = laid_out(claim.text, shortlist)
    if not reading.content or not source.places:
        return None
    asked = reading_of(question[:2000]) if question.strip() else None
    compared = compare(reading, source, shipped_vectors(), asked)
    return Failure(claim.text, label, compared, {}, pieces, 0.0)


def from_spec(spec: Spec) -> LexicalVerifier:
    """Make the verifier a spec such as ``lexical`` or ``lexical?threshold=0.6`` names."""
    version = shipped_model().version
    if spec.argument not in ("", version):
        raise ConfigError(f"no lexical model {spec.argument!r} in this release; it ships {version!r}")
    return read(spec, LexicalVerifier)


def nothing_to_check(claim: Claim, judge: str, *, blank: bool) -> Verdict:
    """Give the verdict on a claim that names nothing, or on any claim where the passages are `blank`."""
    return Verdict(
        claim_id=claim.id,
        label=Label.UNSUPPORTED,
        probabilities=Probabilities(0.0, 1.0, 0.0),
        rationale="no passages to check against" if blank else "the claim names nothing to look for",
        judge=judge,
        flags=("no_passages",) if blank else (),
    )


def three_way(supported: float, contradicted: float) -> Probabilities:
    """Turn P(supported) and P(contradicted | not supported) into three that sum to 1."""
    supported = round(min(max(supported, 0.0), 1.0), 6)
    opposite = round((1.0 - supported) * contradicted, 6)
    return Probabilities(supported, round(1.0 - supported - opposite, 6), opposite)


def decided(probabilities: Probabilities, alarm: float) -> Label:
    """Give the label that follows from the probabilities.

    `SUPPORTED` above one half; otherwise `CONTRADICTED` where its probability is above `alarm`, which the model states
    and which was chosen so that an alarm can be believed; otherwise `UNSUPPORTED`.
    """
    if probabilities.supported > 0.5:
        return Label.SUPPORTED
    return Label.CONTRADICTED if probabilities.contradicted > alarm else Label.UNSUPPORTED


def unsure(probabilities: Probabilities) -> tuple[str, ...]:
    """Flag a probability of support so near one half that either label might have been given."""
    return ("unsure",) if abs(probabilities.supported - 0.5) < _NEAR else ()


def shifted(probability: float, threshold: float) -> float:
    """Move a probability so that `threshold` comes to lie at one half."""
    if threshold == 0.5 or not 0.0 < probability < 1.0:
        return probability
    odds = math.log(probability / (1 - probability)) - math.log(threshold / (1 - threshold))
    return 1.0 / (1.0 + math.exp(-odds))
