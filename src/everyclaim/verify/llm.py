"""The verifier that is a chat model: claims in small batches against passages, three labels with quotes.

Claims and passages go out under ids made for the request (`c1`, `p1`, ...), so nothing in a text can speak
for another claim. What a reply leaves out is asked for once more, alone; a reply that was cut is not used
and the batch is halved; anything else is a failure, never a verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from everyclaim.core.gather import gather
from everyclaim.core.protocols import ChatModel, Message
from everyclaim.core.types import Claim, Evidence, FailureMode, Label, Passage, Probabilities, Verdict
from everyclaim.models.chat.reask import Inquiry, ask_for_each, portions
from everyclaim.prompts.verdicts import AskedClaim, Finding, JudgePrompt, VerdictPrompt
from everyclaim.verify.verdicts import Policy, apply_policy, locate_evidence

_KEPT_PREFIX = 4000  # characters of passages from which on providers keep a prefix (about 1,024 tokens)


@dataclass(frozen=True, slots=True)
class LlmVerifier:
    """Judge claims with a chat model.

    `batch` claims go into one call (1: one claim per call). With `repeats` every claim is judged so many
    times and the majority decides; a claim whose label was not the same every time is flagged `unstable`,
    and its probabilities are the shares of the votes. `evidence="required"` asks once more for a quote that
    is nowhere in the passages, and then does not accept the support. `name` is the spec it was built from.
    """

    chat: ChatModel
    prompt: JudgePrompt = field(default_factory=VerdictPrompt)
    batch: int = 8
    repeats: int = 1
    evidence: Literal["flag", "required"] = "flag"
    name: str = ""

    @property
    def spec(self) -> str:
        """Provider, model and options."""
        return self.name or self.chat.spec

    @property
    def parameters(self) -> Mapping[str, str]:
        """What else made the verdicts, for the result's provenance."""
        return {
            "judge_prompt": self.prompt.version,
            "claims_per_call": str(self.batch),
            "repeats": str(self.repeats),
            "evidence": self.evidence,
        }

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge every claim against all the passages together, in the order of the claims.

        Raises `JudgeError` when the model cannot be reached, declines, or twice leaves a claim without a
        usable verdict.
        """
        inquiries = [self._inquiry(passages, question, repeat) for repeat in range(1, self.repeats + 1)]
        groups = list(portions({claim.id: claim for claim in claims}, self.batch))
        turns = [(inquiry, group) for inquiry in inquiries for group in groups]
        shared = len(turns) > 1
        # Where a provider keeps a long prefix, the first call puts it there and the others find it.
        ahead = 1 if shared and sum(len(passage.text) for passage in passages) >= _KEPT_PREFIX else 0
        answers = [await ask_for_each(inquiry, [group], shared=shared) for inquiry, group in turns[:ahead]]
        answers += await gather(ask_for_each(inquiry, [group], shared=shared) for inquiry, group in turns[ahead:])
        findings: dict[str, list[Finding]] = {claim.id: [] for claim in claims}
        for answer in answers:
            for claim_id, finding in answer.items():
                findings[claim_id].append(finding)
        return [self._verdict(claim, findings[claim.id], passages) for claim in claims]

    def _inquiry(self, passages: Sequence[Passage], question: str, repeat: int) -> Inquiry[Claim, Finding]:
        shelf = passage_data(passages)

        def write(claims: Mapping[str, Claim], shared: bool) -> list[Message]:
            asked = [AskedClaim(name, claim.text, claim.sentence) for name, claim in claims.items()]
            return self.prompt.messages(asked, shelf, question, shared=shared)

        return Inquiry(
            self.chat,
            self.prompt,
            write,
            ids="c",
            is_enough=lambda finding: self._is_enough(finding, passages),
            code="missing_verdict",
            tag=f"/repeat={repeat}" if repeat > 1 else "",
        )

    def _verdict(self, claim: Claim, findings: Sequence[Finding], passages: Sequence[Passage]) -> Verdict:
        """Make the verdict that the majority of the findings gives."""
        votes = Counter(finding.label for finding in findings)
        shares = Probabilities(*(votes[label] / len(findings) for label in Label))
        finding = next(finding for finding in findings if finding.label is shares.label)
        verdict = as_verdict(claim.id, finding, passages, self.spec)
        if self.repeats > 1:
            verdict = replace(verdict, probabilities=shares)
        if len(votes) > 1:
            verdict = replace(verdict, flags=(*verdict.flags, "unstable"))
        if self.evidence == "required":
            verdict = locate_evidence(verdict, {passage.id: passage.text for passage in passages})
        strictness = getattr(self.prompt, "strictness", None)
        # What the model was told to call unsupported is so also where it does not obey.
        rules = Policy(self.evidence == "required", strictness is not None and strictness.hedges == "strict")
        return apply_policy(rules, verdict)

    def _is_enough(self, finding: Finding, passages: Sequence[Passage]) -> bool:
        """Whether a finding shows what it must: with evidence required, a quote that is really there."""
        if self.evidence != "required" or finding.label is Label.UNSUPPORTED:
            return True
        texts = {passage.id: passage.text for passage in passages}
        return bool(locate_evidence(as_verdict("", finding, passages, ""), texts).evidence)


def passage_data(passages: Sequence[Passage]) -> dict[str, Any]:
    """Lay passages out under ids of their own, `p1`, `p2`, ... in order: the text, with its title if it has one."""
    return {
        f"p{i}": {"title": passage.title, "text": passage.text} if passage.title else passage.text
        for i, passage in enumerate(passages, start=1)
    }


def as_verdict(claim_id: str, finding: Finding, passages: Sequence[Passage], judge: str) -> Verdict:
    """Make a verdict of a finding. Its quotes are not located yet; `aligned` does that for every judge.

    A support that differs only in certainty keeps its label, with the flag `hedge_mismatch`. A finding that lacks
    something beside its label has the flag `incomplete_verdict`.
    """
    ids = {f"p{i}": passage.id for i, passage in enumerate(passages, start=1)}
    hedged = finding.label is Label.SUPPORTED and finding.mode is FailureMode.HEDGE_MISMATCH
    flags = {"hedge_mismatch": hedged, "incomplete_verdict": not finding.complete}
    return Verdict(
        claim_id=claim_id,
        label=finding.label,
        evidence=tuple(Evidence(ids.get(quote.passage, ""), -1, -1, quote.text) for quote in finding.quotes),
        rationale=finding.why,
        judge=judge,
        conflict=finding.conflict,
        failure_mode=finding.mode if finding.label is not Label.SUPPORTED else None,
        flags=tuple(flag for flag, is_so in flags.items() if is_so),
    )
