"""Judges made of judges: who settles what, what is audited, and what disagreement looks like."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from everyclaim.core.errors import JudgeError
from everyclaim.core.types import Claim, Label, Passage, Probabilities, Span, Verdict
from everyclaim.verify.composed import Cascade, Deferral, Panel
from scripted_judge import ScriptedJudge

SHELF = [Passage("p1", "The kettle is red.")]


def sure() -> ScriptedJudge:
    """Return a judge that says what stands in a claim: a probability of SUPPORTED, or ``?`` for none."""

    def rule(claim: Claim, _: object) -> Verdict:
        if claim.text == "?":
            return Verdict(claim.id, Label.UNSUPPORTED)
        share = Probabilities(float(claim.text), 1 - float(claim.text), 0.0)
        return Verdict(claim.id, share.label, share)

    return ScriptedJudge(rule, "sure")


def always(label: Label = Label.SUPPORTED, spec: str = "always") -> ScriptedJudge:
    return ScriptedJudge(lambda claim, _: Verdict(claim.id, label, rationale="because"), spec)


def fail(*_: object) -> Verdict:
    raise JudgeError("timeout", "no answer")


def claims(*texts: str) -> list[Claim]:
    return [Claim(f"c{i}", text, Span(0, 1), text) for i, text in enumerate(texts, start=1)]


def run(verifier: Cascade | Panel, given_: Sequence[Claim]) -> list[Verdict]:
    return asyncio.run(verifier.verify(given_, SHELF))


def test_what_lies_in_the_band_goes_to_the_second_judge() -> None:
    """At its edges the first judge is sure; without probabilities it is in doubt. The verdict says who decided."""
    first, second = sure(), always(Label.CONTRADICTED)
    found = run(Cascade(first, second, Deferral(0.2, 0.8), audit=0), claims("0.9", "0.8", "0.5", "0.2", "0.1", "?"))
    assert [v.judge for v in found] == ["sure", "sure", "always", "sure", "sure", "always"]
    assert [v.label.value[0] for v in found] == ["S", "S", "C", "U", "U", "C"]
    assert second.asked == ["0.5", "?"]
    assert not any(v.flags for v in found)


def test_an_audit_of_everything_says_where_the_first_judge_was_wrong() -> None:
    """The second judge's verdict stands; agreement can be counted from the flags."""
    found = run(Cascade(sure(), always(), audit=1), claims("1", "0", "0.5"))
    assert [v.flags for v in found] == [("audited",), ("audited", "audit_disagreed"), ()]
    assert [v.label for v in found] == [Label.SUPPORTED] * 3
    assert [v.judge for v in found] == ["always"] * 3


def test_the_audit_draws_the_same_claims_in_any_order_and_about_the_stated_share() -> None:
    """By content; two runs agree whatever the ids."""
    many = claims(*(f"0.{i:04d}" for i in range(1, 2001)))
    texts = {c.id: c.text for c in many}
    again = [Claim(f"x{c.id}", c.text, c.span, c.sentence) for c in reversed(many)]
    cascade = Cascade(sure(), always(), Deferral(1, 1), audit=0.1)
    drawn = {texts[v.claim_id] for v in run(cascade, many) if "audited" in v.flags}
    assert drawn == {texts[v.claim_id[1:]] for v in run(cascade, again) if "audited" in v.flags}
    assert 150 < len(drawn) < 250


def test_a_failure_of_either_judge_is_a_failure() -> None:
    """Never the other one's verdict."""
    for cascade in (Cascade(ScriptedJudge(fail), always()), Cascade(sure(), ScriptedJudge(fail))):
        with pytest.raises(JudgeError, match="timeout"):
            run(cascade, claims("0.5"))


S, U, C = Label


@pytest.mark.parametrize(
    ("votes", "label", "flags"),
    [
        ((S, S, S), S, ()),
        ((S, U, S), S, ("disagreement",)),
        ((U, C, C), C, ("disagreement",)),
        ((S, U), U, ("disagreement",)),
        ((S, C), C, ("disagreement",)),
        ((S, U, C), U, ("disagreement",)),
    ],
)
def test_the_majority_decides_and_a_tie_is_never_support(
    votes: tuple[Label, ...], label: Label, flags: tuple[str, ...]
) -> None:
    """The shares of the votes are the probabilities, and the rationale says who voted how."""
    panel = Panel(tuple(always(vote, f"judge-{i}") for i, vote in enumerate(votes)))
    verdict = run(panel, claims("x"))[0]
    assert (verdict.label, verdict.flags) == (label, flags)
    assert verdict.probabilities == Probabilities(*(votes.count(name) / len(votes) for name in Label))
    assert verdict.judge == panel.spec
    assert ("judge-0: " in verdict.rationale) == bool(flags)
