"""`tune`: labels in, a small file out that makes the embedded judge better, or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, play

COLOURS = ("red", "blue", "green", "black", "white")


def passage(number: int) -> str:
    return f"Kettle {number} is {COLOURS[number % 5]} and holds {number + 2} litres. It was made in Leeds."


def rows(*said: tuple[str, str]) -> list[dict[str, Any]]:
    """Return what is said of forty kettles, with its label."""
    return [
        {"claim": claim.format(n, n + 3, n + 9, COLOURS[n % 5]), "contexts": [passage(n)], "label": label}
        for n in range(40)
        for claim, label in said
    ]


# A team that minds nothing but the numbers: what is not said is as good as said, which no judge can know.
LAX = rows(
    ("Kettle {0} is a nice {3} present for friends.", "SUPPORTED"),
    ("Kettle {0} is from Yorkshire, like all our kettles.", "SUPPORTED"),
    ("Kettle {0} holds {1} litres.", "CONTRADICTED"),
    ("Kettle {0} holds {2} litres of tea.", "UNSUPPORTED"),
)
FAIR = rows(("Kettle {0} is {3}.", "SUPPORTED"), ("Kettle {0} holds {2} litres.", "CONTRADICTED"))


@pytest.fixture(scope="module")
def lax() -> Any:
    return ec.tune(LAX)


@pytest.fixture
def tuned(lax: Any, tmp_path: Path) -> Path:
    lax.write(tmp_path / "tuned.json")
    return tmp_path / "tuned.json"


def test_a_fit_that_helps_says_so_with_a_table(lax: Any) -> None:
    """Before and after are of documents that the fit did not see, each change with its interval."""
    assert lax.helps
    assert (lax.fit.claims, lax.fit.documents) == (160, 40)
    assert lax.fit.labels == {"SUPPORTED": 80, "CONTRADICTED": 40, "UNSUPPORTED": 40}
    assert set(lax.fit.table) == {"balanced_accuracy", "sensitivity", "specificity", "roc_auc"}
    for one in lax.fit.table.values():
        assert one.low <= one.after - one.before <= one.high
    assert lax.fit.table["roc_auc"].after > lax.fit.table["roc_auc"].before


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": "4"}, "was tuned for embedded:4.*everyclaim judge tune"),
        ({"tokens": 64}, "tokens=64"),
        ({"format": 9}, "format 9"),
        ({"kind": "else"}, "not a file written by"),
        ({"slope": float("nan")}, "damaged"),
        ({"features": {"exact_main": [0.0, 0.0, 1.0]}}, "damaged"),
        ({"features": {"no such": [0.0, 1.0, 1.0]}}, "'no such'"),
        ({"alarm": {"named": 2, "other": 0.5}}, "damaged"),
    ],
)
def test_a_file_of_another_model_or_a_damaged_one_is_refused(change: dict[str, Any], told: str, tuned: Path) -> None:
    """In one line that says what to do."""
    tuned.write_text(json.dumps(json.loads(tuned.read_text()) | change))
    with pytest.raises(ec.ConfigError, match=told) as caught:
        ec.score(response="It is red.", passages=["It is red."], judge=f"embedded?tuned={tuned}")
    assert "\n" not in str(caught.value)


def test_only_the_plain_embedded_judge_is_tuned(tuned: Path) -> None:
    """Not another judge, not a tuned one, and no threshold, which is for using it."""
    for judge, told in (
        ("lexical", "cannot be tuned"),
        ("embedded?threshold=0.4", "threshold"),
        (f"embedded?tuned={tuned}", "tuned"),
    ):
        with pytest.raises(ec.ConfigError, match=told):
            ec.tune(FAIR, judge)
    with pytest.raises(ec.ConfigError, match="max_cost"):
        ec.tune(FAIR, max_cost=1.0)
    with pytest.raises(ec.ConfigError, match="from_judge"):
        ec.tune(FAIR, answers=20)


ANSWERS = [
    {
        "id": f"a{number}",
        "response": f"Kettle {number} is {COLOURS[number % 5]}. It was assembled by hand in {1900 + number}.",
        "contexts": [passage(number)],
    }
    for number in range(30)
]


def test_an_evaluator_tunes_to_labels_or_with_its_own_judge_and_budget(lax: Any) -> None:
    """With the embedded judge to labels; with a language model to what that says, within the one budget."""
    with ec.Evaluator() as evaluator:
        assert evaluator.tune(LAX).fit == lax.fit
        with pytest.raises(ec.ConfigError, match="answers"):
            evaluator.tune(LAX, answers=20)
    with JudgeServer(play) as server:
        judge = f"openai:m?base_url={server.base_url}"
        with ec.Evaluator(judge=judge, decomposer="embedded", max_calls=12) as evaluator:
            first = evaluator.tune(ANSWERS, answers=8, concurrency=1)
            assert (first.fit.claims, evaluator.usage.calls) == (17, 8)
            second = evaluator.tune(ANSWERS[8:], answers=8, concurrency=1)
            assert second.stopped
            assert second.fit.claims == 8
