"""Build a corpus file: whole or not at all, in bounded memory, the same file for the same documents."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterable
from pathlib import Path

from everyclaim.core.errors import InputError, OperatorError
from everyclaim.io import Document
from everyclaim.io.sinks import sync_folder
from everyclaim.retrieve.chunking import WORDS
from everyclaim.retrieve.corpus import MAGIC, Corpus, CorpusInfo, checked_words
from everyclaim.retrieve.corpus_file import APPLICATION, fill

_UNFINISHED = ".building"
_APPLICATION_AT = 68  # where SQLite's header has the application's number


def build_corpus(documents: Iterable[Document], out: str | os.PathLike[str], *, words: int = WORDS) -> CorpusInfo:
    """Build a corpus file from documents, in bounded memory, and return what it holds.

    `words` bounds a passage. The file appears whole or not at all: it is written under another name beside `out`,
    brought to the disk, and renamed. A corpus that is there already is replaced; any other file is left alone, with an
    `InputError`. The same documents make the same file. Raises `OperatorError` when it cannot be written.
    """
    place = Path(out)
    words = checked_words(words)
    if place.exists():
        _check_replaceable(place)
    _sweep(place)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=_UNFINISHED, dir=place.parent)
    except OSError as error:
        raise OperatorError(f"cannot write the corpus {place}: {error.strerror}") from None
    os.close(handle)
    unfinished = Path(name)
    try:
        info = _write(unfinished, documents, words)
        _settle(unfinished, place)
    except sqlite3.Error as error:
        raise OperatorError(f"cannot write the corpus {place}: {error}") from None
    except OSError as error:
        raise OperatorError(f"cannot write the corpus {place}: {error.strerror or error}") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return info


def _write(path: Path, documents: Iterable[Document], words: int) -> CorpusInfo:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # Nothing to roll back to: a build that ends early is thrown away as a whole.
        connection.executescript("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        fill(connection, documents, words)
        return Corpus(connection, "").info


def _settle(unfinished: Path, place: Path) -> None:
    """Bring the file to the disk under its name."""
    mask = os.umask(0)
    os.umask(mask)
    unfinished.chmod(0o666 & ~mask)
    with unfinished.open("rb+") as file:
        os.fsync(file.fileno())
    unfinished.replace(place)
    sync_folder(place.parent)


def _sweep(place: Path) -> None:
    """Remove what killed builds of the same corpus left behind; one that is under way holds a lock on its file."""
    for leftover in place.parent.glob(f".{_without_wildcards(place.name)}.*{_UNFINISHED}"):
        try:
            with contextlib.closing(sqlite3.connect(leftover, timeout=0, isolation_level=None)) as connection:
                connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                continue
        except sqlite3.Error:
            pass  # cut off in the middle, so nobody's
        leftover.unlink(missing_ok=True)


def _without_wildcards(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _check_replaceable(path: Path) -> None:
    """Refuse to write over what is not a corpus; a damaged corpus and an empty file may be replaced."""
    if not path.is_file():
        raise InputError(f"{path} is not a file; give the name of a file for the corpus")
    with path.open("rb") as file:
        head = file.read(_APPLICATION_AT + 4)
    if head and (not head.startswith(MAGIC) or head[_APPLICATION_AT:] != APPLICATION.to_bytes(4, "big")):
        raise InputError(f"{path} is there already and is not a corpus; give another name or remove it")
