"""Attribution: does each citation of an answer name a passage that supports what it stands behind?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from everyclaim.core.cited import CitationFinding, CitationStatus, Cited
from everyclaim.core.types import Claim, JudgedClaim, Label, Passage, Sample
from everyclaim.core.wire import to_json
from everyclaim.metrics.context import MetricContext, NothingToCheckError, Score
from everyclaim.metrics.reference import f_beta
from everyclaim.text.sources import can_be_identified, passages_of

UNIDENTIFIED = "its citations name sources in words, and no passage has a title or id to match"
_Ids = frozenset[str]
_Entailed = dict[_Ids, bool]  # whether a claim follows from these passages together
_ORDER = tuple(CitationStatus)  # of a citation behind several claims the first counts


@dataclass(frozen=True, slots=True)
class AttributionMetric:
    """Score the citations of a response: F1 of citation recall and precision (Gao et al., ALCE, arXiv 2305.14627).

    Range [0, 1], best 1. `citation_recall`: the share of claims that follow from all that they cite together.
    `citation_precision`: the share of citations that name a passage and are needed: the claim follows from what it
    cites, and the passage alone supports it or nothing does without it. A citation behind several claims is needed
    where one of them needs it. With one claim a sentence both are ALCE's.

    A response that cites nothing has recall and score 0 and no precision. Sources named by words alone, where no
    passage has a title or an id, are left out of both, with a warning. `details["citations"]` has a `CitationStatus`
    for every claim and source, with the passages to cite instead (what only some of a citation's claims do not need is
    not listed), and `details["counts"]` how many there are of each. The claims of the result are judged against all
    passages, as for faithfulness.

    >>> import everyclaim as ec
    >>> result = ec.score(
    ...     response="The museum opened in 1956 [1]. It has 400 paintings [1].",
    ...     passages=["The museum opened in 1956.", "The museum has 400 paintings."],
    ...     metric="attribution",
    ... )
    >>> [(found["finding"], found.get("instead")) for found in result.details["citations"]]
    [('right', None), ('misattributed', ['p2'])]
    """

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Decompose, judge every claim against what it cites and against all, and count."""
        parts = await ctx.claims(sample.response)
        claims = await ctx.judge(parts.claims)
        findings = await _found(claims, sample, ctx, _shown)
        if not findings:
            raise NothingToCheckError(UNIDENTIFIED)
        return _score(claims, findings, [UNIDENTIFIED] if len(findings) < len(claims) else [])


async def citation_counts(claims: Sequence[JudgedClaim], sample: Sample, ctx: MetricContext) -> dict[str, int]:
    """Count the citations of each status, beside another metric; empty where none is found.

    With the judges that ship only: what a claim cites is checked again where its verdict does not tell.
    """
    if not ctx.is_offline or not any(claim.citations for claim in claims):
        return {}
    findings = await _found(claims, sample, ctx, _told)
    counts = _score(claims, findings, []).details["counts"] if findings else {}
    return {name: count for name, count in counts.items() if count}


async def _found(
    claims: Sequence[JudgedClaim], sample: Sample, ctx: MetricContext, known: Callable[[JudgedClaim, _Ids], _Entailed]
) -> list[list[CitationFinding]]:
    """Say of every claim what its citations do; claims whose sources nobody can identify are left out."""
    cited = [_identified(claim, sample.passages) for claim in claims]
    found = [known(claim, _ids(sources)) for claim, sources in zip(claims, cited, strict=True)]
    await _complete(found, claims, cited, sample.passages, ctx)
    return [
        _findings(claim, sources, entailed)
        for claim, sources, entailed in zip(claims, cited, found, strict=True)
        if sources or not claim.citations
    ]


def _shown(claim: JudgedClaim, ids: _Ids) -> _Entailed:
    """Return what a claim's verdict tells where all of its evidence is in one of the passages that it cites."""
    evidence = frozenset(one.passage_id for one in claim.verdict.evidence)
    is_there = claim.verdict.label is Label.SUPPORTED and len(evidence) == 1 and evidence <= ids
    return {ids: True, evidence: True} if is_there else {}


def _told(claim: JudgedClaim, ids: _Ids) -> _Entailed:
    """Return what a claim's verdict tells: what no passage supports, and that the one it cites holds the evidence."""
    if claim.verdict.label is not Label.SUPPORTED:
        return dict.fromkeys((ids, *_singles(ids)), False)
    return _shown(claim, ids) if len(ids) == 1 else {}


