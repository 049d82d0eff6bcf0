"""Answers are checked while they are written, sentence by sentence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from scripted_guard import Judge, Writer

import everyclaim as ec
from everyclaim.guard.answers import GuardedSentence
from everyclaim.guard.loop import pieces

GOOD, WRONG, MAYBE = "The lamp is red.", "The lamp is wrong.", "The lamp is maybe old."
SHELF = ["Lamps come in red."]


def streamed(generate: Any, judge: Judge | None = None, **options: Any) -> list[GuardedSentence]:
    async def all_of_it() -> list[GuardedSentence]:
        guard = ec.Guard(generate, judge=judge or Judge(), **options)
        return [sentence async for sentence in guard.astream("What of the lamp?", SHELF)]

    return asyncio.run(all_of_it())


def test_each_sentence_is_passed_annotated_or_held_back() -> None:
    """The texts together are the answer that may be shown."""
    found = streamed(Writer([f"{GOOD} {MAYBE} {WRONG}\n\nThe lamp is tall."]))
    assert [(s.text, s.status) for s in found] == [
        (GOOD, "passed"),
        (f" {MAYBE}", "annotated"),
        ("", "held_back"),
        ("\n\nThe lamp is tall.", "passed"),
    ]
    assert found[1].annotated == f" {MAYBE} [unsupported]"
    assert found[2].original == f" {WRONG}"
    assert found[2].result.claims[0].verdict.label is ec.Label.CONTRADICTED


def test_a_judge_that_fails_leaves_a_sentence_unchecked_or_raises() -> None:
    """By the rules; the others are checked."""
    judge = Judge(fails=lambda text: text == MAYBE)
    assert [s.status for s in streamed(Writer([f"{GOOD} {MAYBE}"]), judge)] == ["passed", "unchecked"]
    with pytest.raises(ec.JudgeError):
        streamed(Writer([f"{GOOD} {MAYBE}"]), judge, on_failure="raise")


def test_a_generator_that_fails_on_the_way_is_an_error_after_what_was_complete() -> None:
    """Half a sentence is not shown."""

    def generate(*_: object) -> Any:
        yield f"{GOOD} The lamp is"
        raise RuntimeError("down")

    shown: list[str] = []

    async def read() -> None:
        async for sentence in ec.Guard(generate, judge=Judge()).astream("q", SHELF):
            shown.append(sentence.text)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(ec.GeneratorError, match="RuntimeError: down"):
        asyncio.run(read())
    assert shown == [GOOD]
    with pytest.raises(ec.GeneratorError, match="empty answer"):
        streamed(Writer([" "]))


async def _cut(chunks: Sequence[str]) -> list[str]:
    async def given_() -> AsyncIterator[str]:
        for chunk in chunks:
            yield chunk

    return [piece async for piece in pieces(given_())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is red. Two is blue.", ["One is red.", " Two is blue."]),
        ("They are:\n- one\n- two\n\nThat is all.", ["They are:\n- one\n- two", "\n\nThat is all."]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nSo it is.", ["| a | b |\n|---|---|\n| 1 | 2 |", "\n\nSo it is."]),
        ("See:\n\n```\nx = 1. Y\n```\n\nIt runs.", ["See:", "\n\n```\nx = 1. Y\n```", "\n\nIt runs."]),
    ],
)
def test_lists_tables_and_code_stay_together(text: str, expected: list[str]) -> None:
    """Their parts mean little alone; however the text comes in."""
    assert asyncio.run(_cut([text])) == expected
    assert "".join(asyncio.run(_cut(list(text)))) == text


def test_of_a_blocked_sentence_the_rest_is_shown_when_it_holds() -> None:
    """Checked again before it is shown."""
    judge = Judge()
    found = streamed(Writer([f"{GOOD} The lamp was made in 1950 and is wrong about it."]), judge)
    assert [(s.text, s.status) for s in found] == [(GOOD, "passed"), (" The lamp was made in 1950.", "repaired")]
    assert len(judge.seen) == 3
