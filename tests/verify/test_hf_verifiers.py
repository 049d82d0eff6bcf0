"""What the verifiers around encoder models make of a model's numbers; the models here are rules."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from everyclaim.core.protocols import Marked
from everyclaim.core.types import Claim, Label, Passage, Probabilities, Verdict
from everyclaim.text.tokens import tokenize
from everyclaim.verify.marks import TokenVerifier
from everyclaim.verify.pairs import ALIGNSCORE, MINICHECK, WHOLE, Chunking, PairVerifier
from scripted_judge import claim


@dataclass
class Pairs:
    """Says what a table says about (a word of the premise, the hypothesis); else unsupported. Tokens are words."""

    said: Mapping[tuple[str, str], Probabilities] = field(default_factory=dict)
    limit: int = 512
    parameters: Mapping[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Probabilities]:
        self.asked += pairs
        return [
            next((p for (word, claim), p in self.said.items() if word in premise and claim == hypothesis), NO)
            for premise, hypothesis in pairs
        ]


@dataclass
class Words:
    """Backs a word of the answer that stands in a passage it is shown. Tokens are words."""

    limit: int = 200
    parameters: Mapping[str, str] = field(default_factory=dict)
    readings: list[list[str]] = field(default_factory=list)

    def room(self, question: str, answer: str) -> int:
        return self.limit - len(question.split()) - len(answer.split())

    def lengths(self, passages: Sequence[str]) -> list[int]:
        return [len(passage.split()) + 2 for passage in passages]

    async def mark(self, readings: Sequence[Sequence[str]], question: str, answer: str) -> list[list[Marked]]:
        self.readings = [list(reading) for reading in readings]
        held = [{token.norm for text in reading for token in tokenize(text)} for reading in readings]
        return [[Marked(t.start, t.end, 0.1 if t.norm in has else 0.9) for t in tokenize(answer)] for has in held]


NO = Probabilities(0.1, 0.9, 0.0)
YES = Probabilities(0.8, 0.2, 0.0)
AGAINST = Probabilities(0.05, 0.15, 0.8)


def passages(*texts: str) -> list[Passage]:
    return [Passage(f"p{i}", text) for i, text in enumerate(texts, start=1)]


def judged(verifier: PairVerifier | TokenVerifier, claims: Sequence[Claim], *texts: str) -> list[Verdict]:
    return list(asyncio.run(verifier.verify(claims, passages(*texts), question="What?")))


def test_evidence_in_any_chunk_is_enough() -> None:
    """The maximum over chunks decides, and the place that is shown lies in the chunk that did."""
    model = Pairs({("tank", "The tank is steel."): YES})
    verifier = PairVerifier(model, Chunking("short", tokens=8), "hf:x")
    (verdict,) = judged(
        verifier, [claim(1, "The tank is steel.")], "It rains. " * 9 + "The tank is made of steel. " + "So. " * 9
    )
    assert verdict.label is Label.SUPPORTED
    assert verdict.probabilities == YES
    assert verdict.evidence[0].quote == "The tank is made of steel."
    assert len(model.asked) > 3


def test_a_chunk_against_and_a_chunk_for_are_a_conflict() -> None:
    """Support wins the label; that another chunk says the opposite is not lost."""
    model = Pairs({("red", "It is red."): YES, ("green", "It is red."): AGAINST})
    verifier = PairVerifier(model, Chunking("short", tokens=5), "hf:x")
    (verdict,) = judged(verifier, [claim(1, "It is red.")], "Now it is red.", "No, it is green.")
    assert (verdict.label, verdict.conflict) == (Label.SUPPORTED, True)
    (verdict,) = judged(verifier, [claim(1, "It is red.")], "It rains.", "No, it is green.")
    assert (verdict.label, verdict.conflict) == (Label.CONTRADICTED, False)
    assert verdict.evidence[0].quote == "No, it is green."


TWO = "It is red. It is big."


@pytest.mark.parametrize(
    ("chunking", "supported", "label"),
    [
        (MINICHECK, 0.1, Label.UNSUPPORTED),  # the worse sentence
        (ALIGNSCORE, 0.45, Label.UNSUPPORTED),  # their mean
        (WHOLE, 0.8, Label.SUPPORTED),  # asked as it is
    ],
)
def test_a_claim_of_two_sentences(chunking: Chunking, supported: float, label: Label) -> None:
    """MiniCheck takes the minimum over a claim's sentences, AlignScore the mean, HHEM the whole."""
    model = Pairs({("x", "It is red."): YES, ("x", TWO): YES})
    (verdict,) = judged(PairVerifier(model, chunking, "hf:x"), [claim(1, TWO)], "x")
    assert verdict.probabilities is not None
    assert verdict.probabilities.supported == pytest.approx(supported)
    assert verdict.label is label


SENTENCE = "The tank is steel and holds 9 litres."


def test_an_unbacked_word_condemns_the_claim_it_is_in_and_no_other() -> None:
    """Two claims of one sentence are told apart by where their words stand."""
    claims = [
        claim(1, "The tank is steel", SENTENCE),
        claim(2, "The tank holds 9 litres", SENTENCE, 22),  # reworded: it has the subject too
    ]
    verdicts = judged(TokenVerifier(Words(), "hf:x"), claims, "The tank is made of steel and holds 2 litres.")
    assert [verdict.label for verdict in verdicts] == [Label.SUPPORTED, Label.UNSUPPORTED]
    assert verdicts[0].evidence[0].quote.startswith("The tank is made of steel")
    assert verdicts[1].rationale == "not supported: '9'"
    assert verdicts[1].probabilities == Probabilities(0.1, 0.9, 0.0)


def test_a_word_is_backed_by_any_reading() -> None:
    """With evidence in one of several readings the claim stands; the worst over readings would condemn it."""
    model = Words(limit=60)
    texts = [f"Filler number {i} " + "says nothing " * 10 for i in range(8)]
    texts[5] = "The tank is steel."
    texts[7] = "It holds 9 litres and more."
    (verdict,) = judged(TokenVerifier(model, "hf:x"), [claim(1, SENTENCE)], *texts)
    assert len(model.readings) > 2
    assert verdict.label is Label.SUPPORTED
    assert [text for reading in model.readings for text in reading] == texts


@pytest.mark.parametrize(
    ("share", "label"), [(0.0, Label.UNSUPPORTED), (0.1, Label.UNSUPPORTED), (0.2, Label.SUPPORTED)]
)
def test_a_share_of_words_may_be_unbacked(share: float, label: Label) -> None:
    """One of eight words is not backed: more than a tenth, less than a fifth. The probability goes with it."""
    verifier = TokenVerifier(Words(), "hf:x", share=share)
    (verdict,) = judged(verifier, [claim(1, SENTENCE)], "The tank is steel and holds 2 litres.")
    assert verdict.label is label
    assert verdict.probabilities is not None
    assert (verdict.probabilities.supported > 0.5) is (label is Label.SUPPORTED)
