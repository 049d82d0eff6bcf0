"""The front door: what every public call takes, how large it may be, and in which words the rest is refused."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import everyclaim as ec
from everyclaim.core.types import Sample
from everyclaim.integrations import ragas

TEXT = "The kettle is red."
PASSAGES = [TEXT]
ROWS = [{"response": TEXT, "contexts": PASSAGES, "domain": "kitchen"}]


class Mine:
    """A judge of one's own."""

    spec = "mine"

    async def verify(self, claims: Any, passages: Any, *, question: str = "") -> list[ec.Verdict]:
        """Judge."""
        return [ec.Verdict(claim.id, ec.Label.SUPPORTED) for claim in claims]


def public_calls() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function of the two public namespaces, and every method with parameters of their classes."""
    for space in (ec, ragas):
        for name in space.__all__:
            thing = getattr(space, name)
            if inspect.isfunction(thing):
                yield name, thing
            if inspect.isclass(thing) and thing not in WORDS and not issubclass(thing, Exception):
                for method, function in inspect.getmembers(thing, inspect.isfunction):
                    if (method == "__init__" and not is_dataclass(thing)) or method[0] != "_":
                        yield f"{name}.{method}", function


WORDS = {  # plain data: Python itself refuses what these do not have
    ec.Claim, ec.Decomposition, ec.Evidence, ec.FailureMode, ec.JudgedClaim, ec.Label, ec.Outcome, ec.Passage,
    ec.Probabilities, ec.Result, ec.Sample, ec.Verdict,
    ragas.EvaluationDataset, ragas.EvaluationResult, ragas.MetricResult, ragas.SingleTurnSample,
}  # fmt: skip
CALLS = dict(public_calls())
OPEN = {"llm_factory"}  # passes what it does not know to the model


@pytest.mark.parametrize("name", sorted(CALLS.keys() - OPEN))
def test_no_public_call_takes_a_name_that_it_does_not_have(name: str) -> None:
    """By construction: whatever is public goes through the door, or is a plain call that raises by itself."""
    call = CALLS[name]
    me = [object()] if next(iter(inspect.signature(call).parameters), "") == "self" else []

    async def awaited() -> None:
        made = call(*me, no_such_option=1)
        await made

    takes_options = len(inspect.signature(call).parameters) > len(me)
    with pytest.raises(ec.ConfigError if takes_options else TypeError, match="no_such_option"):
        asyncio.run(awaited()) if inspect.iscoroutinefunction(call) else call(*me, no_such_option=1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"contexts": PASSAGES}, "did you mean 'passages'?"),
        ({"pasages": PASSAGES}, "did you mean 'passages'?"),
        ({"llm": "openai:m"}, "did you mean 'judge'?"),
        ({"colour": "red"}, "it takes row, response, passages, question, reference, "),
    ],
)
def test_an_unknown_name_is_answered_with_the_right_one(given: dict[str, Any], said: str) -> None:
    """A field's name of files, another tool's, a mistyped one: none of them gives a score."""
    with pytest.raises(ec.ConfigError) as caught:
        ec.score(**{"response": TEXT, "passages": PASSAGES, **given})
    assert f"score() has no option {next(iter(given))!r}" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ec.score(TEXT, PASSAGES), "score() takes only row without a name, as in score(response=…)"),
        (lambda: ec.score(passages=PASSAGES), "score() needs 'response'"),
        (lambda: ragas.Faithfulness().score(TEXT, contexts=PASSAGES), "did you mean 'retrieved_contexts'?"),
        (lambda: ec.score(response=TEXT, passages=PASSAGES, judge="lexical?treshold=.5"), "did you mean 'threshold'?"),
        (lambda: ec.score_file(ROWS, slices="domian"), "did you mean 'domain'?"),
        (lambda: ec.score_file(""), "the file name is empty"),
        (lambda: ec.open_corpus([{"text": TEXT}]).find("kettle", "3"), "k of Corpus.find() must be a whole number"),
        (lambda: ec.Guard(None).astream("Q", None), "passages of Guard.astream() must be"),
        (lambda: ragas.evaluate([], metrics=[]), "metrics of evaluate() is empty"),
        (
            lambda: ec.score(response=TEXT, passages=PASSAGES, judge="openai:m", metric="nli", one_call=True),
            "one_call works only with the metric 'faithfulness', not 'nli'",
        ),
        (
            lambda: ec.fit_cascade(
                [{"claim": TEXT, "sample_id": "a", "label": "SUPPORTED"}], answers=[{"response": TEXT}]
            ),
            "no labelled claim; labels for unknown answers were skipped (first: claim '1' refers to 'a')",
        ),
        (lambda: ec.score_file(ROWS, format="jsonl"), "format='jsonl' is for files"),
    ],
)
def test_a_wrong_call_is_one_clear_error(
    call: Callable[[], object], said: str, tmp_path: Path, monkeypatch: Any
) -> None:
    """Whatever is called, by whatever wrong name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.jsonl").write_text("{}")
    ec.score_file(ROWS, judge="lexical")
    with pytest.raises((ec.ConfigError, ec.InputError)) as caught:
        call()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ({"judge": None}, "judge of score_file() must be a spec such as 'embedded'"),
        ({"judge": Mine}, "got the class Mine itself"),
        (
            {"metric": Mine()},
            "metric of score_file() must be a spec such as 'faithfulness', an object with `score`, or a function of a sample, got a Mine",
        ),
        ({"decomposer": Mine()}, "a Decomposer (an object with spec and decompose) or a function, got a Mine"),
        ({"strict": "yes"}, "strict of score_file() must be True or False"),
        ({"empty": None}, "empty of score_file() must be one of exclude, one, zero, nan, got None"),
        ({"slices": {"domain"}}, "got a set, unordered"),
        ({"mapping": "a=response"}, "mapping of score_file() must be a mapping, got a text"),
        ({"hooks": print}, "hooks of score_file() must be a list, each item a function"),
        ({"store": None}, "store of score_file() must be a text or a path, got None; omit it for the default"),
        ({"requests_per_minute": 0}, "requests_per_minute of score_file() must be a number above 0, got 0"),
        ({"headers": ["X-Key=sk-secret"]}, "headers of score_file() must be a mapping, got a list"),
    ],
)
def test_a_wrong_value_names_the_option_and_what_it_must_be(
    option: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    """Before anything is read or written; and a value that may be a secret is not repeated."""
    store = tmp_path / "runs.db"
    with pytest.raises(ec.ConfigError) as caught:
        ec.score_file(ROWS, **{"judge": "openai:m", "store": store, **option})
    assert expected in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert not store.exists()


@pytest.mark.parametrize(
    "passages",
    [None, 3, b"The kettle is red.", {TEXT}, pd.DataFrame({"text": PASSAGES}), pl.DataFrame({"text": PASSAGES}),
     pa.table({"text": PASSAGES}), [None], [[TEXT]], [3], {"kettle": TEXT}],
)  # fmt: skip
@pytest.mark.parametrize(
    "call",
    [
        lambda passages: ec.score(response=TEXT, passages=passages),
        lambda passages: ec.verify_claims(TEXT, passages),
        lambda passages: ec.Guard(None).answer("Q", passages, response=TEXT),
    ],
)
def test_what_is_no_passage_is_refused(passages: object, call: Callable[[object], object]) -> None:
    """Not taken for texts by what going through it happens to give: names of columns, keys, numbers."""
    with pytest.raises(ec.InputError, match="passage"):
        call(passages)


@pytest.mark.parametrize(
    ("sample", "why"),
    [
        (Sample("a", None), "the response of a Sample must be a text, got None"),  # type: ignore[arg-type]
        (Sample(7, TEXT), "the id of a Sample must be a text, got 7"),  # type: ignore[arg-type]
        (Sample("a", TEXT, TEXT), "the passages of a Sample must be a list, each item a Passage, got a text"),  # type: ignore[arg-type]
        (Sample("a", TEXT, PASSAGES), "got a text at place 1"),  # type: ignore[arg-type]
        (Sample("a", TEXT, (ec.Passage("p", None),)), "the text of passage 1 of a Sample must be a text"),  # type: ignore[arg-type]
        (Sample("a", TEXT, tags={"x": 1}), "the tags of a Sample must be a mapping containing a text or a list"),  # type: ignore[dict-item]
    ],
)
def test_a_sample_that_holds_something_else_is_a_bad_row(sample: Sample, why: str, tmp_path: Path) -> None:
    """Reported with its place like a row of a file, and the others are scored."""
    good = Sample("g", TEXT, (ec.Passage("p", TEXT),))
    run = ec.score_file([good, sample], store=tmp_path / "runs.db", judge="lexical")
    assert [result.id for result in run.results()] == ["g"]
    assert run.read is not None
    assert why in run.read.bad_rows[0].reason


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (ec.score, "score() needs 'response', or a row with one"),
        (lambda: ec.score(TEXT), "row of score() must be a Sample or a mapping"),
        (lambda: ec.score([{"answer": TEXT}]), "many rows to score_file()"),
        (lambda: ec.score({"answer": pd.DataFrame([{"a": 1}])}), "the response is a DataFrame"),
        (lambda: ec.score({"answr": TEXT, "contexts": [TEXT]}), "answr"),
        (lambda: ec.score({}), "no field for the response"),
    ],
)
def test_what_is_no_row_is_refused(call: Any, said: str) -> None:
    """With what to give instead."""
    with pytest.raises(ec.InputError) as caught:
        call()
    assert said in str(caught.value)


