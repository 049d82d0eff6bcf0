"""Runs, samples, claims and human labels in one database: a SQLite file, or PostgreSQL by URL.

`Store` is the whole surface; `tables` says what is kept, `migrations` how it came to be so, and
`connect` how a database is reached and how its failures are put into words.
"""

from everyclaim.store.labels import NewLabel, answer_key, claim_key
from everyclaim.store.records import HumanLabel, Reading, RunRecord, Status, config_fingerprint
from everyclaim.store.store import Store

__all__ = [
    "HumanLabel",
    "NewLabel",
    "Reading",
    "RunRecord",
    "Status",
    "Store",
    "answer_key",
    "claim_key",
    "config_fingerprint",
]
