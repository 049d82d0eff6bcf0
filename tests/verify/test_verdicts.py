"""What a judge may say, and what becomes of everything else (rules 1, 3 and 4)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from everyclaim.core.errors import JudgeError
from everyclaim.core.types import (
    Claim,
    Evidence,
    FailureMode,
    JudgedClaim,
    Label,
    Passage,
    PassageVerdict,
    Probabilities,
    Span,
    Verdict,
)
from everyclaim.verify import Policy, judged

PASSAGE = Passage("p1", "The kettle holds 1.7 litres. It switches itself off when the water boils.")


def claim(number: int, text: str = "The kettle holds 1.7 litres.") -> Claim:
    return Claim(f"c{number}", text, Span(0, len(text)), text)


def supported(claim_id: str, quote: str = "The kettle holds 1.7 litres.", **changes: object) -> Verdict:
    start = PASSAGE.text.find(quote)
    verdict = {"claim_id": claim_id, "label": Label.SUPPORTED, "judge": "scripted"}
    verdict["evidence"] = (Evidence("p1", start, start + len(quote), quote),)
    return Verdict(**(verdict | changes))


@dataclass
class Scripted:
    """Answers each call with the next of its replies, and remembers what it was asked."""

    replies: list[Callable[[Sequence[Claim]], list[Verdict]]]
    asked: list[list[str]] = field(default_factory=list)
    spec: str = "scripted"

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        self.asked.append([c.id for c in claims])
        return self.replies[len(self.asked) - 1](claims)


def all_supported(claims: Sequence[Claim]) -> list[Verdict]:
    return [supported(c.id) for c in claims]


def run(
    verifier: Scripted, claims: list[Claim], passages: Sequence[Passage] = (PASSAGE,), policy: Policy | None = None
) -> tuple[JudgedClaim, ...]:
    return asyncio.run(judged(verifier, claims, passages, policy=policy))


def test_only_the_missing_claims_are_asked_again() -> None:
    """One verdict for four claims costs one more call, about the other three."""
    judge = Scripted([lambda _: [supported("c1")], all_supported])
    assert len(run(judge, [claim(i) for i in (1, 2, 3, 4)])) == 4
    assert judge.asked == [["c1", "c2", "c3", "c4"], ["c2", "c3", "c4"]]


@pytest.mark.parametrize("reply", [[], [supported("c1")]], ids=["none", "one of four"])
def test_a_judge_that_never_gives_the_missing_verdicts_has_failed(reply: list[Verdict]) -> None:
    """No verdict is made up for a claim: the sample fails."""
    judge = Scripted([lambda _: reply, lambda _: []])
    with pytest.raises(JudgeError, match=r"missing_verdict: scripted gave no usable verdict for .*c4") as caught:
        run(judge, [claim(i) for i in (1, 2, 3, 4)])
    assert caught.value.code == "missing_verdict"
    assert len(judge.asked) == 2


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ([supported("c1"), supported("c1", label=Label.CONTRADICTED)], "more than one verdict for c1"),
        ([supported("c9")], "unknown claims c9"),
        ([supported("c1"), supported("c9")], "unknown claims c9"),
        ([supported("c1", label="BORDERLINE")], "label 'BORDERLINE' is not one of"),
        ([supported("c1", label=-1)], "label -1 is not one of"),
        ([supported("c1", probabilities=Probabilities(7.0, -6.0, 0.0))], "not three numbers"),
        ([supported("c1", probabilities=Probabilities(math.nan, 0.5, 0.5))], "not three numbers"),
        ([supported("c1", probabilities=Probabilities(0.9, 0.9, 0.9))], "sum to 1"),
        ([supported("c1", per_passage=(PassageVerdict("p7", Label.SUPPORTED),))], "unknown passage 'p7'"),
    ],
    ids=["duplicate", "unknown", "known and unknown", "no label", "number", "range", "nan", "sum", "passage"],
)
def test_a_malformed_verdict_is_a_failure_and_never_a_score(bad: list[Verdict], complaint: str) -> None:
    """Duplicates, unknown ids, labels and numbers out of range are asked once more, then fail."""
    judge = Scripted([lambda _: bad, lambda _: bad])
    with pytest.raises(JudgeError, match=complaint):
        run(judge, [claim(1)])
    recovering = Scripted([lambda _: bad, all_supported])
    assert run(recovering, [claim(1)])[0].verdict.label is Label.SUPPORTED


@pytest.mark.parametrize("passages", [(), (Passage("p1", ""), Passage("p2", " \n\t"))], ids=["none", "blank"])
def test_without_passages_every_claim_is_unsupported_and_no_model_is_called(passages: tuple[Passage, ...]) -> None:
    """An empty retrieval is the retriever's finding, not a question for the judge."""
    judge = Scripted([])
    verdicts = [c.verdict for c in run(judge, [claim(1), claim(2)], passages)]
    assert [(v.label, v.flags) for v in verdicts] == [(Label.UNSUPPORTED, ("no_passages",))] * 2
    assert judge.asked == []


def test_hedge_mismatch_stands_by_default_and_falls_under_the_strict_policy() -> None:
    """`may` against `does` is a matter of policy."""
    verdicts = [
        run(Scripted([lambda _: [supported("c1", flags=("hedge_mismatch",))]]), [claim(1)], policy=policy)[0].verdict
        for policy in (Policy(), Policy(strict_hedges=True))
    ]
    assert [v.label for v in verdicts] == [Label.SUPPORTED, Label.UNSUPPORTED]
    assert verdicts[1].failure_mode is FailureMode.HEDGE_MISMATCH
