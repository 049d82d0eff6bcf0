"""What judges write around ids and labels, as small local models do: accepted, and flagged where something is missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, Request, no_sleep, play

ANSWER = "The kettle is red. The lamp holds 9 litres."
SHELF = ["The kettle is red. The lamp is blue."]
SPLIT = ["The kettle is red.", "The lamp holds 9 litres."]
Row = dict[str, Any]
Shape = Callable[[list[Row]], Any]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    with no_sleep():
        yield


def rows_of(request: Request) -> list[Row]:
    return list(json.loads(play(request))["verdicts"])


def judged(shape: Shape, **options: Any) -> tuple[ec.Result, int]:
    """Score two claims, the one supported and the other not, by a judge whose verdicts have this shape."""

    def rule(request: Request) -> str:
        if '"sentences"' in request.messages[-1].content:
            return play(request)
        shaped = shape(rows_of(request))
        return shaped if isinstance(shaped, str) else json.dumps(shaped)

    with JudgeServer(rule) as server:
        judge = f"openai:small?base_url={server.base_url}"
        result = ec.score(response=ANSWER, passages=SHELF, judge=judge, **options)
        return result, server.calls


def without(*names: str) -> Shape:
    return lambda rows: {"verdicts": [{k: v for k, v in row.items() if k not in names} for row in rows]}


def having(**values: Any) -> Shape:
    return lambda rows: {"verdicts": [row | values for row in rows]}


COMPLETE: dict[str, Shape] = {
    "as asked": lambda rows: {"verdicts": rows},
    "a bare list": lambda rows: rows,
    "a bare list in a fence with prose": lambda rows: (
        f"Here you are [see below]:\n```json\n{json.dumps(rows)}\n```\nDone."
    ),
    "under another name": lambda rows: {"judgements": rows},
    "by id alone": lambda rows: {row.pop("id"): row for row in rows},
    "more fields": lambda rows: {"verdicts": [row | {"confidence": 1, "claim": "x"} for row in rows], "notes": "none"},
    "labels in lower case": lambda rows: {"verdicts": [row | {"label": row["label"].lower()} for row in rows]},
    "a kind and a conflict of their own": lambda rows: {
        "verdicts": [row | {"why": "not there" * bool(row["why"]), "mode": "Other", "conflict": False} for row in rows]
    },
}
INCOMPLETE: dict[str, Shape] = {
    "id and label alone": without("quotes", "why", "support"),
    "quotes null": having(quotes=None),
    "reason a list": having(why=["a", "b"]),
    "support a word": having(support="high"),
}


def found(result: ec.Result) -> list[tuple[str, str]]:
    return [(claim.text, claim.verdict.label.value) for claim in result.claims]


JUDGED = list(zip(SPLIT, ["SUPPORTED", "UNSUPPORTED"], strict=True))


@pytest.mark.parametrize("shape", COMPLETE.values(), ids=COMPLETE)
def test_a_verdict_in_another_dress_is_the_same_verdict(shape: Shape) -> None:
    """Two calls, the labels on their own claims, nothing flagged, and the evidence that was given."""
    result, calls = judged(shape)
    assert (found(result), calls) == (JUDGED, 2)
    assert [claim.verdict.flags for claim in result.claims] == [(), ()]
    assert result.claims[0].verdict.evidence[0].quote == "The kettle is red."


@pytest.mark.parametrize("name", INCOMPLETE)
def test_a_verdict_with_id_and_label_is_accepted_and_flagged(name: str) -> None:
    """No second request; what is missing is empty and never made up, and the verdict says that it is incomplete.

    A reason is asked for only where a claim is not supported.
    """
    result, calls = judged(INCOMPLETE[name])
    assert (found(result), calls) == (JUDGED, 2)
    flagged = ["incomplete_verdict" in claim.verdict.flags for claim in result.claims]
    assert flagged == ["reason" not in name, True]


@pytest.mark.parametrize(
    ("shape", "code"),
    [
        (lambda rows: [*rows, rows[0] | {"id": "c9"}], "bad_reply"),
        (lambda rows: [row | {"id": i} for i, row in enumerate(rows)], "bad_reply"),
        (lambda rows: [row | {"id": int(row["id"][1:])} for row in rows], "bad_reply"),
        (lambda rows: [row | {"id": row["id"][1:]} for row in rows], "bad_reply"),
        (lambda rows: {row["id"][1:]: row for row in rows}, "bad_reply"),
        (lambda rows: {"a": {"verdicts": rows}, "b": {"verdicts": rows}}, "bad_reply"),
        (lambda rows: [rows[0], rows[0]], "missing_verdict"),
        (lambda rows: {"verdicts": [{"label": row["label"]} for row in rows]}, "missing_verdict"),
        (lambda rows: [row | {"label": "not supported"} for row in rows], "missing_verdict"),
        (lambda rows: [row | {"label": "SUPPORTED."} for row in rows], "missing_verdict"),
        (lambda rows: json.dumps(rows)[:-9], "truncated"),
    ],
    ids=[
        *("unknown id", "counted from 0", "counted from 1", "digits", "by number"),
        *("two lists", "twice", "no id", "another label", "a full stop", "cut"),
    ],
)
def test_ids_and_labels_stay_strict_in_every_dress(shape: Shape, code: str) -> None:
    """Asked once more, then failed, without a score."""
    result, calls = judged(shape, claims_per_call=2)
    assert (result.outcome, result.score) == ("failed", None)
    assert result.reason.startswith(code)
    assert calls in {3, 4}  # a cut reply is halved


def lines_of(rows: list[Row]) -> list[str]:
    """Write claims as lines that name their sentences, as small models do."""
    return [f"{row['id']}: {claim}" for row in rows for claim in row["claims"]]


SPLITS: dict[str, Callable[[list[Row]], Any]] = {
    "as asked": lambda rows: {"sentences": rows, "skipped": []},
    "under another name": lambda rows: {"claims": rows, "skipped": []},
    "a bare list": lambda rows: rows,
    "one claim as a text": lambda rows: {"sentences": [row | {"claims": row["claims"][0]} for row in rows]},
    "by id alone": lambda rows: {row["id"]: row["claims"] for row in rows},
    "a row for each claim": lambda rows: {
        "claims": [{"sentence": row["id"], "claim": claim} for row in rows for claim in row["claims"]]
    },
    "lines": lambda rows: {"claims": lines_of(rows), "skipped": []},
    "ids in brackets and capitals": lambda rows: {
        "claims": [f"[S{line[1:].replace(':', ']:', 1)}" for line in lines_of(rows)]
    },
}


@pytest.mark.parametrize("shape", SPLITS.values(), ids=SPLITS)
def test_a_split_in_another_dress_is_the_same_split(shape: Callable[[list[Row]], Any]) -> None:
    """Two calls, the same claims."""

    def rule(request: Request) -> str:
        if '"sentences"' not in request.messages[-1].content:
            return play(request)
        return json.dumps(shape(json.loads(play(request))["sentences"]))

    with JudgeServer(rule) as server:
        result = ec.score(response=ANSWER, passages=SHELF, judge=f"openai:small?base_url={server.base_url}")
        assert (found(result), server.calls) == (JUDGED, 2)


@pytest.mark.parametrize(
    "quotes", ["p1: The kettle is red.", [{"passage": "p1", "quote": "The kettle is red."}], [3, "The kettle is red."]]
)
def test_quotes_of_another_form_are_still_looked_for(quotes: Any) -> None:
    """One text, objects, a stray number: what is a quote is located in the passage like any other."""
    result, _ = judged(lambda rows: {"verdicts": [row | {"quotes": quotes} for row in rows]})
    assert result.claims[0].verdict.evidence[0].quote == "The kettle is red."
    assert "incomplete_verdict" in result.claims[0].verdict.flags
