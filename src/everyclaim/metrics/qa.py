"""QA consistency: do the passages answer questions about the response as the response does?

A language model asks, or claims get a blank for every name, number and date; two answers are compared by their words,
normalised as SQuAD does it (Rajpurkar et al., arXiv 1606.05250).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from everyclaim.core.lifetime import gather
from everyclaim.core.protocols import ChatModel
from everyclaim.core.types import Claim, Label, Passage, Sample, Span
from everyclaim.metrics.assembled import NO_PASSAGES
from everyclaim.metrics.context import MetricContext, Score
from everyclaim.models.chat.replies import Inquiry, ask_for_each, portions
from everyclaim.prompts.writing import AgreementPrompt, AnswerPrompt, QuestionPrompt
from everyclaim.text.agreement import conflict, same
from everyclaim.text.dates import Moment, moments
from everyclaim.text.names import covered, names
from everyclaim.text.quantities import Quantity, quantities
from everyclaim.text.tokens import content_stems
from everyclaim.verify.lexical.alignment import AlignedSource, align, reading_of, source_of
from everyclaim.verify.lexical.passages import Shortlist
from everyclaim.verify.lexical.reading import Float32Array, Reading, shipped_vectors
from everyclaim.verify.llm import passage_data

NO_QUESTION = "no question could be written for the response"
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation + "‘’“”–—…«»、。，"), None)


class QaQuestion(NamedTuple):
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

    question: QaQuestion
    from_response: str | None
    from_passages: str | None


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

    examiner: ChatExaminer | ClozeExaminer
    compare: str  # of `COMPARISONS`

    @property
    def parameters(self) -> Mapping[str, str]:
        """Who asks and who compares, for the result's provenance."""
        return {**self.examiner.parameters, "compare": self.compare}

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Ask, answer twice, compare and average."""
        parts = await ctx.claims(sample.response)
        exams = await self.examiner.examine(sample, parts.claims, ctx)
        asked = [exam for exam in exams if exam.from_response is not None]
        if not asked:
            return Score(None, details=_trace(exams, {}), reason=NO_QUESTION)
        both = [exam for exam in asked if exam.from_passages is not None]
        agreed = dict(zip((e.question.id for e in both), await COMPARISONS[self.compare](both, ctx), strict=True))
        warnings = [] if any(passage.text.strip() for passage in sample.passages) else [NO_PASSAGES]
        if aside := len(exams) - len(asked):
            warnings.append(f"{aside} of {len(exams)} questions ignored: the response does not answer them")
        return Score(
            sum(agreed.get(exam.question.id, 0.0) for exam in asked) / len(asked),
            {"answered": len(both) / len(asked), "exact": sum(exact(*answers(exam)) for exam in both) / len(asked)},
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


def words_of(answer: str) -> list[str]:
    """Return the words of an answer: lower case, without punctuation and articles."""
    return _ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split()


def exact(first: str, second: str) -> bool:
    """Whether two answers are the same words; of answers that are all articles and marks, the same text."""
    a, b = words_of(first), words_of(second)
    return a == b if a or b else first.strip() == second.strip()


def values_differ(first: str, second: str) -> bool:
    """Whether two answers give values that exclude each other, and none that are the same."""
    pairs: list[tuple[Quantity | Moment, Quantity | Moment]] = [*product(moments(first), moments(second))]
    pairs += product(quantities(first), quantities(second))
    return any(conflict(a, b) for a, b in pairs) and not any(same(a, b) for a, b in pairs)


def token_f1(first: str, second: str) -> float:
    """Return the F1 of the words two answers share, in [0, 1]; the same both ways round. 0 for different values."""
    if values_differ(first, second):
        return 0.0
    a, b = words_of(first), words_of(second)
    shared = sum((Counter(a) & Counter(b)).values())
    if not shared:
        return float(exact(first, second))
    return 2 * shared / (len(a) + len(b))


async def _entailment(exam: Exam, ctx: MetricContext) -> float:
    """Q²: 1 for the same words; else 1 where the passages' answer entails the response's, 0 where it contradicts it,
    and the token F1 where it does neither. Only pairs of different words are put to the judge.
    """
    ours, theirs = answers(exam)
    if exact(ours, theirs):
        return 1.0
    hypothesis = exam.question.answered(ours)
    claim = Claim(exam.question.id, hypothesis, Span(0, len(hypothesis)), hypothesis)
    premise = Passage("answer", exam.question.answered(theirs))
    (found,) = await ctx.judge([claim], [premise], question="", labels_only=True)
    label = found.verdict.label
    return token_f1(ours, theirs) if label is Label.UNSUPPORTED else float(label is Label.SUPPORTED)


async def _agreements(exams: Sequence[Exam], ctx: MetricContext) -> list[float]:
    """Ask the judge's language model about all pairs of different words together."""
    pairs = {
        exam.question.id: {"question": exam.question.text, "first": ours, "second": theirs}
        for exam in exams
        if not exact(ours := answers(exam)[0], theirs := answers(exam)[1])
    }
    prompt = AgreementPrompt()
    inquiry: Inquiry[Mapping[str, str], bool] = Inquiry(
        ctx.chat, prompt, lambda part, _: prompt.messages(part), ids="q"
    )
    same = await ask_for_each(inquiry, portions(pairs))
    return [float(same.get(exam.question.id, True)) for exam in exams]


