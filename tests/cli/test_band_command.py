"""`everyclaim band`: labels in, a cascade out."""

import json
from pathlib import Path

import pytest

from everyclaim.testing import JudgeServer, play

LABELS = [
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
    (desk / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in LABELS))
    return "labels.jsonl"


def test_the_page_says_what_is_settled_and_how_to_use_it(everyclaim, labels):
    """Both sides, their errors with a bound, and a spec in one piece that `score` takes."""
    done = everyclaim(
        "band", labels, "--judge", "lexical", "--escalate-to", "openai:m?claims_per_call=4", "--max-error", "0.1"
    )
    assert done.code == 0, done.err
    page = " ".join(done.out.split())
    assert "deferral zone · of lexical · 120 labelled claims on 120 sets of passages" in page
    assert "as supported ≥" in page
    assert "as not supported ≤" in page
    assert "0 (0.0 %)" in page
    spec = done.out.split("--judge '")[1].split("'")[0]
    assert spec.startswith("cascade:lexical>openai:m?2.claims_per_call=4&high=0.")
    with JudgeServer(lambda request: play(request.messages)) as server:
        answer = {"response": "Kettle 3 is red.", "contexts": ["Kettle 3 is red."]}
        Path("answers.jsonl").write_text(json.dumps(answer) + "\n")
        used = everyclaim("score", "answers.jsonl", "--judge", spec, "--base-url", server.base_url)
    assert used.code == 0, used.err
    assert "100.0 % of 1 claim settled by lexical" in " ".join(used.out.split())


def test_too_few_labels_are_inconclusive(everyclaim, labels):
    """Exit code 4, how many it takes, and no spec that pretends."""
    done = everyclaim("band", labels, "--judge", "lexical", "--limit", "20")
    assert done.code == 4
    assert "needs 39 sets of passages without an error, there are 20" in " ".join(done.out.split())
    assert "cascade:" not in done.out
    assert json.loads(everyclaim("band", labels, "--judge", "lexical", "--limit", "20", "--json").out)["spec"] is None


def test_the_labels_of_the_example_are_read(everyclaim):
    """With its own files: every claim that the first annotator labelled."""
    folder = Path(__file__).parents[2] / "examples" / "support_bot"
    labels, answers = str(folder / "labels.jsonl"), str(folder / "answers.jsonl")
    done = everyclaim("band", labels, "--answers", answers, "--judge", "lexical", "--json")
    assert json.loads(done.out)["claims"] == 197
    assert "66 claims have several labels (11 disagree)" in done.err
