"""The tables of a store as SQLAlchemy sees them, two column types that lose no character, and how tables came to be.

`samples.result` holds a result whole and is what reading returns; `claims` and `tags` repeat parts of it as rows, so
that questions about labels, judges and slices are plain SQL.

Tables are made by an append-only list of steps (`steps.sql`), each applied once and never changed. A step runs in one
transaction together with its record in `schema_migrations`, so a store is always at exactly one version. To change the
tables, add a step at the end and edit the descriptions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from everyclaim._version import __version__
from everyclaim.core.errors import NoStoreError, StoreError
from everyclaim.store.records import answer_key, claim_key

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


def _table(name: str, columns: str) -> sa.Table:
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
    " timestamp? outcome score?:number reason result:json answer_key? conversation?:json probability?:number",
)
# `ordinal` is the place in the result, from 0; the three probabilities have the names of their labels.
CLAIMS = _table(
    "claims",
    "run_id* position*:count ordinal*:ordinal claim_id text span_start:count span_end:count sentence label"
    " supported?:number unsupported?:number contradicted?:number conflict:flag failure_mode? judge evidence:json",
)
TAGS = _table("tags", "run_id* position*:count ordinal*:ordinal name value")
# `claim_key` is that of the answer for a whole answer; `run_id` names the run for which something was said, and serves
# others, too; `chosen` says how the text was chosen; `evidence` is [[place of the passage, start, end], …].
LABELS = _table(
    "labels_2",
    "claim_key* annotator* answer_key span_start?:count span_end?:count label failure_mode? note chosen run_id created"
    " evidence?:json",
)
MARKS = _table(
    "marks", "claim_key* annotator* answer_key span_start?:count span_end?:count mark note chosen run_id created"
)
QUEUES = _table("queues", "id* run_id name chosen answers:flag annotators:json overlap:number created")
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
)
# `checkpoint` says how far the source is read, in its own words, `alarms` where the detector stands.
WATCHES = _table("watches", "watch* checkpoint?:json alarms?:json updated")
# Every answer that a watch has decided about, on a day in UTC. `answer` is the source's key, digested, `chosen` why it
# was judged, `back` whether scores go back, `about` what the source needs for that, `tried` in seconds since 1970.
WATCHED = _table(
    "watched",
    "watch* answer* day decision chosen run_id? position?:count tokens:count cost?:number back about:json"
    " tries:ordinal tried:number",
)
# Received, at a time in seconds since 1970, and not yet put together to answers.
SPANS = _table("watched_spans", "watch* trace* span* received:number body:json")


Step = str | Callable[[sa.Connection, str], None]  # SQL, or what is more than that

_LOCK = 0x65766572  # "ever": one migrating process at a time on PostgreSQL
_STEPS = Path(__file__).with_name("steps.sql").read_text("utf-8")
_SQL: dict[str, str] = dict(re.findall(r"^-- (\w+).*\n((?:[^-\n].*\n)+)", _STEPS, re.MULTILINE))


def _let_labels_belong_to_texts(connection: sa.Connection, prefix: str) -> None:
    """Key labels by text. The newest of one annotator about one text counts; what has no claim any more stays."""
    _execute(connection, prefix, _SQL["labels_of_texts"])
    run, position = "", -1
    while found := connection.execute(_sql(_SQL["samples"], prefix), {"run": run, "position": position}).all():
        for run, position, response, contexts in found:
            key = answer_key(unescape(response), [passage["text"] for passage in json.loads(unescape(contexts))])
            connection.execute(_sql(_SQL["name"], prefix), {"key": key, "run": run, "position": position})
    rows = connection.execute(_sql(_SQL["labelled"], prefix)).mappings().all()
    moved: dict[tuple[str, str], dict[str, object]] = {}
    for row in rows:
        key = claim_key(row["answer_key"], unescape(row["text"]))
        moved[key, row["annotator"]] = {**row, "claim_key": key}
    if rows:
        connection.execute(_sql(_SQL["move"], prefix), list(moved.values()))
        connection.execute(_sql('DELETE FROM {p}labels WHERE "id" = :id', prefix), [{"id": row["id"]} for row in rows])


def _let_answers_be_ordered_by_probability(connection: sa.Connection, prefix: str) -> None:
    """Give each answer a column with the probability of its result."""
    _execute(connection, prefix, _SQL["probability"])
    run, position = "", -1
    while found := connection.execute(_sql(_SQL["results"], prefix), {"run": run, "position": position}).all():
        rated = []
        for run, position, result in found:
            probability = json.loads(unescape(result)).get("probability")
            if probability is not None:
                rated.append({"probability": probability, "run": run, "position": position})
        if rated:
            connection.execute(_sql(_SQL["rate"], prefix), rated)


def _execute(connection: sa.Connection, prefix: str, script: str) -> None:
    for statement in script.split(";"):
        connection.execute(_sql(statement, prefix))


def _sql(text: str, prefix: str) -> sa.TextClause:
    return sa.text(text.replace("{p}", prefix))


MIGRATIONS: tuple[Step, ...] = (
    _SQL["runs"],
    _SQL["labels"],
    _SQL["reading"],
    _let_labels_belong_to_texts,
    _SQL["labelling"],
    _SQL["watches"],
    _SQL["conversations"],
    _let_answers_be_ordered_by_probability,
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
                step = steps[number - 1]
                if isinstance(step, str):
                    _execute(connection, prefix, step)
                else:
                    step(connection, prefix)
                connection.execute(
                    _sql("INSERT INTO {p}schema_migrations VALUES (:version, :applied, :library)", prefix),
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
            f"{location}: made by an older everyclaim (schema {applied}, this version reads {known}): "
            "upgrade it in place with `everyclaim runs --upgrade`, or with the next run"
        )
    if not applied:
        names = sa.inspect(engine).get_table_names(schema=schema)
        if set(names) - {"schema_migrations"}:
            raise _foreign(location, names)
        raise NoStoreError(f"there is no {location}, only an empty database")


def _newer(location: str, applied: int, known: int) -> StoreError:
    return StoreError(
        f"{location}: made by a newer everyclaim (schema {applied}, this version reads {known}): upgrade everyclaim"
    )


def _foreign(location: str, names: list[str]) -> StoreError:
    return StoreError(f"{location}: contains tables of another application ({names[0]}, …): choose another store")


def _applied(engine: sa.Engine, schema: str | None) -> int:
    with engine.begin() as connection:
        known = sa.inspect(connection).has_table("schema_migrations", schema=schema)
        return _version(connection, f"{schema}." if schema else "") if known else 0


def _version(connection: sa.Connection, prefix: str) -> int:
    return connection.execute(_sql("SELECT max(version) FROM {p}schema_migrations", prefix)).scalar() or 0


def _make_ledger(connection: sa.Connection, schema: str | None, location: str) -> None:
    inspector = sa.inspect(connection)
    if schema and not inspector.has_schema(schema):
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    names = inspector.get_table_names(schema=schema)
    if "schema_migrations" in names:
        return
    if names:
        raise _foreign(location, names)
    _execute(connection, f"{schema}." if schema else "", _SQL["ledger"])


@contextmanager
def _exclusive(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Open a write transaction that other migrating processes wait for."""
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        yield connection
