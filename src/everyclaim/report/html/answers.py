"""An answer, made ready for the templates: its claims in place, and what each found in the passages.

Claims and passages are numbered, from 1: ids come from outside, and nothing outside names a part of a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from everyclaim.core.cited import CitationFinding, CitationStatus, citation_findings, refusal_of
from everyclaim.core.plaintext import counted, one_line
from everyclaim.core.protocols import Kept
from everyclaim.core.types import REFERENCE, RESPONSE, JudgedClaim, Label, Passage, PassageVerdict, Result, Sample
from everyclaim.report.findings import is_failing, reason_beside, texts_of
from everyclaim.report.html.layout import LaidOutBlock, Mark, Segment, lay_out, quote_at, segments
from everyclaim.verify.verdicts import difference

_LONG = 4_000  # characters of a claim; it stands whole in the answer
_LISTED = 300  # claims of an answer
_NAMED = {RESPONSE: "the response"}


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """A piece of evidence: the quote, and the number of its passage; None where that text is not at hand."""

    quote: str
    passage: int | None
    name: str  # of the passage


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim with its verdict. `segments` are its text, with the part that differs from its passage marked."""

    number: int
    claim: JudgedClaim
    segments: Sequence[Segment]
    places: Sequence[EvidenceView]
    per_passage: Sequence[tuple[int | None, PassageVerdict]]
    other_judge: str = ""  # that decided, where it is not the one of the whole answer
    citations: Sequence[tuple[CitationStatus, str]] = ()  # what each does for it, in words

    @property
    def label(self) -> Label:
        """The label of its verdict."""
        return self.claim.verdict.label

    @property
    def reason(self) -> str:
        """Why, beside the evidence."""
        return reason_beside(self.claim.verdict)

    @property
    def is_failing(self) -> bool:
        """Whether it is worth a look: it is not supported, or its passages disagree."""
        return is_failing(self.claim.verdict)

    @property
    def citation_fault(self) -> CitationStatus | None:
        """The gravest finding on its citations that is not `right`."""
        found = [finding for finding, _ in self.citations if finding is not CitationStatus.RIGHT]
        return max(found, key=tuple(CitationStatus).index, default=None)


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage with the evidence of all claims marked in it; `claims` are the numbers of those."""

    number: int
    id: str
    title: str
    blocks: Sequence[LaidOutBlock]
    claims: Sequence[int]
    kind: str = ""  # tool, user, answer; empty: a document


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An answer with its claims and passages. `key` names it in the page and begins the id of every part of it."""

    key: str
    position: int
    sample: Sample
    result: Result
    response: Sequence[LaidOutBlock]
    claims: Sequence[ClaimView]
    reference_claims: Sequence[ClaimView]
    passages: Sequence[PassageView]

    @property
    def heading(self) -> str:
        """What its claims were judged against, counted."""
        retrieved = sum(passage.id != REFERENCE for passage in self.passages)
        told = counted(retrieved, "passage") if retrieved else "no passages"
        return f"{told} and the reference" if retrieved < len(self.passages) else told

    @property
    def listed(self) -> Sequence[ClaimView]:
        """The claims to list: all of them, or of very many the failing ones first, in their order."""
        if len(self.claims) <= _LISTED:
            return self.claims
        kept = sorted(self.claims, key=lambda view: (not view.is_failing, view.number))[:_LISTED]
        return sorted(kept, key=lambda view: view.number)

    @property
    def refusal(self) -> str:
        """What is to be said of an answer that declines; empty for any other."""
        found = refusal_of(self.result)
        if found is None:
            return ""
        place = next((one.number for one in self.passages if one.id == found.get("passage")), None)
        quoted = f": “{one_line(str(found.get('quote', '')), 300)}”" if place else ""
        where = f"passage {place} answers the question{quoted}" if place else "a passage answers the question"
        what = f"refusal of “{one_line(str(found['declined']), 120)}”" if "declined" in found else "refusal"
        return (
            f"Wrong {what}: {where}"
            if found.get("finding") == "wrong"
            else f"{what.capitalize()}: no answer found in the passages."
        )

    @property
    def conflicts(self) -> int:
        """How many claims one passage supports and another contradicts."""
        return sum(view.claim.verdict.conflict for view in self.claims)


