"""QA consistency: do the passages answer questions about the response as the response does?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from everyclaim.core.types import Claim, Sample
from everyclaim.metrics.assembled import NO_PASSAGES
from everyclaim.metrics.context import MetricContext, Score
from everyclaim.metrics.qa_answers import exact

NO_QUESTION = "no question could be asked about the response"


class Question(NamedTuple):
    """A question about the response. In a cloze question the answer's place is at `hole`; then it is a statement."""

    id: str
    text: str
    sentence: str  # of the response, verbatim
    hole: tuple[int, int] | None = None

    def answered(self, words: str) -> str:
        """Return a text that says this answer: the statement filled in, or the question with the answer behind it."""
        if self.hole is None:
            return f"{self.text} {words}"
        return self.text[: self.hole[0]] + words + self.text[self.hole[1] :]


class Exam(NamedTuple):
    """A question and its two answers; None where the text does not answer it."""

    question: Question
    from_response: str | None
    from_passages: str | None


class Examiner(Protocol):
    """Asks about a response, and answers from the response and from the passages."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """What results store of it."""

    async def examine(self, sample: Sample, claims: Sequence[Claim], ctx: MetricContext) -> list[Exam]:
        """Return questions about these claims with both answers. Raises `JudgeError` when they cannot be had."""


class Comparison(Protocol):
    """Says how far two answers agree."""

    @property
    def name(self) -> str:
        """What results store of it."""

    async def agreements(self, exams: Sequence[Exam], ctx: MetricContext) -> list[float]:
        """Return a number in [0, 1] for every exam that has both answers. Raises `JudgeError`."""


@dataclass(frozen=True, slots=True)
class QaConsistency:
    """Score a response by how far the passages answer questions about it as it does itself, on average.

    QAGS (Wang et al., arXiv 2004.04228) compares by token F1, Q² (Honovich et al., arXiv 2104.08202) by entailment.
    Range [0, 1], best 1. A question the passages do not answer counts 0. One that the response itself does not
    answer was badly asked: it is set aside (as in Q²) and shown. The components are `answered`, the share of the
    questions that the passages answer, and `exact`, the share whose two answers are the same words. A response
    without claims, or about which no question can be asked, has the outcome `no_claims`, one that declines to
    answer `abstained`. `details["questions"]` holds every question with both answers and their agreement.

    >>> import everyclaim as ec
    >>> result = ec.score(
    ...     response="The Eiffel Tower was built in 1889.",
    ...     passages=["The Eiffel Tower was built in 1887 by Gustave Eiffel."],
    ...     metric="qa",
    ... )
    >>> [(q["question"], q["from_response"], q["from_passages"]) for q in result.details["questions"]]
    [('The ____ was built in 1889.', 'Eiffel Tower', None), ('The Eiffel Tower was built in ____.', '1889', '1887')]
    """

    examiner: Examiner
    comparison: Comparison

    @property
    def parameters(self) -> Mapping[str, str]:
        """Who asks and who compares, for the result's provenance."""
        return {**self.examiner.parameters, "compare": self.comparison.name}

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Ask, answer twice, compare and average."""
        parts = await ctx.claims(sample.response)
        exams = await self.examiner.examine(sample, parts.claims, ctx)
        asked = [exam for exam in exams if exam.from_response is not None]
        if not asked:
            return Score(None, details=_trace(exams, {}), reason=NO_QUESTION)
        both = [exam for exam in asked if exam.from_passages is not None]
        agreed = dict(zip((e.question.id for e in both), await self.comparison.agreements(both, ctx), strict=True))
        warnings = [] if any(passage.text.strip() for passage in sample.passages) else [NO_PASSAGES]
        if aside := len(exams) - len(asked):
            warnings.append(f"{aside} of {len(exams)} questions set aside: the response does not answer them")
        return Score(
            sum(agreed.get(exam.question.id, 0.0) for exam in asked) / len(asked),
            {
                "answered": len(both) / len(asked),
                "exact": sum(exact(*answers(exam)) for exam in both) / len(asked),
            },
            _trace(exams, agreed),
            warnings,
        )


def answers(exam: Exam) -> tuple[str, str]:
    """Return both answers of an exam that has both."""
    return exam.from_response or "", exam.from_passages or ""


def _trace(exams: Sequence[Exam], agreed: Mapping[str, float]) -> dict[str, Any]:
    """Show every question; `agreement` is null for those set aside."""
    return {
        "questions": [
            {
                "id": exam.question.id,
                "question": exam.question.text,
                "sentence": exam.question.sentence,
                "from_response": exam.from_response,
                "from_passages": exam.from_passages,
                "agreement": None if exam.from_response is None else agreed.get(exam.question.id, 0.0),
            }
            for exam in exams
        ]
    }