async def _of_words(compare: Callable[[str, str], float], exams: Sequence[Exam], ctx: MetricContext) -> list[float]:
    del ctx
    return [float(compare(*answers(exam))) for exam in exams]


COMPARISONS: Mapping[str, Callable[[Sequence[Exam], MetricContext], Awaitable[list[float]]]] = {
    "token_f1": partial(_of_words, token_f1),  # the words that two answers share (QAGS)
    "exact": partial(_of_words, exact),  # 1 for the same words, else 0
    "nli": lambda exams, ctx: gather(_entailment(exam, ctx) for exam in exams),
    "judge": _agreements,  # 1 where the judge's language model says that both say the same, else 0
}
"""How far two answers agree: a number in [0, 1] for every exam that has both. Raises `JudgeError`."""


@dataclass(frozen=True, slots=True)
class ChatExaminer:
    """Ask and answer with a chat model: three requests for a response of up to twenty sentences and questions."""

    questions: QuestionPrompt = field(default_factory=QuestionPrompt)
    answers: AnswerPrompt = field(default_factory=AnswerPrompt)

    @property
    def parameters(self) -> Mapping[str, str]:
        """What else made the questions and answers, for the result's provenance."""
        return {"question_prompt": self.questions.version, "answer_prompt": self.answers.version}

    async def examine(self, sample: Sample, claims: Sequence[Claim], ctx: MetricContext) -> list[Exam]:
        """Ask about every sentence, then answer all from the response and, apart from that, from the passages.

        Raises `JudgeError` when the model cannot be reached, declines, or twice leaves out a sentence or question.
        """
        sentences = {f"s{i}": text for i, text in enumerate(dict.fromkeys(claim.sentence for claim in claims), start=1)}
        chat = ctx.chat
        inquiry: Inquiry[str, tuple[str, ...]] = Inquiry(
            chat, self.questions, lambda part, _: self.questions.messages(part, sample.question), ids="s"
        )
        found = await ask_for_each(inquiry, portions(sentences))
        asked: dict[str, str] = {}
        for key, sentence in sentences.items():
            for text in found[key]:
                asked.setdefault(text, sentence)
        listed = [QaQuestion(f"q{i}", text, sentence) for i, (text, sentence) in enumerate(asked.items(), start=1)]
        shelf = [passage for passage in sample.passages if passage.text.strip()]
        ours, theirs = await gather(
            [
                self._answers(chat, listed, {"t1": sample.response}),
                self._answers(chat, listed, {key.replace("p", "t"): text for key, text in passage_data(shelf).items()}),
            ]
        )
        return [Exam(question, ours[question.id] or None, theirs[question.id] or None) for question in listed]

    async def _answers(
        self, chat: ChatModel, questions: Sequence[QaQuestion], texts: Mapping[str, Any]
    ) -> Mapping[str, str]:
        if not texts:  # nothing to ask a model about
            return {question.id: "" for question in questions}
        asked = {question.id: question.text for question in questions}
        inquiry: Inquiry[str, str] = Inquiry(
            chat, self.answers, lambda part, shared: self.answers.messages(part, texts, shared=shared), ids="q"
        )
        return await ask_for_each(inquiry, portions(asked))


Kind = Literal["date", "number", "name"]
BLANK = "____"
AT_MOST = 100  # questions about one response
_LINED_UP = 0.4  # share of a claim's weight that a sentence must cover to answer for it
_BEFORE = 0.5  # what a word of the sentence before counts: a subject is often named there
_AS_GOOD = 0.1  # sentences this much behind the best may answer as well
_LONGEST = 1000  # characters; a longer claim is no question


