"""Corpora: documents cut into passages, found again by BM25, in a file that is whole or not there."""

import asyncio
import itertools
import signal
import sqlite3
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everyclaim.api.knowledge import build_corpus, open_corpus
from everyclaim.core.errors import ConfigError, InputError, JudgeError
from everyclaim.io import Document, ReadReport
from everyclaim.retrieve import Corpus
from everyclaim.retrieve.chunking import cut
from everyclaim.text.tokens import tokenize

BREAD = Document("bread", "Sourdough bread", "A starter is flour and water. Wild yeast raises the dough overnight.")
CAKE = Document("cake", "Gingerbread", "Lebkuchen is a spiced cake. Its bakers had a guild in Nuremberg.")


def ids(found):
    return [one.passage.id for one in found]


def test_the_passage_that_shares_most_words_comes_first():
    """Ids are the document's id and the place in it; titles count as words of every passage."""
    corpus = Corpus.of([BREAD, CAKE])
    assert ids(corpus.find("Who raises dough in Nuremberg bread?", 5)) == ["bread#1", "cake#1"]
    assert ids(corpus.find("gingerbread", 5)) == ["cake#1"]
    assert corpus.find("gingerbread", 5)[0].passage.title == "Gingerbread"
    assert corpus.find("zeppelin", 5) == []


def test_words_are_found_in_other_forms():
    """Stems, accents, capitals and widths do not matter."""
    corpus = Corpus.of([Document("a", "", "The CAFÉ sells cakes.")])
    assert [ids(corpus.find(query, 1)) for query in ("cafe", "cake selling", "ｃａｆé")] == [["a#1"]] * 3


@pytest.mark.parametrize(
    "query", ['"AND (', "NEAR(a b)", "flour*", "title:flour", "-flour", "a^2", "'; --", '"""', "OR", "\x00", "{a b}"]
)
def test_a_query_is_words_and_never_an_expression(query):
    """What is an operator to SQLite is only text."""
    corpus = Corpus.of([BREAD])
    for text in (query, f"{query} flour"):
        corpus.find(text, 3)
    assert ids(corpus.find(f"{query} flour", 3)) == ["bread#1"]


@given(st.text(max_size=40))
@settings(max_examples=60, deadline=None)
def test_any_text_can_be_stored_and_asked(text):
    """Control characters, lone surrogates, every script: nothing raises, and a word finds its document."""
    corpus = Corpus.of([Document("a", text, f"{text} yeast")])
    assert len(corpus.find(f"yeast {text}", 5)) >= 1
    corpus.find(text, 5)


def test_right_to_left_nul_and_unspaced_scripts_are_found():
    """A character of a script without spaces is a word of its own."""
    texts = {"ar": "الخبز المخمر قديم", "he": "לחם מחמצת", "zh": "酵母面包很古老", "nul": "yeast\x00bread"}
    corpus = Corpus.of([Document(name, "", text) for name, text in texts.items()])
    assert ids(corpus.find("المخمر", 1)) == ["ar#1"]
    assert ids(corpus.find("מחמצת", 1)) == ["he#1"]
    assert ids(corpus.find("面包", 1)) == ["zh#1"]
    found = corpus.find("yeast", 1)[0].passage
    assert (found.id, found.text) == ("nul#1", "yeast\x00bread")


def test_an_empty_corpus_finds_nothing():
    """No documents, no passages, no error."""
    corpus = Corpus.of([])
    assert corpus.info.passages == 0
    assert corpus.find("flour", 5) == []


def test_a_topic_is_a_title_or_holds_one():
    """The longest title inside a question decides; within a topic, passages are ranked among themselves."""
    corpus = Corpus.of([BREAD, CAKE, Document("b", "Bread", "Bread is baked. " * 200)])
    assert ids(corpus.find("yeast", 5, topic="sourdough BREAD")) == ["bread#1"]
    assert ids(corpus.find("yeast", 5, topic="How do I bake sourdough bread at home?")) == ["bread#1"]
    assert {one.partition("#")[0] for one in ids(corpus.find("yeast", 5, topic="What is bread?"))} == {"b"}
    with pytest.raises(JudgeError, match="no_topic: no document of corpus:memory has the title 'Trams'"):
        corpus.find("yeast", 5, topic="Trams")


def test_a_topic_of_function_words_names_nothing():
    """A document called "The" is not what every question is about."""
    corpus = Corpus.of([Document("a", "The", "x y z")])
    with pytest.raises(JudgeError, match="no_topic"):
        corpus.find("x", 1, topic="What about the bread?")


@given(
    st.lists(
        st.sampled_from(["Flour rises.", "A b c d e f g h.", "x" * 90, "漢字漢字。", "1 2 3 4", "\n\n", "!!!!"]),
        max_size=60,
    )
)
@settings(max_examples=60, deadline=None)
def test_passages_hold_every_word_once_within_the_bound(parts):
    """Nothing is lost, nothing overlaps, nothing is longer than asked."""
    text = " ".join(parts)
    spans = list(cut(text, 16))
    assert all(0 <= a.start < a.end <= b.start for a, b in itertools.pairwise(spans))
    assert "".join("".join(text[s.start : s.end].split()) for s in spans) == "".join(text.split())
    assert all(len(tokenize(text[s.start : s.end])) <= 16 for s in spans)