MANY = "The kettle is red. " * 20


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ({"max_answer_chars": 100}, "the response has 380 characters, more than max_answer_chars=100"),
        ({"max_passage_chars": 10}, "passage 1 has 18 characters, more than max_passage_chars=10"),
        ({"max_passages": 1}, "the row has more than 1 passages, more than max_passages=1"),
        ({"max_row_mb": 0.0001}, "characters, more than max_row_mb=0.0001"),
    ],
)
def test_one_answer_beyond_a_limit_is_an_input_error(sizes: dict[str, float], says: str) -> None:
    """Before a judge is asked."""
    with pytest.raises(ec.InputError, match=says):
        ec.score(response=MANY, passages=PASSAGES * 2, judge="lexical", **sizes)


@pytest.mark.parametrize("metric", ["faithfulness", "nli", "qa", "ragchecker", "factual_correctness", "combined"])
def test_too_many_sentences_fail_under_every_metric(metric: str) -> None:
    """Never a score over the first few."""
    row = {"response": MANY, "passages": PASSAGES, "reference": "The kettle is red.", "judge": "lexical"}
    result = ec.score(**row, metric=metric, max_claims=19)
    assert (result.outcome, result.score) == (ec.Outcome.FAILED, None)
    assert result.reason == "bad_input: the answer has 20 sentences, more than max_claims=19"
    assert ec.score(**row, metric=metric, max_claims=20).outcome is not ec.Outcome.FAILED


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ec.verify_claims([TEXT], PASSAGES, max_answer_chars=10), "max_answer_chars=10"),
        (lambda: ec.verify_claims(["A.", "B.", "C."], PASSAGES, max_claims=2), "3 claims, more than max_claims=2"),
        (lambda: ec.extract_claims(TEXT, max_answer_chars=10), "max_answer_chars=10"),
        (lambda: ec.extract_claims(MANY, max_claims=5), "20 sentences, more than max_claims=5"),
    ],
)
def test_given_claims_and_texts_to_split_are_bounded(call: Callable[[], object], said: str) -> None:
    """`verify_claims` and `extract_claims`."""
    with pytest.raises(ec.InputError, match=said):
        call()


def test_given_claims_are_judged_without_decomposition() -> None:
    """One verdict per claim, in order; compound claims stay as given; an empty one is refused."""
    judged = ec.verify_claims(["The tank holds 2 litres.", "It floats and it sings."], ["The tank holds 2 litres."])
    assert [(c.id, c.text) for c in judged] == [("c1", "The tank holds 2 litres."), ("c2", "It floats and it sings.")]
    assert judged[0].verdict.label is ec.Label.SUPPORTED
    for claims in ("", ["  "], [3]):
        with pytest.raises(ec.InputError, match="empty"):
            ec.verify_claims(claims, ["x"])  # type: ignore[arg-type]