def _identified(claim: Claim, passages: Sequence[Passage]) -> list[Cited]:
    """Say which passages a claim cites; a source of which nobody can tell is left out."""
    found = list[Cited]()
    for citation in claim.citations:
        for source in citation.sources:
            ids = passages_of(source, passages)
            found += [Cited(citation.span, source, passage) for passage in ids]
            if not ids and can_be_identified(source, passages):
                found.append(Cited(citation.span, source, None))
    return found


async def _complete(
    found: Sequence[_Entailed],
    claims: Sequence[Claim],
    cited: Sequence[Sequence[Cited]],
    passages: Sequence[Passage],
    ctx: MetricContext,
) -> None:
    """Judge each claim against all that it cites, each alone and, where none suffices alone, all without each."""

    async def ask(wanted: Iterable[tuple[int, _Ids]]) -> None:
        asked = list(wanted)
        pairs = ((claims[place], [one for one in passages if one.id in ids]) for place, ids in asked)
        for (place, ids), claim in zip(asked, await ctx.judge_each(pairs, labels_only=True), strict=True):
            found[place][ids] = claim.verdict.label is Label.SUPPORTED

    own = [_ids(sources) for sources in cited]
    parts = ((place, part) for place, ids in enumerate(own) for part in (ids, *_singles(ids)))
    await ask({(place, part) for place, part in parts if part and part not in found[place]})
    await ask(
        (place, ids - {passage})
        for place, ids in enumerate(own)
        if len(ids) > 2 and found[place][ids]
        for passage in sorted(ids)
        if not found[place][frozenset({passage})]
    )


def _findings(claim: JudgedClaim, cited: Sequence[Cited], entailed: _Entailed) -> list[CitationFinding]:
    """Say of every citation of a claim what it does for it."""
    ids = _ids(cited)
    is_supported = claim.verdict.label is Label.SUPPORTED
    elsewhere = dict.fromkeys(evidence.passage_id for evidence in claim.verdict.evidence if is_supported)
    instead = tuple(passage for passage in elsewhere if passage not in ids)
    if not cited:
        return [CitationFinding(claim.id, CitationStatus.MISSING, instead=instead)]
    holds = any(entailed.values())
    found = list[CitationFinding]()
    for one in cited:
        if one.passage is None:
            finding = CitationStatus.DEAD
        elif not holds:
            finding = CitationStatus.MISATTRIBUTED if instead else CitationStatus.UNSUPPORTED
        else:
            alone, rest = frozenset({one.passage}), ids - {one.passage}
            without = entailed.get(rest, any(entailed[single] for single in _singles(rest)))
            finding = CitationStatus.UNNEEDED if without and not entailed[alone] else CitationStatus.RIGHT
        found.append(CitationFinding(claim.id, finding, *one, () if holds else instead))
    return found


def _score(claims: Sequence[JudgedClaim], findings: Sequence[Sequence[CitationFinding]], warnings: list[str]) -> Score:
    """Reduce the findings of each claim: recall over claims, precision over citations."""
    helps = {CitationStatus.RIGHT, CitationStatus.UNNEEDED}
    recall = sum(any(one.finding in helps for one in found) for found in findings) / len(findings)
    best: dict[Cited, CitationStatus] = {}  # of what a citation does for each of its claims
    every = [one for found in findings for one in found]
    for one in every:
        if one.cited:
            best[one.cited] = min(one.finding, best.get(one.cited, one.finding), key=_ORDER.index)
    precision = sum(finding is CitationStatus.RIGHT for finding in best.values()) / len(best) if best else None
    shown = [
        one
        for one in every
        if not one.cited or one.finding is not CitationStatus.UNNEEDED or best[one.cited] is one.finding
    ]
    counts = Counter(one.finding for one in shown)
    return Score(
        f_beta(precision or 0.0, recall),
        {"citation_precision": precision, "citation_recall": recall},
        {
            "counts": {finding.value: counts[finding] for finding in CitationStatus},
            "citations": [to_json(one) for one in shown],
        },
        warnings,
        claims=claims,
    )


def _ids(cited: Sequence[Cited]) -> _Ids:
    return frozenset(one.passage for one in cited if one.passage is not None)


def _singles(ids: _Ids) -> list[_Ids]:
    return [frozenset({passage}) for passage in sorted(ids)]