def test_passages_end_at_sentences():
    """A sentence is cut only when it alone is too long."""
    text = "One two three four five six. Seven eight nine ten. " + "Word " + "word " * 40 + "end."
    spans = list(cut(text, 16))
    assert text[spans[0].start : spans[0].end] == "One two three four five six. Seven eight nine ten."
    assert len(spans) == 4


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


def test_a_file_and_memory_find_the_same(tmp_path):
    """One way of ranking for both."""
    documents = [BREAD, CAKE, Document("c", "Flour", "Flour is milled grain. Rye flour is dark.")]
    build_corpus(documents, tmp_path / "c.db")
    for query in ("rye flour", "guild of bakers", "water and cake"):
        assert Corpus.open(tmp_path / "c.db").find(query, 3) == Corpus.of(documents).find(query, 3)


def test_documents_come_from_folders_and_tables(tmp_path, monkeypatch):
    """Text files at any depth, by path; rows of the usual tables; the version is of the content alone."""
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "starter.md").write_text("# The starter\n\nFeed it daily.", "utf-8")
    (tmp_path / "docs" / "deep" / "rye_bread.txt").write_text("Rye is dark.", "utf-8")
    (tmp_path / "docs" / "empty.txt").write_text(" \n", "utf-8")
    (tmp_path / "docs" / "notes.pdf").write_bytes(b"%PDF")
    report = ReadReport()
    assert build_corpus(tmp_path / "docs", tmp_path / "c.db", report=report).documents == 2
    assert [str(row) for row in report.bad_rows] == ["row 1: empty.txt: the text is empty"]
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
    with pytest.raises(InputError, match="everyclaim corpus build"):
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
    with pytest.raises(InputError, match="has the version 99"):
        Corpus.open(tmp_path / "new.db")
    with pytest.raises(InputError, match="there is no file"):
        open_corpus(tmp_path / "nowhere")


def test_only_a_corpus_is_written_over(tmp_path):
    """Somebody else's file at the same name stays."""
    (tmp_path / "mine.db").write_text("precious")
    with pytest.raises(InputError, match="is not a corpus; give another name"):
        build_corpus([BREAD], tmp_path / "mine.db")
    assert (tmp_path / "mine.db").read_text() == "precious"
    with pytest.raises(ConfigError, match="from 16 to 4096"):
        build_corpus([BREAD], tmp_path / "c.db", words=3)


def test_a_build_that_fails_leaves_the_old_corpus_and_nothing_else(tmp_path):
    """Whatever the source raises in the middle."""
    build_corpus([BREAD], tmp_path / "c.db")

    def broken():
        yield {"text": "Fine."}
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError):
        build_corpus(broken(), tmp_path / "c.db")
    assert [path.name for path in tmp_path.iterdir()] == ["c.db"]
    assert Corpus.open(tmp_path / "c.db").info.documents == 1


def test_a_killed_build_leaves_no_half_file_and_the_next_one_cleans_up(tmp_path):
    """The corpus is there before, during and after; what the killed one wrote is removed."""
    build_corpus([BREAD], tmp_path / "c.db")
    code = (
        "import sys\nfrom everyclaim.api.knowledge import build_corpus\n"
        "def rows():\n    n = 0\n    while True:\n        n += 1\n"
        "        if n == 50: print('going', flush=True)\n"
        "        yield {'text': f'Sentence {n} is about flour number {n}. ' * 40}\n"
        "build_corpus(rows(), sys.argv[1])\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "c.db")], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"going\n"
        assert Corpus.open(tmp_path / "c.db").info.documents == 1
        under_way = [path.name for path in tmp_path.glob(".*.part")]
        build_corpus([BREAD, CAKE], tmp_path / "c.db")
        assert [path.name for path in tmp_path.glob(".*.part")] == under_way  # somebody is at it
        process.send_signal(signal.SIGKILL)
    assert Corpus.open(tmp_path / "c.db").info.documents == 2
    build_corpus([BREAD], tmp_path / "c.db")
    assert [path.name for path in tmp_path.iterdir()] == ["c.db"]


@pytest.mark.slow
def test_a_document_of_ten_megabytes_is_cut_like_any_other():
    """In passages of the usual size."""
    corpus = Corpus.of(
        [
            Document(
                "big", "Big", "The dough rests. Then it is shaped and baked.\n" * 40_000 + "Zeppelin." + "!" * 8_000_000
            )
        ]
    )
    assert ids(corpus.find("zeppelin", 2))[0].startswith("big#")
    assert max(len(one.passage.text) for one in corpus.find("dough", 50)) < 5000


def test_searching_does_not_block_the_loop_and_many_can_ask_at_once():
    """A search runs in a thread; answers do not mix."""
    corpus = Corpus.of([BREAD, CAKE])

    async def ask():
        return await asyncio.gather(*(corpus.search(word, 1) for word in ["yeast", "guild"] * 20))

    assert [found[0].id for found in asyncio.run(ask())] == ["bread#1", "cake#1"] * 20
