"""Specs → judges, and whole scores through a real provider on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, play, request_data

ANSWER = "The kettle is red. It holds 9 litres. Do you want it?"
SHELF = ["The kettle is red. It holds 2 litres."]


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")


@pytest.fixture
def server() -> object:
    with JudgeServer(play) as running:
        yield running


def openai(server: JudgeServer, options: str = "") -> str:
    return f"openai:some-model?base_url={server.base_url}{options}"


def test_a_cascade_asks_the_model_only_where_the_lexical_judge_is_in_doubt(server: JudgeServer) -> None:
    """Split by the embedded decomposer, so nothing else is sent."""
    spec = f"cascade:lexical>openai:m?2.base_url={server.base_url}&audit=0&low=0&high=0"
    result = ec.score(response=ANSWER, passages=SHELF, judge=spec)
    assert (result.outcome, server.calls) == (ec.Outcome.SCORED, 0)
    doubtful = ec.score(response=ANSWER, passages=SHELF, judge=spec.replace("high=0", "high=1"))
    assert server.calls == 1
    assert {c.verdict.judge.partition(":")[0] for c in doubtful.claims} <= {"lexical", "openai"}


@pytest.mark.parametrize(
    ("said", "labels"), [("Yes", ["SUPPORTED", "UNSUPPORTED"]), ("Perhaps", [])], ids=["its words", "another word"]
)
def test_a_minicheck_model_is_asked_about_every_claim_in_the_words_it_knows(said: str, labels: list[str]) -> None:
    """One call per claim, all passages as one document, no schema; any other word is a failure, never a score."""
    with JudgeServer(lambda request: "No" if "9 litres" in request.messages[-1].content else said) as server:
        judge = openai(server, "&prompt=minicheck")
        result = ec.score(
            response="The kettle is red. It holds 9 litres.", passages=["It is red.", "Red!"], judge=judge
        )
        asked = {request.messages[-1].content for request in server.requests}
    assert asked == {
        f"Document: It is red.\nRed!\nClaim: The kettle {claim}" for claim in ("holds 9 litres.", "is red.")
    }
    assert [claim.verdict.label for claim in result.claims] == labels
    assert result.reason.partition(":")[0] == ("" if labels else "bad_reply")
    assert result.provenance.parameters["judge_prompt"] == "minicheck-1"
    assert result.provenance.decomposer.startswith("embedded")


PASSAGE = "The kettle holds 1.7 litres. It was made in Ghent in 1934."
ROW: dict[str, Any] = {"question": "What does the kettle hold?", "response": PASSAGE}

WITH_CHAT = {
    "alone": {"judge": "openai:judge-1?base_url={url}"},
    "in rounds": {"judge": "openai:judge-1?base_url={url}", "strategy": "ranked"},
    "behind a cheap one": {"judge": "cascade:lexical>openai:judge-1?2.base_url={url}"},
    "in a panel": {"judge": "panel:lexical|openai:judge-1?2.base_url={url}", "strategy": "each"},
    "the decomposer's": {"judge": "lexical", "decomposer": "openai:judge-1?base_url={url}"},
}


def scored(server: JudgeServer, metric: str, options: dict[str, str]) -> ec.Result:
    told = {name: value.replace("{url}", server.base_url) for name, value in options.items()}
    if metric == "safe":
        return ec.score(**ROW, passages=[], metric=metric, knowledge=lambda _: [PASSAGE], **told)
    return ec.score(**ROW, passages=[PASSAGE], metric=metric, **told)


@pytest.mark.parametrize("name", WITH_CHAT)
def test_qa_and_safe_ask_the_same_model(name: str) -> None:
    """A language model anywhere in the judge, else in the decomposer, asks, answers and searches."""
    with JudgeServer(play) as server:
        qa, safe = (scored(server, metric, WITH_CHAT[name]) for metric in ("qa", "safe"))
    assert qa.outcome is safe.outcome is ec.Outcome.SCORED
    assert qa.provenance.parameters["question_prompt"].startswith("questions-")
    assert safe.provenance.parameters["queries"].startswith("openai:judge-1")
    assert safe.provenance.parameters["relevance"].startswith("openai:judge-1")


def test_what_fails_in_one_batch_waits_for_the_others(tmp_path: Path) -> None:
    """An answer's batches are all paid, so all are in the cache when it fails, and are not asked again."""
    sentences = " ".join(f"Kettle number {i} is red." for i in range(1, 5))

    def rule(request: object) -> str:
        claims = str(request_data(request.messages).get("claims", ""))  # type: ignore[attr-defined]
        return '{"verdicts": []}' if "number 2" in claims else play(request)

    file = tmp_path / "a.jsonl"
    file.write_text(f'{{"id": "a", "response": "{sentences}", "contexts": ["Kettle number is red."]}}\n')
    with JudgeServer(rule) as server:
        options = {
            "judge": "openai:m",
            "base_url": server.base_url,
            "store": tmp_path / "runs.db",
            "claims_per_call": 1,
        }
        first = ec.score_file(file, **options)
        assert first.summary.failures == {"missing_verdict": 1}
        assert server.calls == 1 + 3 + 2
        server.script(play)
        again = ec.score_file(file, resume=first.id, **options)
    assert again.summary.overall.scored == 1
    assert server.calls == 6 + 1
