"""A corpus: documents cut into passages and ranked by BM25, in a file for many, in memory for few."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import quote

from everyclaim.core.errors import ConfigError, InputError, JudgeError, OperatorError, StoreError
from everyclaim.core.options import validate_call
from everyclaim.core.types import Passage
from everyclaim.io import DocumentRow
from everyclaim.io.sinks import whole_file
from everyclaim.retrieve.bm25 import Bm25Ranker
from everyclaim.retrieve.corpus_file import APPLICATION, SCHEMA, WORDS, fill, match, topic_keys

_MAGIC = b"SQLite format 3\x00"
_APPLICATION_AT = 68  # where SQLite's header has the application's number
_HOW = "build one with: everyclaim corpus build SOURCE --out FILE"
_FIND = """
SELECT passages.place, passages.text, documents.id, documents.title, -bm25(words) AS score
FROM words JOIN passages ON passages.number = words.rowid JOIN documents ON documents.number = passages.document
WHERE words MATCH ? ORDER BY bm25(words), words.rowid LIMIT ?
"""
_OF_TOPIC = """
SELECT passages.place, passages.text, documents.id, documents.title
FROM passages JOIN documents ON documents.number = passages.document WHERE documents.topic = ? ORDER BY passages.number
"""


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """What a corpus holds. `version` is a hash of the documents and of how they were cut."""

    documents: int
    passages: int
    words_per_passage: int
    version: str


class CorpusHit(NamedTuple):
    """A passage that was found, and its BM25 score (higher is better; 0 where it was ranked within a topic)."""

    passage: Passage
    score: float


class Corpus:
    """A `KnowledgeSource` over documents of your own. Passage ids are the document's id, ``#`` and the place in it.

    A `topic` is a document's title: passages of the documents that have it, else of those with the longest title
    that the topic (a question, say) holds as whole words. A topic that names no document raises `JudgeError`
    (`no_topic`): it would not be known whether the claims are wrong or the corpus has a gap.
    """

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        weakref.finalize(self, connection.close)
        self._lock = threading.Lock()
        self.spec = name
        about = dict(connection.execute("SELECT name, value FROM about"))
        self.info = CorpusInfo(
            int(about["documents"]), int(about["passages"]), int(about["words_per_passage"]), about["version"]
        )
        self.version = self.info.version

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a corpus file for reading. Raises `InputError` for what is no corpus, or a damaged one."""
        place = Path(path)
        if not is_corpus_file(place):
            raise InputError(f"{place} is not a corpus file; {_HOW}")
        try:
            address = f"file:{quote(os.fspath(place.absolute()))}?mode=ro"
            connection = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)
            _check_kind(connection, place)
            return cls(connection, f"corpus:{os.fspath(path)}")
        except (sqlite3.Error, KeyError, ValueError) as error:
            raise InputError(f"the corpus {place} is damaged ({error}); rebuild it") from None

    @classmethod
    def of(cls, documents: Iterable[DocumentRow], *, words: int = WORDS, name: str = "corpus:memory") -> Self:
        """Make a corpus in memory, for few documents; `name` is its spec."""
        connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        fill(connection, documents, _checked_words(words))
        return cls(connection, name)

    @validate_call
    async def search(self, query: str, k: int, *, topic: str | None = None) -> list[Passage]:
        """Return at most `k` passages, best first; see `find`."""
        return [found.passage for found in await asyncio.to_thread(self.find, query, k, topic=topic)]

    @validate_call
    def find(self, query: str, k: int, *, topic: str | None = None) -> list[CorpusHit]:
        """Return at most `k` passages that share a word with the query, by BM25; ties in the order of the documents.

        Within a `topic` its passages are ranked among themselves, and those that share no word come last.
        Raises `StoreError` when the file cannot be read any more, `JudgeError` for a topic that is not there.
        """
        if k < 1:
            raise ConfigError(f"the number of passages must be at least 1, got {k}")
        try:
            with self._lock:
                if topic is not None:
                    return self._within(topic, query, k)
                asked = match(query)
                rows = self._connection.execute(_FIND, (asked, k)).fetchall() if asked else []
        except sqlite3.Error as error:
            raise StoreError(f"cannot search the corpus {self.spec}: {error}; rebuild it") from None
        return [CorpusHit(_passage(*row[:4]), row[4]) for row in rows]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _within(self, topic: str, query: str, k: int) -> list[CorpusHit]:
        for keys in topic_keys(topic):
            for key in keys:
                if key and (rows := self._connection.execute(_OF_TOPIC, (key,)).fetchall()):
                    passages = [_passage(*row) for row in rows]
                    return [CorpusHit(passages[i], 0.0) for i in Bm25Ranker().rank(query, passages)[:k]]
        shown = topic if len(topic) <= 60 else f"{topic[:57]}..."
        raise JudgeError("no_topic", f"no document of {self.spec} has the title {shown!r}, or contains it in its title")


def build_corpus(documents: Iterable[DocumentRow], out: str | os.PathLike[str], *, words: int = WORDS) -> CorpusInfo:
    """Build a corpus file from documents, in bounded memory, and return what it holds.

    `words` bounds a passage. The file appears whole or not at all. A corpus that is there already is replaced; any
    other file is left alone, with an `InputError`. The same documents make the same file. Raises `OperatorError` when
    it cannot be written.
    """
    place = Path(out)
    words = _checked_words(words)
    if place.exists():
        _check_replaceable(place)
    try:
        with (
            whole_file(place) as file,
            contextlib.closing(sqlite3.connect(file.name, isolation_level=None)) as connection,
        ):
            # Nothing to roll back to: a build that ends early is thrown away as a whole.
            connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            fill(connection, documents, words)
            return Corpus(connection, "").info
    except sqlite3.Error as error:
        raise OperatorError(f"cannot write the corpus {place}: {error}") from None
    except OSError as error:
        raise OperatorError(f"cannot write the corpus {place}: {error.strerror or error}") from None


def _check_replaceable(path: Path) -> None:
    """Refuse to write over what is not a corpus; a damaged corpus and an empty file may be replaced."""
    if not path.is_file():
        raise InputError(f"{path} is not a file; pass a file name for the corpus")
    with path.open("rb") as file:
        head = file.read(_APPLICATION_AT + 4)
    if head and (not head.startswith(_MAGIC) or head[_APPLICATION_AT:] != APPLICATION.to_bytes(4, "big")):
        raise InputError(f"{path} exists and is not a corpus; choose another name or remove it")


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise InputError(f"{path} is a database, but not a corpus; {_HOW}")
    schema = connection.execute("PRAGMA user_version").fetchone()[0]
    if schema != SCHEMA:
        raise InputError(f"the corpus {path} has version {schema}, this everyclaim reads {SCHEMA}; rebuild it")


def _checked_words(words: int) -> int:
    """Return the bound on a passage. Raises `ConfigError` for one that makes no sense."""
    if not 16 <= words <= 4096:
        raise ConfigError(f"words per passage must be between 16 and 4096, got {words}")
    return words


def _passage(place: int, text: str, document: str, title: str) -> Passage:
    return Passage(f"{document}#{place}", text, title)


def is_corpus_file(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a database file, to be opened rather than read as documents."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False
