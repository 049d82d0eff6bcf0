"""`everyclaim judge-test`: a good model passes, one that cannot judge does not, and the page says why."""

import json

import pytest

from everyclaim.api.judge_eval import CASES, KINDS, cases
from everyclaim.testing import JudgeServer, request_data

LABELS = {claim.text: label for case in cases() for claim, label in zip(case.claims, case.labels, strict=True)}


def answering(label, quote=lambda passage: passage.split(". ")[0]):
    """A model that gives each claim the label of this rule, and quotes the first sentence of a passage."""

    def rule(request):
        data = request_data(request.messages)
        first = next(iter(data["passages"].values()))
        rows = []
        for group in data["claims"]:
            for key, claim in group["claims"].items():
                given = label(claim)
                quotes = [] if given == "UNSUPPORTED" else [f"p1: {quote(first)}"]
                rows.append(
                    {
                        "id": key,
                        "quotes": quotes,
                        "why": "so",
                        "label": given,
                        "mode": "none",
                        "conflict": False,
                        "support": 9 if given == "SUPPORTED" else 1,
                    }
                )
        return json.dumps({"verdicts": rows})

    return rule


@pytest.fixture
def tried(everyclaim, monkeypatch):
    """Run the command against a model that answers by this rule."""
    monkeypatch.delenv("EVERYCLAIM_JUDGE")

    def run(rule, *options, model="gpt-5-mini"):
        with JudgeServer(rule) as server:
            done = everyclaim("judge-test", "--judge", f"openai:{model}", "--base-url", server.base_url, *options)
            return done, server.calls

    return run


def test_a_good_model_is_fit_to_judge(tried):
    """One call per set of passages; accuracy by kind beside `embedded`, the rule, tokens and cost."""
    done, calls = tried(answering(LABELS.get), "--json")
    found = json.loads(done.out)
    assert (done.code, calls, found["fit"], found["why_not"]) == (0, CASES, True, [])
    assert (found["accuracy"]["value"], found["accuracy"]["n"], found["told_apart"]["value"]) == (1.0, 114, 1.0)
    assert found["beside"]["judge"].startswith("embedded")
    assert set(found["beside"]["kinds"]) == set(found["kinds"]) == set(KINDS)
    assert found["usage"]["calls"] == CASES
    assert found["usage"]["cost"] is None
    assert found["provenance"]["parameters"]["judge_prompt"].startswith("verdict-")
    page, _ = tried(answering(LABELS.get))
    assert "fit to judge" in page.out
    assert "not fit" not in page.out
    assert "price unknown" in page.out


def test_a_model_that_says_yes_to_everything_is_not(tried):
    """Right on every supported claim, on none of the others; exit code 1."""
    done, _ = tried(answering(lambda claim: "SUPPORTED"), "--json")
    found = json.loads(done.out)
    assert (done.code, found["fit"], found["supported"]["value"], found["not_supported"]["value"]) == (
        1,
        False,
        1.0,
        0.0,
    )
    assert "0% of the claims that are not supported are right (at least 80%)" in found["why_not"]
    assert len(found["wrong"]) == 57
    page, _ = tried(answering(lambda claim: "SUPPORTED"))
    assert "not fit to judge" in page.out
    assert "and 32 more claims; --json has them all" in page.out


def test_a_model_that_makes_up_its_quotes_is_not(tried):
    """Though it is always right."""
    done, _ = tried(answering(LABELS.get, quote=lambda passage: "the makers have confirmed this in writing"), "--json")
    found = json.loads(done.out)
    assert (done.code, found["accuracy"]["value"], found["quotes_found"]["value"]) == (1, 1.0, 0.0)
    assert found["why_not"] == ["100% of verdicts with quotes have an invented one (at most 10%)"]


def test_claims_without_a_verdict_are_failures_not_errors_of_judgement(tried):
    """Exit code 3; the rest is counted without them."""

    def rule(request):
        failing = "upright in a cool room" in request.text or "draws 450 W" in request.text
        return "no" if failing else answering(LABELS.get)(request)

    done, _ = tried(rule, "--json")
    found = json.loads(done.out)
    assert (done.code, found["unjudged"], found["accuracy"]["n"], found["accuracy"]["value"]) == (3, 6, 108, 1.0)
    assert found["why_not"] == ["6 claims have no usable verdict (at most 3)"]
    assert {row["given"] for row in found["wrong"]} == {None}
