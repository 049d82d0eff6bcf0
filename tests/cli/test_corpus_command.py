"""``everyclaim corpus``: build a file from documents, look into it, and score against it."""

import json

import pytest


@pytest.fixture
def documents(desk):
    folder = desk / "documents"
    folder.mkdir()
    (folder / "rye.md").write_text("# Rye\n\nIt is red. Rye bread keeps for a week.", "utf-8")
    (folder / "oats.txt").write_text("Oats are pale.", "utf-8")
    return folder


def test_a_corpus_is_built_and_searched(everyclaim, documents):
    """The build says what it holds; a search shows the passages, as a table or as JSON."""
    done = everyclaim("corpus", "build", "documents", "--out", "c.db", "--json")
    built = json.loads(done.out)
    assert (done.code, built["documents"], built["passages"], built["left_out"]) == (0, 2, 2, 0)
    assert everyclaim("corpus", "build", "documents", "--out", "c.db").said == [
        f"2 documents, 2 passages in c.db (version {built['version']})"
    ]
    assert "rye.md#1" in everyclaim("corpus", "search", "c.db", "rye bread").out
    found = json.loads(everyclaim("corpus", "search", "c.db", "pale oats", "--json", "--k", "1").out)
    assert [(row["id"], row["title"], row["text"]) for row in found] == [("oats.txt#1", "oats", "Oats are pale.")]
    assert json.loads(everyclaim("corpus", "search", "documents", "week", "--topic", "rye", "--json").out)


def test_answers_are_scored_against_a_corpus(everyclaim, documents):
    """Evidence in what was found is shown where it stands, and the response ratio is in the summary."""
    everyclaim("corpus", "build", "documents", "--out", "c.db")
    done = everyclaim("score", "answers.jsonl", "--metric", "factscore?corpus=c.db&gamma=0", "--json")
    summary = json.loads(done.out)["summary"]
    assert summary["outcomes"]["scored"] == 3
    assert summary["response_ratio"] == 3 / 5
    assert set(summary["components"]) == {"factscore", "factscore_unpenalised", "length_penalty"}


def test_what_holds_no_text_is_left_out_and_a_search_without_a_hit_is_said(everyclaim, desk):
    """In one line each."""
    (desk / "bad.jsonl").write_text('{"text": "Fine."}\n{"title": "no text"}\n', "utf-8")
    built = everyclaim("corpus", "build", "bad.jsonl", "--out", "c.db")
    assert built.said[0] == "warning: line 2: there is no text; skipped"
    assert everyclaim("corpus", "search", "c.db", "zeppelin").said == ["no passage contains a word of the query"]
