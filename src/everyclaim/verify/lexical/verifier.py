"""The verifier itself: claims and passages in, verdicts with evidence out. The fastest tier, and offline.

All passages are judged together: the best windows may come from different passages. A passage that says the same as
another, or nothing to the point, changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, check_declared, read
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Evidence, Label, Passage, Probabilities, Span, Verdict
from everyclaim.verify.lexical.analysis import Reading
from everyclaim.verify.lexical.asides import Aside
from everyclaim.verify.lexical.comparison import Comparison, compare, speaks_of_more
from everyclaim.verify.lexical.evidence import covering, laid_out, of_asides, reading_of
from everyclaim.verify.lexical.features import measure
from everyclaim.verify.lexical.findings import explain
from everyclaim.verify.lexical.model import is_negated, shipped_model
from everyclaim.verify.lexical.modes.classify import Failure, classify, mentioned
from everyclaim.verify.lexical.shortlist import Shortlist
from everyclaim.verify.lexical.vectors import shipped_vectors

_SETTLED = 0.9  # probability of what the values of a comparison say
_OTHERWISE = 0.4  # most that is left of P(supported) where fields answer otherwise, or somebody else said it
_NEAR = 0.05  # of one half: too near to call

Threshold = Annotated[float, Range(above=0, below=1), Opt("a claim is supported above this probability")]


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
        asked = reading_of(question[:2000]) if question.strip() else None
        return [self._judge(claim, passages, shortlist, asked) for claim in claims]

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

    def _judge(
        self, claim: Claim, passages: Sequence[Passage], shortlist: Shortlist, question: Reading | None
    ) -> Verdict:
        """Judge one claim."""
        reading, source, pieces, asides = laid_out(claim.text, shortlist)
        if asides and not source.places:
            return only_mentioned(claim, self.spec, asides, of_asides(asides, pieces, passages))
        if not reading.content or not source.places:
            return nothing_to_check(claim, self.spec, blank=not source.places)
        compared = compare(reading, source, shipped_vectors(), question, pieces)
        row = measure(compared)
        supported, contradicted = shipped_model().predict([row])
        borne, against = heeded(float(supported[0]), float(contradicted[0]), compared, row)
        probabilities = three_way(shifted(borne, self.threshold), against)
        label = decided(probabilities, shipped_model().alarm.level(row))
        failed = Failure(claim.text, label, compared, row, pieces, against, (), asides)
        found = None if label is Label.SUPPORTED else classify(failed, passages)
        findings = explain(label, compared, row, found, passages, asides)
        return Verdict(
            claim_id=claim.id,
            label=label,
            probabilities=probabilities,
            evidence=(
                covering(compared.alignment, source, pieces, passages)
                if label is Label.SUPPORTED or not asides
                else of_asides(asides, pieces, passages)
            ),
            rationale=findings.rationale,
            judge=self.spec,
            failure_mode=found.mode if found else None,
            flags=(*findings.flags, *unsure(probabilities)),
            difference=found.difference if found else None,
        )


def failure(claim: Claim, label: Label, shortlist: Shortlist, question: str = "") -> Failure | None:
    """Lay a claim that fails beside its passages, without judging it anew; None where there is nothing to compare.

    It is enough to find what differs where the mode is known; nothing is measured that only tells modes apart.
    """
    reading, source, pieces, asides = laid_out(claim.text, shortlist)
    if not reading.content or not source.places:
        return None
    asked = reading_of(question[:2000]) if question.strip() else None
    compared = compare(reading, source, shipped_vectors(), asked, pieces)
    return Failure(claim.text, label, compared, {}, pieces, 0.0, (), asides)


def from_spec(spec: Spec) -> LexicalVerifier:
    """Make the verifier a spec such as ``lexical`` or ``lexical?threshold=0.6`` names."""
    version = shipped_model().version
    if spec.argument not in ("", version):
        raise ConfigError(f"there is no lexical model {spec.argument!r} in this release; it ships {version!r}")
    return read(spec, LexicalVerifier)


def nothing_to_check(claim: Claim, judge: str, *, blank: bool) -> Verdict:
    """Give the verdict on a claim without words, or on any claim where the passages are `blank`."""
    return Verdict(
        claim_id=claim.id,
        label=Label.UNSUPPORTED,
        probabilities=Probabilities(0.0, 1.0, 0.0),
        rationale="there is no passage to check against" if blank else "the claim holds no words",
        judge=judge,
        flags=("no_passages",) if blank else (),
    )


def only_mentioned(claim: Claim, judge: str, asides: Sequence[Aside], evidence: tuple[Evidence, ...]) -> Verdict:
    """Give the verdict on a claim where the passages hold nothing else than words that do not assert it."""
    return Verdict(
        claim_id=claim.id,
        label=Label.UNSUPPORTED,
        probabilities=Probabilities(0.0, 1.0, 0.0),
        evidence=evidence,
        rationale=asides[0].said,
        judge=judge,
        failure_mode=asides[0].mode,
        difference=mentioned(asides[0], Span(0, len(claim.text)), evidence),
    )


def heeded(supported: float, contradicted: float, it: Comparison, row: Mapping[str, float]) -> tuple[float, float]:
    """Heed what fields answer, who said it, and what compares, in P(supported) and P(contradicted | not supported).

    Where the fields that a claim names answer otherwise, or are not given, or where somebody else is named to have said
    it, the likeness of their words counts little.

    No word of a comparison tells which way round it is true. Where it is, the claim is supported unless something else
    in it is not: a value, a name or more than a little of its other words.
    """
    if it.is_turned:
        return min(supported, 1 - _SETTLED), max(contradicted, _SETTLED)
    if it.is_answered_otherwise or it.is_said_by_another:
        return min(supported, _OTHERWISE), contradicted
    if it.settled is None or is_negated(row) or row["speaker_conflict"] or speaks_of_more(it, it.settled.held):
        return supported, contradicted
    return max(supported, _SETTLED), contradicted


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
