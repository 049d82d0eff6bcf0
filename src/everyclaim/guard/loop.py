"""Generate, check, repair, check again: the loop of a guard; and an answer checked while it is being written.

The passages that an answer is checked against are those the caller gave, in every round: what is learned from one
answer goes to whoever writes the next, never into the evidence.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

from everyclaim.analysis.deferral import RiskPromise, answer_mean
from everyclaim.core.cited import CitationFinding
from everyclaim.core.errors import BudgetExceeded, GeneratorError, JudgeError, OperatorError
from everyclaim.core.events import AnswerGuarded, tallied, tell
from everyclaim.core.protocols import Scorer
from everyclaim.core.types import JudgedClaim, Label, Outcome, Result, Sample
from everyclaim.engine import score_sample
from everyclaim.guard.answers import Attempt, GuardedAnswer, GuardedSentence, Made, Removed, SentenceStatus
from everyclaim.guard.authors import Author, Task
from everyclaim.guard.repair import cut, with_right_citations
from everyclaim.guard.rules import Rules
from everyclaim.prompts.writing import Faulty, ReportedFault, guidance
from everyclaim.text.segment import Sentence, sentences
from everyclaim.verify.languages import answer_language

T = TypeVar("T")
_FAULTS = 20  # told to a generator at once
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Loop:
    """Checks answers with a metric and has them repaired by their author; without one it can only drop claims.

    `rewriter` rewrites single sentences, where that is not the author.
    """

    metric: Scorer
    author: Author | None
    rules: Rules = field(default_factory=Rules)
    rewriter: Author | None = None
    language: str = ""
    is_of_record: bool = False  # the judge
    promise: Promise | None = None

    async def answer(self, task: Task, given: str | None = None) -> GuardedAnswer:
        """Return the best answer that can be had within the rules; `given` is a first answer, if there is one.

        Raises `GeneratorError` when there is no answer at all, and `JudgeError` for an answer that cannot be checked
        where the rules say so.
        """
        with tallied() as tally:
            found = await _GuardRun(self, task).answer(given)
        tell(AnswerGuarded(found.result, found.checked, found.blocked, len(found.attempts)))
        return replace(found, usage=tally.usage)


@dataclass
class _GuardRun:
    loop: Loop
    task: Task
    attempts: list[Attempt] = field(default_factory=list)
    faults: dict[str, ReportedFault] = field(default_factory=dict)  # of all attempts, by claim
    warnings: list[str] = field(default_factory=list)
    retries: int = 0  # made so far
    silent: bool = False  # the generator has failed

    @property
    def rules(self) -> Rules:
        return self.loop.rules

    async def answer(self, given: str | None) -> GuardedAnswer:
        """Go on until an answer is good enough or nothing is left to try."""
        text = given
        if text is None:
            if self.loop.author is None:
                raise GeneratorError("a guard needs a generator or a response")
            text = await self.loop.author.write(self.task, "", ())
        current: Attempt | None = await self._checked("generated" if given is None else "given", text)
        while current and not self._settled(current):
            repaired = await self._repaired(current)
            if repaired and self._settled(repaired):
                break
            current = await self._another()
        best = self.rules.best(self.attempts)
        if not self._settled(best) and await self._last_resort(best):
            best = self.rules.best(self.attempts)
        if await self._recited(best):
            best = self.rules.best(self.attempts)
        return self._concluded(best)

    def _settled(self, attempt: Attempt) -> bool:
        """Whether another round makes no sense: it is good enough, or there was nothing to check, or no way to."""
        unchecked = attempt.result.outcome not in (Outcome.SCORED, Outcome.ABSTAINED)
        return unchecked or self.rules.likes(attempt.result)

    async def _repaired(self, attempt: Attempt) -> Attempt | None:
        """Repair only what failed, citations first; None where that is not possible."""
        recited = await self._recited(attempt)
        if recited and self._settled(recited):
            return recited
        attempt = recited or attempt
        failed = self.rules.failed(attempt.result)
        if not failed or self.rules.repair == "none":
            return recited
        if self.rules.repair == "rewrite":
            return await self._rewritten(attempt, failed)
        return await self._dropped(attempt, failed)

    async def _recited(self, attempt: Attempt) -> Attempt | None:
        """Point citations to the passages that support what they stand behind; None where none can be."""
        if self.rules.repair == "none" or attempt.result.outcome is not Outcome.SCORED:
            return None
        text, mended = with_right_citations(attempt.text, attempt.result, self.task.passages)
        return await self._mended(attempt, "recited", text, recited=mended) if mended else None

    async def _dropped(
        self, attempt: Attempt, failed: Sequence[JudgedClaim], *, anyway: bool = False
    ) -> Attempt | None:
        """Take claims out; not where too little would be left, or a sentence would hang in the air (or `anyway`)."""
        claims = attempt.result.claims
        left = cut(attempt.text, claims, {claim.id for claim in failed}, self.loop.language)
        if left is None:
            return None
        if not anyway and (not left.clean or len(claims) - len(failed) < self.rules.keep * len(claims)):
            return None
        return await self._mended(attempt, "dropped", left.text, [Removed(claim, "dropped") for claim in failed])

    async def _rewritten(self, attempt: Attempt, failed: Sequence[JudgedClaim]) -> Attempt | None:
        """Have the sentences with failed claims written anew, and put them in their places."""
        rewriter = self.loop.rewriter or self.loop.author
        if rewriter is None or not self._may_ask():
            return None
        faulty = _faulty(attempt, failed, self.loop.language)
        asked = {
            f"s{i}": Faulty(attempt.text[s.start : s.end], faults) for i, (s, faults) in enumerate(faulty, start=1)
        }
        better = await self._asked(rewriter.rewrite(self.task, attempt.text, asked))
        if better is None:
            return None
        text = attempt.text
        for i, (sentence, _) in reversed(list(enumerate(faulty, start=1))):
            new, behind = better[f"s{i}"].strip(), text[sentence.end :]
            text = text[: sentence.start] + new + (behind if new else behind.lstrip(" \t"))
        return await self._mended(attempt, "rewritten", text, [Removed(claim, "rewritten") for claim in failed])

    async def _another(self) -> Attempt | None:
        """Have another answer generated, with guidance; None where that may not be."""
        if self.loop.author is None or not self._may_ask():
            return None
        faults = tuple(self.faults.values())[-_FAULTS:]
        told = guidance(faults)
        text = await self._asked(self.loop.author.write(self.task, told, faults))
        return None if text is None else await self._checked("generated", text, told=told)

    async def _last_resort(self, best: Attempt) -> Attempt | None:
        """Drop from the best what failed, if enough is left; else what must not be shown, whatever is left."""
        if self.rules.repair == "none":
            return None
        dropped = await self._dropped(best, self.rules.failed(best.result))
        blocked = self.rules.blocked(best.result)
        if blocked and not (dropped and self.rules.accepts(dropped.result)):
            dropped = await self._dropped(best, blocked, anyway=True) or dropped
        return dropped

    async def _mended(
        self, of: Attempt, made: Made, text: str, gone: Sequence[Removed] = (), recited: Sequence[CitationFinding] = ()
    ) -> Attempt | None:
        """Check what became of an attempt; None where nothing is left of it, or the same was tried before."""
        if not text.strip() or any(text == other.text for other in self.attempts):
            return None
        return await self._checked(made, text, removed=(*of.removed, *gone), recited=(*of.recited, *recited))

    def _may_ask(self) -> bool:
        return not self.silent and self.retries < self.rules.max_retries

    async def _asked(self, work: Awaitable[T]) -> T | None:
        """Have the author do something once more; None where it cannot, and then it is asked no more."""
        self.retries += 1
        try:
            return await work
        except (GeneratorError, OperatorError) as error:
            self.silent = True
            self.warnings.append(f"no further answer: {error}")
            return None

    async def _checked(
        self, made: Made, text: str, told: str = "", removed: tuple[Removed, ...] = (),
        recited: tuple[CitationFinding, ...] = (),
    ) -> Attempt:  # fmt: skip
        """Check an answer against the passages that were given, and keep it; the same text is checked once."""
        known = next((other.result for other in self.attempts if other.text == text), None)
        result = known or await checked(self.loop.metric, self.task, text, self.rules)
        attempt = Attempt(len(self.attempts) + 1, made, text, result, removed, told, recited)
        self.attempts.append(attempt)
        for claim in self.rules.failed(result):
            self.faults[claim.text] = fault_of(claim)
        return attempt

    def _concluded(self, best: Attempt) -> GuardedAnswer:
        """Say what is returned and why."""
        rules = self.rules
        checked = rules.accepts(best.result)
        blocked = bool(rules.blocked(best.result))
        warnings = list(self.warnings)
        promised = ""
        if self.loop.promise is not None:
            first = self.attempts[0]
            language = answer_language(first.text, self.task.question)
            others = [one for one in self.attempts[1 : best.number] if one.made not in {"dropped", "recited"}]
            rewritten = "the answer was rewritten, and the guarantee covers only first answers" if others else ""
            why = "" if blocked else rewritten or self.loop.promise.seen(first.result, language)
            promised = "" if why or blocked or not checked else str(self.loop.promise.risk)
            warnings += [f"no guarantee: {why}"] if why else []
        if complaint := rules.complaint(best.result):
            warnings.insert(0, complaint)
        failed = [other for other in self.attempts if other.result.outcome is Outcome.FAILED and other is not best]
        warnings += [f"attempt {other.number} was not checked: {other.result.reason}" for other in failed]
        if best.result.outcome is Outcome.ABSTAINED:
            warnings.append("the response declines to answer, so there was nothing to check")
        if len(self.attempts) > 1 and (gone := len(best.removed)):
            warnings.append(f"{gone} claim{'s' * (gone > 1)} removed from the answer")
        warnings += [warning for warning in best.result.warnings if warning not in warnings]
        return GuardedAnswer(
            text=rules.refusal if blocked else best.text,
            best=best,
            attempts=tuple(self.attempts),
            validated=checked and (bool(promised) or self.loop.is_of_record),
            checked=checked,
            promise=promised,
            blocked=blocked,
            warnings=tuple(warnings),
            noted=rules.labels("annotate"),
        )


@dataclass
class Promise:
    """A calibrated risk, and what has been seen of the stream that it is applied to."""

    risk: RiskPromise
    count: int = 0
    total: float = 0.0

    def seen(self, result: Result, language: str) -> str:
        """Take note of the first answer to a question, and say why it is not like the labelled ones; or nothing."""
        mean = answer_mean(result)
        if mean is not None:
            self.count, self.total = self.count + 1, self.total + mean
        if outside := self.risk.outside(result, language):
            return outside
        if self.count and self.risk.has_drifted(self.count, self.total / self.count):
            return f"the last {self.count} answers differ from the labelled ones: calibrate again"
        return ""


async def checked(metric: Scorer, task: Task, text: str, rules: Rules) -> Result:
    """Score a text against the task's own passages; a judge's failure is a failed result, or raised by the rules."""
    sample = Sample("guard", text, task.passages, task.question, model=task.model)
    try:
        result = await score_sample(metric, sample, purpose="draft")
    except BudgetExceeded as error:
        if rules.on_failure == "raise":
            raise
        result = Result.of(sample, metric.provenance, Outcome.FAILED, reason=f"budget: {error}")
    if result.outcome is Outcome.FAILED and rules.on_failure == "raise":
        raise JudgeError.from_reason(result.reason)
    return result


def fault_of(claim: JudgedClaim) -> ReportedFault:
    """Return what a generator is told about a claim."""
    verdict = claim.verdict
    opposed = verdict.label is Label.CONTRADICTED and verdict.evidence
    return ReportedFault(claim.text, verdict.label, verdict.rationale, verdict.evidence[0].quote if opposed else "")


def _faulty(
    attempt: Attempt, failed: Sequence[JudgedClaim], language: str
) -> list[tuple[Sentence, tuple[ReportedFault, ...]]]:
    """Return the sentences that hold failed claims, in order, with what is wrong with each."""
    found = []
    for sentence in sentences(attempt.text, language):
        inside = [claim for claim in failed if sentence.start < claim.span.end and claim.span.start < sentence.end]
        if inside:
            found.append((sentence, tuple(fault_of(claim) for claim in inside)))
    return found


# ---- sentence by sentence


async def stream(loop: Loop, task: Task) -> AsyncIterator[GuardedSentence]:
    """Yield the answer sentence by sentence, each checked; nothing is shown that the rules block.

    Of a sentence with blocked claims the rest is shown where that is clean and holds when it is checked again
    (`repaired`), else nothing (`held_back`). The threshold plays no part: it is for whole answers. A sentence is
    judged with the question, but without the sentences around it. Raises `GeneratorError` when the generator fails,
    after what came before it was yielded.
    """
    if loop.author is None:
        raise GeneratorError("a guard needs a generator to stream from")
    said = False
    async for piece in pieces(loop.author.stream(task), loop.language):
        said = said or bool(piece.strip())
        yield await _guarded(loop, task, piece)
    if not said:
        raise GeneratorError("the generator returned an empty answer")


async def pieces(chunks: AsyncIterator[str], language: str = "") -> AsyncIterator[str]:
    """Yield a text in pieces that can be judged alone, each as it is complete, with what stands before it.

    A piece is a sentence, a table, or a list with its lead-in; it is complete when the next one has begun. The pieces
    together are the text.
    """
    waiting = ""
    async for chunk in chunks:
        waiting += chunk
        if len(_FENCE.findall(waiting)) % 2:
            continue  # code that is still open looks like sentences
        *whole, waiting = _divided(waiting, language)
        for piece in whole:
            yield piece
    for piece in _divided(waiting, language):
        if piece:
            yield piece


def _divided(text: str, language: str) -> list[str]:
    """Cut a text into its pieces; the last one may not be complete."""
    ends: list[int] = []
    listed = False  # inside a list that has a lead-in
    before: Sentence | None = None
    for sentence in sentences(text, language):
        introduced = before is not None and text[before.start : before.end].rstrip(" *_").endswith(":")
        listed = sentence.kind == "item" and (listed or introduced)
        in_table = before is not None and sentence.kind == before.kind == "table_row"
        if ends and (listed or in_table):
            ends.pop()
        ends.append(sentence.end)
        before = sentence
    return [text[start:end] for start, end in pairwise([0, *ends[:-1], len(text)])]


async def _guarded(loop: Loop, task: Task, piece: str) -> GuardedSentence:
    rules = loop.rules
    result = await checked(loop.metric, task, piece, rules)
    status: SentenceStatus = "passed"
    text = piece
    if result.outcome is Outcome.FAILED:
        status = "unchecked"
    elif rules.blocked(result):
        text, status = await _rest(loop, task, piece, result)
    elif any(claim.verdict.label in rules.labels("annotate") for claim in result.claims):
        status = "annotated"
    elif result.unchecked:
        status = "unchecked"
    return GuardedSentence(text, status, piece, result, rules.labels("annotate"))


async def _rest(loop: Loop, task: Task, piece: str, result: Result) -> tuple[str, SentenceStatus]:
    """Return what can be shown of a sentence with blocked claims."""
    blocked = {claim.id for claim in loop.rules.blocked(result)}
    left = cut(piece, result.claims, blocked, loop.language) if loop.rules.repair != "none" else None
    if left is None or not left.clean:
        return "", "held_back"
    again = await checked(loop.metric, task, left.text, loop.rules)
    if again.outcome is not Outcome.SCORED or loop.rules.blocked(again):
        return "", "held_back"
    lead = piece[: len(piece) - len(piece.lstrip())]
    return lead + left.text, "repaired"