class ClozeMark(NamedTuple):
    """Something that can be asked for; ``text[start:end]`` of where it stands."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ClozeExaminer:
    """Blank out names, numbers and dates of claims and look for what the passages have in their place."""

    parameters: ClassVar[Mapping[str, str]] = {"questions": "cloze-1"}

    async def examine(self, sample: Sample, claims: Sequence[Claim], ctx: MetricContext) -> list[Exam]:
        """Return a cloze question for every name, number and date of the claims, the same one once."""
        del ctx
        shelf = Shortlist.of([passage for passage in sample.passages if passage.text.strip()])
        asked: dict[str, Exam] = {}
        for claim in claims:
            for mark in marks(claim.text) if len(claim.text) <= _LONGEST else ():
                words = claim.text[mark.start : mark.end]
                text = claim.text[: mark.start] + BLANK + claim.text[mark.end :]
                if text in asked or not _context(text).content or len(asked) == AT_MOST:
                    continue
                hole = (mark.start, mark.start + len(BLANK))
                question = QaQuestion(f"q{len(asked) + 1}", text, claim.sentence, hole)
                asked[text] = Exam(question, words, _answer(shelf, claim.text, mark, _context(text)))
        return list(asked.values())


def marks(text: str) -> list[ClozeMark]:
    """Return the dates, numbers and names of a text in order, without overlap; dates go before the others.

    Ordinals are left out: hardly a question asks for the "first" of "the first game".
    """
    found = [ClozeMark("date", moment.start, moment.end) for moment in moments(text)]
    numbers = [found for found in quantities(text) if found.dimension != "ordinal"]
    others = [ClozeMark("number", number.start, number.end) for number in numbers]
    others += [ClozeMark("name", name.start, name.end) for name in names(text)]
    for mark in others:
        if all(mark.end <= other.start or other.end <= mark.start for other in found):
            found.append(mark)
    return sorted(found, key=lambda mark: mark.start)


def _answer(shortlist: Shortlist, claim: str, mark: ClozeMark, context: Reading) -> str | None:
    """Return what stands in the place of a claim's mark; None where no sentence lines up or has the like."""
    texts = tuple(piece.text for piece in shortlist.pieces(context.keys))
    source = source_of(texts, every_word=False)
    if not source.places:
        return None
    strengths = _strengths(context, source)
    order = [int(i) for i in np.argsort(-strengths, kind="stable") if strengths[i] >= _LINED_UP]
    best: float | None = None
    found: list[str] = []
    for place in order:
        if best is not None and strengths[place] < best - _AS_GOOD:
            break
        candidates = list(_candidates(source, place, claim, mark, context))
        if candidates and best is None:
            best = float(strengths[place])
        found += candidates
    wanted = claim[mark.start : mark.end]
    return next((text for text in found if _same(mark.kind, wanted, text)), found[0] if found else None)


def _strengths(context: Reading, source: AlignedSource) -> Float32Array:
    """Return how much of the context's weight each sentence covers, with half of what only the one before has."""
    aligned = align(context, source, shipped_vectors())
    held = (aligned.exact + aligned.soft) / 2
    before = np.zeros_like(held)
    together = source.owner[1:] == source.owner[:-1]
    before[:, 1:] = np.where(together[None, :], held[:, :-1], 0.0)
    strengths: Float32Array = aligned.weights @ np.maximum(held, _BEFORE * before)
    return strengths


def _candidates(source: AlignedSource, place: int, claim: str, mark: ClozeMark, context: Reading) -> Iterator[str]:
    """Give what of the mark's kind a sentence holds, nearest to the claim's words first, but not what the claim
    says in another place.
    """
    number, sentence = source.places[place]
    reading = source.readings[number]
    start, end = reading.sentences[sentence]
    text = reading.text[start:end]
    keys = {context.keys[i] for i in context.content}
    shared = [
        reading.spans[i][0] - start
        for i, key in enumerate(reading.keys)
        if reading.sentence[i] == sentence and key in keys
    ]
    rest = claim[: mark.start] + " ; " + claim[mark.end :]
    fitting = [
        other for other in marks(text)
        if other.kind == mark.kind and not _said(mark.kind, text[other.start : other.end], rest)
    ]  # fmt: skip
    wanted = claim[mark.start : mark.end]
    if mark.kind == "number":
        kinds = {one.dimension for one in quantities(wanted)}
        held = ({one.dimension for one in quantities(text[other.start : other.end])} for other in fitting)
        fitting = [other for other, found in zip(fitting, held, strict=True) if kinds & found]
    fitting.sort(key=lambda other: min((abs(other.start - at) for at in shared), default=0))
    return (text[other.start : other.end] for other in fitting)


def _said(kind: Kind, words: str, rest: str) -> bool:
    """Whether the rest of a claim says this already, so that it is not what the blank asks for."""
    if kind == "name":
        return covered(words, names(rest)) or content_stems(words) <= content_stems(rest)
    return any(_same(kind, words, rest[mark.start : mark.end]) for mark in marks(rest) if mark.kind == kind)


def _same(kind: Kind, first: str, second: str) -> bool:
    if exact(first, second):
        return True
    if kind == "name":
        return covered(first, [second]) or covered(second, [first]) or content_stems(first) == content_stems(second)
    if kind == "date":
        return any(same(a, b) for a in moments(first) for b in moments(second))
    return any(same(a, b) for a in quantities(first) for b in quantities(second))


def _context(text: str) -> Reading:
    return reading_of(text.replace(BLANK, " "))
