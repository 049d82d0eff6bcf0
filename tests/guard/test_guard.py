"""The guard: evidence never grows, nothing worse is returned than was seen, limits hold, failures are survived."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_guard import Judge, Scores, Writer

import everyclaim as ec
from everyclaim.core.protocols import Message
from everyclaim.guard.answers import GuardedAnswer
from everyclaim.guard.authors import FunctionAuthor, Task
from everyclaim.guard.loop import Loop
from everyclaim.guard.repair import cut
from everyclaim.guard.rules import Rules
from everyclaim.testing import ScriptedChat, request_data

GOOD = "The lamp is red."
WRONG = "The lamp is wrong."
MAYBE = "The lamp is maybe old."
SHELF = ("Lamps come in red.", "Rugs come in blue.")
QUESTION = "What of the lamp?"


def guarded(
    says: str | Exception | Sequence[str | Exception], judge: Judge | None = None, **options: Any
) -> GuardedAnswer:
    writer = Writer([says] if isinstance(says, str | Exception) else says)
    return ec.Guard(writer, judge=judge or Judge(), **options).answer(QUESTION, SHELF)


def texts(answer: GuardedAnswer) -> list[str]:
    return [attempt.text for attempt in answer.attempts]


def test_a_good_answer_goes_through_at_once() -> None:
    """One call of the generator, one check, no warning."""
    judge, writer = Judge(), Writer([GOOD])
    answer = ec.Guard(writer, judge=judge)(QUESTION, SHELF, instructions="Be brief.")
    assert (answer.text, answer.score, answer.checked, answer.warnings) == (GOOD, 1.0, True, ())
    assert (writer.told, len(judge.seen), len(answer.attempts)) == (["Be brief."], 1, 1)


@pytest.mark.parametrize("repair", ["drop", "rewrite", "none"])
@pytest.mark.parametrize("strategy", ["joint", "each"])
def test_the_evidence_never_grows_by_a_retry(repair: str, strategy: str) -> None:
    """Whatever was learned from one answer reaches the generator's instructions, and the verifier never."""
    judge, writer = Judge(), Writer([f"{WRONG} {MAYBE}"])
    guard = ec.Guard(writer, judge=judge, repair=repair, strategy=strategy, max_retries=3, threshold=1.0)
    guard.answer(QUESTION, SHELF, instructions="Be brief.")
    given_texts = set(SHELF)
    assert len(judge.seen) > 0
    for claims, passages, question in judge.seen:
        assert {passage.text for passage in passages} <= given_texts
        assert question == QUESTION
        assert not any(passage.title for passage in passages)
        assert {word for claim in claims for word in (claim.text, claim.sentence)} <= {WRONG, MAYBE}
    assert any("so it is" in told and WRONG in told for told in writer.told[1:])
    assert all(told.startswith("Be brief.") for told in writer.told)
    assert {shown for _, shown in writer.shown} == {judge_shelf()}


def judge_shelf() -> tuple[ec.Passage, ...]:
    return tuple(ec.Passage(f"p{i}", text) for i, text in enumerate(SHELF, start=1))


def test_what_failed_is_dropped_first_without_asking_the_generator() -> None:
    """Two of three claims stay; the answer that is left was checked again."""
    writer = Writer([f"{GOOD} {WRONG} The lamp is tall."])
    answer = ec.Guard(writer, judge=Judge()).answer(QUESTION, SHELF)
    assert (answer.text, answer.checked, len(writer.told)) == (f"{GOOD} The lamp is tall.", True, 1)
    assert [(r.claim.text, r.claim.verdict.label, r.how) for r in answer.removed] == [
        (WRONG, "CONTRADICTED", "dropped")
    ]
    assert [(a.made, a.result.score) for a in answer.attempts] == [
        ("generated", pytest.approx(2 / 3)),
        ("dropped", 1.0),
    ]
    assert answer.warnings == ("1 claim removed from the answer",)


def test_too_much_is_not_dropped_but_generated_anew_with_guidance() -> None:
    """One of three would be left: the generator is told what was wrong instead."""
    writer = Writer([f"{GOOD} {WRONG} {MAYBE}", GOOD])
    answer = ec.Guard(writer, judge=Judge(), keep=0.5).answer(QUESTION, SHELF)
    assert [a.made for a in answer.attempts] == ["generated", "generated"]
    assert (answer.text, answer.checked, answer.removed) == (GOOD, True, ())
    assert answer.attempts[1].guidance == writer.told[1]
    assert WRONG in writer.told[1]
    assert MAYBE in writer.told[1]


