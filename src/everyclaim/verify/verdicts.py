"""The border between a judge and the rest: nothing a verifier says is believed before it passed here.

Every claim gets exactly one verdict, aligned by id. What is missing or unusable is asked once more,
then it is a failure. Evidence must really be in the passage it names.

Why a claim fails, and where it differs from its passages: the offline judges name both as they go. A chat model names
the failure mode, and `difference` finds the two places when somebody looks at the claim. Judges that give labels alone
(an NLI classifier, a function) get both from the offline classifier.
"""

from __future__ import annotations

import asyncio
import math
import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import Verifier, chat_of
from everyclaim.core.types import (
    Claim,
    Difference,
    Evidence,
    FailureMode,
    JudgedClaim,
    Label,
    Passage,
    Probabilities,
    Verdict,
)

if TYPE_CHECKING:
    from everyclaim.verify.lexical.passages import Shortlist


def with_mode(verdict: Verdict) -> Verdict:
    """Return a failing verdict with a failure mode: the judge's own, else `other`."""
    if verdict.label is Label.SUPPORTED or verdict.failure_mode:
        return verdict
    return replace(verdict, failure_mode=FailureMode.OTHER)


def difference(claim: JudgedClaim, passages: Sequence[Passage], *, question: str = "") -> Difference | None:
    """Find where a failing claim and its passages differ, by comparing words; None where nothing can be compared."""
    verdict = claim.verdict
    if verdict.label is Label.SUPPORTED or verdict.difference or not any(one.text.strip() for one in passages):
        return verdict.difference
    from everyclaim.verify.lexical.failure_modes import classify, plausible
    from everyclaim.verify.lexical.passages import Shortlist
    from everyclaim.verify.lexical.verifier import failure

    try:
        found = failure(claim, verdict.label, Shortlist.of(passages), question)
    except JudgeError:  # too long to be compared
        return None
    if found is None:
        return None
    mode = verdict.failure_mode
    return classify(found, passages, mode if mode and plausible(mode, found) else FailureMode.OTHER).difference


async def classified(
    verdicts: Sequence[Verdict], claims: Sequence[Claim], passages: Sequence[Passage], question: str
) -> list[Verdict]:
    """Complete the verdicts on claims that fail and have no difference yet, in order. Labels stay as they are."""
    if all(verdict.label is Label.SUPPORTED or verdict.difference for verdict in verdicts):
        return list(verdicts)
    return await asyncio.to_thread(_completed, verdicts, claims, passages, question)


def _completed(
    verdicts: Sequence[Verdict], claims: Sequence[Claim], passages: Sequence[Passage], question: str
) -> list[Verdict]:
    from everyclaim.verify.lexical.passages import Shortlist

    shortlist = Shortlist.of(passages)
    return [
        verdict
        if verdict.label is Label.SUPPORTED or verdict.difference
        else _classified(verdict, claim, passages, shortlist, question)
        for verdict, claim in zip(verdicts, claims, strict=True)
    ]


def _classified(
    verdict: Verdict, claim: Claim, passages: Sequence[Passage], shortlist: Shortlist, question: str
) -> Verdict:
    """Classify one claim. One that is too long to be compared keeps the mode that its judge named, or is `other`."""
    # Both judges are loaded only where a claim fails: a run that needs neither does not wait for them.
    from everyclaim.verify.embedded.verifier import EmbeddedVerifier
    from everyclaim.verify.lexical.failure_modes import classify, plausible
    from everyclaim.verify.lexical.verifier import failure

    given = verdict.failure_mode
    try:
        found = failure(claim, verdict.label, shortlist, question)
        if found is not None and (given is None or not plausible(given, found)):
            found, given = EmbeddedVerifier().failing([claim], [verdict.label], passages, question)[0], None
    except JudgeError:
        found = None
    if found is None:
        return with_mode(verdict)
    mode, differing = classify(found, passages, given)
    return replace(verdict, failure_mode=mode, difference=differing)


_SUM_TOLERANCE = 1e-3
_LABELS = frozenset(Label)
ROUNDED = "value_rounded"
_WITHOUT = {"quote_not_found", "no_evidence"}


@dataclass(frozen=True, slots=True)
class Policy:
    """How much a SUPPORTED must show to stand.

    `strict_evidence`: without a quote that is really in a passage it becomes UNSUPPORTED, not only flagged.
    `strict_hedges`: a claim that says "may" where the source says "does" (or the reverse) becomes UNSUPPORTED.
    `strict_numbers`: so does one whose value only rounds, converts or loosens that of its evidence.
    """

    strict_evidence: bool = False
    strict_hedges: bool = False
    strict_numbers: bool = False

    @classmethod
    def strict(cls) -> Policy:
        """Every strictness at once."""
        return cls(strict_evidence=True, strict_hedges=True, strict_numbers=True)


