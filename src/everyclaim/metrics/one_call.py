"""Faithfulness in one judge call per answer: claims and verdicts come back together.

Faster and cheaper than two calls, less accurate: the model splits the answer while it looks at the
passages. What comes back passes the same checks. A claim that had to be replaced by its sentence, and a
sentence that the reply left out, is judged by an ordinary call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from everyclaim.core.protocols import Message
from everyclaim.core.types import Claim, Passage, Sample, Verdict
from everyclaim.decompose.antecedents import in_conversation
from everyclaim.decompose.checked import SplitSource, inventions, marked
from everyclaim.decompose.citing import tied, with_citations_listed
from everyclaim.decompose.llm import LlmDecomposer, NumberedSentence, assembled, context, numbered_sentences, portions
from everyclaim.decompose.units import grounds
from everyclaim.metrics.context import MetricContext, Score, supported
from everyclaim.metrics.faithfulness import ClaimFaithfulness, Penalty
from everyclaim.models.chat.replies import Inquiry, ask_for_each
from everyclaim.prompts.split import Split, SplitTask, spelt_out, stands_at
from everyclaim.prompts.verdicts import Finding, OneCallPrompt
from everyclaim.verify.composed import Wrapped
from everyclaim.verify.llm import LlmVerifier, passage_data

Judged = tuple[Split, tuple[Finding, ...]]  # what a reply says about one sentence


@dataclass(frozen=True, slots=True)
class OneCallFaithfulness:
    """Score a response by supported claims / claims, with one request up to `decomposer.at_most` sentences.

    Range [0, 1], best 1; outcomes are those of `ClaimFaithfulness`. `verifier` judges what one call left open;
    an answer that has no passages is split by `decomposer` and judged without a model.
    """

    decomposer: LlmDecomposer
    verifier: LlmVerifier
    prompt: OneCallPrompt
    penalty: Penalty

    @property
    def parameters(self) -> Mapping[str, str]:
        """The wording, for the result's provenance."""
        return {"one_call_prompt": self.prompt.version}

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Ask, check, and divide."""
        if not any(passage.text.strip() for passage in sample.passages):
            return await ClaimFaithfulness(self.penalty).score(sample, ctx)
        pieces, skipped = numbered_sentences(sample.response, self.decomposer.language)
        found = await self._found(sample, pieces)
        splits = {p.number: found[p.number][0] if p.number in found else p.whole for p in pieces}
        parts = marked(assembled(pieces, splits, skipped), sample.question)
        cited = tied(parts.claims, sample.response, grounds(sample.response, self.decomposer.language))
        parts = with_citations_listed(replace(parts, claims=cited), sample.response, sample.passages)
        parts = in_conversation(parts, sample)
        if not parts.claims:
            return Score(None, skipped=parts.skipped, abstained=parts.abstained)
        known = {
            (piece.text, text): finding
            for piece in pieces
            if piece.number in found
            for text, finding in zip(found[piece.number][0].claims, found[piece.number][1], strict=True)
        }
        claims = await ctx.judge(parts.claims, by=_Answered(self.verifier, known))
        probability = ctx.answer_probability(claims)
        share = supported(claims) / len(claims)
        value, components = self.penalty.applied(share, sample, len(claims))
        return Score(value, components, claims=claims, skipped=parts.skipped, probability=probability)

    async def _found(self, sample: Sample, pieces: Sequence[NumberedSentence]) -> dict[int, Judged]:
        """Ask about all sentences; those whose claims are at fault are left out again."""
        shelf = passage_data(sample.passages)

        def write(asked: Mapping[str, NumberedSentence], shared: bool) -> list[Message]:
            texts = {name: piece.text for name, piece in asked.items()}
            task = SplitTask(texts, context(sample.response, list(asked.values())), sample.question)
            return self.prompt.messages(task, shelf, shared=shared)

        inquiry = Inquiry(self.verifier.chat, self.prompt, write, ids="s", needs="some", code="missing_claims")
        parts = portions(pieces, self.decomposer.at_most)
        found = await ask_for_each(inquiry, [{piece.number: piece for piece in part} for part in parts])
        told = {piece.number: _spelt_out(*found[piece.number], piece) for piece in pieces if piece.number in found}
        source = SplitSource(sample.response, sample.question)
        return {
            piece.number: told[piece.number]
            for piece in pieces
            if piece.number in told and not inventions(told[piece.number][0].claims, piece.ground, source)
        }


def _spelt_out(split: Split, findings: tuple[Finding, ...], piece: NumberedSentence) -> Judged:
    place = stands_at(split)
    return (split, findings) if place is None else (spelt_out(split, piece.text), (findings[place],))


@dataclass(frozen=True, slots=True)
class _Answered(Wrapped):
    """A verifier that knows most answers already, by sentence and claim, and asks for the others."""

    verifier: LlmVerifier
    known: Mapping[tuple[str, str], Finding]

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        open_claims = [claim for claim in claims if (claim.sentence, claim.text) not in self.known]
        asked = await self.verifier.verify(open_claims, passages, question=question) if open_claims else []
        verdicts = {verdict.claim_id: verdict for verdict in asked}
        for claim in claims:
            finding = self.known.get((claim.sentence, claim.text))
            if finding:
                verdicts[claim.id] = self.verifier.verdict(claim, [finding], passages)
        return [verdicts[claim.id] for claim in claims]
