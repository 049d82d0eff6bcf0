"""Corpora: documents cut into passages, found again by BM25, in a file that is whole or not there."""

from __future__ import annotations

import itertools
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.api.metrics import build_corpus, open_corpus
from everyclaim.core.errors import InputError, JudgeError
from everyclaim.core.types import Passage
from everyclaim.io import DocumentRow, ReadReport
from everyclaim.retrieve.bm25 import Bm25Ranker
from everyclaim.retrieve.corpus import Corpus
from everyclaim.retrieve.corpus_file import cut
from everyclaim.text.tokens import tokenize

BREAD = DocumentRow("bread", "Sourdough bread", "A starter is flour and water. Wild yeast raises the dough overnight.")
CAKE = DocumentRow("cake", "Gingerbread", "Lebkuchen is a spiced cake. Its bakers had a guild in Nuremberg.")


def ids(found):
    return [one.passage.id for one in found]


def test_the_passage_that_shares_most_words_comes_first():
    """Ids are the document's id and the place in it; titles count as words of every passage."""
    corpus = Corpus.of([BREAD, CAKE])
    assert ids(corpus.find("Who raises dough in Nuremberg bread?", 5)) == ["bread#1", "cake#1"]
    assert ids(corpus.find("gingerbread", 5)) == ["cake#1"]
    assert corpus.find("gingerbread", 5)[0].passage.title == "Gingerbread"
    assert corpus.find("zeppelin", 5) == []


@pytest.mark.parametrize(
    "query", ['"AND (', "NEAR(a b)", "flour*", "title:flour", "-flour", "a^2", "'; --", '"""', "OR", "\x00", "{a b}"]
)
def test_a_query_is_words_and_never_an_expression(query):
    """What is an operator to SQLite is only text."""
    corpus = Corpus.of([BREAD])
    for text in (query, f"{query} flour"):
        corpus.find(text, 3)
    assert ids(corpus.find(f"{query} flour", 3)) == ["bread#1"]


def test_a_topic_is_a_title_or_holds_one():
    """The longest title inside a question decides; within a topic, passages are ranked among themselves."""
    corpus = Corpus.of([BREAD, CAKE, DocumentRow("b", "Bread", "Bread is baked. " * 200)])
    assert ids(corpus.find("yeast", 5, topic="sourdough BREAD")) == ["bread#1"]
    assert ids(corpus.find("yeast", 5, topic="How do I bake sourdough bread at home?")) == ["bread#1"]
    assert {one.partition("#")[0] for one in ids(corpus.find("yeast", 5, topic="What is bread?"))} == {"b"}
    with pytest.raises(JudgeError, match="no_topic: no document of corpus:memory has the title 'Trams'"):
        corpus.find("yeast", 5, topic="Trams")


@given(
    st.lists(
        st.sampled_from(["Flour rises.", "A b c d e f g h.", "x" * 90, "漢字漢字。", "1 2 3 4", "\n\n", "!!!!"]),
        max_size=60,
    )
)
def test_passages_hold_every_word_once_within_the_bound(parts):
    """Nothing is lost, nothing overlaps, nothing is longer than asked."""
    text = " ".join(parts)
    spans = list(cut(text, 16))
    assert all(0 <= a.start < a.end <= b.start for a, b in itertools.pairwise(spans))
    assert "".join("".join(text[s.start : s.end].split()) for s in spans) == "".join(text.split())
    assert all(len(tokenize(text[s.start : s.end])) <= 16 for s in spans)


def test_the_same_documents_make_the_same_file(tmp_path):
    """Byte for byte, also over an older corpus; other documents make another version."""
    rows = [{"id": "a", "title": "T", "text": "Flour and water."}, {"text": "No id, no title."}]
    first = build_corpus(rows, tmp_path / "a.db")
    before = (tmp_path / "a.db").read_bytes()
    assert build_corpus(rows, tmp_path / "a.db") == first
    assert (tmp_path / "a.db").read_bytes() == before
    assert build_corpus(rows[:1], tmp_path / "b.db").version != first.version
    assert first.documents == 2
    assert ids(Corpus.open(tmp_path / "a.db").find("title id", 2)) == ["2#1"]


def test_documents_come_from_folders_and_tables(tmp_path, monkeypatch):
    """Text files at any depth, by path; rows of the usual tables; the version is of the content alone."""
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "starter.md").write_text("# The starter\n\nFeed it daily.", "utf-8")
    (tmp_path / "docs" / "deep" / "rye_bread.txt").write_text("Rye is dark.", "utf-8")
    (tmp_path / "docs" / "empty.txt").write_text(" \n", "utf-8")
    (tmp_path / "docs" / "notes.pdf").write_bytes(b"%PDF")
    report = ReadReport()
    assert build_corpus(tmp_path / "docs", tmp_path / "c.db", report=report).documents == 2
    assert [str(row) for row in report.bad_rows] == ["row 1: empty.txt: empty"]
    corpus = open_corpus(tmp_path / "c.db")
    assert corpus.find("feed", 1)[0].passage.title == "The starter"
    assert corpus.find("rye", 1)[0].passage == corpus.find("dark", 1)[0].passage
    assert corpus.find("rye", 1)[0].passage.id == "deep/rye_bread.txt#1"
    (tmp_path / "d.jsonl").write_text('{"_id": 7, "contents": "Rye is dark."}\n{"title": "no text"}\n', "utf-8")
    (tmp_path / "d.csv").write_text("id,title,text\n7,,Rye is dark.\n", "utf-8")
    assert open_corpus(tmp_path / "d.csv").version == open_corpus(tmp_path / "d.jsonl").version


def test_what_is_no_corpus_is_refused_in_one_line(tmp_path):
    """Missing, foreign, of another version, cut off."""
    build_corpus([BREAD], tmp_path / "good.db")
    with pytest.raises(InputError, match=r"not a corpus file.*everyclaim corpus build"):
        Corpus.open(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("hello")
    with pytest.raises(InputError, match="is not a corpus file"):
        Corpus.open(tmp_path / "text.db")
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(InputError, match="is a database, but not a corpus"):
        Corpus.open(tmp_path / "other.db")
    data = bytearray((tmp_path / "good.db").read_bytes())
    (tmp_path / "cut.db").write_bytes(data[:3000])
    with pytest.raises(InputError, match="damaged"):
        Corpus.open(tmp_path / "cut.db")
    data[60:64] = (99).to_bytes(4, "big")
    (tmp_path / "new.db").write_bytes(data)
    with pytest.raises(InputError, match="has version 99"):
        Corpus.open(tmp_path / "new.db")
    with pytest.raises(InputError, match="there is no file"):
        open_corpus(tmp_path / "nowhere")


def test_the_passage_that_shares_rare_words_comes_first() -> None:
    """Inflected forms count, words that are everywhere do not."""
    shelf = [
        Passage("a", "The shop sells bread."),
        Passage("b", "The shop refunds damaged kettles."),
        Passage("c", "The shop opens at nine."),
    ]
    assert Bm25Ranker().rank("A damaged kettle is refunded by the shop.", shelf)[0] == 1


@given(st.text(), st.lists(st.text(max_size=40), max_size=6))
def test_every_passage_is_ranked_exactly_once_whatever_the_text(query: str, texts: list[str]) -> None:
    """Ranking is a permutation, and ties keep the given order."""
    order = Bm25Ranker().rank(query, [Passage(str(i), text) for i, text in enumerate(texts)])
    assert sorted(order) == list(range(len(texts)))
