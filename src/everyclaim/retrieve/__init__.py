"""Query → the passages that matter for it, in order: of a sample, of a corpus, of a search engine, of a user's own."""

from everyclaim.retrieve.bm25 import Bm25Ranker
from everyclaim.retrieve.corpus import Corpus, CorpusInfo, build_corpus
from everyclaim.retrieve.sources import as_knowledge

__all__ = ["Bm25Ranker", "Corpus", "CorpusInfo", "as_knowledge", "build_corpus"]
