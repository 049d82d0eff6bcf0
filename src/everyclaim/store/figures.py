"""The numbers of a run in flat arrays, read from their columns: no result, passage or sentence is kept in memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import compress
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from everyclaim.core.types import Label, Outcome
from everyclaim.store.tables import CLAIMS, SAMPLES, TAGS

_LABELS = {label.value: place for place, label in enumerate(Label)}
_OUTCOMES = {outcome.value: place for place, outcome in enumerate(Outcome)}
_AT_ONCE = 2_000  # rows
_MASK = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to: one row per sample, one per claim; texts are digests of 64 bits.

    `sample` is the row of each claim's sample. `mode` counts from 0 in `modes`; −1 is none. `tags` holds, by name and
    value, the rows of the samples that have them.
    """

    ids: tuple[str, ...]
    positions: NDArray[np.int64]
    outcome: NDArray[np.int8]  # place in Outcome
    score: NDArray[np.float64]  # NaN: no number
    text: NDArray[np.uint64]  # of answer and passages
    release: tuple[str, ...]  # those that occur, sorted
    sample: NDArray[np.int32]
    label: NDArray[np.int8]  # place in Label
    mode: NDArray[np.int16]
    modes: tuple[str, ...]
    claim: NDArray[np.uint64]  # of the claim's text
    tags: Mapping[str, Mapping[str, NDArray[np.int32]]]
    released: NDArray[np.int16]  # place in `release` of each sample's; −1: it names none
    time: NDArray[np.float64]  # seconds since 1970 in UTC; NaN: not said

    def of(self, rows: NDArray[np.bool_]) -> Figures:
        """Return the figures of some of the samples."""
        new = np.cumsum(rows, dtype=np.int32) - 1
        claims = rows[self.sample]
        inside = {
            name: {value: new[having[rows[having]]] for value, having in values.items() if rows[having].any()}
            for name, values in self.tags.items()
        }
        names = sorted({self.release[place] for place in self.released[rows].tolist() if place >= 0})
        places = {self.release.index(name): place for place, name in enumerate(names)} | {-1: -1}
        return Figures(
            ids=tuple(compress(self.ids, rows.tolist())),
            release=tuple(names),
            sample=new[self.sample[claims]],
            modes=self.modes,
            tags=inside,
            released=np.array([places[place] for place in self.released[rows].tolist()], dtype=np.int16),
            **{name: getattr(self, name)[rows] for name in ("positions", "outcome", "score", "text", "time")},
            **{name: getattr(self, name)[claims] for name in ("label", "mode", "claim")},
        )

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which samples have the outcome `scored`."""
        return np.equal(self.outcome, _OUTCOMES[Outcome.SCORED.value])


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """One claim as it stands in the store."""

    position: int
    text: str
    label: Label
    mode: str | None


def read_figures(connection: sa.Connection, run: str) -> Figures:
    """Read the figures of a run, samples in the order of the input."""
    ids: list[str] = []
    releases: dict[str, int] = {}
    position, outcome, score, text = array("q"), array("b"), array("d"), array("Q")
    released, time = array("h"), array("d")
    columns = SAMPLES.c
    wanted = sa.select(
        columns.position, columns.sample_id, columns.release, _plain(columns.outcome), columns.score,
        _plain(columns.response), _plain(columns.contexts), columns.timestamp,
    )  # fmt: skip
    query = wanted.where(columns.run_id == run).order_by(columns.position)
    for part in _parts(connection, query):
        for place, sample_id, release, came_to, number, response, contexts, timestamp in part:
            ids.append(sample_id)
            released.append(releases.setdefault(release, len(releases)) if release else -1)
            time.append(_seconds(timestamp))
            position.append(place)
            outcome.append(_OUTCOMES[came_to])
            score.append(np.nan if number is None else number)
            text.append(hash((response, contexts)) & _MASK)
    places = np.array(position, dtype=np.int64)
    order = {releases[name]: rank for rank, name in enumerate(sorted(releases))} | {-1: -1}
    return Figures(
        ids=tuple(ids),
        positions=places,
        outcome=np.array(outcome, dtype=np.int8),
        score=np.array(score, dtype=np.float64),
        text=np.array(text, dtype=np.uint64),
        release=tuple(sorted(releases)),
        **_claims(connection, run, places),
        tags=_tags(connection, run, places),
        released=np.array([order[place] for place in released], dtype=np.int16),
        time=np.array(time, dtype=np.float64),
    )


def _claims(connection: sa.Connection, run: str, places: NDArray[np.int64]) -> dict[str, Any]:
    position, label, mode, claim = array("q"), array("b"), array("h"), array("Q")
    modes: dict[str, int] = {}
    columns = CLAIMS.c
    query = sa.select(
        columns.position, _plain(columns.label), _plain(columns.failure_mode), _plain(columns.text)
    ).where(columns.run_id == run)
    for part in _parts(connection, query.order_by(columns.position, columns.ordinal)):
        positions, labels, whys, texts = zip(*part, strict=True)
        position.extend(positions)
        label.extend(map(_LABELS.__getitem__, labels))
        mode.extend(-1 if why is None else modes.setdefault(why, len(modes)) for why in whys)
        claim.extend(hash(text) & _MASK for text in texts)
    sample = np.searchsorted(places, np.array(position, dtype=np.int64)).astype(np.int32)
    numbers = {"label": np.array(label, np.int8), "mode": np.array(mode, np.int16), "claim": np.array(claim, np.uint64)}
    return numbers | {"sample": sample, "modes": tuple(modes)}


def _tags(connection: sa.Connection, run: str, places: NDArray[np.int64]) -> dict[str, dict[str, NDArray[np.int32]]]:
    found: dict[str, dict[str, array[int]]] = {}
    query = sa.select(TAGS.c.position, TAGS.c.name, TAGS.c.value).where(TAGS.c.run_id == run)
    for part in _parts(connection, query.order_by(TAGS.c.position, TAGS.c.ordinal)):
        for place, name, value in part:
            found.setdefault(name, {}).setdefault(value, array("q")).append(place)
    return {
        name: {
            value: np.unique(np.searchsorted(places, np.array(having, np.int64)).astype(np.int32))
            for value, having in sorted(values.items())
        }
        for name, values in sorted(found.items())
    }


def _seconds(timestamp: str | None) -> float:
    """Read a time as given; one without a zone is taken as UTC, one that is none as not said."""
    if not timestamp:
        return np.nan
    try:
        read = datetime.fromisoformat(timestamp.strip())
    except ValueError:
        return np.nan
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def _plain(column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    """Read a column as it is stored: for what is compared and not shown."""
    return sa.type_coerce(column, sa.Text)


def _parts(connection: sa.Connection, query: sa.Select[Any]) -> Iterator[Sequence[Any]]:
    """Yield rows, some thousand at once, so that no more texts than these are in memory."""
    streamed = connection.execution_options(stream_results=True, max_row_buffer=_AT_ONCE).execute(query)
    yield from streamed.partitions(_AT_ONCE)
