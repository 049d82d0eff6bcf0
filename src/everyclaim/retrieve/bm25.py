"""Rank the passages of one sample by BM25 (Robertson and Zaragoza 2009) over stemmed tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from sys import getsizeof
from typing import Any

import numpy as np

from everyclaim.core.lifetime import remembered
from everyclaim.core.types import Passage
from everyclaim.text.tokens import STOPWORDS, stem, tokenize


@dataclass(frozen=True, slots=True)
class Bm25Ranker:
    """A `Ranker` over word stems, in memory. Indexes of recent passage sets are kept."""

    def rank(self, query: str, passages: Sequence[Passage]) -> list[int]:
        """Return the indices of all passages, most relevant first; ties keep the given order."""
        if len(passages) <= 1:
            return list(range(len(passages)))
        index = _index(tuple(f"{passage.title}\n{passage.text}" for passage in passages))
        terms = sorted(set(_terms(query)) & index.vocab_dict.keys()) if index is not None else []
        if not terms:
            return list(range(len(passages)))
        scores = index.get_scores(terms)
        return [int(i) for i in np.argsort(-scores, kind="stable")]


def _weight(index: Any, texts: tuple[str, ...]) -> int:
    held = sum(map(getsizeof, texts))
    if index is not None:
        held += 200 * len(index.vocab_dict)
        held += sum(part.nbytes for part in index.scores.values() if isinstance(part, np.ndarray))
    return held


@remembered(16_000_000, _weight)
def _index(texts: tuple[str, ...]) -> Any:
    """Index the texts; None when none of them holds a term."""
    import bm25s  # imported late: not every run ranks

    corpus = [_terms(text) for text in texts]
    if not any(corpus):
        return None
    index = bm25s.BM25()
    index.index(corpus, show_progress=False)
    return index


def _terms(text: str) -> list[str]:
    return [stem(token.norm) for token in tokenize(text) if token.norm not in STOPWORDS]
