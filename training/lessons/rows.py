"""Rows to train on, from lessons: the claims beside their passages, and what else follows from them.

| data set | claim | label |
| --- | --- | --- |
| `lesson_=`, `lesson_n`, … | as written, alone or among strange passages | as written |
| `lesson_pair` | a claim beside its twin as the only passage: the two clash | CONTRADICTED |
| `lesson_same` | a claim beside itself | SUPPORTED |
| `lesson_joined` | two or three right claims in a row; in half of the rows one gives way to its twin | as its worst |
| `lesson_foreign` | a right claim beside another lesson of the file | UNSUPPORTED |
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from training.lessons.read import Lesson, Taught, errors

ALONE = 0.5  # share of the claims that get no strange passage
MOST_STRANGE = 4
MOST_JOINED = 4  # answers of several claims that a lesson gives
CLASHING = frozenset("nudergacsw")  # kinds whose twins contradict each other both ways; "all" and "some" do not
LEAST = 96  # tokens of the premise: nobody marked which sentences of a lesson are evidence, so few may be left out
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


def _among(lesson: Lesson, near: Sequence[Lesson], rng: random.Random) -> list[str]:
    """Lay a lesson's passages among strange ones, in half of the cases."""
    contexts = [[*lesson.passages]]
    if near and rng.random() >= ALONE:
        strange = rng.sample(near, min(len(near), rng.randint(1, MOST_STRANGE)))
        contexts += [[*other.passages] for other in strange]
    rng.shuffle(contexts)
    return [passage for group in contexts for passage in group]


def _row(
    lesson: Lesson, name: str, contexts: Sequence[str], it: Taught, kind: str, question: str | None = None
) -> dict[str, Any]:
    return {
        "id": f"lesson:{lesson.id}:{name}", "dataset": f"lesson_{kind}",
        "unit": "answer" if kind == "joined" else "claim",
        "question": lesson.question if question is None else question, "contexts": list(contexts), "text": it.text,
        "sentence": "", "label": it.label, "evidence": [], "errors": [list(span) for span in errors(it)],
        "least": LEAST, "slice": kind, "group": f"lesson:{lesson.id}", "source": "lessons",
    }  # fmt: skip


def _as_written(lesson: Lesson, near: Sequence[Lesson], rng: random.Random) -> Iterator[dict[str, Any]]:
    for number, it in enumerate(lesson.claims):
        yield _row(lesson, str(number), _among(lesson, near, rng), it, it.kind)


def _paired(lesson: Lesson) -> Iterator[dict[str, Any]]:
    for number, it in enumerate(lesson.claims):
        if it.kind == "=":
            yield _row(lesson, f"same-{number}", [it.text], it, "same", question="")
        elif it.kind in CLASHING and it.label == "CONTRADICTED":
            back = Taught(it.twin, it.kind, it.label, it.text)
            yield _row(lesson, f"pair-{number}", [it.twin], it, "pair", question="")
            yield _row(lesson, f"back-{number}", [it.text], back, "pair", question="")


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
        it = Taught(text, wrong.kind, wrong.label, twin) if wrong else Taught(text, "=", "SUPPORTED")
        yield _row(lesson, f"joined-{number}", _among(lesson, near, rng), it, "joined")


def _foreign(lesson: Lesson, near: Sequence[Lesson], rng: random.Random) -> Iterator[dict[str, Any]]:
    for number, it in enumerate(lesson.claims):
        if near and it.kind == "=" and rng.random() < FOREIGN:
            there = rng.choice(near).passages
            yield _row(lesson, f"foreign-{number}", there, Taught(it.text, "=", "UNSUPPORTED"), "foreign")
