"""What a store keeps of watches: how far a source is read, what was decided about every answer, spans received.

A decision and the result that it led to are kept in one transaction, under the source's own key of the answer: that is
why an answer which is read twice, after a kill or because the source says it again, has one result.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sqlalchemy as sa

from everyclaim.core.plaintext import digest
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Outcome, Provenance, Result, Sample
from everyclaim.core.wire import fingerprint
from everyclaim.store.records import RunRecord, config_fingerprint, kept_from, now
from everyclaim.store.store import Store, put_results
from everyclaim.store.tables import CLAIMS, RUNS, SAMPLES, SPANS, TAGS, WATCHED, WATCHES

DUE, NOTHING = "due", ""  # of scores that go back to the source
_MANY = 400  # values in one statement


class Spent(NamedTuple):
    """What a watch used on one day. `cost` is in US dollars, None when a price is unknown."""

    answers: int = 0
    tokens: int = 0
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one answer; with `run`, `sample` and `result` where it was judged."""

    key: str  # the source's own of the answer
    kind: str  # what became of it
    chosen: str = ""
    run: str = ""
    sample: Sample | None = None
    result: Result | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    goes_back: bool = False


class JudgedAnswer(NamedTuple):
    """A result with what the source needs for its scores."""

    answer: str  # digest of the source's own key: no other answer of the watch has it
    about: Mapping[str, Any]
    run: str
    kept: Kept
    chosen: str  # why it was judged

    @property
    def result(self) -> Result:
        """The result, without its sample."""
        return self.kept.result


