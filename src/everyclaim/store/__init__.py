"""Runs, samples, claims and human labels in one database: a SQLite file, or PostgreSQL by URL.

`Store` is the whole surface; `tables` says what is kept, `migrations` how it came to be so, and
`connect` how a database is reached and how its failures are put into words.
"""

from everyclaim.store.history import About, Act, Entry
from everyclaim.store.labelling import Labelling
from everyclaim.store.labels import NewLabel, answer_key, claim_key
from everyclaim.store.marks import NewMark
from everyclaim.store.records import (
    HumanLabel,
    HumanMark,
    Picked,
    Progress,
    Queue,
    QueueItem,
    Reading,
    RunRecord,
    Status,
    config_fingerprint,
)
from everyclaim.store.store import Store
from everyclaim.store.watching import Decided, Judged, Spent, WatchStore

__all__ = [
    "About",
    "Act",
    "Decided",
    "Entry",
    "HumanLabel",
    "HumanMark",
    "Judged",
    "Labelling",
    "NewLabel",
    "NewMark",
    "Picked",
    "Progress",
    "Queue",
    "QueueItem",
    "Reading",
    "RunRecord",
    "Spent",
    "Status",
    "Store",
    "WatchStore",
    "answer_key",
    "claim_key",
    "config_fingerprint",
]
