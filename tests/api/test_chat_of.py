"""Whatever a judge is made of, metrics that ask a chat model on their own account find the same one."""

from __future__ import annotations

from typing import Any

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, play

PASSAGE = "The kettle holds 1.7 litres. It was made in Ghent in 1934."
ROW: dict[str, Any] = {"question": "What does the kettle hold?", "response": PASSAGE}

WITH_CHAT = {
    "alone": {"judge": "openai:judge-1?base_url={url}"},
    "in rounds": {"judge": "openai:judge-1?base_url={url}", "strategy": "ranked"},
    "behind a cheap one": {"judge": "cascade:lexical>openai:judge-1?2.base_url={url}"},
    "in a panel": {"judge": "panel:lexical|openai:judge-1?2.base_url={url}", "strategy": "each"},
    "the decomposer's": {"judge": "lexical", "decomposer": "openai:judge-1?base_url={url}"},
}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")


def scored(server: JudgeServer, metric: str, options: dict[str, str]) -> ec.Result:
    told = {name: value.replace("{url}", server.base_url) for name, value in options.items()}
    if metric == "safe":
        return ec.score(**ROW, passages=[], metric=metric, knowledge=lambda _: [PASSAGE], **told)
    return ec.score(**ROW, passages=[PASSAGE], metric=metric, **told)


@pytest.mark.parametrize("name", WITH_CHAT)
def test_qa_and_safe_ask_the_same_model(name: str) -> None:
    """A language model anywhere in the judge, else in the decomposer, asks, answers and searches."""
    with JudgeServer(lambda request: play(request.messages)) as server:
        qa, safe = (scored(server, metric, WITH_CHAT[name]) for metric in ("qa", "safe"))
    assert qa.outcome is safe.outcome is ec.Outcome.SCORED
    assert qa.provenance.parameters["question_prompt"].startswith("questions-")
    assert safe.provenance.parameters["queries"].startswith("openai:judge-1")
    assert safe.provenance.parameters["relevance"].startswith("openai:judge-1")


def test_without_a_language_model_both_go_by_words() -> None:
    """Nobody is asked."""
    with JudgeServer("{}") as server:
        qa, safe = (scored(server, metric, {"judge": "panel:lexical|lexical"}) for metric in ("qa", "safe"))
        assert server.calls == 0
    assert "question_prompt" not in qa.provenance.parameters
    assert safe.provenance.parameters["queries"] == "words"
