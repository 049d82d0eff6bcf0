"""The verifier that is a language model: batches, faults, votes, evidence; exact call counts throughout."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatReply, Message
from everyclaim.core.types import Claim, FailureMode, JudgedClaim, Passage, Usage
from everyclaim.testing import ScriptedChat, play, request_data
from everyclaim.verify import Policy, judged
from everyclaim.verify.llm import LlmVerifier
from scripted_judge import claim

PASSAGES = (
    Passage("docs/kettle", "The kettle holds 1.7 litres. It switches itself off when the water boils.", "Kettle"),
    Passage("docs/warranty", "The warranty may last two years."),
)


def row(claim_id: str, label: str = "SUPPORTED", **changes: Any) -> dict[str, Any]:
    quotes = [] if label == "UNSUPPORTED" else ["p1: The kettle holds 1.7 litres."]
    return (
        {"id": claim_id, "quotes": quotes, "why": "w", "label": label, "mode": "none", "conflict": False}
        | {"support": {"SUPPORTED": 10, "UNSUPPORTED": 2, "CONTRADICTED": 0}.get(label, 5)}
        | changes
    )


def reply(*rows: dict[str, Any]) -> str:
    return json.dumps({"verdicts": list(rows)})


def run(
    chat: ScriptedChat, claims: Sequence[Claim] = (claim(1),), *, policy: Policy | None = None, **options: Any
) -> tuple[JudgedClaim, ...]:
    return asyncio.run(judged(LlmVerifier(chat, **options), claims, PASSAGES, question="Q?", policy=policy))


def labels(found: Sequence[JudgedClaim]) -> list[str]:
    return [claim.verdict.label.value for claim in found]


def test_a_verdict_comes_with_reason_mode_and_evidence_in_its_passage() -> None:
    """Aliases are mapped back; the quote is stored as offsets."""
    chat = ScriptedChat(
        reply(
            row("c1", quotes=["p1: The kettle holds 1.7 litres."]),
            row("c2", "CONTRADICTED", quotes=["p2: may last two years"], mode="temporal", conflict=True, why="Two."),
        )
    )
    first, second = (c.verdict for c in run(chat, [claim(7), claim(9, "The warranty lasts ten years.")]))
    assert (first.claim_id, first.evidence[0].passage_id, first.evidence[0].start) == ("c7", "docs/kettle", 0)
    assert second.evidence[0].quote == "may last two years"
    assert (second.claim_id, second.failure_mode, second.conflict) == ("c9", FailureMode.TEMPORAL, True)
    assert (second.rationale, second.judge) == ("Two.", "openai:scripted")


def test_the_request_holds_passages_and_claims_under_ids_of_its_own() -> None:
    """Ids of the data set never reach the model."""
    chat = ScriptedChat(play)
    run(chat, [claim(7), claim(9, "It boils.")])
    data = request_data(chat.asked[0])
    (group,) = data.pop("claims")
    assert list(group["claims"].values()) == ["The kettle holds 1.7 litres.", "It boils."]
    assert data == {"passages": {"p1": {"title": "Kettle", "text": PASSAGES[0].text}, "p2": PASSAGES[1].text}} | {
        "question": "Q?"
    }
    assert not {"c7", "c9", "docs/kettle"} & set(re.findall(r"[\w/]+", str(chat.asked[0][1:])))


def test_a_reply_to_another_request_answers_nothing() -> None:
    """Its ids are those of the texts it was asked about: other passages are another request, the same texts the same."""
    asked = ScriptedChat(play)
    run(asked)
    late = play(asked.asked[0])
    other = ScriptedChat([late, late])
    with pytest.raises(JudgeError, match="which was not asked"):
        asyncio.run(judged(LlmVerifier(other), [claim(1)], [Passage("d", "The kettle holds 2 litres.")], question="Q?"))
    assert labels(run(ScriptedChat(late))) == ["SUPPORTED"]


@pytest.mark.parametrize(
    "cut", [ChatReply('{"verdicts": [{"id"', "length", "m", Usage(1)), JudgeError("too_long", "413")]
)
def test_a_cut_reply_is_not_used_and_the_batch_is_halved(cut: Any) -> None:
    """Seven calls for four claims one by one; a single claim that is too long is a failure."""
    chat = ScriptedChat(lambda messages: play(messages) if _asked(messages) == 1 else cut)
    assert len(run(chat, [claim(i) for i in range(4)])) == 4
    assert chat.calls == 7
    with pytest.raises(JudgeError):
        run(ScriptedChat(cut))


def _asked(messages: Sequence[Message]) -> int:
    return sum(len(group["claims"]) for group in request_data(messages)["claims"])


@pytest.mark.parametrize(
    ("votes", "label", "flags"),
    [
        (["SUPPORTED"] * 3, "SUPPORTED", ()),
        (["SUPPORTED", "UNSUPPORTED", "SUPPORTED"], "SUPPORTED", ("unstable",)),
        (["CONTRADICTED", "UNSUPPORTED", "CONTRADICTED"], "CONTRADICTED", ("unstable",)),
        (["SUPPORTED", "UNSUPPORTED"], "UNSUPPORTED", ("unstable",)),
        (["SUPPORTED", "UNSUPPORTED", "CONTRADICTED"], "UNSUPPORTED", ("unstable",)),
    ],
)
def test_repeats_vote_and_say_when_they_disagree(votes: list[str], label: str, flags: tuple[str, ...]) -> None:
    """A tie is never SUPPORTED; the probabilities are the mean of what each time says of itself."""
    chat = ScriptedChat([reply(row("c1", vote)) for vote in votes])
    verdict = run(chat, repeats=len(votes))[0].verdict
    assert verdict.label.value == label
    assert ("unstable" in verdict.flags) == bool(flags)
    assert verdict.probabilities is not None
    said = {"SUPPORTED": 10.5 / 11, "UNSUPPORTED": 2.5 / 11, "CONTRADICTED": 0.5 / 11}
    assert verdict.probabilities.supported == pytest.approx(sum(said[vote] for vote in votes) / len(votes))
    bare = LlmVerifier(ScriptedChat([reply(row("c1", vote, support=None)) for vote in votes]), repeats=len(votes))
    shares = asyncio.run(judged(bare, [claim(1)], PASSAGES))[0].verdict.probabilities
    assert shares is not None
    assert shares.supported == pytest.approx(votes.count("SUPPORTED") / len(votes))
    assert len(set(chat.tags)) == chat.calls == len(votes)