def answer_view(kept: Kept, *, context: int | None = None, key: str = "a") -> AnswerView:
    """Prepare an answer. With `context`, long passages are cut to what stands around the evidence (see `lay_out`).

    Its key is `key` and the answer's row, from 1: two runs on one page have two of them.
    """
    sample, result = kept.sample, kept.result
    texts = texts_of(sample, result)
    numbers = {name: place for place, name in enumerate(texts, 1)}
    judge = result.provenance.verifier
    own = [
        _claim(place, claim, texts, numbers, judge)
        for place, claim in enumerate(_with_differences(result.claims, texts, sample.question), 1)
    ]
    own = _with_citations(own, citation_findings(result), numbers)
    in_answer = {RESPONSE: ("", sample.response)}
    further = [
        _claim(place, claim, in_answer, numbers, judge)
        for place, claim in enumerate(_with_differences(result.reference_claims, in_answer, ""), len(own) + 1)
    ]
    in_response = [Mark(*view.claim.span, view.number, view.label) for view in own]
    in_response += [mark for view in further for mark in _marks(view, RESPONSE, sample.response)]
    kinds = {passage.id: passage.kind for passage in sample.passages}
    passages = []
    for name, (title, text) in texts.items():
        marks = [mark for view in own for mark in _marks(view, name, text)]
        if name == REFERENCE:
            marks += [Mark(*view.claim.span, view.number, view.label) for view in further]
        claims = sorted({mark.claim for mark in marks})
        laid = lay_out(text, marks, context=context)
        passages.append(PassageView(numbers[name], name, title, laid, claims, kinds.get(name, "")))
    response = lay_out(sample.response, in_response, context=None if context is None else 10 * context)
    return AnswerView(f"{key}{kept.position + 1}", kept.position, sample, result, response, own, further, passages)


def _with_citations(
    claims: list[ClaimView], findings: Sequence[CitationFinding], numbers: Mapping[str, int]
) -> list[ClaimView]:
    """Give claims what their citations do for them; passages go by their numbers on the page."""
    told: dict[str, list[tuple[CitationStatus, str]]] = {}
    for one in findings:
        words = one.told(lambda name: f"passage {numbers[name]}" if name in numbers else name)
        told.setdefault(one.claim, []).append((one.finding, words))
    return [replace(view, citations=told[view.claim.id]) if view.claim.id in told else view for view in claims]


def _with_differences(
    claims: Sequence[JudgedClaim], texts: Mapping[str, tuple[str, str]], question: str
) -> list[JudgedClaim]:
    """Find where failing claims differ from their passages, as far as their judge did not say so."""
    passages = [Passage(name, text, title) for name, (title, text) in texts.items()]
    found = [difference(claim, passages, question=question) for claim in claims]
    return [
        claim if one is claim.verdict.difference else replace(claim, verdict=replace(claim.verdict, difference=one))
        for claim, one in zip(claims, found, strict=True)
    ]


def _claim(
    number: int, claim: JudgedClaim, texts: Mapping[str, tuple[str, str]], numbers: Mapping[str, int], judge: str
) -> ClaimView:
    verdict = claim.verdict
    marks = []
    parts = verdict.difference.claim if verdict.difference else None
    if parts and parts.end - parts.start < len(claim.text.strip(" .")):  # all of it would tell nothing
        marks.append(Mark(*parts, number, verdict.label, "difference"))
    places = []
    for one in verdict.telling_evidence:
        name = texts[one.passage_id][0] if one.passage_id in texts else ""
        name = name or _NAMED.get(one.passage_id, one.passage_id)
        passage = texts.get(one.passage_id, ("", ""))[1]
        is_there = passage[one.start : one.end] == one.quote
        quote = quote_at(passage, one.start, one.end) if is_there else one.quote
        places.append(EvidenceView(quote, numbers.get(one.passage_id), name))
    per_passage = [(numbers.get(one.passage_id), one) for one in verdict.per_passage]
    text = claim.text if len(claim.text) <= _LONG else f"{claim.text[:_LONG]}…"
    other = verdict.judge if verdict.judge != judge else ""
    return ClaimView(number, claim, segments(text, marks), places, per_passage, other)


def _marks(view: ClaimView, name: str, text: str) -> list[Mark]:
    """Return what a claim marks in a passage: its evidence that is really there, and where the two part."""
    verdict = view.claim.verdict
    found = [
        Mark(one.start, one.end, view.number, view.label, "evidence")
        for one in verdict.evidence
        if one.passage_id == name and text[one.start : one.end] == one.quote
    ]
    parts = verdict.difference
    if parts and parts.passage and parts.passage_id == name:
        found.append(Mark(*parts.passage, view.number, view.label, "difference"))
    return found
