"""The example data set: what its README promises about offsets, quotes, ids and counts is true."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from everyclaim.core.types import FailureMode, Label

ROOT = Path(__file__).resolve().parents[2] / "examples" / "support_bot"
README = (ROOT / "README.md").read_text("utf-8")
DOCUMENTS = {path.stem: path.read_text("utf-8") for path in (ROOT / "documents").glob("*.md")}


def _rows(name):
    return [json.loads(line) for line in (ROOT / name).read_text("utf-8").splitlines()]


ANSWERS = _rows("answers.jsonl")
NEWER = _rows("answers_v2.jsonl")
LABELS = _rows("labels.jsonl")
BY_ID = {answer["id"]: answer for answer in ANSWERS}
FIRST = [label for label in LABELS if label["annotator"] == "annotator-1"]
SECOND = [label for label in LABELS if label["annotator"] == "annotator-2"]


def _claim_key(label):
    return label["sample_id"], *label["span"]


def _table(heading):
    """Read the rows of the README's table under a heading, without its header."""
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip(" `*") for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_there_are_enough_answers_over_several_documents():
    """At least 40 answers, and every document is retrieved for some of them."""
    assert len(ANSWERS) >= 40
    assert {context["id"].split("/")[0] for answer in ANSWERS for context in answer["contexts"]} == set(DOCUMENTS)


@pytest.mark.parametrize("answers", [ANSWERS, NEWER], ids=["v1", "v2"])
def test_contexts_are_cut_verbatim_from_the_documents(answers):
    """Every context is a piece of the document that its id names."""
    for answer in answers:
        assert 2 <= len(answer["contexts"]) <= 4
        for context in answer["contexts"]:
            assert context["text"] in DOCUMENTS[context["id"].split("/")[0]], context["id"]


@pytest.mark.parametrize("answers", [ANSWERS, NEWER], ids=["v1", "v2"])
def test_citations_name_a_context_of_the_answer(answers):
    """[n] never points past the last context."""
    for answer in answers:
        cited = [int(n) for n in re.findall(r"\[(\d+)\]", answer["response"])]
        assert all(1 <= n <= len(answer["contexts"]) for n in cited), answer["id"]


def test_both_releases_answer_the_same_questions():
    """Ids are unique, and questions and contexts are equal in v1 and v2, so that releases can be paired."""
    assert len(BY_ID) == len(ANSWERS)
    shared = [[(a["id"], a["question"], a["contexts"]) for a in release] for release in (ANSWERS, NEWER)]
    assert shared[0] == shared[1]
    assert {a["release"] for a in ANSWERS} == {"v1"}
    assert {a["release"] for a in NEWER} == {"v2"}


def test_label_spans_are_true_and_do_not_overlap():
    """response[start:end] is the claim, and one annotator never labels a character twice."""
    last = {}
    for label in LABELS:
        start, end = label["span"]
        assert BY_ID[label["sample_id"]]["response"][start:end] == label["claim"]
        key = label["sample_id"], label["annotator"]
        assert last.get(key, 0) <= start < end
        last[key] = end


def test_evidence_is_a_true_quote_of_the_answers_own_contexts():
    """Every quote stands in a context of that answer at the offsets given."""
    for label in LABELS:
        texts = {context["id"]: context["text"] for context in BY_ID[label["sample_id"]]["contexts"]}
        for evidence in label["evidence"]:
            assert texts[evidence["passage_id"]][evidence["start"] : evidence["end"]] == evidence["quote"] != ""


def test_labels_and_failure_modes_are_the_products_own_words():
    """A failure mode is given exactly where a claim is not supported; what the passages say is quoted."""
    for label in LABELS:
        supported = Label(label["label"]) is Label.SUPPORTED
        assert (label["failure_mode"] is None) == supported
        assert supported or FailureMode(label["failure_mode"])
        assert label["evidence"] or label["label"] == Label.UNSUPPORTED


def test_every_answer_is_labelled_unless_there_is_nothing_to_check():
    """Only the abstentions and the thanks have no claims."""
    unlabelled = BY_ID.keys() - {label["sample_id"] for label in FIRST}
    abstained = {i for i in unlabelled if re.search(r"could(n't| not) find", BY_ID[i]["response"])}
    assert len(abstained) == 3
    assert len(unlabelled - abstained) == 1


def test_the_failure_tag_of_an_answer_is_what_its_labels_say():
    """An answer is tagged with the failure mode of its bad claims, and with none when it has none."""
    modes = {answer["id"]: {"none"} for answer in ANSWERS}
    for label in FIRST:
        if label["failure_mode"]:
            modes[label["sample_id"]] = modes[label["sample_id"]] - {"none"} | {label["failure_mode"]}
    assert modes == {answer["id"]: {answer["tags"]["failure"]} for answer in ANSWERS}


def test_every_failure_kind_occurs_at_least_three_times():
    """So that a table by failure kind shows something."""
    counts = Counter(answer["tags"]["failure"] for answer in ANSWERS)
    assert counts.keys() == {"none", *FailureMode} - {FailureMode.OTHER, FailureMode.RELATION}
    assert min(counts.values()) >= 3


def test_some_claims_need_two_passages_and_some_passages_disagree():
    """Spread evidence and conflicting versions are in the data."""
    spread = [label for label in FIRST if len({e["passage_id"] for e in label["evidence"]}) > 1]
    assert sum(label["label"] == Label.SUPPORTED for label in spread) >= 3
    assert sum(answer["tags"].get("versions") == "conflict" for answer in ANSWERS) == 2


def test_two_annotators_overlap_and_disagree_in_a_few_hard_cases():
    """The second annotator judged the same claims of about 20 answers, not always alike."""
    first = {_claim_key(label): label["label"] for label in FIRST}
    alike = [first[_claim_key(label)] == label["label"] for label in SECOND]
    assert 18 <= len({label["sample_id"] for label in SECOND}) <= 22
    assert 0.75 < sum(alike) / len(alike) < 0.95


def test_the_second_release_is_better_but_worse_in_arithmetic():
    """What a comparison of releases ought to find."""

    def bad(answers, **tags):
        chosen = [a["tags"] for a in answers if tags.items() <= a["tags"].items()]
        return sum(t["failure"] != "none" for t in chosen)

    assert bad(NEWER) < bad(ANSWERS)
    assert bad(NEWER, needs="arithmetic") > bad(ANSWERS, needs="arithmetic")


def test_the_readmes_table_of_failures_is_counted():
    """Answers and claims per failure kind, in both releases, as the README prints them."""
    claims = Counter(label["failure_mode"] or "none" for label in FIRST)
    answers, newer = (Counter(a["tags"]["failure"] for a in release) for release in (ANSWERS, NEWER))
    counted = [
        [kind, *map(str, (answers[kind], claims[kind], newer[kind]))] for kind in ["none", *FailureMode] if claims[kind]
    ]
    counted.append(["all", str(len(ANSWERS)), str(len(FIRST)), str(len(NEWER))])
    assert sorted(_table("How many of each")) == sorted(counted)
