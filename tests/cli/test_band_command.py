"""`everyclaim band`: labels in, a cascade out."""

import json
from pathlib import Path

import pytest

import everyclaim as ec
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


def test_json_has_the_numbers(everyclaim, labels):
    """The edges, the counts, the bound, and the spec."""
    done = everyclaim("band", labels, "--judge", "lexical", "--json", "--per-label")
    found = json.loads(done.out)
    assert done.code == 0, done.err
    assert (found["claims"], found["clusters"], found["error"]) == (120, 120, 0.1)
    assert found["settled"]["claims"] == found["as_supported"]["claims"] + found["as_not_supported"]["claims"]
    assert found["settled"]["at_most"] < 0.1
    assert f"high={found['high']:g}" in found["spec"]


def test_too_few_labels_are_inconclusive(everyclaim, labels):
    """Exit code 4, how many it takes, and no spec that pretends."""
    done = everyclaim("band", labels, "--judge", "lexical", "--limit", "20")
    assert done.code == 4
    assert "takes 39 sets of passages without a single error to show, and there are 20" in " ".join(done.out.split())
    assert "cascade:" not in done.out
    assert json.loads(everyclaim("band", labels, "--judge", "lexical", "--limit", "20", "--json").out)["spec"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--max-error", "1.5"], "error must lie between 0 and 1, got 1.5"),
        (["--judge", "no-such-judge"], "unknown name 'no-such-judge'"),
        (["--escalate-to", "panel:openai:a|openai:b"], "a cascade is made of plain judges here"),
        (["--map", "topic=label"], "there is no field 'topic'"),
    ],
)
def test_what_is_wrong_is_one_line(everyclaim, labels, options, said):
    """Exit code 2."""
    done = everyclaim("band", labels, *(["--judge", "lexical"] if "--judge" not in options else []), *options)
    assert (done.code, done.out, len(done.said)) == (2, "", 1)
    assert said in done.err


def test_labels_may_name_their_answers(everyclaim, desk):
    """As those of the example do: contexts come from the answers, and who labelled twice counts once."""
    answers = [{"id": f"a{i}", "response": row["claim"], "contexts": row["contexts"]} for i, row in enumerate(LABELS)]
    rows = [{"sample_id": f"a{i}", "claim": row["claim"], "label": row["label"]} for i, row in enumerate(LABELS)]
    again = [{**rows[0], "label": "SUPPORTED"}, rows[1], {**rows[2], "sample_id": "gone"}]
    (desk / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    (desk / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows + again))
    done = everyclaim("band", "labels.jsonl", "--answers", "answers.jsonl", "--judge", "lexical", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["claims"], found["clusters"], found["settled"]["wrong"]) == (120, 120, 0)
    assert "2 claims have several labels, of which 1 differ" in done.err
    assert "labels of answers that are not there were left out" in done.err
    assert "no row has a field for the contexts" not in done.err


def test_labels_without_contexts_say_what_is_missing(everyclaim, desk):
    """And not that the judge gave no verdict."""
    (desk / "labels.jsonl").write_text(json.dumps({"sample_id": "a", "claim": "It is.", "label": "SUPPORTED"}) + "\n")
    done = everyclaim("band", "labels.jsonl")
    assert done.code == 2
    assert "holds labels, but no contexts to judge the claims against" in done.err
    assert "--answers FILE" in done.err


def test_the_labels_of_the_example_are_read(everyclaim):
    """With its own files: every claim that the first annotator labelled."""
    folder = Path(__file__).parents[2] / "examples" / "support_bot"
    labels, answers = str(folder / "labels.jsonl"), str(folder / "answers.jsonl")
    done = everyclaim("band", labels, "--answers", answers, "--judge", "lexical", "--json")
    assert json.loads(done.out)["claims"] == 197
    assert "66 claims have several labels, of which 11 differ" in done.err


def test_the_cache_is_no_file_that_is_read(everyclaim, labels, desk):
    """Neither the labels nor the answers; both stay as they are."""
    answers = desk / "answers.jsonl"
    answers.write_text('{"id": "a", "response": "It is red.", "contexts": ["It is red."]}\n')
    for cache in (labels, "answers.jsonl"):
        before = (desk / cache).read_bytes()
        done = everyclaim("band", labels, "--answers", "answers.jsonl", "--judge", "openai:m", "--cache", cache)
        assert done.code == 2
        assert "which is read: give another name" in done.err
        with pytest.raises(ec.ConfigError, match="which is read: give another name"):
            ec.fit_band(labels, "openai:m", answers="answers.jsonl", cache=cache)
        assert (desk / cache).read_bytes() == before