def test_failed_sentences_are_rewritten_by_the_generator_one_by_one() -> None:
    """A function is asked for each failed sentence alone; the rest of the answer stays as it is."""
    writer = Writer([f"{GOOD}\n\n- {WRONG}\n- The lamp is tall.\n- {MAYBE}", "The lamp is heavy.", ""])
    answer = ec.Guard(writer, judge=Judge(), repair="rewrite").answer(QUESTION, SHELF)
    assert answer.text.startswith(f"{GOOD}\n\n- The lamp is heavy.\n- The lamp is tall.\n-")
    assert (answer.checked, [a.made for a in answer.attempts]) == (True, ["generated", "rewritten"])
    assert (WRONG in writer.told[1], MAYBE in writer.told[1]) == (True, False)
    assert [r.how for r in answer.removed] == ["rewritten", "rewritten"]


def test_a_chat_model_rewrites_all_failed_sentences_in_one_request() -> None:
    """By id, asked again only for what it leaves out; answers, faults and passages are data."""
    asked: list[dict[str, Any]] = []

    def rule(messages: Sequence[Message]) -> str:
        data = request_data(messages)
        if "sentences" not in data:
            return f"{GOOD} {WRONG} {MAYBE}"
        asked.append(data["sentences"])
        better = {WRONG: "The lamp is tall.", MAYBE: "The lamp is {old}."}
        rows = [{"id": k, "text": better[row["sentence"]]} for k, row in data["sentences"].items()]
        return json.dumps({"sentences": rows[:1] if len(asked) == 1 else rows})

    chat = ScriptedChat(rule)
    answer = ec.Guard(chat, judge=Judge()).answer(QUESTION, SHELF)
    assert (answer.text, answer.checked) == (f"{GOOD} The lamp is tall. The lamp is {{old}}.", True)
    assert [[row["sentence"] for row in part.values()] for part in asked] == [[WRONG, MAYBE], [MAYBE]]
    assert next(iter(asked[0].values()))["wrong"] == [
        {"statement": WRONG, "finding": "CONTRADICTED", "why": "so it is"}
    ]
    assert answer.usage.calls == chat.calls == 3
    assert request_data(chat.asked[0]) == {"passages": {"p1": SHELF[0], "p2": SHELF[1]}, "question": QUESTION}


def test_a_chat_generator_gets_guidance_as_data() -> None:
    """The application's instructions are the system's; what was wrong is in the document."""
    answers = iter([WRONG, GOOD])
    chat = ScriptedChat(lambda _: next(answers))
    answer = ec.Guard(chat, judge=Judge(), repair="none").answer(QUESTION, SHELF, instructions="Be brief.")
    assert (answer.text, answer.checked) == (GOOD, True)
    assert "Be brief." in chat.asked[1][0].content
    assert WRONG not in chat.asked[1][0].content
    assert request_data(chat.asked[1])["not_supported"][0]["statement"] == WRONG


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.integers(0, 6), st.floats(0, 1))
def test_it_never_returns_a_worse_answer_than_it_saw(scores: list[float], retries: int, threshold: float) -> None:
    """The best of all scores seen, the first of equals; it stops at the first that is good enough, or at the limit."""
    words = [f"Answer number{i}." for i in range(len(scores))]
    metric, writer = Scores(dict(zip(words, scores, strict=True))), Writer(words)
    loop = Loop(metric, FunctionAuthor(writer), Rules(threshold, retries, "none"))
    answer = asyncio.run(loop.answer(Task(QUESTION, judge_shelf())))
    seen = [metric.plan[text] for text in metric.asked]
    assert answer.score == max(seen)
    assert texts(answer)[0] == "Answer number0."
    assert answer.text == next(text for text in metric.asked if metric.plan[text] == max(seen))
    assert answer.checked == (max(seen) >= threshold - 1e-9)
    assert len(writer.told) <= 1 + retries
    assert all(score < threshold for score in seen[:-1])


def test_a_judge_that_fails_leaves_the_answer_unvalidated() -> None:
    """With the reason; or raises, where that is wanted."""
    broken = Judge(fails=lambda _: True)
    answer = guarded(GOOD, broken)
    assert (answer.text, answer.score, answer.checked, answer.result.outcome) == (GOOD, None, False, "failed")
    assert answer.warnings == ("the answer was not checked: timeout: no answer in 30 s",)
    with pytest.raises(ec.JudgeError, match="timeout: no answer in 30 s"):
        guarded(GOOD, broken, on_failure="raise")


@pytest.mark.parametrize("fault", [RuntimeError("down"), ValueError("bad"), ec.JudgeError("overloaded", "no answer")])
def test_a_generator_that_fails_gives_the_best_seen_or_an_error(fault: Exception) -> None:
    """There was an answer: it is returned. There was none: `GeneratorError`, with the cause."""
    answer = guarded([MAYBE, fault])
    assert (answer.text, answer.checked) == (MAYBE, False)
    assert answer.warnings[1].startswith("no further answer: the generator failed: ")
    with pytest.raises(ec.GeneratorError) as raised:
        guarded(fault)
    assert raised.value.__cause__ is fault


