"""What a corpus file looks like inside: an SQLite database with a full-text index over passages.

`words` holds no text, only which passage has which word. Texts go in and queries are asked as our own tokens,
folded and without marks, so both sides see the same words in every script; SQLite stems them (Porter).
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import pairwise

from everyclaim._version import __version__
from everyclaim.core.plaintext import storable
from everyclaim.core.types import Span
from everyclaim.io import DocumentRow
from everyclaim.text.stops import sentence_spans
from everyclaim.text.tokens import STOPWORDS, tokenize

SCHEMA = 1
APPLICATION = 0x45434F52  # how SQLite's header says that a database is one of these
WORDS = 256  # of a passage, as in FActScore
MOST_TERMS = 64  # of a query; more would only make it slow
_TOPIC_WORDS = 200  # of a question that are looked at
_TITLE_WORDS = 12

_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL, title TEXT NOT NULL, topic TEXT NOT NULL);
CREATE TABLE passages (
    number INTEGER PRIMARY KEY, document INTEGER NOT NULL, place INTEGER NOT NULL, text TEXT NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5(title, text, content='', tokenize="porter unicode61 remove_diacritics 2");
"""
_INDEXES = """
CREATE INDEX documents_topic ON documents (topic);
CREATE INDEX passages_document ON passages (document);
"""


def fill(connection: sqlite3.Connection, documents: Iterable[DocumentRow], words: int) -> None:
    """Write documents into an empty database, one in memory at a time. The same documents give the same content."""
    connection.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA}; {_TABLES}")
    connection.execute("BEGIN")
    digest = hashlib.sha256(f"corpus {SCHEMA} {words}".encode())
    number = passages = 0
    for number, document in enumerate(documents, start=1):
        row = (number, storable(document.id), storable(document.title), topic_key(document.title))
        connection.execute("INSERT INTO documents VALUES (?, ?, ?, ?)", row)
        text = storable(document.text)
        for part in (*row[1:3], text):
            data = part.encode()
            digest.update(len(data).to_bytes(8, "big") + data)
        title = _folded(document.title)
        for place, (start, end) in enumerate(cut(text, words), start=1):
            passages += 1
            piece = text[start:end]
            connection.execute("INSERT INTO passages VALUES (?, ?, ?, ?)", (passages, number, place, piece))
            connection.execute(
                "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)", (passages, title, _folded(piece))
            )
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    about = {
        "documents": number,
        "passages": passages,
        "words_per_passage": words,
        "version": digest.hexdigest()[:16],
        "made_by": f"everyclaim {__version__}",
    }
    connection.executemany("INSERT INTO about VALUES (?, ?)", [(name, str(value)) for name, value in about.items()])
    connection.execute("COMMIT")
    connection.executescript(_INDEXES)


def match(query: str) -> str:
    """Write a query for SQLite's index: any of its words, each quoted, so that none can be an operator.

    Function words are left out unless there are no others; empty when the query holds no word.
    """
    norms = [term for token in tokenize(query) if (term := _plain(token.norm))]
    terms = list(dict.fromkeys(norm for norm in norms if norm not in STOPWORDS)) or list(dict.fromkeys(norms))
    return " OR ".join(f'"{term}"' for term in terms[:MOST_TERMS])


def topic_key(title: str) -> str:
    """Return what titles are compared by: their words, folded."""
    return " ".join(token.norm for token in tokenize(storable(title)))


def topic_keys(topic: str) -> Iterator[list[str]]:
    """Yield the keys of the titles that a topic could name: itself, then what it holds, longest first.

    Single words that are no content words name nothing.
    """
    norms = [token.norm for token in tokenize(storable(topic))][:_TOPIC_WORDS]
    yield [topic_key(topic)]
    for size in range(min(_TITLE_WORDS, len(norms)), 0, -1):
        runs = [norms[i : i + size] for i in range(len(norms) - size + 1)]
        yield [" ".join(run) for run in runs if not STOPWORDS.issuperset(run)]


def _folded(text: str) -> str:
    return " ".join(_plain(token.norm) for token in tokenize(text))


def _plain(norm: str) -> str:
    """Drop what is no word to SQLite (symbols alone) and what would end a quoted one."""
    return norm.replace('"', " ").strip() if any(character.isalnum() for character in norm) else ""


# ---- documents into passages of a bounded number of words, at the bounds of sentences


def cut(text: str, words: int = WORDS) -> Iterator[Span]:
    """Yield the passages of a text in order: runs of whole sentences of at most `words` words.

    Words are tokens; in scripts without spaces every character is one. A sentence that is longer by itself is cut
    between words. Together the passages hold everything but white space between them.
    """
    start = end = weight = 0
    for first, last in sentence_spans(text):
        tokens = tokenize(text[first:last])
        places = [first, *(first + token.start for token in tokens[words::words]), last]
        for number, (begin, stop) in enumerate(pairwise(places)):
            own = max(1, min(words, len(tokens) - words * number))
            if weight and weight + own > words:
                yield Span(start, end)
                weight = 0
            start = start if weight else begin
            end = begin + len(text[begin:stop].rstrip())
            weight += own
    if weight:
        yield Span(start, end)
