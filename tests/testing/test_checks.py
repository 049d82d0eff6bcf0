"""The conformance suites: our own components pass them, and a component with one fault is told which rule it breaks."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.protocols import (
    Claim,
    Decomposition,
    Evidence,
    Label,
    MetricContext,
    Passage,
    Probabilities,
    Sample,
    Score,
    Skipped,
    Span,
    Verdict,
)
from everyclaim.testing import RuleBrokenError, ScriptedChat, check_decomposer, check_metric, check_verifier, play
from everyclaim.verify.composed import Cascade, Panel
from everyclaim.verify.llm import LlmVerifier


def chat() -> ScriptedChat:
    return ScriptedChat(play)


async def share_supported(sample: Sample, ctx: MetricContext) -> float:
    parts = await ctx.claims(sample.response)
    claims = await ctx.judge(parts.claims)
    return sum(claim.verdict.label is Label.SUPPORTED for claim in claims) / len(claims)


def model() -> LlmVerifier:
    return LlmVerifier(chat())


VERIFIERS = (
    "embedded",
    "lexical",
    model(),
    Cascade(model(), model()),
    Panel((model(), model())),
    lambda c, p: "UNSUPPORTED",
)
SPLITTERS = "embedded", "embedded?atomicity=low", LlmDecomposer(chat()), lambda text: [text] if text.strip() else []
METRICS = (
    share_supported, "faithfulness", "faithfulness?mode=one_call", "nli", "qa", "qa?by=cloze&compare=nli", "combined",
    "factual_correctness", "ragchecker",
)  # fmt: skip
check_searching = partial(check_metric, knowledge=lambda query: ["The tower was built in 1889."])


@pytest.mark.parametrize(
    ("check", "component"),
    [
        *((check_verifier, one) for one in VERIFIERS),
        *((check_decomposer, one) for one in SPLITTERS),
        *((check_metric, one) for one in METRICS),
        *((check_searching, one) for one in ("factscore", "safe?k=2", "safe?k=median&steps=words")),
    ],
)
def test_what_ships_keeps_the_rules(check: Callable[..., None], component: Any) -> None:
    """Verifiers, decomposers, metrics, and functions in their place."""
    check(component)


class Judge:
    """A judge that keeps every rule, to be broken in one place."""

    spec = "mine"

    def verdict(self, claim: Claim, passages: Sequence[Passage]) -> Any:
        return Verdict(claim.id, Label.UNSUPPORTED)

    async def verify(self, claims: Any, passages: Any, *, question: str = "") -> Any:
        await asyncio.sleep(0)
        return [self.verdict(claim, passages) for claim in claims]


class Dicing(Judge):
    def verdict(self, claim: Claim, passages: Sequence[Passage]) -> Any:
        return Verdict(claim.id, Label.UNSUPPORTED, rationale=str(random.random()))


class Merging(Judge):
    async def verify(self, claims: Any, passages: Any, *, question: str = "") -> Any:
        return {claim.text: self.verdict(claim, passages) for claim in claims}.values()


class Sorting(Judge):
    async def verify(self, claims: Any, passages: Any, *, question: str = "") -> Any:
        claims.sort(key=lambda claim: claim.text)
        return await super().verify(claims, passages)


class Shared(Judge):
    """Keeps what it judges where every call sees it."""

    async def verify(self, claims: Any, passages: Any, *, question: str = "") -> Any:
        self.claims = claims
        await asyncio.sleep(0.001)
        return [self.verdict(claim, passages) for claim in self.claims]


class Forgetful(Judge):
    async def verify(self, claims: Any, passages: Any, *, question: str = "") -> Any:
        return (await super().verify(claims, passages))[:1]


def giving(verdict: Callable[[Claim, Sequence[Passage]], Any]) -> Judge:
    """A judge that is broken in its verdicts."""
    judge = Judge()
    judge.verdict = verdict  # type: ignore[method-assign]
    return judge


def named(spec: str) -> Judge:
    judge = Judge()
    judge.spec = spec
    return judge


INVENTED = (Evidence("p1", 0, 9, "Rodin owned a circus"),)


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (
            Forgetful(),
            "one verdict per claim: asked about ['c1', 'c2', 'c3', 'c4'], it gave verdicts for ['c1']",
        ),
        (Merging(), "one verdict per claim: it returned dict_values"),
        (giving(lambda claim, _: Verdict("1", Label.UNSUPPORTED)), "it gave verdicts for ['1', '1', '1', '1']"),
        (
            giving(lambda claim, shelf: Verdict(claim.id, Label.SUPPORTED, evidence=INVENTED)),
            "evidence is verified: not all of [('p1', 'Rodin owned a circus')]",
        ),
        (
            giving(lambda claim, _: Verdict(claim.id, Label.SUPPORTED, Probabilities(1.2, 0.0, -0.2))),
            "three labels and probabilities in range: c1: probabilities (1.2, 0.0, -0.2)",
        ),
        (
            giving(lambda claim, _: replace(Verdict(claim.id, Label.SUPPORTED), label="TRUE")),
            "c1: label 'TRUE' is not one of SUPPORTED, UNSUPPORTED, CONTRADICTED",
        ),
        (
            giving(lambda claim, _: claim.text.encode() and Verdict(claim.id, Label.UNSUPPORTED)),
            "only JudgeError may be raised: for the claim",
        ),
        (Dicing(), "the same input gives the same verdicts"),
        (Sorting(), "inputs are not modified"),
        (Shared(), "parallel calls are independent"),
        (named("my judge!"), "a result says what made it: its spec 'my judge!' is none"),
    ],
)
def test_a_verifier_with_one_fault_is_told_which_rule_it_breaks(broken: Judge, rule: str) -> None:
    """And what came back; one that need not be steady may say so."""
    check_verifier(Judge())
    with pytest.raises(RuleBrokenError) as caught:
        check_verifier(broken)
    assert rule in str(caught.value)
    if isinstance(broken, Dicing):
        check_verifier(broken, deterministic=False)


def whole(response: str, **other: Any) -> Claim:
    """The claim that repeats the response."""
    return replace(Claim("c1", response, Span(0, len(response)), response), **other)


def kept(response: str) -> Any:
    return Decomposition((whole(response),) if response.strip() else ())


def strict(response: str) -> Any:
    if "{" in response:
        raise ValueError("no braces, please")
    return kept(response)


class Splitter:
    """A decomposer that keeps every rule, unless its way to split breaks one."""

    spec = "mine"

    def __init__(self, split: Callable[[str], Any] = kept) -> None:
        self.split = split

    async def decompose(self, response: str, *, question: str = "") -> Any:
        await asyncio.sleep(0)
        return self.split(response)


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (
            lambda text: Decomposition((whole(text, text="The tower was built in 1887."),)),
            "decomposition preserves meaning: the claim 'The tower was built in 1887.'",
        ),
        (
            lambda text: Decomposition(()),
            "nothing is dropped: 'The Eiffel Tower was built in 1889.' is in no claim and not skipped",
        ),
        (
            lambda text: Decomposition((), (Skipped(text, Span(0, len(text)), ""),)),
            "skipped text has a reason",
        ),
        (lambda text: Decomposition((whole(text, span=Span(0, len(text) + 9)),)), "is outside its 35 characters"),
        (lambda text: Decomposition((whole(text),) * 2), "claim ids are unique: it gave ['c1', 'c1']"),
        (lambda text: Decomposition((whole(text, text=" "),)), "a claim is not empty: 'c1' is empty"),
        (lambda text: [text], "a decomposer returns a Decomposition: it returned ["),
        (strict, "only JudgeError may be raised: it raised ValueError: no braces, please"),
    ],
)
def test_a_decomposer_with_one_fault_is_told_which_rule_it_breaks(broken: Callable[[str], Any], rule: str) -> None:
    """And what came back."""
    check_decomposer(Splitter())
    with pytest.raises(RuleBrokenError) as caught:
        check_decomposer(Splitter(broken))
    assert rule in str(caught.value)


def returning(make: Callable[[Sample, float], Any]) -> Callable[..., Any]:
    """A metric that makes something of a sample and the share of its claims that are supported."""

    async def metric(sample: Sample, ctx: MetricContext) -> Any:
        return make(sample, await share_supported(sample, ctx))

    return metric


async def never_failing(sample: Sample, ctx: MetricContext) -> float:
    try:
        await ctx.chat.complete([])
    except ec.JudgeError:
        return 0.0
    return await share_supported(sample, ctx)


async def own_verdicts(sample: Sample, ctx: MetricContext) -> Score:
    parts = await ctx.claims(sample.response)
    verdicts = [ec.JudgedClaim(c.id, c.text, c.span, c.sentence, Verdict(c.id, Label.SUPPORTED)) for c in parts.claims]
    return Score(1.0, claims=verdicts)


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (
            returning(lambda sample, share: 1.5),
            "a metric returns a number from 0 to 1, or None, for any text: bad_score",
        ),
        (returning(lambda sample, share: "good"), "bad_result: the metric returned str, not a Score, a number or None"),
        (returning(lambda sample, share: len(sample.reference)), "component_error: TypeError"),
        (never_failing, "a failure is never a score: the judge failed, the score is 0.0"),
        (
            lambda sample: float("1889" in sample.response),
            "without claims there is no score: the answer '' gave 0.0",
        ),
        (own_verdicts, "rules 3 and 4, verdicts are checked"),
        (
            returning(lambda _, share: Score(share, {"perfect": 1.0} if share == 1 else {})),
            "every scored sample has the same components",
        ),
        (returning(lambda sample, share: random.random()), "the same input gives the same results"),
        (
            returning(lambda sample, share: sample.tags.update(scored="yes") or share),
            "inputs are not modified: it changed the sample",
        ),
    ],
)
def test_a_metric_with_one_fault_is_told_which_rule_it_breaks(broken: Any, rule: str) -> None:
    """And what came back."""
    with pytest.raises(RuleBrokenError) as caught:
        check_metric(broken)
    assert rule in str(caught.value)
