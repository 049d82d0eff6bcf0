"""`judge smoke`, `judge evaluate` and `band`: exit codes, JSON, pages that say why, and a history that is kept."""

import json
from pathlib import Path

import pytest

from everyclaim.api.judge_eval import CASES, cases
from everyclaim.testing import JudgeServer, play, request_data

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
                row = {"id": key, "quotes": quotes, "why": "so", "label": given, "mode": "none", "conflict": False}
                rows.append(row | {"support": 9 if given == "SUPPORTED" else 1})
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
    assert (found["accuracy"]["value"], found["accuracy"]["n"], found["told_apart"]["value"]) == (1.0, 144, 1.0)
    assert found["beside"]["judge"].startswith("embedded")
    assert set(found["beside"]["kinds"]) == set(found["kinds"]) == {case.kind for case in cases()}
    assert found["usage"]["calls"] == CASES
    assert found["usage"]["cost"] is None
    assert found["provenance"]["parameters"]["judge_prompt"].startswith("verdict-")


@pytest.mark.slow
def test_a_model_that_says_yes_to_everything_is_not(tried):
    """Right on every supported claim, on none of the others; exit code 1."""
    done, _ = tried(answering(lambda claim: "SUPPORTED"), "--json")
    found = json.loads(done.out)
    rates = (found["supported"]["value"], found["not_supported"]["value"])
    assert (done.code, found["fit"], rates) == (1, False, (1.0, 0.0))
    assert "0 % of the claims that are not supported are right (required: 80 %)" in found["why_not"]
    assert len(found["wrong"]) == 72
    assert "price unknown" in tried(answering(LABELS.get))[0].out
    page, _ = tried(answering(lambda claim: "SUPPORTED"))
    assert "not fit to judge" in page.out
    assert "and 47 more claims; --json has them all" in page.out


@pytest.mark.slow
def test_claims_without_a_verdict_are_failures_not_errors_of_judgement(tried):
    """Exit code 3; the rest is counted without them."""

    def rule(request):
        failing = "upright in a cool room" in request.text or "draws 450 W" in request.text
        return "no" if failing else answering(LABELS.get)(request)

    done, _ = tried(rule, "--json")
    found = json.loads(done.out)
    assert (done.code, found["unjudged"], found["accuracy"]["n"], found["accuracy"]["value"]) == (3, 6, 138, 1.0)
    assert found["why_not"] == ["6 claims have no usable verdict (allowed: 3)"]
    assert {row["given"] for row in found["wrong"]} == {None}


def test_a_finding_exits_with_one(everyclaim):
    """Here drift: the kept check is of a judge that was always right."""
    assert everyclaim("judge-check", "--judge", "lexical", "--trials", "1", "--history", "checks.jsonl").code == 0
    history = Path("checks.jsonl")
    row = json.loads(history.read_text("utf-8"))
    row["labels"] = {key: label.value for case in cases() for key, label in zip(case.keys, case.labels, strict=True)}
    history.write_text(json.dumps(row) + "\n", "utf-8")
    done = everyclaim("judge-check", "--judge", "lexical", "--trials", "1", "--history", "checks.jsonl")
    assert done.code == 1
    assert "accuracy is worse by" in " ".join(done.out.split())


SHEET = [
    {
        "claim": f"Kettle {i} is red.",
        "contexts": [f"Kettle {i} is red." if i % 2 else f"Tea {i} grows in the hills."],
        "label": label,
    }
    for i in range(120)
    for label in (["SUPPORTED"] if i % 2 else ["UNSUPPORTED"])
]


@pytest.fixture
def labels(desk):
    (desk / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in SHEET))
    return "labels.jsonl"


def test_the_page_says_what_is_settled_and_how_to_use_it(everyclaim, labels):
    """Both sides, their errors with a bound, and a spec in one piece that `score` takes; no second judge for nothing."""
    given = "band", labels, "--judge", "lexical", "--escalate-to", "openai:m?claims_per_call=4", "--max-error", "0.1"
    sure = " ".join(everyclaim(*given).out.split())
    assert "uncertain: 0 of 120 claims (0.0 %): no second judge is worth it" in sure
    assert "use --judge 'lexical'" in sure
    unsure = [{"claim": row["claim"], "contexts": [f"Kettle {i} is scarlet."]} for i, row in enumerate(SHEET[:20])]
    with Path(labels).open("a") as file:
        file.writelines(json.dumps(row | {"label": "UNSUPPORTED"}) + "\n" for row in unsure)
    done = everyclaim(*given)
    assert done.code == 0, done.err
    page = " ".join(done.out.split())
    assert "deferral zone · lexical · 140 labelled claims on 140 sets of passages" in page
    assert "uncertain: 20 of 140 claims" in page
    assert "as supported ≥" in page
    assert "as not supported ≤" in page
    assert "0 (0.0 %)" in page
    spec = done.out.split("--judge '")[1].split("'")[0]
    assert spec.startswith("cascade:lexical>openai:m?2.claims_per_call=4&high=0.")
    with JudgeServer(play) as server:
        answer = {"response": "Kettle 3 is red.", "contexts": ["Kettle 3 is red."]}
        Path("answers.jsonl").write_text(json.dumps(answer) + "\n")
        used = everyclaim("score", "answers.jsonl", "--judge", spec, "--base-url", server.base_url)
    assert used.code == 0, used.err
    assert "100.0 % of 1 claim settled by lexical" in " ".join(used.out.split())
