"""Rows to train on, from lessons: the claims beside their passages, and what else follows from them.

| data set | claim | label |
| --- | --- | --- |
| `lesson_=`, `lesson_n`, … | as written, alone or among strange passages | as written |
| `lesson_pair` | a claim beside its twin as the only passage: the two clash | CONTRADICTED |
| `lesson_same` | a claim beside itself | SUPPORTED |
| `lesson_joined` | two or three right claims in a row; in half of the rows one gives way to its twin | as its worst |
| `lesson_foreign` | a right claim beside another lesson of the file | UNSUPPORTED |

Where a lesson marks what its claims need, the data sets are `marked_=` and so on. A claim and its twins lie among the
same passages, and `beside` is the same for all of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from training.lessons.read import Lesson, Taught, errors

ALONE = 0.5  # share of the claims that get no strange passage
MOST_STRANGE = 4
MOST_PASSAGES = 12  # of a row with strange passages, unless two lessons alone have more
MOST_JOINED = 4  # answers of several claims that a lesson gives
CLASHING = frozenset("nudergacsw")  # kinds whose twins contradict each other both ways; "all" and "some" do not
LEAST = 96  # tokens of the premise where nobody marked what a claim needs, so that little is left out
FOREIGN = 0.15  # share of the right claims that are also put beside another lesson


def rows(given: Sequence[Lesson], seed: int = 0) -> Iterator[dict[str, Any]]:
    """Give all rows of some lessons; the same for the same seed."""
    for number, lesson in enumerate(given):
        rng = random.Random(f"{seed} {lesson.id}")
        near = [other for other in given[max(0, number - 12) : number + 13] if other is not lesson]
        yield from _as_written(lesson, near, rng)
        yield from _paired(lesson)
        yield from _joined(lesson, near, rng)
        yield from _foreign(lesson, near, rng)


class Laid(NamedTuple):
    """Passages as a row has them. `first` is the lesson's own first one, which the others follow; None: it has none."""

    contexts: list[str]
    first: int | None = None


def _among(lesson: Lesson, near: Sequence[Lesson], rng: random.Random) -> Laid:
    """Lay a lesson's passages among strange ones, in half of the cases."""
    strange: list[Lesson] = []
    if near and rng.random() >= ALONE:
        strange = rng.sample(near, min(len(near), rng.randint(1, MOST_STRANGE)))
    while len(strange) > 1 and sum(len(other.passages) for other in (lesson, *strange)) > MOST_PASSAGES:
        strange.pop()
    order = [lesson, *strange]
    rng.shuffle(order)
    before = order[: order.index(lesson)]
    return Laid([passage for each in order for passage in each.passages], sum(len(each.passages) for each in before))


def _row(
    lesson: Lesson, name: str, laid: Laid, it: Taught, kind: str, beside: str = "", question: str | None = None
) -> dict[str, Any]:
    needs = [] if laid.first is None else [laid.first + number for number in it.needs]
    return {
        "id": f"lesson:{lesson.id}:{name}", "dataset": f"{'marked' if lesson.marked else 'lesson'}_{kind}",
        "unit": "answer" if kind == "joined" else "claim",
        "question": lesson.question if question is None else question, "contexts": laid.contexts, "text": it.text,
        "sentence": "", "label": it.label, "evidence": [], "errors": [list(span) for span in errors(it)],
        "needs": needs, "least": 0 if needs else LEAST,
        "slice": kind, "group": f"lesson:{lesson.id}", "beside": f"lesson:{lesson.id}:{beside or name}",
        "source": "lessons",
    }  # fmt: skip


def _as_written(lesson: Lesson, near: Sequence[Lesson], rng: random.Random) -> Iterator[dict[str, Any]]:
    right, laid = 0, Laid([])
    for number, it in enumerate(lesson.claims):
        if it.kind == "=":
            right, laid = number, _among(lesson, near, rng)
        yield _row(lesson, str(number), laid, it, it.kind, str(right))


def _paired(lesson: Lesson) -> Iterator[dict[str, Any]]:
    beside = ""
    for number, it in enumerate(lesson.claims):
        if it.kind == "=":
            beside = f"same-{number}"
            yield _row(lesson, f"same-{number}", Laid([it.text]), it, "same", question="")
        elif it.kind in CLASHING and it.label == "CONTRADICTED":
            back = Taught(it.twin, it.kind, it.label, it.text)
            yield _row(lesson, f"pair-{number}", Laid([it.twin]), it, "pair", beside, question="")
            yield _row(lesson, f"back-{number}", Laid([it.text]), back, "pair", beside, question="")


def _joined(lesson: Lesson, near: Sequence[Lesson], rng: random.Random) -> Iterator[dict[str, Any]]:
    right = [it for it in lesson.claims if it.kind == "="]
    twins = [[it for it in lesson.claims if it.twin == one.text] for one in right]
    for number in range(min(MOST_JOINED, len(right) - 1)):
        chosen = rng.sample(range(len(right)), min(len(right), rng.choice((2, 2, 3))))
        said = [right[i] for i in chosen]
        open_to = [place for place, i in enumerate(chosen) if twins[i]]
        if number % 2 and open_to:
            place = rng.choice(open_to)
            said[place] = rng.choice(twins[chosen[place]])
        wrong = next((it for it in said if it.kind != "="), None)
        text, twin = (" ".join(it.text for it in each) for each in (said, [right[i] for i in chosen]))
        needs = tuple(sorted({number for one in said for number in one.needs}))
        right_one = Taught(text, "=", "SUPPORTED", needs=needs)
        it = Taught(text, wrong.kind, wrong.label, twin, needs) if wrong else right_one
        yield _row(lesson, f"joined-{number}", _among(lesson, near, rng), it, "joined")


def _foreign(lesson: Lesson, near: Sequence[Lesson], rng: random.Random) -> Iterator[dict[str, Any]]:
    for number, it in enumerate(lesson.claims):
        if near and it.kind == "=" and rng.random() < FOREIGN:
            there = Laid([*rng.choice(near).passages])
            yield _row(lesson, f"foreign-{number}", there, Taught(it.text, "=", "UNSUPPORTED"), "foreign")
