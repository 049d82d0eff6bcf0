"""Faithfulness in one judge call per answer: claims and verdicts come back together.

Faster and cheaper than two calls, less accurate: the model splits the answer while it looks at the
passages. What comes back passes the same checks. A claim that had to be replaced by its sentence, and a
sentence that the reply left out, is judged by an ordinary call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from everyclaim.core.errors import JudgeError
from everyclaim.core.gather import gather
from everyclaim.core.types import Claim, Passage, Provenance, Result, Sample, Verdict
from everyclaim.decompose.checked import decomposed
from everyclaim.decompose.llm import LlmDecomposer, faults_of
from everyclaim.decompose.numbered_sentences import Piece, assembled, context, pieces_of, portions
from everyclaim.decompose.omissions import marked
from everyclaim.decompose.ungrounded import Surroundings
from everyclaim.metrics.faithfulness import Empty, scored, unscored
from everyclaim.models.chat.structured_call import TOO_MUCH, Asking
from everyclaim.prompts.onecall import OneCallPrompt
from everyclaim.prompts.split import Split, SplitTask
from everyclaim.prompts.verdicts import Finding
from everyclaim.verify import Policy, judged
from everyclaim.verify.llm import LlmVerifier, as_verdict, passage_data

Judged = tuple[Split, tuple[Finding, ...]]  # what a reply says about one sentence


@dataclass(frozen=True, slots=True)
class OneCallFaithfulness:
    """Score a response by supported claims / claims, with one request up to `decomposer.at_most` sentences.

    Range [0, 1], best 1; outcomes are those of `Faithfulness`. `verifier` judges what one call left open,
    `decomposer` splits what is judged without a model: an answer that has no passages.
    """

    decomposer: LlmDecomposer
    verifier: LlmVerifier
    prompt: OneCallPrompt
    provenance: Provenance
    policy: Policy = field(default_factory=Policy)
    empty: Empty = "exclude"

    async def score(self, sample: Sample) -> Result:
        """Ask, check, and divide. Raises `JudgeError` when a claim has no usable verdict."""
        pieces, skipped = pieces_of(sample.response, self.decomposer.language)
        if not any(passage.text.strip() for passage in sample.passages):
            parts = await decomposed(self.decomposer, sample.response, question=sample.question)
            found: dict[int, Judged] = {}
        else:
            found = await self._found(sample, pieces)
            splits = {p.number: found[p.number][0] if p.number in found else p.whole for p in pieces}
            parts = marked(assembled(pieces, splits, skipped), sample.question)
        if not parts.claims:
            return unscored(sample, parts, self.provenance, self.empty)
        known = {
            (piece.text, text): finding
            for piece in pieces
            if piece.number in found
            for text, finding in zip(found[piece.number][0].claims, found[piece.number][1], strict=True)
        }
        verifier = _Answered(self.verifier, known)
        claims = await judged(verifier, parts.claims, sample.passages, question=sample.question, policy=self.policy)
        return scored(sample, parts, claims, self.provenance)

    async def _found(self, sample: Sample, pieces: Sequence[Piece]) -> dict[int, Judged]:
        """Ask about all sentences; those whose claims are at fault are left out again."""
        shares = list(portions(pieces, self.decomposer.at_most))
        answers = await gather(self._ask_all(sample, part, shared=len(shares) > 1) for part in shares)
        found = {number: judged for answer in answers for number, judged in answer.items()}
        around = Surroundings.of(sample.response, sample.question)
        return {
            piece.number: found[piece.number]
            for piece in pieces
            if piece.number in found and not any(faults_of(found[piece.number][0], piece, around))
        }

    async def _ask_all(self, sample: Sample, pieces: Sequence[Piece], *, shared: bool) -> dict[int, Judged]:
        """Ask for these sentences, once more for those left out, in halves where a reply is too long."""
        found: dict[int, Judged] = {}
        asking = Asking(self.verifier.chat)
        for attempt in (1, 2):
            missing = [piece for piece in pieces if piece.number not in found]
            try:
                found |= await self._ask(asking, sample, missing, attempt, shared=shared)
            except JudgeError as error:
                if error.code in TOO_MUCH and len(missing) > 1:
                    middle = len(missing) // 2
                    for half in (missing[:middle], missing[middle:]):
                        found |= await self._ask_all(sample, half, shared=True)
                    return found
                if not asking.may_go_better(error) or (attempt == 2 and not found):
                    asking.evict(error)
                    raise
            if len(found) == len(pieces):
                break
        return found

    async def _ask(
        self, asking: Asking, sample: Sample, pieces: Sequence[Piece], attempt: int, *, shared: bool
    ) -> dict[int, Judged]:
        numbers = {f"s{i}": piece.number for i, piece in enumerate(pieces, start=1)}
        texts = {f"s{i}": piece.text for i, piece in enumerate(pieces, start=1)}
        task = SplitTask(texts, context(sample.response, pieces), sample.question)
        messages = self.prompt.messages(task, passage_data(sample.passages), shared=shared)
        tag = self.prompt.version + ("" if attempt == 1 else "#2")
        reply = await asking.for_object(messages, schema=self.prompt.schema, tag=tag)
        return {numbers[key]: value for key, value in self.prompt.parse(reply, list(numbers)).items()}


@dataclass(frozen=True, slots=True)
class _Answered:
    """A verifier that knows most answers already, by sentence and claim, and asks for the others."""

    verifier: LlmVerifier
    known: Mapping[tuple[str, str], Finding]

    @property
    def spec(self) -> str:
        return self.verifier.spec

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        open_claims = [claim for claim in claims if (claim.sentence, claim.text) not in self.known]
        asked = await self.verifier.verify(open_claims, passages, question=question) if open_claims else []
        verdicts = {verdict.claim_id: verdict for verdict in asked}
        for claim in claims:
            finding = self.known.get((claim.sentence, claim.text))
            if finding:
                verdicts[claim.id] = as_verdict(claim.id, finding, passages, self.spec)
        return [verdicts[claim.id] for claim in claims]