def test_a_contradicted_claim_is_blocked_however_good_the_score() -> None:
    """Nine of ten supported is above the threshold, and is repaired all the same."""
    nine = " ".join(f"Lamp {i} is red." for i in range(9))
    answer = guarded(f"{nine} {WRONG}", max_retries=0)
    assert answer.attempts[0].result.score == 0.9
    assert (answer.text, answer.checked) == (nine, True)


def test_what_may_not_be_shown_is_dropped_in_the_end_whatever_is_left() -> None:
    """Or the refusal is returned, where nothing else is."""
    answer = guarded(f"{WRONG} {MAYBE} It is wrong.", max_retries=0)
    assert (answer.text, answer.blocked, answer.checked) == (MAYBE, False, False)
    answer = guarded(WRONG, max_retries=1, refusal="No.")
    assert (answer.text, answer.blocked, answer.checked, answer.best.text) == ("No.", True, False, WRONG)
    assert answer.warnings[0] == f"1 of 1 claims would be blocked: '{WRONG}'"
    assert answer.notes == ()


def test_a_given_answer_is_checked_first() -> None:
    """With or without a generator behind it."""
    judge = Judge()
    answer = ec.Guard(None, judge=judge).answer(QUESTION, SHELF, response=f"{GOOD} {WRONG}")
    assert (answer.text, [a.made for a in answer.attempts]) == (GOOD, ["given", "dropped"])
    answer = ec.Guard(Writer([GOOD]), judge=judge).answer(QUESTION, SHELF, response=MAYBE)
    assert (answer.text, [a.made for a in answer.attempts]) == (GOOD, ["given", "generated"])
    with pytest.raises(ec.GeneratorError, match="a generator or a response"):
        ec.Guard(None, judge=judge).answer(QUESTION, SHELF)


def test_generators_may_be_of_any_kind() -> None:
    """Plain or asynchronous, whole or in pieces, functions or objects; also inside a running loop."""

    async def whole(*_: object) -> str:
        return GOOD

    async def streamed(*_: object) -> Any:
        for piece in ("The lamp ", "is red."):
            yield piece

    def pieces(*_: object) -> Any:
        yield from ("The lamp ", "is red.")

    class Bot:
        async def __call__(self, *_: object) -> str:
            return GOOD

    async def inside() -> list[str]:
        made = [whole, streamed, pieces, Bot(), lambda *_: GOOD, lambda *_: whole(), lambda *_: [GOOD]]
        awaited = [(await ec.Guard(one, judge=Judge()).aanswer(QUESTION, SHELF)).text for one in made]
        return [*awaited, ec.Guard(whole, judge=Judge()).answer(QUESTION, SHELF).text]

    assert asyncio.run(inside()) == [GOOD] * 8


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 1.5},
        {"max_retries": -1},
        {"repair": "fix"},
        {"on_failure": "ignore"},
        {"keep": float("nan")},
        {"judge": "nobody"},
        {"rewriter": "lexical"},
    ],
)
def test_a_wrong_option_is_refused_when_the_guard_is_made(options: dict[str, Any]) -> None:
    """Not in the middle of an answer."""
    with pytest.raises(ec.ConfigError):
        ec.Guard(Writer([GOOD]), **options)


@pytest.mark.parametrize("said", ["", "  \n", 7, None, b"bytes"])
def test_what_is_no_answer_is_a_failure_of_the_generator(said: object) -> None:
    """Blank, or no text."""
    with pytest.raises(ec.GeneratorError):
        guarded(said)  # type: ignore[arg-type]


def test_a_spent_budget_of_the_judge_is_survived() -> None:
    """As any failure of it."""

    class Spent(Judge):
        async def verify(self, *_: object, **__: object) -> list[ec.Verdict]:
            raise ec.BudgetExceeded("max_calls=3 is reached", limit="max_calls=3")

    assert guarded(GOOD, Spent()).warnings == ("the answer was not checked: budget: max_calls=3 is reached",)
    with pytest.raises(ec.BudgetExceeded):
        guarded(GOOD, Spent(), on_failure="raise")


SENTENCES = [
    "The lamp is red.",
    "It was made in 1950.",
    "However, the rug is blue.",
    "Anna likes tea.",
    "She was born in Oslo.",
]


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8), st.data())
def test_nothing_that_failed_is_left_and_nothing_else_gets_lost(parts: list[str], data: st.DataObject) -> None:
    """Sentence by sentence, whatever the order: facts that failed are gone, the others are there as often as before."""
    answer = " ".join(parts)
    claims = ec.extract_claims(answer).claims
    failed = data.draw(st.sets(st.sampled_from([claim.id for claim in claims])))
    found = cut(answer, claims, failed)
    facts = ["red", "1950", "blue", "tea", "Oslo"]
    kept = [claim.text for claim in claims if claim.id not in failed]
    assert (found is None) == (not kept)
    if found:
        assert [found.text.count(fact) for fact in facts] == [sum(fact in text for text in kept) for fact in facts]