class WatchStore(Store):
    """A store, and what watches keep in it."""

    def hold_watch(self, watch: str) -> None:
        """Keep others from the same watch until the store is closed. Raises `StoreError` when somebody is at it."""
        self._take(digest(watch, 12), f"watch {watch!r} is already running: stop it or use another --name")

    def place_of_watch(self, watch: str) -> tuple[Any, Any]:
        """Return how far a watch has read its source, and the state of its alarms; None and None at its beginning."""
        query = sa.select(WATCHES.c.checkpoint, WATCHES.c.alarms).where(WATCHES.c.watch == watch)
        with self.reading() as connection:
            row = connection.execute(query).first()
        return (row.checkpoint, row.alarms) if row else (None, None)

    def set_place_of_watch(self, watch: str, checkpoint: Any, alarms: Any = None) -> None:
        """Note how far a watch has read its source, and where its alarms stand."""
        row = {"checkpoint": checkpoint, "alarms": alarms, "updated": now()}
        with self.writing() as connection:
            done = connection.execute(sa.update(WATCHES).where(WATCHES.c.watch == watch).values(row))
            if not done.rowcount:
                connection.execute(sa.insert(WATCHES), {"watch": watch, **row})

    def decided(self, watch: str, answers: Iterable[str]) -> set[str]:
        """Return those of these keys that the watch has decided about."""
        keys = {digest(answer, 32): answer for answer in answers}
        with self.reading() as connection:
            return {keys[key] for key in _known(connection, watch, list(keys))}

    def run_of_watch(
        self, watch: str, part: str, provenance: Provenance, *, name: str, config: Mapping[str, Any]
    ) -> RunRecord:
        """Return the run that holds this part (a day, a release) of a watch, begun or gone on with."""
        settings, mark = {**config, "watch": watch}, digest(f"{watch}\0{part}", 32)
        query = sa.select(RUNS).where(RUNS.c.dataset_fingerprint == mark).order_by(RUNS.c.created.desc(), RUNS.c.id)
        wanted = _judging_of(provenance, settings)
        for run in self._records(query):
            if _judging_of(run.provenance, run.config) == wanted:
                return self.resume_run(run.id)
        return self.create_run(provenance, name=name, dataset=watch, dataset_fingerprint=mark, config=settings)

    def runs_of_watch(self, watch: str) -> list[RunRecord]:
        """Return the runs of a watch, newest first."""
        query = sa.select(RUNS).where(RUNS.c.dataset == watch).order_by(RUNS.c.created.desc(), RUNS.c.id)
        return [run for run in self._records(query) if "watch" in run.config]

    def keep_decided(self, watch: str, day: str, made: Sequence[Decision]) -> int:
        """Keep decisions with their results, all or none; return how many were new. What is known stays as it is."""

        def keep(connection: sa.Connection) -> int:
            new: dict[str, Decision] = {}
            for decision in made:
                new.setdefault(digest(decision.key, 32), decision)
            known = _known(connection, watch, list(new))
            rows = [
                {"watch": watch, "answer": key, "day": day, **_row(one), "position": self._keep(connection, one)}
                for key, one in new.items()
                if key not in known
            ]
            if rows:
                connection.execute(sa.insert(WATCHED), rows)
            return len(rows)

        return self._patiently(self.writing, keep)

    def _keep(self, connection: sa.Connection, decision: Decision) -> int | None:
        run, sample, result = decision.run, decision.sample, decision.result
        if sample is None or result is None:
            return None
        self._lock(connection, run)
        last = connection.execute(sa.select(sa.func.max(SAMPLES.c.position)).where(SAMPLES.c.run_id == run)).scalar()
        place = 0 if last is None else last + 1
        put_results(connection, run, [Kept(place, fingerprint(sample), sample, result)])
        is_counted = (RUNS.c.id == run, RUNS.c.counts.is_not(None))  # it was finished meanwhile
        connection.execute(sa.update(RUNS).where(*is_counted).values(counts=None))
        return place

    def to_try_again(self, watch: str, after: Sequence[float]) -> list[JudgedAnswer]:
        """Return answers whose judge failed and that are due for another try.

        `after` are the seconds after the first failure, the second, …; after the last of them there are no more tries.
        """
        now = time.time()
        due = [
            sa.and_(WATCHED.c.tries == tries, WATCHED.c.tried <= now - pause) for tries, pause in enumerate(after, 1)
        ]
        wanted = sa.and_(SAMPLES.c.outcome == Outcome.FAILED.value, sa.or_(*due))
        return self._judged(watch, wanted, WATCHED.c.tried, _MANY)

    def keep_second_try(self, watch: str, day: str, answer: JudgedAnswer, *, goes_back: bool) -> None:
        """Keep the result of another try in the place of the failure, with what it took, on the day of the try."""
        with self.writing() as connection:
            self._lock(connection, answer.run)
            for table in (SAMPLES, CLAIMS, TAGS):
                connection.execute(
                    sa.delete(table).where(table.c.run_id == answer.run, table.c.position == answer.kept.position)
                )
            put_results(connection, answer.run, [answer.kept])
            new = {"day": day, "tries": WATCHED.c.tries + 1, "tried": time.time()}
            new |= {name: WATCHED.c[name] + more for name, more in _spending(answer.kept.result).items()}
            new |= {"back": DUE} if goes_back else {}
            connection.execute(
                sa.update(WATCHED).where(WATCHED.c.watch == watch, WATCHED.c.answer == answer.answer).values(new)
            )

    def spent(self, watch: str, day: str) -> Spent:
        """Return what a watch used on a day, of all that is kept."""
        is_judged = WATCHED.c.run_id.is_not(None)
        query = sa.select(
            sa.func.count(),
            sa.func.coalesce(sa.func.sum(WATCHED.c.tokens), 0),
            sa.func.coalesce(sa.func.sum(WATCHED.c.cost), 0.0),
            sa.func.count(WATCHED.c.cost),
        ).where(WATCHED.c.watch == watch, WATCHED.c.day == day, is_judged)
        with self.reading() as connection:
            answers, tokens, cost, priced = connection.execute(query).one()
        return Spent(answers, int(tokens), float(cost) if priced == answers else None)

    def judged_by_slice(self, watch: str, day: str, names: Iterable[str]) -> dict[tuple[str, str], int]:
        """Return how many answers of each slice were judged on a day."""
        counts: dict[tuple[str, str], int] = {}
        own = {"model": SAMPLES.c.model, "release": SAMPLES.c.release}
        with self.reading() as connection:
            for wanted in names:
                table, value = (SAMPLES, own[wanted]) if wanted in own else (TAGS, TAGS.c.value)
                here = sa.and_(table.c.run_id == WATCHED.c.run_id, table.c.position == WATCHED.c.position)
                query = (
                    sa.select(value, sa.func.count())
                    .select_from(sa.join(WATCHED, table, here))
                    .where(WATCHED.c.watch == watch, WATCHED.c.day == day, value.is_not(None))
                    .group_by(value)
                )
                if table is TAGS:
                    query = query.where(TAGS.c.name == wanted)
                counts |= {(wanted, found): count for found, count in connection.execute(query)}
        return counts

    def to_send_back(self, watch: str, limit: int) -> list[JudgedAnswer]:
        """Return results whose scores are still to go back to the source."""
        return self._judged(watch, WATCHED.c.back == DUE, WATCHED.c.day, limit)

    def _judged(
        self, watch: str, wanted: sa.ColumnElement[bool], order: sa.Column[Any], limit: int
    ) -> list[JudgedAnswer]:
        here = sa.and_(SAMPLES.c.run_id == WATCHED.c.run_id, SAMPLES.c.position == WATCHED.c.position)
        query = (
            sa.select(WATCHED.c.answer, WATCHED.c.about, WATCHED.c.chosen, SAMPLES)
            .select_from(sa.join(WATCHED, SAMPLES, here))
            .where(WATCHED.c.watch == watch, wanted)
            .order_by(order, WATCHED.c.answer)
            .limit(limit)
        )
        with self.reading() as connection:
            rows = connection.execute(query).mappings().all()
        return [
            JudgedAnswer(
                row["answer"], row["about"], row["run_id"], self._decoded(row["run_id"], row, kept_from), row["chosen"]
            )
            for row in rows
        ]

    def count_due(self, watch: str) -> int:
        """Return how many results have scores still to go back."""
        return self._count_where(WATCHED.c.watch == watch, WATCHED.c.back == DUE)

    def _count_where(self, *wanted: sa.ColumnElement[bool]) -> int:
        return int(self._scalars(sa.select(sa.func.count()).where(*wanted))[0])

    def note_sent_back(self, watch: str, settled: Iterable[str]) -> None:
        """Note that nothing of these (by digest) is still to go back: the source took it, or never will."""
        at = (WATCHED.c.watch == watch, WATCHED.c.answer.in_(list(settled)))
        with self.writing() as connection:
            connection.execute(sa.update(WATCHED).where(*at).values(back=NOTHING))

    def forget_unjudged(self, watch: str, before: str) -> int:
        """Drop what is known of answers that were not judged, decided about before this day; return how many."""
        at = (WATCHED.c.watch == watch, WATCHED.c.day < before, WATCHED.c.run_id.is_(None))
        with self.writing() as connection:
            return connection.execute(sa.delete(WATCHED).where(*at)).rowcount

    # ---- spans on their way to answers

    def receive_spans(self, watch: str, spans: Mapping[tuple[str, str], Any]) -> None:
        """Keep spans by trace and id, durably, before returning; one that comes again takes the place of the first."""
        now = time.time()
        rows = [{"watch": watch, "trace": t, "span": s, "received": now, "body": b} for (t, s), b in spans.items()]
        with self.writing() as connection:
            for trace, span in spans:
                at = (SPANS.c.watch == watch, SPANS.c.trace == trace, SPANS.c.span == span)
                connection.execute(sa.delete(SPANS).where(*at))
            if rows:
                connection.execute(sa.insert(SPANS), rows)

    def settled_traces(self, watch: str, before: float, limit: int) -> list[str]:
        """Return traces of which no span was received since `before` (seconds since 1970), the oldest first."""
        newest = sa.func.max(SPANS.c.received)
        query = (
            sa.select(SPANS.c.trace)
            .where(SPANS.c.watch == watch)
            .group_by(SPANS.c.trace)
            .having(newest <= before)
            .order_by(newest, SPANS.c.trace)
            .limit(limit)
        )
        return self._scalars(query)

    def count_spans(self, watch: str) -> int:
        """Return how many spans wait."""
        return self._count_where(SPANS.c.watch == watch)

    def spans(self, watch: str, trace: str) -> list[Any]:
        """Return the bodies of a trace's spans, in the order of their ids."""
        query = sa.select(SPANS.c.body).where(SPANS.c.watch == watch, SPANS.c.trace == trace).order_by(SPANS.c.span)
        return self._scalars(query)

    def drop_spans(self, watch: str, trace: str, received_by: float) -> None:
        """Drop the spans of a trace that were received by then."""
        at = (SPANS.c.watch == watch, SPANS.c.trace == trace, SPANS.c.received <= received_by)
        with self.writing() as connection:
            connection.execute(sa.delete(SPANS).where(*at))


def _judging_of(provenance: Provenance, config: Mapping[str, Any]) -> str:
    """Name what the answers of a run have in common; slices only sort them in a report."""
    return config_fingerprint(provenance, {name: value for name, value in config.items() if name != "slices"})


def _known(connection: sa.Connection, watch: str, keys: Sequence[str]) -> set[str]:
    known: set[str] = set()
    for first in range(0, len(keys), _MANY):
        part = keys[first : first + _MANY]
        query = sa.select(WATCHED.c.answer).where(WATCHED.c.watch == watch, WATCHED.c.answer.in_(part))
        known.update(connection.execute(query).scalars())
    return known


def _row(decision: Decision) -> dict[str, Any]:
    return {
        "decision": decision.kind,
        "chosen": decision.chosen,
        "run_id": decision.run or None,
        **_spending(decision.result),
        "tries": 1 if decision.result else 0,
        "tried": time.time(),
        "back": DUE if decision.goes_back else NOTHING,
        "about": dict(decision.about),
    }


def _spending(result: Result | None) -> dict[str, Any]:
    if result is None:
        return {"tokens": 0, "cost": 0.0}
    return {"tokens": result.usage.prompt_tokens + result.usage.completion_tokens, "cost": result.usage.cost}
