"""Queues of what people label, kept in the store: made here, and worked through at a desk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from everyclaim.analysis.choosing import By
from everyclaim.analysis.labelling import ADJUDICATED
from everyclaim.api.components import Rows
from everyclaim.api.door import public
from everyclaim.api.labels import Share, Wanted, places_to_label, run_of, shared_out
from everyclaim.api.talking import DEFAULT_STORE
from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import one_line
from everyclaim.store import Queue, QueueItem, Store, answer_key, claim_key

LONGEST_NAME = 80  # characters
MOST_PEOPLE = 100  # of one queue


class QueueOptions(TypedDict, total=False):
    """How what people label is chosen and shared out."""

    name: str
    by: By  # stratified
    answers: bool  # whole answers instead of claims
    annotators: Sequence[str]
    overlap: Share  # of what every annotator labels, where there are several (0.2)
    seed: int
    store: str | os.PathLike[str]


@public
def label_queue(run: Wanted = None, n: Rows = 100, **options: Unpack[QueueOptions]) -> Queue:
    """Make a queue of claims of a run that people label on the page of `everyclaim serve --ui`.

    Chosen as by `label`, and not what waits in another queue of the run. The share `overlap` goes to all of several
    `annotators`, the rest to one of them each; everyone has an order of their own. Raises `InputError` where nothing is
    left to label, `ConfigError` for names that cannot be told apart.
    """
    by, answers = options.get("by", "stratified"), options.get("answers", False)
    people = check_annotators(options.get("annotators", ("annotator",)))
    overlap, seed = options.get("overlap", 0.2), options.get("seed", 0)
    found = run_of(run, options.get("store", DEFAULT_STORE))
    with Store.open(found.store_location) as kept:
        taken = _waiting(kept, found.id, answers=answers)
        places = places_to_label(kept, found, n, by=by, answers=answers, seed=seed, taken=taken)
        items = _items(kept, found.id, places, answers=answers)
        _, parts = shared_out(len(items), len(people), overlap)
        draw = np.random.default_rng(seed)
        orders = {
            name: [items[place] for place in draw.permutation(part)] for name, part in zip(people, parts, strict=True)
        }
        return kept.labelling.make_queue(
            found.id,
            orders,
            name=one_line(options.get("name", ""), LONGEST_NAME),
            chosen=f"{by}:{found.id}",
            answers=answers,
            overlap=overlap if len(people) > 1 else 0.0,
        )


def check_annotators(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of people without blanks around. Raises `ConfigError` for one that cannot be a name."""
    people = tuple(dict.fromkeys(" ".join(name.split()) for name in names))
    if len(people) > MOST_PEOPLE:
        raise ConfigError(f"a queue is for {MOST_PEOPLE} people at most, not {len(people):,}")
    if not people:
        raise ConfigError("a queue needs somebody who labels: name one annotator at least")
    for name in people:
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise ConfigError(f"an annotator is a name of 1 to {LONGEST_NAME} characters, not {one_line(name, 40)!r}")
        if name.casefold() == ADJUDICATED:
            raise ConfigError(f"nobody labels as {ADJUDICATED!r}: that is who settles where others differ")
    return people


def _waiting(kept: Store, run: str, *, answers: bool) -> set[tuple[int, int]]:
    """Return what the queues of a run hold, as chosen places."""
    return {
        (item.position, max(item.ordinal, 0))
        for queue in kept.labelling.queues(run)
        if queue.answers == answers
        for annotator in queue.annotators
        for item in kept.labelling.items(queue.id, annotator)
    }


def _items(kept: Store, run: str, places: Sequence[tuple[int, int]], *, answers: bool) -> list[QueueItem]:
    keys: dict[int, tuple[str, list[Any]]] = {}
    for record in kept.records_at(run, [place for place, _ in places]):
        sample = record.sample
        key = answer_key(sample.response, [passage.text for passage in sample.passages])
        keys[record.position] = (key, [claim.text for claim in record.result.claims])
    found = []
    for place, ordinal in places:
        key, texts = keys[place]
        found.append(
            QueueItem(place, -1, key) if answers else QueueItem(place, ordinal, claim_key(key, texts[ordinal]))
        )
    return list({item.key: item for item in found}.values())  # a sample that repeats is asked about once
