"""The verifier that is a chat model: the claims of an answer against its passages, three labels with quotes.

Claims and passages go out under ids made for the request (`c1`, `p1`, ...), so nothing in a text can speak
for another claim. What a reply leaves out is asked for once more, alone; a reply that was cut is not used
and the claims are halved; anything else is a failure, never a verdict.

How much goes into one call is estimated, four bytes a token: claims by what their verdicts will take, passages by what
the model reads. Passages that are too many are judged in parts, then together what no part supports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from everyclaim.core.lifetime import gather
from everyclaim.core.protocols import ChatModel, ChatReply, Ranker
from everyclaim.core.types import Claim, Evidence, FailureMode, Label, Passage, Probabilities, Verdict
from everyclaim.models.chat.replies import Inquiry, ask_for_each
from everyclaim.prompts.verdicts import Finding, JudgePrompt, Strictness, VerdictPrompt
from everyclaim.verify.composed import combined
from everyclaim.verify.grading import average, from_scale, from_tokens, is_doubtful, of_vote, without_evidence
from everyclaim.verify.verdicts import Policy, apply_policy, demoted, locate_evidence, with_rounded

REPLY_TOKENS = 2_500  # of one call's reply, about 25 claims: more has not been measured
INPUT_TOKENS = 24_000  # of one call's passages
_VERDICT = 70  # tokens of a verdict beside its quote, which is about as long as its claim
_QUOTE = 150  # of the longest; a claim of pages is still shown by a few words


def tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


def by_reply(claims: Sequence[Claim], reply_tokens: int, at_most: int | None) -> Iterator[list[Claim]]:
    """Cut claims into calls whose replies stay within so many tokens, evenly; with `at_most` also by number.

    A call has one claim at least.
    """
    sizes = [_VERDICT + min(tokens(claim.text), _QUOTE) for claim in claims]
    calls = max(1, -(-sum(sizes) // reply_tokens))
    share = sum(sizes) / calls if at_most is None else reply_tokens
    part: list[Claim] = []
    size = 0
    for claim, takes in zip(claims, sizes, strict=True):
        if part and (size + takes / 2 > share or size + takes > reply_tokens or len(part) == at_most):
            yield part
            part, size = [], 0
        part.append(claim)
        size += takes
    if part:
        yield part


def by_input(passages: Sequence[Passage], input_tokens: int) -> list[list[Passage]]:
    """Cut passages, in order, into parts of so many tokens; a longer passage is a part by itself."""
    parts: list[list[Passage]] = []
    size = 0
    for passage in passages:
        takes = tokens(passage.text) + tokens(passage.title)
        if not parts or size + takes > input_tokens:
            parts.append([])
            size = 0
        parts[-1].append(passage)
        size += takes
    return parts


def _best(ranker: Ranker, claims: Sequence[Claim], passages: Sequence[Passage], input_tokens: int) -> list[Passage]:
    """Take the best passage of every claim, then the second best, and so on, up to the size of a call."""
    orders = [ranker.rank(claim.text, passages) for claim in claims]
    chosen: dict[int, None] = {}
    size = 0
    for turn in zip(*orders, strict=True):
        for place in turn:
            takes = tokens(passages[place].text) + tokens(passages[place].title)
            if place not in chosen and (not chosen or size + takes <= input_tokens):
                chosen[place] = None
                size += takes
    return [passages[place] for place in sorted(chosen)]


_KEPT_PREFIX = 4000  # characters of passages from which on providers keep a prefix (about 1,024 tokens)
_USUAL = Strictness()
_OF_NUMBERS = frozenset({FailureMode.NUMERIC_MISMATCH, FailureMode.TEMPORAL})


@dataclass(frozen=True, slots=True)
class LlmVerifier:
    """Judge claims with a chat model.

    As many claims go into one call as fit `reply_tokens` of verdicts, at most `claims_per_call` (1: one each).
    Passages of more than `input_tokens` are judged in parts, where there is a `ranker` to put together what is spread.
    With `repeats` every claim is judged so many times and the majority decides; a claim whose label was not the same
    every time is flagged `unstable`. Probabilities come from the scale that the prompt asks for, with `tokens` from the
    chances of the label's tokens where the endpoint gives them; repeats are averaged, and a support whose quotes are
    nowhere has a quarter of its odds. `evidence="required"` asks once more for a quote that is nowhere in the
    passages, and then does not accept the support. `name` is the spec it was built from.
    """

    chat: ChatModel
    prompt: JudgePrompt = field(default_factory=VerdictPrompt)
    claims_per_call: int | None = None
    repeats: int = 1
    evidence: Literal["flag", "required"] = "flag"
    name: str = ""
    probabilities: Literal["scale", "tokens", "none"] = "scale"
    ranker: Ranker | None = None
    reply_tokens: int = REPLY_TOKENS
    input_tokens: int = INPUT_TOKENS
    temperature: str = ""  # that was asked for, for the provenance

    @property
    def spec(self) -> str:
        """Provider, model and options."""
        return self.name or self.chat.spec

    @property
    def parameters(self) -> Mapping[str, str]:
        """What else made the verdicts, for the result's provenance."""
        return {
            "judge_prompt": self.prompt.version,
            "claims_per_call": "auto" if self.claims_per_call is None else str(self.claims_per_call),
            "reply_tokens_per_call": str(self.reply_tokens),
            "input_tokens_per_call": str(self.input_tokens),
            "repeats": str(self.repeats),
            "evidence": self.evidence,
            "probabilities": self.probabilities,
            **({"temperature": self.temperature} if self.temperature else {}),
        }

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge every claim against all the passages together, in the order of the claims.

        Raises `JudgeError` when the model cannot be reached, declines, or twice leaves a claim without a
        usable verdict.
        """
        size = sum(tokens(passage.text) for passage in passages)
        if self.ranker is None or size <= self.input_tokens or len(passages) < 2:
            return await self._together(claims, passages, question)
        return await self._in_parts(self.ranker, claims, passages, question)

    async def _in_parts(
        self, ranker: Ranker, claims: Sequence[Claim], passages: Sequence[Passage], question: str
    ) -> list[Verdict]:
        """Judge every claim by every part of the passages, and combine as single passages are.

        What no part settles may be spread over them: it is tried once more against the passages that matter most for
        all such claims, as many as fit into a call.
        """
        parts = by_input(passages, self.input_tokens)
        rounds = await gather(self._together(claims, part, question) for part in parts)
        settled = {}
        for place, claim in enumerate(claims):
            alone = [(part[0], verdicts[place]) for part, verdicts in zip(parts, rounds, strict=True)]
            settled[claim.id] = replace(combined(alone), per_passage=())  # a part is no passage
        open_claims = [claim for claim in claims if settled[claim.id].label is Label.UNSUPPORTED]
        if open_claims and len(parts) > 1:
            chosen = _best(ranker, open_claims, passages, self.input_tokens)
            for verdict in await self._together(open_claims, chosen, question):
                if verdict.label is not Label.UNSUPPORTED:
                    settled[verdict.claim_id] = replace(verdict, flags=(*verdict.flags, "spread_evidence"))
        return [settled[claim.id] for claim in claims]

    async def _together(self, claims: Sequence[Claim], passages: Sequence[Passage], question: str) -> list[Verdict]:
        inquiries = [self._inquiry(passages, question, repeat) for repeat in range(1, self.repeats + 1)]
        groups = [
            {claim.id: claim for claim in part} for part in by_reply(claims, self.reply_tokens, self.claims_per_call)
        ]
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
        return [self.verdict(claim, findings[claim.id], passages) for claim in claims]

    def _inquiry(self, passages: Sequence[Passage], question: str, repeat: int) -> Inquiry[Claim, Finding]:
        shelf = passage_data(passages)
        return Inquiry(
            self.chat,
            self.prompt,
            lambda claims, shared: self.prompt.messages(claims, shelf, question, shared=shared),
            ids="c",
            is_enough=lambda finding: self._is_enough(finding, passages),
            code="missing_verdict",
            add=_with_chances if self.probabilities == "tokens" else None,
            tag=f"/repeat={repeat}" if repeat > 1 else "",
        )

    def verdict(self, claim: Claim, findings: Sequence[Finding], passages: Sequence[Passage]) -> Verdict:
        """Make the verdict that the majority of the findings gives."""
        votes = average([of_vote(finding.label) for finding in findings])
        finding = next(finding for finding in findings if finding.label is votes.label)
        chances = [probabilities_of(one) for one in findings]
        graded = None
        if self.repeats > 1 or chances[0] is not None:
            graded = average([c or of_vote(one.label) for c, one in zip(chances, findings, strict=True)])
        unstable = max(votes) < 1
        verdict = as_verdict(claim.id, finding, passages, self.spec, probabilities=graded, unstable=unstable)
        texts = {passage.id: passage.text for passage in passages}
        verdict = without_evidence(locate_evidence(verdict, texts))
        if getattr(self.prompt, "strictness", _USUAL).numbers == "exact":
            verdict = with_rounded(verdict, claim.text, texts)
        return self._strictly(verdict, finding.mode)

    def _strictly(self, verdict: Verdict, mode: FailureMode | None) -> Verdict:
        """Hold a support to what the prompt says counts as support: models do not always."""
        strictness = getattr(self.prompt, "strictness", _USUAL)
        found = apply_policy(
            Policy(
                strict_evidence=self.evidence == "required",
                strict_hedges=strictness.hedges == "strict",
                strict_numbers=strictness.numbers == "exact",
            ),
            verdict,
        )
        if found.label is Label.SUPPORTED and mode is not None and _is_fault(mode, strictness):
            why = f"strict policy: {mode.value.replace('_', ' ')}"
            return demoted(found, why, mode)
        return found

    def _is_enough(self, finding: Finding, passages: Sequence[Passage]) -> bool:
        """Whether a finding shows what it must: with evidence required, a quote that is really there."""
        if self.evidence != "required" or finding.label is Label.UNSUPPORTED:
            return True
        texts = {passage.id: passage.text for passage in passages}
        return bool(locate_evidence(as_verdict("", finding, passages, ""), texts).evidence)


def _with_chances(findings: dict[str, Finding], reply: ChatReply) -> dict[str, Finding]:
    chances = from_tokens(reply)
    return {name: finding._replace(chances=chances.get(name)) for name, finding in findings.items()}


def probabilities_of(finding: Finding) -> Probabilities | None:
    """Return the probabilities of a finding, None where it says nothing of how sure it is."""
    if finding.chances is not None:
        return finding.chances
    return None if finding.support is None else from_scale(finding.label, finding.support)


def _is_fault(mode: FailureMode, strictness: Strictness) -> bool:
    """Whether a fault that is named beside a support takes it back."""
    strict = {
        "inference": strictness.inference == "explicit",
        "numbers": strictness.numbers == "exact",
        "hedges": strictness.hedges == "strict",
    }
    of_mode = {FailureMode.HEDGE_MISMATCH: "hedges", FailureMode.IMPLICIT_KNOWLEDGE: "inference"}
    of_mode |= dict.fromkeys(_OF_NUMBERS, "numbers")
    return all(strict.values()) or strict.get(of_mode.get(mode, ""), False)


def passage_data(passages: Sequence[Passage]) -> dict[str, Any]:
    """Lay passages out under ids of their own, `p1`, `p2`, ... in order: the text, with its title if it has one."""
    return {
        f"p{i}": {"title": passage.title, "text": passage.text} if passage.title else passage.text
        for i, passage in enumerate(passages, start=1)
    }


def as_verdict(
    claim_id: str,
    finding: Finding,
    passages: Sequence[Passage],
    judge: str,
    *,
    probabilities: Probabilities | None = None,
    unstable: bool = False,
) -> Verdict:
    """Make a verdict of a finding. Its quotes are not located yet; `aligned` does that for every judge.

    A support that differs only in certainty keeps its label, with the flag `certainty_differs`. A finding that lacks
    something beside its label has the flag `incomplete_verdict`, one whose own number speaks against it `unsure`.
    """
    ids = {f"p{i}": passage.id for i, passage in enumerate(passages, start=1)}
    hedged = finding.label is Label.SUPPORTED and finding.mode is FailureMode.HEDGE_MISMATCH
    doubtful = finding.support is not None and is_doubtful(finding.label, finding.support)
    flags = {
        "certainty_differs": hedged,
        "incomplete_verdict": not finding.complete,
        "unsure": doubtful,
        "unstable": unstable,
    }
    return Verdict(
        claim_id=claim_id,
        label=finding.label,
        probabilities=probabilities,
        evidence=tuple(Evidence(ids.get(quote.passage, ""), -1, -1, quote.text) for quote in finding.quotes),
        rationale=finding.why,
        judge=judge,
        conflict=finding.conflict,
        failure_mode=finding.mode if finding.label is not Label.SUPPORTED else None,
        flags=tuple(flag for flag, is_so in flags.items() if is_so),
    )
