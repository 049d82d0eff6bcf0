"""How the tables came to be: an append-only list of steps, each applied once and never changed.

A step runs in one transaction together with its record in `schema_migrations`, so a store is
always at exactly one version. To change the tables, add a step at the end and edit `tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import sqlalchemy as sa

from everyclaim._version import __version__
from everyclaim.core.errors import NoStoreError, StoreError
from everyclaim.store.records import answer_key, claim_key
from everyclaim.store.tables import Json, Text

Step = Callable[[sa.Connection, str], None]

_LOCK = 0x65766572  # "ever": one migrating process at a time on PostgreSQL


_RUNS_SAMPLES_CLAIMS = """
CREATE TABLE {p}runs (
    "id" TEXT PRIMARY KEY, "name" TEXT NOT NULL, "created" TEXT NOT NULL, "finished" TEXT, "status" TEXT NOT NULL,
    "metric" TEXT NOT NULL, "decomposer" TEXT NOT NULL, "verifier" TEXT NOT NULL, "strategy" TEXT NOT NULL,
    "version" TEXT NOT NULL, "parameters" TEXT NOT NULL, "config" TEXT NOT NULL, "config_fingerprint" TEXT NOT NULL,
    "dataset" TEXT NOT NULL, "dataset_fingerprint" TEXT NOT NULL, "total" BIGINT, "counts" TEXT
);
CREATE TABLE {p}samples (
    "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL, "fingerprint" TEXT NOT NULL, "sample_id" TEXT NOT NULL,
    "question" TEXT NOT NULL, "response" TEXT NOT NULL, "contexts" TEXT NOT NULL, "reference" TEXT,
    "tags" TEXT NOT NULL, "model" TEXT, "release" TEXT, "timestamp" TEXT, "outcome" TEXT NOT NULL,
    "score" DOUBLE PRECISION, "reason" TEXT NOT NULL, "result" TEXT NOT NULL, PRIMARY KEY ("run_id", "position")
);
CREATE INDEX samples_outcome ON {p}samples ("run_id", "outcome");
CREATE INDEX samples_id ON {p}samples ("run_id", substr("sample_id", 1, 64));
CREATE TABLE {p}claims (
    "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL, "ordinal" INTEGER NOT NULL, "claim_id" TEXT NOT NULL,
    "text" TEXT NOT NULL, "span_start" BIGINT NOT NULL, "span_end" BIGINT NOT NULL, "sentence" TEXT NOT NULL,
    "label" TEXT NOT NULL, "supported" DOUBLE PRECISION, "unsupported" DOUBLE PRECISION,
    "contradicted" DOUBLE PRECISION, "conflict" BOOLEAN NOT NULL, "failure_mode" TEXT, "judge" TEXT NOT NULL,
    "evidence" TEXT NOT NULL, PRIMARY KEY ("run_id", "position", "ordinal")
);
CREATE INDEX claims_label ON {p}claims ("run_id", "label");
CREATE TABLE {p}tags (
    "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL, "ordinal" INTEGER NOT NULL, "name" TEXT NOT NULL,
    "value" TEXT NOT NULL, PRIMARY KEY ("run_id", "position", "ordinal")
)
"""  # an index entry of PostgreSQL holds at most 2.7 kB and an id can be longer, hence substr

_LABELS = """
CREATE TABLE {p}labels (
    "id" TEXT PRIMARY KEY, "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL, "sample_id" TEXT NOT NULL,
    "claim_id" TEXT NOT NULL, "label" TEXT NOT NULL, "annotator" TEXT NOT NULL, "note" TEXT NOT NULL,
    "created" TEXT NOT NULL
);
CREATE INDEX labels_place ON {p}labels ("run_id", "position")
"""


_READING = 'ALTER TABLE {p}runs ADD COLUMN "reading" TEXT'  # what became of the rows of the data set; NULL: not known


_LABELS_OF_TEXTS = """
CREATE TABLE {p}labels_2 (
    "claim_key" TEXT NOT NULL, "annotator" TEXT NOT NULL, "answer_key" TEXT NOT NULL, "span_start" BIGINT,
    "span_end" BIGINT, "label" TEXT NOT NULL, "failure_mode" TEXT, "note" TEXT NOT NULL, "chosen" TEXT NOT NULL,
    "run_id" TEXT NOT NULL, "created" TEXT NOT NULL, PRIMARY KEY ("claim_key", "annotator")
);
CREATE INDEX labels_2_answer ON {p}labels_2 ("answer_key");
ALTER TABLE {p}samples ADD COLUMN "answer_key" TEXT;
CREATE INDEX samples_answer ON {p}samples ("run_id", "answer_key")
"""

_LABELLING = """
ALTER TABLE {p}labels_2 ADD COLUMN "evidence" TEXT;
CREATE TABLE {p}marks (
    "claim_key" TEXT NOT NULL, "annotator" TEXT NOT NULL, "answer_key" TEXT NOT NULL, "span_start" BIGINT,
    "span_end" BIGINT, "mark" TEXT NOT NULL, "note" TEXT NOT NULL, "chosen" TEXT NOT NULL, "run_id" TEXT NOT NULL,
    "created" TEXT NOT NULL, PRIMARY KEY ("claim_key", "annotator")
);
CREATE INDEX marks_answer ON {p}marks ("answer_key");
CREATE TABLE {p}queues (
    "id" TEXT PRIMARY KEY, "run_id" TEXT NOT NULL, "name" TEXT NOT NULL, "chosen" TEXT NOT NULL,
    "answers" BOOLEAN NOT NULL, "annotators" TEXT NOT NULL, "overlap" DOUBLE PRECISION NOT NULL, "created" TEXT NOT NULL
);
CREATE INDEX queues_run ON {p}queues ("run_id");
CREATE TABLE {p}queue_items (
    "queue_id" TEXT NOT NULL, "annotator" TEXT NOT NULL, "place" BIGINT NOT NULL, "position" BIGINT NOT NULL,
    "ordinal" INTEGER NOT NULL, "claim_key" TEXT NOT NULL, "skipped" BIGINT,
    PRIMARY KEY ("queue_id", "annotator", "place")
);
CREATE TABLE {p}label_history (
    "id" TEXT PRIMARY KEY, "number" BIGINT NOT NULL, "annotator" TEXT NOT NULL, "actor" TEXT NOT NULL,
    "run_id" TEXT NOT NULL, "queue_id" TEXT NOT NULL, "claim_key" TEXT NOT NULL, "answer_key" TEXT NOT NULL,
    "action" TEXT NOT NULL, "before" TEXT NOT NULL, "after" TEXT NOT NULL, "undone" TEXT, "created" TEXT NOT NULL
);
CREATE INDEX label_history_annotator ON {p}label_history ("annotator", "number");
CREATE INDEX label_history_key ON {p}label_history ("claim_key")
"""

_WATCHES = """
CREATE TABLE {p}watches ("watch" TEXT PRIMARY KEY, "checkpoint" TEXT, "alarms" TEXT, "updated" TEXT NOT NULL);
CREATE TABLE {p}watched (
    "watch" TEXT NOT NULL, "answer" TEXT NOT NULL, "day" TEXT NOT NULL, "decision" TEXT NOT NULL,
    "chosen" TEXT NOT NULL, "run_id" TEXT, "position" BIGINT, "tokens" BIGINT NOT NULL, "cost" DOUBLE PRECISION,
    "back" TEXT NOT NULL, "about" TEXT NOT NULL, "tries" INTEGER NOT NULL, "tried" DOUBLE PRECISION NOT NULL,
    PRIMARY KEY ("watch", "answer")
);
CREATE INDEX watched_day ON {p}watched ("watch", "day");
CREATE INDEX watched_back ON {p}watched ("watch", "back");
CREATE TABLE {p}watched_spans (
    "watch" TEXT NOT NULL, "trace" TEXT NOT NULL, "span" TEXT NOT NULL, "received" DOUBLE PRECISION NOT NULL,
    "body" TEXT NOT NULL, PRIMARY KEY ("watch", "trace", "span")
)
"""

# The tables as they are when labels are moved.
_THEN = sa.MetaData()
_SAMPLES = sa.Table(
    "samples",
    _THEN,
    sa.Column("run_id", Text),
    sa.Column("position", sa.BigInteger),
    sa.Column("response", Text),
    sa.Column("contexts", Json),
    sa.Column("answer_key", Text),
)
_CLAIMS = sa.Table(
    "claims",
    _THEN,
    sa.Column("run_id", Text),
    sa.Column("position", sa.BigInteger),
    sa.Column("claim_id", Text),
    sa.Column("text", Text),
    sa.Column("span_start", sa.BigInteger),
    sa.Column("span_end", sa.BigInteger),
)
_OLD_LABELS = sa.Table(
    "labels",
    _THEN,
    sa.Column("id", Text),
    sa.Column("run_id", Text),
    sa.Column("position", sa.BigInteger),
    *(sa.Column(name, Text) for name in ("claim_id", "label", "annotator", "note", "created")),
)
_NEW_LABELS = sa.Table(
    "labels_2",
    _THEN,
    sa.Column("span_start", sa.BigInteger),
    sa.Column("span_end", sa.BigInteger),
    *(
        sa.Column(name, Text)
        for name in ("claim_key", "annotator", "answer_key", "label", "failure_mode", "note", "chosen", "run_id")
    ),
    sa.Column("created", Text),
)


def _make_runs_samples_claims(connection: sa.Connection, prefix: str) -> None:
    _execute(connection, prefix, _RUNS_SAMPLES_CLAIMS)


def _make_labels(connection: sa.Connection, prefix: str) -> None:
    _execute(connection, prefix, _LABELS)


def _add_reading(connection: sa.Connection, prefix: str) -> None:
    _execute(connection, prefix, _READING)


def _let_labels_belong_to_texts(connection: sa.Connection, prefix: str) -> None:
    _execute(connection, prefix, _LABELS_OF_TEXTS)
    _name_answers(connection)
    _move_labels(connection)


def _make_queues(connection: sa.Connection, prefix: str) -> None:
    _execute(connection, prefix, _LABELLING)


def _name_answers(connection: sa.Connection) -> None:
    place = sa.tuple_(_SAMPLES.c.run_id, _SAMPLES.c.position)
    after: tuple[str, int] = ("", -1)
    while rows := connection.execute(
        sa.select(_SAMPLES).where(place > sa.tuple_(*after)).order_by(_SAMPLES.c.run_id, _SAMPLES.c.position).limit(256)
    ).all():
        for row in rows:
            key = answer_key(row.response, [passage["text"] for passage in row.contexts])
            at = (_SAMPLES.c.run_id == row.run_id, _SAMPLES.c.position == row.position)
            connection.execute(sa.update(_SAMPLES).where(*at).values(answer_key=key))
        after = (rows[-1].run_id, rows[-1].position)


def _move_labels(connection: sa.Connection) -> None:
    """Key labels by text. The newest of one annotator about one text counts; what has no claim any more stays."""
    here = sa.and_(_SAMPLES.c.run_id == _OLD_LABELS.c.run_id, _SAMPLES.c.position == _OLD_LABELS.c.position)
    claimed = sa.and_(
        _CLAIMS.c.run_id == _OLD_LABELS.c.run_id,
        _CLAIMS.c.position == _OLD_LABELS.c.position,
        _CLAIMS.c.claim_id == _OLD_LABELS.c.claim_id,
    )
    query = sa.select(
        _OLD_LABELS, _SAMPLES.c.answer_key, _CLAIMS.c.text, _CLAIMS.c.span_start, _CLAIMS.c.span_end
    ).select_from(_OLD_LABELS.join(_SAMPLES, here).join(_CLAIMS, claimed))
    moved: dict[tuple[str, str], dict[str, object]] = {}
    rows = connection.execute(query.order_by(_OLD_LABELS.c.created)).mappings().all()
    for row in rows:
        key = claim_key(row["answer_key"], row["text"])
        moved[key, row["annotator"]] = {
            "claim_key": key,
            **{name: row[name] for name in ("annotator", "answer_key", "span_start", "span_end", "label", "note")},
            **{name: row[name] for name in ("run_id", "created")},
            "failure_mode": None,
            "chosen": "",
        }
    if moved:
        connection.execute(sa.insert(_NEW_LABELS), list(moved.values()))
    for row in rows:
        connection.execute(sa.delete(_OLD_LABELS).where(_OLD_LABELS.c.id == row["id"]))


def _make_watches(connection: sa.Connection, prefix: str) -> None:
    _execute(connection, prefix, _WATCHES)


def _execute(connection: sa.Connection, prefix: str, script: str) -> None:
    for statement in script.split(";"):
        connection.exec_driver_sql(statement.replace("{p}", prefix))


def _add_conversations(connection: sa.Connection, prefix: str) -> None:
    connection.exec_driver_sql(f'ALTER TABLE {prefix}samples ADD COLUMN "conversation" TEXT')


MIGRATIONS: tuple[Step, ...] = (
    _make_runs_samples_claims,
    _make_labels,
    _add_reading,
    _let_labels_belong_to_texts,
    _make_queues,
    _make_watches,
    _add_conversations,
)


def migrate(engine: sa.Engine, schema: str | None, location: str, steps: tuple[Step, ...] = MIGRATIONS) -> None:
    """Bring a store up to date, or make one in an empty database.

    `schema` is the PostgreSQL schema that holds the tables, None elsewhere. Raises `StoreError` for
    a store made by a newer library and for a file that is a database of something else.
    """
    prefix = f"{schema}." if schema else ""
    if _applied(engine, schema) == len(steps):
        return
    with _exclusive(engine) as connection:
        _make_ledger(connection, schema, location)
    for number in range(1, len(steps) + 1):
        with _exclusive(engine) as connection:
            applied = _version(connection, prefix)
            if applied > len(steps):
                raise _newer(location, applied, len(steps))
            if applied < number:
                steps[number - 1](connection, prefix)
                connection.execute(
                    sa.text(
                        f"INSERT INTO {prefix}schema_migrations (version, applied, library)"  # noqa: S608 - our own constant
                        " VALUES (:version, :applied, :library)"
                    ),
                    {"version": number, "applied": datetime.now(UTC).isoformat(), "library": __version__},
                )


def check_current(engine: sa.Engine, schema: str | None, location: str) -> None:
    """Check that a store can be read as it is, and change nothing.

    Raises `NoStoreError` for an empty database, and `StoreError` for a store made by an older or a newer library and
    for a database of something else.
    """
    applied, known = _applied(engine, schema), len(MIGRATIONS)
    if applied > known:
        raise _newer(location, applied, known)
    if 0 < applied < known:
        raise StoreError(
            f"{location}: made by an older everyclaim (its schema is {applied}, this version reads {known}), and"
            " reading changes nothing: `everyclaim runs --upgrade` brings it up to date in place, and so does the next"
            " run into it"
        )
    if not applied:
        names = sa.inspect(engine).get_table_names(schema=schema)
        if set(names) - {"schema_migrations"}:
            raise _foreign(location, names)
        raise NoStoreError(f"there is no {location}, only an empty database")


def _newer(location: str, applied: int, known: int) -> StoreError:
    return StoreError(
        f"{location}: made by a newer everyclaim (its schema is {applied}, this version knows {known}):"
        " upgrade everyclaim to read it"
    )


def _foreign(location: str, names: list[str]) -> StoreError:
    return StoreError(f"{location}: holds the tables of something else ({names[0]}, …): choose another place")


def _applied(engine: sa.Engine, schema: str | None) -> int:
    with engine.begin() as connection:
        known = sa.inspect(connection).has_table("schema_migrations", schema=schema)
        return _version(connection, f"{schema}." if schema else "") if known else 0


def _version(connection: sa.Connection, prefix: str) -> int:
    rows = connection.exec_driver_sql(f"SELECT max(version) FROM {prefix}schema_migrations")  # noqa: S608 - our own constant
    return rows.scalar() or 0


def _make_ledger(connection: sa.Connection, schema: str | None, location: str) -> None:
    inspector = sa.inspect(connection)
    if schema and not inspector.has_schema(schema):
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    names = inspector.get_table_names(schema=schema)
    if "schema_migrations" in names:
        return
    if names:
        raise _foreign(location, names)
    prefix = f"{schema}." if schema else ""
    connection.exec_driver_sql(
        f"CREATE TABLE {prefix}schema_migrations"
        ' ("version" INTEGER PRIMARY KEY, "applied" TEXT NOT NULL, "library" TEXT NOT NULL)'
    )


@contextmanager
def _exclusive(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Open a write transaction that other migrating processes wait for."""
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        yield connection
