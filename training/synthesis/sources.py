"""Documents to make claims from: passage sets, cleaned, grouped, on the fitting or on the probe side.

Texts of the development claims and of the groups of `written` that are held out are never used.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from training.lexical_data import HELD_OUT, probed, share

from everyclaim.text.names import names
from everyclaim.text.segment import sentences
from everyclaim.text.tokens import STOPWORDS, stem, tokenize

# Data sets whose contexts are documents; the rest are single lines, or what a machine wrote.
DOCUMENTS = frozenset(
    {"begin", "bump", "citint", "defacto", "factcheck_bench", "foolmetwice", "propsegment", "storysumm"}
    | {"true_dialfact", "wice_oracle"}
)
RECORDS = frozenset({"infotabs"})


@dataclass(frozen=True, slots=True)
class Document:
    """A passage set and, where there is one, a question it was retrieved for."""

    group: str
    source: str
    texts: tuple[str, ...]
    question: str = ""
    answers: tuple[str, ...] = ()


def documents(data: Path, *, side: str) -> list[Document]:
    """Read all usable documents of a side (`fit` or `probe`), in an order that depends on nothing but the data."""
    banned, held = _kept_back(data)
    found: dict[tuple[str, str, tuple[str, ...]], Document] = {}
    for document, row_id in _all(data):
        if row_id in held or probed(document.group) != (side == "probe"):
            continue
        if any(_print(text) in banned for text in document.texts) or sum(map(len, document.texts)) < 80:
            continue
        key = (document.group, document.question, document.texts)
        found.setdefault(key, document)
    return sorted(found.values(), key=lambda one: (share(one.group), one.question, one.texts))


def _all(data: Path) -> Iterator[tuple[Document, str]]:
    for path in sorted((data / "passages").glob("*.jsonl.xz")):
        source = path.name.partition(".")[0]
        for row in _rows(path):
            texts = _plain(row["contexts"])
            title = next((one.get("title", "") for one in row["contexts"] if isinstance(one, dict)), "")
            group = f"{source}-{title}" if source in ("policyqa", "xquad") and title else row["id"]
            yield Document(group, source, texts, row["question"] or "", tuple(row["answers"] or ())), row["id"]
    for row in _rows(data / "claims" / "train.jsonl.xz"):
        if row["dataset"] in DOCUMENTS | RECORDS:
            question = (row.get("question") or "") if row["dataset"] not in ("begin", "true_dialfact") else ""
            yield Document(row["group"], row["dataset"], _plain(row["contexts"]), question), row["id"]


def _kept_back(data: Path) -> tuple[set[str], set[str]]:
    """Fingerprints of texts, and groups, that are only ever tested on."""
    banned: set[str] = set()
    held: set[str] = set()
    for name in ("dev", "written"):
        path = data / "claims" / f"{name}.jsonl.xz"
        for row in _rows(path) if path.exists() else ():
            if name == "dev" or share(row["group"]) < HELD_OUT:
                banned.update(_print(text) for text in _plain(row["contexts"]))
                held.add(row["group"])
    return banned, held


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def _plain(contexts: list[Any]) -> tuple[str, ...]:
    texts = (text if isinstance(text, str) else text.get("text", "") for text in contexts)
    return tuple(text.replace("\r\n", "\n").strip() for text in texts if text.strip())


def _print(text: str) -> str:
    return re.sub(r"\W+", "", text)[:120].casefold()


_JUNK = re.compile(r"https?://|www\.|[|{}<>\\^~=]|\.\.\.|…|_{2}|\?|\bet al\b|\[edit|@|\t|\n| :$")
_START = re.compile(r"[\"“'‘(`]*[A-Z0-9]")
_END = re.compile(r"[A-Za-z0-9)%\]]\s?[.!](?:[\"”’']|\s?'')?$")


@lru_cache(maxsize=60_000)
def spans(text: str) -> tuple[tuple[int, int], ...]:
    """Sentences of a text: half-open offsets."""
    return tuple((one.start, one.end) for one in sentences(text))


@lru_cache(maxsize=60_000)
def good_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Sentences that look like statements."""
    return tuple((start, end) for start, end in spans(text) if is_statement(text[start:end]))


def is_statement(sentence: str) -> bool:
    """Say whether a sentence can stand as a claim: its shape only, not its sense."""
    if not 30 <= len(sentence) <= 330 or _JUNK.search(sentence) or not _START.match(sentence):
        return False
    if not _END.search(sentence) or len(sentence.split()) < 6:
        return False
    words = sentence.lower().split()
    if sum(word in STOPWORDS for word in words) < 0.12 * len(words):
        return False  # a list, a heading, or not English
    return sentence.count("(") == sentence.count(")") and sentence.count('"') % 2 == 0


@lru_cache(maxsize=200_000)
def content(text: str) -> frozenset[str]:
    """Stems of the content words and the numbers of a text."""
    return frozenset(stem(token.norm) for token in tokenize(text) if token.norm not in STOPWORDS)


@lru_cache(maxsize=60_000)
def names_of(text: str) -> tuple[tuple[str, int, int], ...]:
    """Names of a passage, with their offsets."""
    return tuple((name.text, name.start, name.end) for name in names(text))


def coverage(claim: str, text: str) -> float:
    """Share of the claim's content words that a text holds."""
    wanted = content(claim)
    return len(wanted & content(text)) / len(wanted) if wanted else 1.0
