"""The methods that the field began with, each by its name, with the calls it takes and what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, Request, play, request_data

QUESTION = "What is the kettle like?"
ANSWER = "The kettle is red. It holds 9 litres. It whistles."
SHELF = ["The lid is black. The kettle whistles.", "The kettle is red. It holds 2 litres.", "The kettle is red."]


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(play) as running:
        yield running


def score(server: JudgeServer, model: str = "openai:m", **options: Any) -> ec.Result:
    options = {"base_url": server.base_url, "judge": model, **options}
    return ec.score(question=QUESTION, response=ANSWER, passages=SHELF, **options)


def labels(result: ec.Result) -> str:
    return "".join(claim.verdict.label[0] for claim in result.claims)


def premises(request: Request) -> list[Any]:
    data = request_data(request.messages)
    return list(data["passages"].values()) if "passages" in data else list(data.get("premises", ()))


def test_per_passage_verification_does_not_lose_a_contradiction(server: JudgeServer) -> None:
    """Best verdict: contradicted beats unsupported, supported beats both, and then the conflict is said."""

    def opposed(request: Request) -> str:
        reply = json.loads(play(request))
        for verdict in reply.get("verdicts", ()):
            if premises(request) == [SHELF[0]]:
                verdict.update(label="CONTRADICTED", mode="other")
        return json.dumps(reply)

    server.script(opposed)
    result = score(server, strategy="each")
    assert labels(result) == "SCC"
    assert [claim.verdict.conflict for claim in result.claims] == [True, False, False]


def test_the_nli_prompt_asks_for_a_relation_and_nothing_else(server: JudgeServer) -> None:
    """Premises and hypotheses, three relations for our three labels; neither question nor quotes."""

    def nli(request: Request) -> str:
        data = request_data(request.messages)
        if "hypotheses" not in data:
            return play(request)
        assert QUESTION not in request.text
        names = ("entailment", "contradiction", "neutral")
        rows = zip(data["hypotheses"], names, strict=True)
        return json.dumps({"relations": [{"id": key, "relation": name} for key, name in rows]})

    server.script(nli)
    result = score(server, "openai:m?prompt=nli")
    assert (labels(result), server.calls, server.errors) == ("SCU", 2, [])
    assert result.provenance.parameters["judge_prompt"] == "nli-1"
    assert [claim.verdict.evidence for claim in result.claims] == [(), (), ()]


@pytest.mark.parametrize(
    ("quotes", "calls", "label"),
    [
        (["p2: The kettle is red."], 2, "S"),
        (["p1: The kettle is red."], 2, "S"),  # there, though under another id
        (["p2: The kettle is as red as a rose."], 3, "U"),
        ([], 3, "U"),
    ],
    ids=["there", "elsewhere", "nowhere", "none"],
)
def test_a_required_evidence_span_is_really_there_or_the_claim_is_not_supported(
    server: JudgeServer, quotes: Sequence[str], calls: int, label: str
) -> None:
    """Asked for once more, then not believed; what is there is stored as offsets."""

    def showing(request: Request) -> str:
        reply = json.loads(play(request))
        for verdict in reply.get("verdicts", ())[:1]:
            verdict["quotes"] = list(quotes)
        return json.dumps(reply)

    server.script(showing)
    result = score(server, evidence="required")
    first = result.claims[0].verdict
    assert (server.calls, first.label[0]) == (calls, label)
    assert result.provenance.parameters["evidence"] == "required"
    for evidence in first.evidence:
        text = SHELF[int(evidence.passage_id[1:]) - 1]
        assert text[evidence.start : evidence.end] == evidence.quote == "The kettle is red."
    assert bool(first.evidence) == (label == "S")
