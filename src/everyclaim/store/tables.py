"""The tables of a store, as SQLAlchemy sees them, and the two column types that lose no character.

`samples.result` holds a result whole and is what reading returns; `claims` and `tags` repeat parts
of it as rows, so that questions about labels, judges and slices are plain SQL.
"""

from __future__ import annotations

import json
import re
from typing import Any

import sqlalchemy as sa

# SQLite cannot encode lone surrogates and PostgreSQL refuses NUL, but both occur in real answers.
# Each becomes U+001A (SUBSTITUTE) and four hexadecimal digits, as does U+001A itself; any other
# text is stored as it is and can be searched.
_UNSAFE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")

_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # made once: json.dumps would each time


def escape(text: str) -> str:
    """Rewrite what a database cannot hold; `unescape` gives back exactly the same text."""
    if "\x00" not in text and "\x1a" not in text:
        if text.isascii():
            return text
        try:
            text.encode()  # many times faster than the pattern over a long text
        except UnicodeEncodeError:
            pass
        else:
            return text
    return _UNSAFE.sub(lambda match: f"\x1a{ord(match[0]):04x}", text)


def unescape(text: str) -> str:
    """Undo `escape`."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "\x1a" in text else text


class Text(sa.types.TypeDecorator[str]):
    """Any Python string, on any database."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Python → database."""
        return None if value is None else escape(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Database → Python."""
        return None if value is None else unescape(value)


class Json(sa.types.TypeDecorator[Any]):
    """A JSON value as text, read back equal to the last digit and in the same order."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Python → database."""
        return None if value is None else escape(_dumps(value))

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> Any:  # noqa: ARG002 - SQLAlchemy's signature
        """Database → Python."""
        return None if value is None else json.loads(unescape(value))


METADATA = sa.MetaData()

RUNS = sa.Table(
    "runs",
    METADATA,
    sa.Column("id", Text, primary_key=True),
    sa.Column("name", Text, nullable=False),
    sa.Column("created", Text, nullable=False),
    sa.Column("finished", Text),
    sa.Column("status", Text, nullable=False),
    sa.Column("metric", Text, nullable=False),
    sa.Column("decomposer", Text, nullable=False),
    sa.Column("verifier", Text, nullable=False),
    sa.Column("strategy", Text, nullable=False),
    sa.Column("version", Text, nullable=False),
    sa.Column("parameters", Json, nullable=False),
    sa.Column("config", Json, nullable=False),
    sa.Column("config_fingerprint", Text, nullable=False),
    sa.Column("dataset", Text, nullable=False),
    sa.Column("dataset_fingerprint", Text, nullable=False),
    sa.Column("total", sa.BigInteger),
    sa.Column("counts", Json),  # by outcome, written when the run ends
    sa.Column("reading", Json),  # rows of the data set, likewise
)

SAMPLES = sa.Table(
    "samples",
    METADATA,
    sa.Column("run_id", Text, primary_key=True),
    sa.Column("position", sa.BigInteger, primary_key=True),
    sa.Column("fingerprint", Text, nullable=False),
    sa.Column("sample_id", Text, nullable=False),
    sa.Column("question", Text, nullable=False),
    sa.Column("response", Text, nullable=False),
    sa.Column("contexts", Json, nullable=False),
    sa.Column("reference", Text),
    sa.Column("tags", Json, nullable=False),
    sa.Column("model", Text),
    sa.Column("release", Text),
    sa.Column("timestamp", Text),
    sa.Column("outcome", Text, nullable=False),
    sa.Column("score", sa.Double),
    sa.Column("reason", Text, nullable=False),
    sa.Column("result", Json, nullable=False),
    sa.Column("answer_key", Text),  # of response and passages: what labels go by
)

CLAIMS = sa.Table(
    "claims",
    METADATA,
    sa.Column("run_id", Text, primary_key=True),
    sa.Column("position", sa.BigInteger, primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),  # place in the result, from 0
    sa.Column("claim_id", Text, nullable=False),
    sa.Column("text", Text, nullable=False),
    sa.Column("span_start", sa.BigInteger, nullable=False),
    sa.Column("span_end", sa.BigInteger, nullable=False),
    sa.Column("sentence", Text, nullable=False),
    sa.Column("label", Text, nullable=False),
    sa.Column("supported", sa.Double),  # probabilities
    sa.Column("unsupported", sa.Double),
    sa.Column("contradicted", sa.Double),
    sa.Column("conflict", sa.Boolean, nullable=False),
    sa.Column("failure_mode", Text),
    sa.Column("judge", Text, nullable=False),
    sa.Column("evidence", Json, nullable=False),
)

TAGS = sa.Table(
    "tags",
    METADATA,
    sa.Column("run_id", Text, primary_key=True),
    sa.Column("position", sa.BigInteger, primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    sa.Column("name", Text, nullable=False),
    sa.Column("value", Text, nullable=False),
)

LABELS = sa.Table(
    "labels_2",
    METADATA,
    sa.Column("claim_key", Text, primary_key=True),  # that of the answer for a label of a whole answer
    sa.Column("annotator", Text, primary_key=True),
    sa.Column("answer_key", Text, nullable=False),
    sa.Column("span_start", sa.BigInteger),  # of the claim in the response
    sa.Column("span_end", sa.BigInteger),
    sa.Column("label", Text, nullable=False),
    sa.Column("failure_mode", Text),
    sa.Column("note", Text, nullable=False),
    sa.Column("chosen", Text, nullable=False),  # how it was chosen for labelling
    sa.Column("run_id", Text, nullable=False),  # for which it was given; it serves others, too
    sa.Column("created", Text, nullable=False),
    sa.Column("evidence", Json),  # [[place of the passage, start, end], …]; None: not asked
)

MARKS = sa.Table(
    "marks",
    METADATA,
    sa.Column("claim_key", Text, primary_key=True),
    sa.Column("annotator", Text, primary_key=True),
    sa.Column("answer_key", Text, nullable=False),
    sa.Column("span_start", sa.BigInteger),
    sa.Column("span_end", sa.BigInteger),
    sa.Column("mark", Text, nullable=False),
    sa.Column("note", Text, nullable=False),
    sa.Column("chosen", Text, nullable=False),
    sa.Column("run_id", Text, nullable=False),
    sa.Column("created", Text, nullable=False),
)

QUEUES = sa.Table(
    "queues",
    METADATA,
    sa.Column("id", Text, primary_key=True),
    sa.Column("run_id", Text, nullable=False),
    sa.Column("name", Text, nullable=False),
    sa.Column("chosen", Text, nullable=False),  # how, as kept with every label
    sa.Column("answers", sa.Boolean, nullable=False),  # whole answers, not claims
    sa.Column("annotators", Json, nullable=False),
    sa.Column("overlap", sa.Double, nullable=False),  # share that every annotator labels
    sa.Column("created", Text, nullable=False),
)

QUEUE_ITEMS = sa.Table(
    "queue_items",
    METADATA,
    sa.Column("queue_id", Text, primary_key=True),
    sa.Column("annotator", Text, primary_key=True),
    sa.Column("place", sa.BigInteger, primary_key=True),  # in this annotator's order, from 0
    sa.Column("position", sa.BigInteger, nullable=False),  # of the sample in the run
    sa.Column("ordinal", sa.Integer, nullable=False),  # of the claim in the result; -1: the whole answer
    sa.Column("claim_key", Text, nullable=False),
    sa.Column("skipped", sa.BigInteger),  # the number of the skip in the history; None: not skipped
)

LABEL_HISTORY = sa.Table(
    "label_history",
    METADATA,
    sa.Column("id", Text, primary_key=True),  # given by whoever acts: the same one again is the same action
    sa.Column("number", sa.BigInteger, nullable=False),  # of the annotator's actions, from 1
    sa.Column("annotator", Text, nullable=False),
    sa.Column("actor", Text, nullable=False),  # who was logged in; empty: not known
    sa.Column("run_id", Text, nullable=False),
    sa.Column("queue_id", Text, nullable=False),  # empty: in none
    sa.Column("claim_key", Text, nullable=False),
    sa.Column("answer_key", Text, nullable=False),
    sa.Column("action", Text, nullable=False),
    sa.Column("before", Json, nullable=False),
    sa.Column("after", Json, nullable=False),
    sa.Column("undone", Text),  # the id of the action that undid it
    sa.Column("created", Text, nullable=False),
)

WATCHES = sa.Table(
    "watches",
    METADATA,
    sa.Column("watch", Text, primary_key=True),
    sa.Column("checkpoint", Json),  # how far the source is read, in its own words
    sa.Column("alarms", Json),  # where the detector stands
    sa.Column("updated", Text, nullable=False),
)

WATCHED = sa.Table(  # every answer that a watch has decided about
    "watched",
    METADATA,
    sa.Column("watch", Text, primary_key=True),
    sa.Column("answer", Text, primary_key=True),  # the source's key of it, digested
    sa.Column("day", Text, nullable=False),  # of the decision, in UTC
    sa.Column("decision", Text, nullable=False),
    sa.Column("chosen", Text, nullable=False),  # why it was judged
    sa.Column("run_id", Text),
    sa.Column("position", sa.BigInteger),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("cost", sa.Double),  # NULL: unknown
    sa.Column("back", Text, nullable=False),  # of its scores: due, sent, or nothing
    sa.Column("about", Json, nullable=False),  # what the source needs for sending them back
    sa.Column("tries", sa.Integer, nullable=False),  # of judging it
    sa.Column("tried", sa.Double, nullable=False),  # the last time, in seconds since 1970
)

SPANS = sa.Table(  # received, and not yet put together to answers
    "watched_spans",
    METADATA,
    sa.Column("watch", Text, primary_key=True),
    sa.Column("trace", Text, primary_key=True),
    sa.Column("span", Text, primary_key=True),
    sa.Column("received", sa.Double, nullable=False),  # seconds since 1970
    sa.Column("body", Json, nullable=False),
)
