"""The tables of a store, as SQLAlchemy sees them, and the two column types that lose no character.

`samples.result` holds a result whole and is what reading returns; `claims` and `tags` repeat parts
of it as rows, so that questions about labels, judges and slices are plain SQL.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
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
