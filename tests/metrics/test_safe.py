"""SAFE: relevant claims searched for step by step, and F1 at K of what was supported."""

import json
import sqlite3
from collections import Counter
from contextlib import closing

import pytest

import everyclaim as ec
from everyclaim.core.types import Label
from everyclaim.metrics.knowledge import at_k
from everyclaim.testing import ScriptedChat, play, request_data
from everyclaim.verify.llm import LlmVerifier
from scripted_judge import ByWords

FACTS = {
    "rye": "Rye bread is dense.",
    "oats": "Oats are pale.",
    "trams": "NOT Trams eat hay.",
    "lakes": "Lakes are deep.",
}


class Library:
    """Knows the facts above, by any of their first words; counts what it was asked."""

    spec = "library"

    def __init__(self, after=0):
        self.asked = []
        self.after = after  # searches per claim that find nothing

    async def search(self, query, k, *, topic=None):
        self.asked.append(query)
        if len(self.asked) <= self.after:
            return []
        found = [fact for word, fact in FACTS.items() if word in query.lower()]
        return [ec.Passage(f"d{sum(map(ord, text))}", text) for text in found[:k]]


def score(response, question="", metric="safe?k=2&steps=words", **options):
    return ec.score(
        response=response, question=question, metric=metric, **({"knowledge": Library(), "judge": ByWords()} | options)
    )


def test_f1_at_k_has_the_values_of_the_paper():
    """Precision over the relevant claims, recall up to K, their harmonic mean; nothing supported is 0."""
    assert at_k(32, 0, 64) == (1.0, 0.5, pytest.approx(2 / 3))
    assert at_k(64, 64, 64) == (0.5, 1.0, pytest.approx(2 / 3))
    assert at_k(128, 0, 64) == (1.0, 1.0, 1.0)
    assert at_k(0, 5, 64) == (0.0, 0.0, 0.0)
    assert at_k(0, 0, 64) == (None, 0.0, 0.0)


def test_supported_contradicted_and_irrelevant_claims_are_kept_apart():
    """An irrelevant claim leaves the denominator and is named as skipped; labels stay three."""
    result = score("Rye bread is dense. Rye is oats. Trams eat hay. Lakes are deep.", "Do trams run on rye bread?")
    assert {claim.text: claim.verdict.label for claim in result.claims} == {
        "Rye bread is dense.": Label.SUPPORTED,
        "Rye is oats.": Label.UNSUPPORTED,
        "Trams eat hay.": Label.CONTRADICTED,
    }
    assert [(skipped.text, skipped.reason) for skipped in result.skipped] == [("Lakes are deep.", "irrelevant")]
    assert result.details["counts"] == {"supported": 1, "not_supported": 2, "contradicted": 1, "irrelevant": 1}
    assert result.components == {"f1_at_k": pytest.approx(0.4), "precision": pytest.approx(1 / 3), "recall_at_k": 0.5}
    assert result.score == pytest.approx(0.4)


def test_a_claim_that_is_settled_is_searched_no_further():
    """By support or by contradiction; one that stays open gets all its queries, each another."""
    library = Library()
    result = score("Rye bread is dense. Trams eat hay. Zebras have stripes in Africa since 1900.", knowledge=library)
    queries = Counter(search["claim"] for search in result.details["searches"])
    assert (queries["c1"], queries["c2"]) == (1, 1)
    assert 2 <= queries["c3"] <= 5
    assert len(library.asked) == len(set(library.asked)) == sum(queries.values())
    assert [search["claim"] for search in result.details["searches"]] == sorted(queries.elements())


def test_only_what_is_found_can_make_a_claim_irrelevant():
    """A claim that shares no word with the question, and for which nothing is found, still counts against the answer."""
    result = score("Sailors carried the recipe. Lakes are deep.", "What is the history of gingerbread?")
    assert [claim.text for claim in result.claims] == ["Sailors carried the recipe."]
    assert result.score == 0
    told = score(
        "Oats are pale.", "Which grains go into rye bread?", knowledge=lambda query: ["Oats are pale, rye is not."]
    )
    assert told.details["counts"]["supported"] == 1


@pytest.mark.parametrize(("k", "expected"), [("median", 2), ("max", 4)])
def test_k_over_the_set_is_worked_out_from_the_stored_verdicts(k, expected, tmp_path):
    """Over relevant claims per answer, without asking anything again; every way to read the run agrees."""
    library, judge = Library(), ByWords()
    answers = [
        "Rye bread is dense.",
        "Oats are pale. Zebras have stripes.",
        "Rye bread is dense. Oats are pale. Bears are big. Cats are small.",
        "",
    ]
    rows = [{"id": str(i), "response": answer} for i, answer in enumerate(answers)]
    options = {"metric": f"safe?k={k}&steps=words", "knowledge": library, "judge": judge}
    run = ec.score_file(rows, store=tmp_path / "r.db", **options)
    asked, judged = len(library.asked), len(judge.seen)
    results = list(run.results())
    assert [result.details["k"] for result in results[:3]] == [expected] * 3
    assert [result.score for result in results] == [
        pytest.approx(at_k(1, 0, expected)[2]), pytest.approx(at_k(1, 1, expected)[2]),
        pytest.approx(at_k(2, 2, expected)[2]), None,
    ]  # fmt: skip
    mean = sum(result.score for result in results[:3]) / 3
    assert run.summary.overall.score.value == pytest.approx(mean)
    run.write(tmp_path / "out.jsonl")
    written = [json.loads(line)["score"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert written == [result.score for result in results]
    with closing(sqlite3.connect(tmp_path / "r.db")) as store:
        stored = store.execute("select score, result from samples order by position").fetchall()
    assert [score for score, _ in stored] == written
    assert [json.loads(result)["score"] for _, result in stored] == written
    assert [result.details.get("k_of") for result in results] == ["the run", "the run", "the run", None]
    assert (len(library.asked), len(judge.seen)) == (asked, judged)


def standing(messages):
    """A model that makes claims stand alone by a table, and plays the rest by rule."""
    data = request_data(messages)
    if "answer" not in data:
        return play(messages)
    table = dict.fromkeys(("It is dense.", "This is dense."), "Rye bread is dense.")
    rows = [
        {
            "id": key,
            "text": table.get(claim, claim),
            "relevant": "no" if "Lake" in claim else "yes",
            "why": "off topic" if "Lake" in claim else "",
        }
        for key, claim in data["claims"].items()
    ]
    return json.dumps({"claims": rows})


def with_model(rule, response, question="What is rye bread?", metric="safe?k=2"):
    chat = ScriptedChat(rule)
    return chat, score(response, question, metric, judge=LlmVerifier(chat))


def test_a_model_makes_claims_stand_alone_drops_what_is_beside_the_point_and_writes_queries():
    """Four claims, one irrelevant, all others settled at once: one call to prepare, one for queries, three to judge."""
    chat, result = with_model(
        standing, "Rye bread is old. This is dense. Oats are pale. Lakes are deep.", metric="safe?k=2&queries=1"
    )
    assert [tag.partition("-")[0] for tag in chat.tags] == ["standing", "query", *["verdict"] * (chat.calls - 2)]
    assert [claim.text for claim in result.claims] == ["Rye bread is old.", "Rye bread is dense.", "Oats are pale."]
    assert result.details["rewritten"] == {"c2": "This is dense."}
    assert result.details["irrelevant"] == {"c4": {"claim": "Lakes are deep.", "why": "off topic"}}
    assert chat.calls == 5
    assert result.provenance.parameters["standing_prompt"] == "standing-1"
    assert result.provenance.parameters["query_prompt"] == "query-1"