async def judged(
    verifier: Verifier,
    claims: Sequence[Claim],
    passages: Sequence[Passage],
    *,
    question: str = "",
    policy: Policy | None = None,
    labels_only: bool = False,
) -> tuple[JudgedClaim, ...]:
    """Judge every claim, check what the judge says, and return the claims with their verdicts, in order.

    Without passages every claim is UNSUPPORTED (flag `no_passages`) and no model is called. With `labels_only` nothing
    is found out about why a claim fails beyond what the judge says of it, and of a chat model's verdicts never.
    Raises `JudgeError` when a claim has no usable verdict after asking twice.
    """
    if not any(passage.text.strip() for passage in passages):
        told, flags = "no passages to check against", ("no_passages",)
        verdicts = [
            Verdict(claim.id, Label.UNSUPPORTED, rationale=told, judge=verifier.spec, flags=flags) for claim in claims
        ]
    else:
        verdicts = await collect_verdicts(verifier, claims, passages, question=question)
    rules = policy or Policy()
    texts = {passage.id: passage.text for passage in passages}
    final: list[Verdict] = []
    for claim, given in zip(claims, verdicts, strict=True):
        verdict = locate_evidence(given, texts)
        if rules.strict_numbers:
            verdict = with_rounded(verdict, claim.text, texts)
        final.append(apply_policy(rules, verdict))
    if not labels_only and any(text.strip() for text in texts.values()):
        # A chat model says itself why a claim fails; where it differs is looked for when somebody asks (`difference`).
        by_model = chat_of(verifier) is not None
        final = list(map(with_mode, final)) if by_model else await classified(final, claims, passages, question)
    return tuple(
        JudgedClaim(claim.id, claim.text, claim.span, claim.sentence, verdict, citations=claim.citations)
        for claim, verdict in zip(claims, final, strict=True)
    )


async def collect_verdicts(
    verifier: Verifier, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
) -> list[Verdict]:
    """Get exactly one well-formed verdict per claim, in the claims' order; re-ask once for what is missing."""
    if not claims:
        return []
    known = {passage.id for passage in passages}
    usable_verdicts: dict[str, Verdict] = {}
    complaint = ""
    for _ in range(2):
        missing = [claim for claim in claims if claim.id not in usable_verdicts]
        usable, complaint = _usable(await verifier.verify(missing, passages, question=question), missing, known)
        usable_verdicts |= usable
        if len(usable_verdicts) == len(claims):
            found = [usable_verdicts[claim.id] for claim in claims]
            return [one if one.judge else replace(one, judge=verifier.spec) for one in found]
    absent = [claim.id for claim in claims if claim.id not in usable_verdicts]
    code = "missing_verdict" if complaint == "" else "bad_verdict"
    detail = f"; {complaint}" if complaint else ""
    raise JudgeError(code, f"{verifier.spec} gave no usable verdict for {', '.join(absent)}{detail}")


def _usable(verdicts: Sequence[Verdict], asked: Sequence[Claim], passages: set[str]) -> tuple[dict[str, Verdict], str]:
    """Sort out the verdicts that can be used, by claim id, and say what was wrong with the rest."""
    if not isinstance(verdicts, Sequence) or not all(isinstance(verdict, Verdict) for verdict in verdicts):
        return {}, f"a reply of type {type(verdicts).__name__} that is not a list of verdicts"
    wanted = {claim.id for claim in asked}
    seen = Counter(verdict.claim_id for verdict in verdicts)
    unknown = sorted(str(claim_id) for claim_id in seen if claim_id not in wanted)
    if unknown:
        # Ids that were never given mean that the reply does not speak of these claims: none of it is trusted.
        return {}, f"verdicts for unknown claims {', '.join(unknown[:5])}"
    usable: dict[str, Verdict] = {}
    complaint = ""
    for verdict in verdicts:
        if seen[verdict.claim_id] > 1:
            complaint = f"more than one verdict for {verdict.claim_id}"
        elif fault := fault_of_verdict(verdict, passages):
            complaint = f"{verdict.claim_id}: {fault}"
        else:
            known = isinstance(verdict.label, Label)
            usable[verdict.claim_id] = verdict if known else replace(verdict, label=Label(verdict.label))
    return usable, complaint


