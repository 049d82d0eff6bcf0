"""The tables of a store, two column types that lose no character, and the making of an empty database.

`samples.result` holds a result whole and is what reading returns; `claims` and `tags` repeat parts of it as rows, so
that questions about labels, judges and slices are plain SQL.

`schema_migrations` says which version of these tables a store has. Whoever changes them raises `VERSION` and adds the
step that brings a store of the version before up to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from everyclaim._version import __version__
from everyclaim.core.errors import NoStoreError, StoreError

# SQLite cannot encode lone surrogates and PostgreSQL refuses NUL, but both occur in real answers.
# Each becomes U+001A (SUBSTITUTE) and four hexadecimal digits, as does U+001A itself; any other
# text is stored as it is and can be searched.
_UNSAFE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")

_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # made once: json.dumps would each time


def escape(text: str) -> str:
    """Rewrite what a database cannot hold; `unescape` gives back exactly the same text."""
    if text.isascii() and "\x00" not in text and "\x1a" not in text:
        return text
    return _UNSAFE.sub(lambda match: f"\x1a{ord(match[0]):04x}", text)


def unescape(text: str) -> str:
    """Undo `escape`."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "\x1a" in text else text


class Text(sa.types.TypeDecorator[Any]):
    """Any Python string, on any database."""

    impl = sa.Text
    cache_ok = True
    write: Callable[[Any], str] = staticmethod(escape)
    read: Callable[[str], Any] = staticmethod(unescape)

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Python → database."""
        return None if value is None else self.write(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> Any:  # noqa: ARG002 - SQLAlchemy's signature
        """Database → Python."""
        return None if value is None else self.read(value)


class Json(Text):
    """A JSON value as text, read back equal to the last digit and in the same order."""

    cache_ok = True
    write = staticmethod(lambda value: escape(_dumps(value)))
    read = staticmethod(lambda text: json.loads(unescape(text)))


METADATA = sa.MetaData()
_TYPES: dict[str, Any] = {
    "text": Text,
    "json": Json,
    "count": sa.BigInteger,
    "ordinal": sa.Integer,
    "number": sa.Double,
    "flag": sa.Boolean,
}


def _table(name: str, columns: str, *indexes: str) -> sa.Table:
    """Describe a table: its columns with their types (text where none is named), `*` in the key, `?` may be NULL."""
    words = [word.partition(":") for word in columns.split()]
    return sa.Table(
        name,
        METADATA,
        *(
            sa.Column(
                column.strip("*?"),
                _TYPES[kind or "text"],
                primary_key=column.endswith("*"),
                nullable=column.endswith("?"),
            )
            for column, _, kind in words
        ),
        *(sa.Index(f"{name}_{index.split()[-1]}", *index.split()) for index in indexes),
    )


# `counts` (by outcome) and `reading` (of rows of the data set) are written when a run ends.
RUNS = _table(
    "runs",
    "id* name created finished? status metric decomposer verifier strategy version parameters:json config:json"
    " config_fingerprint dataset dataset_fingerprint total?:count counts?:json reading?:json",
)
# `answer_key` is of response and passages: what labels go by; `conversation` is of turns before, and citations beside.
# `probability` is that of the result, to order by.
SAMPLES = _table(
    "samples",
    "run_id* position*:count fingerprint sample_id question response contexts:json reference? tags:json model? release?"
    " timestamp? outcome score?:number reason result:json answer_key conversation?:json probability?:number",
    "run_id outcome",
    "run_id answer_key",
)
# An index entry of PostgreSQL holds at most 2.7 kB and an id can be longer, hence its beginning.
ID_START = sa.func.substr(SAMPLES.c.sample_id, sa.literal_column("1"), sa.literal_column("64"))
sa.Index("samples_id", SAMPLES.c.run_id, ID_START)
# `ordinal` is the place in the result, from 0; the three probabilities have the names of their labels.
CLAIMS = _table(
    "claims",
    "run_id* position*:count ordinal*:ordinal claim_id text span_start:count span_end:count sentence label"
    " supported?:number unsupported?:number contradicted?:number conflict:flag failure_mode? judge evidence:json",
    "run_id label",
)
TAGS = _table("tags", "run_id* position*:count ordinal*:ordinal name value")
# What people say: a label, or a mark of how a claim was split (`kind`). `claim_key` is that of the answer for a whole
# answer; `run_id` names the run for which something was said, and serves others, too; `chosen` says how the text was
# chosen; `evidence` is [[place of the passage, start, end], …].
ANNOTATIONS = _table(
    "annotations",
    "claim_key* annotator* kind* answer_key value span_start?:count span_end?:count note failure_mode? evidence:json"
    " chosen run_id created",
    "answer_key",
)
QUEUES = _table("queues", "id* run_id name chosen answers:flag annotators:json overlap:number created", "run_id")
# `place` is in the annotator's order, `position` the sample's in the run; `ordinal` is −1 for a whole answer; `skipped`
# is the number of the skip in the history.
QUEUE_ITEMS = _table(
    "queue_items", "queue_id* annotator* place*:count position:count ordinal:ordinal claim_key skipped?:count"
)
# `id` is given by whoever acts: the same one again is the same action. `number` counts an annotator's actions from 1,
# `actor` was logged in, `undone` is the id of the action that undid it.
LABEL_HISTORY = _table(
    "label_history",
    "id* number:count annotator actor run_id queue_id claim_key answer_key action before:json after:json undone?"
    " created",
    "annotator number",
    "claim_key",
)
# `checkpoint` says how far the source is read, in its own words, `alarms` where the detector stands.
WATCHES = _table("watches", "watch* checkpoint?:json alarms?:json updated")
# Every answer that a watch has decided about, on a day in UTC. `answer` is the source's key, digested, `chosen` why it
# was judged, `back` whether scores go back, `about` what the source needs for that, `tried` in seconds since 1970.
WATCHED = _table(
    "watched",
    "watch* answer* day decision chosen run_id? position?:count tokens:count cost?:number back about:json"
    " tries:ordinal tried:number",
    "watch day",
    "watch back",
)
# Received, at a time in seconds since 1970, and not yet put together to answers.
SPANS = _table("watched_spans", "watch* trace* span* received:number body:json")

_LEDGER = _table("schema_migrations", "version*:ordinal applied library")
VERSION = 1
_LOCK = 0x65766572  # "ever": one process at a time makes the tables on PostgreSQL


def prepare(engine: sa.Engine, schema: str | None, location: str, *, only_read: bool) -> None:
    """Make the tables in an empty database, unless it is `only_read`.

    `schema` is the PostgreSQL schema that holds the tables, None elsewhere. Raises `NoStoreError` for an empty database
    that is to be read, and `StoreError` for a store made by a newer library and for a database of something else.
    """
    with engine.begin() as connection:
        if not _is_empty(connection, schema, location):
            return
    if only_read:
        raise NoStoreError(f"there is no {location}, only an empty database")
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        if schema:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        if not _is_empty(connection, schema, location):
            return  # another process was first
        if schema:
            connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        METADATA.create_all(connection, checkfirst=False)
        row = {"version": VERSION, "applied": datetime.now(UTC).isoformat(), "library": __version__}
        connection.execute(sa.insert(_LEDGER), row)


def _is_empty(connection: sa.Connection, schema: str | None, location: str) -> bool:
    names = sa.inspect(connection).get_table_names(schema=schema)
    if _LEDGER.name not in names:
        if names:
            raise StoreError(
                f"{location}: contains tables of another application ({names[0]}, …): choose another store"
            )
        return True
    version = connection.scalar(sa.select(sa.func.max(_LEDGER.c.version))) or 0
    if version > VERSION:
        raise StoreError(
            f"{location}: made by a newer everyclaim (schema {version}, this version reads {VERSION}): "
            "upgrade everyclaim"
        )
    return False
