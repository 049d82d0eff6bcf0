"""Runs, samples, claims and human labels in one database: a SQLite file, or PostgreSQL by URL.

`Store` is the whole surface; `tables` says what is kept, `migrations` how it came to be so, and
`connect` how a database is reached and how its failures are put into words.
"""

from everyclaim.store.labels import About, Act, AnyAnnotation, HistoryEntry
from everyclaim.store.queues import Labelling
from everyclaim.store.records import (
    Annotation,
    Kind,
    LabelQueue,
    Picked,
    Progress,
    QueueItem,
    Reading,
    RunRecord,
    Status,
    answer_key,
    answer_key_of,
    claim_key,
    config_fingerprint,
)
from everyclaim.store.store import Store
from everyclaim.store.watching import Decision, JudgedAnswer, Spent, WatchStore

__all__ = [
    "About",
    "Act",
    "Annotation",
    "AnyAnnotation",
    "Decision",
    "HistoryEntry",
    "JudgedAnswer",
    "Kind",
    "LabelQueue",
    "Labelling",
    "Picked",
    "Progress",
    "QueueItem",
    "Reading",
    "RunRecord",
    "Spent",
    "Status",
    "Store",
    "WatchStore",
    "answer_key",
    "answer_key_of",
    "claim_key",
    "config_fingerprint",
]