def fault_of_verdict(verdict: Verdict, passages: set[str]) -> str:
    """Say what makes a verdict unusable; empty when nothing does."""
    labels = [verdict.label, *(part.label for part in verdict.per_passage)]
    for label in labels:
        if label not in _LABELS:
            return f"label {label!r} is not one of {', '.join(Label)}"
    for probabilities in (verdict.probabilities, *(part.probabilities for part in verdict.per_passage)):
        if probabilities is not None and not _is_distribution(probabilities):
            return f"probabilities {tuple(probabilities)} are not three numbers in [0, 1] that sum to 1"
    unknown = sorted({part.passage_id for part in verdict.per_passage} - passages)
    return f"verdict on unknown passage {unknown[0]!r}" if unknown else ""


def _is_distribution(probabilities: Probabilities) -> bool:
    return (
        len(probabilities) == len(Probabilities._fields)
        and all(math.isfinite(p) and 0 <= p <= 1 for p in probabilities)
        and abs(sum(probabilities) - 1) <= _SUM_TOLERANCE
    )


def locate_evidence(verdict: Verdict, texts: Mapping[str, str]) -> Verdict:
    """Keep only evidence that is really there, its offsets corrected; flag a quote that is nowhere."""
    evidence = [located for quoted in verdict.evidence if (located := _located(quoted, texts))]
    flags = verdict.flags
    if len(evidence) < len(verdict.evidence):
        flags = (*flags, "quote_not_found")
    elif not evidence and verdict.label is Label.SUPPORTED and not _WITHOUT & set(flags):
        flags = (*flags, "no_evidence")
    if flags is verdict.flags and all(map(operator.is_, evidence, verdict.evidence)):
        return verdict  # all of it was located before
    return replace(verdict, evidence=tuple(evidence), flags=flags)


def _located(evidence: Evidence, texts: Mapping[str, str]) -> Evidence | None:
    """Return the evidence with true offsets: as given, else located in its passage, else in any other."""
    text = texts.get(evidence.passage_id)
    if not evidence.quote.strip():
        return None
    if text is not None and evidence.start >= 0 and text[evidence.start : evidence.end] == evidence.quote:
        return evidence
    from everyclaim.text.locate import locate

    order = [evidence.passage_id, *(other for other in texts if other != evidence.passage_id)]
    for passage_id in order:
        match = locate(evidence.quote, texts[passage_id]) if passage_id in texts else None
        if match:
            return Evidence(passage_id, match.start, match.end, texts[passage_id][match.start : match.end])
    return None


def with_rounded(verdict: Verdict, claim: str, texts: Mapping[str, str]) -> Verdict:
    """Flag a support of which a value is nowhere in the passages, and in its evidence only rounded, converted or about.

    A value in another spelling or unit of the same size is the same; one that nothing is like is the judge's to weigh.
    """
    from everyclaim.text.agreement import relation
    from everyclaim.text.quantities import quantities

    if verdict.label is not Label.SUPPORTED or ROUNDED in verdict.flags or not (values := quantities(claim)):
        return verdict
    shown = [texts[name] for name in dict.fromkeys(one.passage_id for one in verdict.evidence) if name in texts]
    near = [value for text in shown or texts.values() for value in quantities(text)]
    for value in values:
        relations = {relation(value, other) for other in near}
        is_near = "equal" not in relations and relations & {"converted", "rounded", "about", "within"}
        if is_near and not any(relation(value, other) == "equal" for t in texts.values() for other in quantities(t)):
            return replace(verdict, flags=(*verdict.flags, ROUNDED))
    return verdict


def apply_policy(policy: Policy, verdict: Verdict) -> Verdict:
    """Turn a SUPPORTED that a strict policy does not accept into UNSUPPORTED; the flags say why."""
    if verdict.label is not Label.SUPPORTED:
        return verdict
    if policy.strict_evidence and not verdict.evidence:
        why = "the quote is not in the passages" if "quote_not_found" in verdict.flags else "no evidence was given"
        return demoted(verdict, f"strict policy: {why}", FailureMode.OTHER)
    if policy.strict_hedges and "certainty_differs" in verdict.flags:
        why = "strict policy: claim and passage differ in certainty"
        return demoted(verdict, why, FailureMode.HEDGE_MISMATCH)
    if policy.strict_numbers and ROUNDED in verdict.flags:
        return demoted(verdict, "strict policy: a value is rounded", FailureMode.NUMERIC_MISMATCH)
    return verdict


def demoted(verdict: Verdict, why: str, mode: FailureMode) -> Verdict:
    """Make an UNSUPPORTED of a SUPPORTED, for this reason. A policy is certain, however likely the support."""
    rationale = f"{why}; otherwise {verdict.rationale}" if verdict.rationale else why
    chances = verdict.probabilities and verdict.probabilities.with_support(0.0)
    flags = tuple(flag for flag in verdict.flags if flag != "unsure")
    found = replace(verdict, label=Label.UNSUPPORTED, probabilities=chances, flags=flags)
    return replace(found, rationale=rationale, failure_mode=mode)
