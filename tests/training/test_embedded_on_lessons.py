"""The embedded verifier on lessons that nothing was trained on: steady whatever stands beside the evidence."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import islice

import pytest
from training.lessons.read import Lesson, lessons

import everyclaim as ec
from everyclaim.core.types import Label

STAYS = {"shuffled": 0.99, "repeated": 0.99, "with_more": 0.91}  # share of labels that must stay
LESSONS = [lesson for lesson in lessons() if lesson.tested][:70]

Layout = Callable[[Lesson, random.Random], list[str]]


def strange(lesson: Lesson, rng: random.Random, count: int) -> list[str]:
    """Passages of other lessons."""
    others = [passage for other in LESSONS if other is not lesson for passage in other.passages]
    return rng.sample(others, count)


def labels(layout: Layout) -> list[Label]:
    """Judge four claims of every lesson with its passages laid out in some way."""
    found = []
    for number, lesson in enumerate(LESSONS):
        claims = [it.text for it in islice(lesson.claims, 4)]
        passages = layout(lesson, random.Random(number))
        found += [judged.verdict.label for judged in ec.verify_claims(claims, passages, judge="embedded")]
    return found


def as_given(lesson: Lesson, rng: random.Random) -> list[str]:
    """The lesson's passages and two strange ones."""
    return [*lesson.passages, *strange(lesson, rng, 2)]


@pytest.fixture(scope="module")
def usual() -> list[Label]:
    """The labels that nothing disturbs."""
    return labels(as_given)


def shuffled(lesson: Lesson, rng: random.Random) -> list[str]:
    """The same in another order."""
    return as_given(lesson, rng)[::-1]


def repeated(lesson: Lesson, rng: random.Random) -> list[str]:
    """One passage stands there twice."""
    passages = as_given(lesson, rng)
    return [*passages, passages[0]]


def with_more(lesson: Lesson, rng: random.Random) -> list[str]:
    """Three more strange passages, around the others."""
    passages = as_given(lesson, rng)
    more = [text for text in strange(lesson, rng, 5) if text not in passages][:3]
    return [*more[:1], *passages, *more[1:]]


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize("layout", [shuffled, repeated, with_more])
def test_labels_stay_when_what_is_beside_the_point_changes(usual: list[Label], layout: Layout) -> None:
    stayed = [one is other for one, other in zip(usual, labels(layout), strict=True)]
    assert sum(stayed) / len(stayed) >= STAYS[layout.__name__]


@pytest.mark.slow
def test_lessons_are_told_from_their_twins_better_than_by_chance(usual: list[Label]) -> None:
    """What is supported is called so more often than what is wrong in one thing."""
    right = [it.kind == "=" for lesson in LESSONS for it in islice(lesson.claims, 4)]
    share = {
        kind: sum(label is Label.SUPPORTED for label, is_right in zip(usual, right, strict=True) if is_right is kind)
        / right.count(kind)
        for kind in (True, False)
    }
    assert share[True] > share[False] + 0.1
