"""What a run will take of language models, before it is made: calls, tokens, dollars. Nobody is called.

Requests are written as they will be, with the answer's own sentences in the place of claims that nobody has made yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from everyclaim.api.judges import LlmDecomposerOptions, LlmJudgeOptions
from everyclaim.api.session import Session
from everyclaim.core.events import CostEstimate
from everyclaim.core.options import divided
from everyclaim.core.protocols import Message, Verifier
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Sample, Span
from everyclaim.decompose.llm import LlmDecomposer, NumberedSentence, context, numbered_sentences, portions
from everyclaim.metrics.one_call import OneCallFaithfulness
from everyclaim.models.build import price_of
from everyclaim.models.chat.budget import Price
from everyclaim.models.chat.options import read_options
from everyclaim.prompts.split import SplitTask
from everyclaim.prompts.verdicts import AskedClaim
from everyclaim.verify.composed import Cascade, Panel
from everyclaim.verify.llm import LlmVerifier, by_reply, passage_data, tokens

METRICS = ("faithfulness", "attribution")  # whose calls are known beforehand
_WORDS, _MOST = 7, 6  # words of a sentence for each claim that is made of it, and most claims
_ROW, _VERDICT = 12, 45  # tokens of a claim in a reply beside its words, of a verdict beside its quote


@dataclass(frozen=True, slots=True)
class _CallSize:
    prompt: int
    reply: int
    price: Price | None


def estimate_cost(session: Session, samples: Iterable[Sample]) -> CostEstimate | None:
    """Estimate what samples take; None where no language model is used, or its calls are not known beforehand."""
    named = session.options.get("metric", "faithfulness")
    if not isinstance(named, str) or Spec.parse(named).name not in METRICS:
        return None
    plan = _CallPlan.of(session)
    if not plan.verifiers and not plan.decomposer:
        return None
    sizes: list[_CallSize] = []
    answers = 0
    for sample in samples:
        answers += 1
        sizes += plan.calls(sample)
    priced = [size.price.at_most(size.prompt, size.reply) for size in sizes if size.price]
    return CostEstimate(
        answers,
        len(sizes),
        sum(size.prompt for size in sizes),
        sum(size.reply for size in sizes),
        sum(priced) if len(priced) == len(sizes) else None,
        is_most=plan.is_most,
    )


@dataclass(frozen=True, slots=True)
class _CallPlan:
    decomposer: LlmDecomposer | None
    verifiers: tuple[LlmVerifier, ...]
    one_call: OneCallFaithfulness | None
    strategy: str
    is_most: bool
    prices: Mapping[str, Price | None]

    @classmethod
    def of(cls, session: Session) -> _CallPlan:
        judge, metric = session.judge, session.metric.metric
        found = session.decomposer
        decomposer = found if isinstance(found, LlmDecomposer) else None
        verifiers = tuple(_models_of(judge.alone))
        file = session.options.get("prices")
        prices = {one.spec: _price(one.spec, LlmJudgeOptions, file) for one in verifiers}
        if decomposer:
            prices[decomposer.spec] = _price(decomposer.spec, LlmDecomposerOptions, file)
        one_call = metric if isinstance(metric, OneCallFaithfulness) else None
        is_most = isinstance(judge.alone, Cascade) or judge.strategy == "ranked"
        return cls(decomposer, verifiers, one_call, judge.strategy, is_most, prices)

    def calls(self, sample: Sample) -> Iterator[_CallSize]:
        """Yield the calls about an answer."""
        pieces, _ = numbered_sentences(sample.response, self.decomposer.language if self.decomposer else "")
        shelf = passage_data(sample.passages)
        if self.decomposer:
            for part in portions(pieces, self.decomposer.at_most):
                yield self._split(part, sample, shelf if self.one_call else {})
        if pieces and shelf and not self.one_call:
            texts = [text for piece in pieces for text in self._claims(piece.text)]
            claims = [Claim(f"c{place}", text, Span(0, 0), text) for place, text in enumerate(texts, start=1)]
            for verifier in self.verifiers:
                yield from self._judged(verifier, claims, shelf, sample.question)

    def _claims(self, sentence: str) -> list[str]:
        """Return as many parts of a sentence as claims will be made of it."""
        is_fine = self.decomposer is None or self.decomposer.prompt.atomicity == "high"
        number = min(max(1, round(len(sentence.split()) / _WORDS)), _MOST) if is_fine else 1
        return [sentence[: len(sentence) // number + 1]] * number

    def _split(self, part: Sequence[NumberedSentence], sample: Sample, shelf: Mapping[str, Any]) -> _CallSize:
        decomposer = cast("LlmDecomposer", self.decomposer)
        texts = {f"s{piece.number}": piece.text for piece in part}
        task = SplitTask(texts, context(sample.response, part), sample.question)
        claims = [claim for text in texts.values() for claim in self._claims(text)]
        said = sum(tokens(claim) + _ROW for claim in claims)
        price = self.prices[decomposer.spec]
        if self.one_call and shelf:
            prompt = self.one_call.prompt
            return _size(
                prompt.messages(task, shelf, shared=False), prompt.schema, said + _VERDICT * len(claims), price
            )
        return _size(decomposer.prompt.messages(task), decomposer.prompt.schema, said, price)

    def _judged(
        self, verifier: LlmVerifier, claims: Sequence[Claim], shelf: Mapping[str, Any], question: str
    ) -> Iterator[_CallSize]:
        shelves = [shelf] if self.strategy == "joint" else [{key: text} for key, text in shelf.items()]
        for group in list(by_reply(claims, verifier.reply_tokens, verifier.claims_per_call)) * verifier.repeats:
            asked = [AskedClaim(claim.id, claim.text, claim.text) for claim in group]
            said = sum(_VERDICT + tokens(claim.text) for claim in group)
            for some in shelves:
                messages = verifier.prompt.messages(asked, some, question, shared=False)
                yield _size(messages, verifier.prompt.schema, said, self.prices[verifier.spec])


def _size(messages: Sequence[Message], schema: Any, reply: int, price: Price | None) -> _CallSize:
    prompt = sum(tokens(message.content) for message in messages)
    return _CallSize(prompt + tokens(json.dumps(schema)), reply, price)


def _models_of(judge: Verifier) -> Iterator[LlmVerifier]:
    if isinstance(judge, LlmVerifier):
        yield judge
    inside = judge.verifiers if isinstance(judge, Panel) else ()
    for one in (judge.first, judge.second) if isinstance(judge, Cascade) else inside:
        yield from _models_of(one)


def _price(spec: str, own: Any, file: Any) -> Price | None:
    return price_of(read_options(divided(Spec.parse(spec), own)[1]), Path(file) if file else None)
