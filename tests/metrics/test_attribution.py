"""Citations of an answer: ALCE's recall and precision by hand, and what each citation does for its claim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import everyclaim as ec

ABC = ("alpha here", "beta here", "alpha beta gamma here")


def holds(claim: Any, passages: Any) -> str:
    """Judge by words: every Greek letter of the claim is in the passages together."""
    words = {word for passage in passages for word in passage.text.split()}
    wanted = {word for word in claim.text.lower().strip(" .").split() if word in {"alpha", "beta", "gamma", "delta"}}
    return "SUPPORTED" if wanted <= words else "UNSUPPORTED"


def sentences(response: str) -> list[str]:
    """Give whole sentences, as ALCE judges them."""
    return [part.strip() + "." for part in response.split(".") if part.strip(" []0123456789")]


def attributed(response: str, *passages: Any, **options: Any) -> ec.Result:
    chosen: dict[str, Any] = {"judge": holds, "decomposer": sentences} | options
    return ec.score(response=response, passages=list(passages or ABC), metric="attribution", **chosen)


@pytest.mark.parametrize(
    ("response", "recall", "precision"),
    [
        ("It is alpha [1].", 1, 1),  # one citation, which entails it
        ("It is alpha [2].", 0, 0),  # one that does not
        ("It is alpha.", 0, None),  # none
        ("It is alpha beta [1][2].", 1, 1),  # neither alone, both together
        ("It is alpha [1][2].", 1, 1 / 2),  # the second alone does not, and is not needed
        ("It is alpha [1][3].", 1, 1),  # each alone does: neither is irrelevant
        ("It is gamma [1][2].", 0, 0),  # not even together: no citation counts
        ("It is alpha beta [1][2][3].", 1, 1 / 3),  # the third alone does, and the others are then not needed
        ("It is alpha [1]. It is beta [1].", 1 / 2, 1 / 2),
        ("It is alpha [9].", 0, 0),  # a source that is not there
    ],
)
def test_recall_and_precision_are_those_of_alce(response: str, recall: float, precision: float | None) -> None:
    """Gao et al. 2023, section 3: a claim is recalled by all that it cites, a citation irrelevant by leaving it out."""
    result = attributed(response)
    expected = {"citation_precision": precision, "citation_recall": recall}
    assert result.components == {key: value and pytest.approx(value) for key, value in expected.items()}
    both = (precision or 0) + recall
    assert result.score == pytest.approx(2 * (precision or 0) * recall / both if both else 0)


def test_each_citation_has_a_finding_and_a_wrong_one_the_right_passage() -> None:
    """Right, unneeded, misattributed, unsupported, dead and missing are told apart, with what to cite instead."""
    response = (
        "The museum opened in 1956 [1][3]. It has 400 paintings [1]. It was designed by Anna Berg [2]. "
        "Entry costs 12 euros [7]. The library is closed on Mondays."
    )
    passages = [
        "The museum opened in 1956.",
        "The museum has 400 paintings.",
        "Tea is made from leaves. Entry costs 12 euros. The library is closed on Mondays.",
    ]
    result = ec.score(response=response, passages=passages, metric="attribution")
    found = [(one["finding"], one.get("passage"), one.get("instead")) for one in result.details["citations"]]
    assert found == [
        ("right", "p1", None),
        ("unneeded", "p3", None),
        ("misattributed", "p1", ["p2"]),
        ("unsupported", "p2", None),
        ("dead", None, ["p3"]),
        ("missing", None, ["p3"]),
    ]
    assert set(result.details["counts"].values()) == {1}
    wrong = result.details["citations"][2]
    assert response[slice(*wrong["span"])] == "[1]"
    assert [claim.verdict.label.value for claim in result.claims].count("SUPPORTED") == 4


def test_a_citation_is_needed_where_one_of_its_claims_needs_it() -> None:
    """Two facts of one sentence that are cited together cost nothing."""
    response = "The museum, which has 400 paintings, opened in 1956 [1][2]."
    passages = ["The museum opened in 1956.", "The museum has 400 paintings."]
    result = ec.score(response=response, passages=passages, metric="attribution")
    assert result.score == 1
    assert [one["finding"] for one in result.details["citations"]] == ["right", "right"]


def test_citations_are_counted_beside_faithfulness(tmp_path: Path) -> None:
    """With the judges that ship; the score and the verdicts are those against all passages. A model is not asked more."""
    response = (
        "The museum opened in 1956 [1]. It has 400 paintings [1]. It was designed by Anna Berg [2]. Entry is free [7]."
    )
    passages = ["The museum opened in 1956.", "The museum has 400 paintings."]
    run = ec.score_file([{"response": response, "contexts": passages}], store=tmp_path / "runs.db")
    (result,) = run.results()
    counts = {"right": 1, "misattributed": 1, "unsupported": 1, "dead": 1}
    assert result.details["citation_counts"] == run.summary.citations == counts
    assert result.score == 0.5
    assert result.claims[1].verdict.label == "SUPPORTED"
    assert "citation_counts" not in ec.score(response=response, passages=passages, judge=holds).details
    assert "citation_counts" not in ec.score(response="It opened in 1956.", passages=passages).details


@pytest.mark.parametrize(
    ("response", "mended"),
    [
        ("According to document 1, it has 400 paintings.", "According to document 2, it has 400 paintings."),
        ("According to [1], it has 400 paintings.", "According to [2], it has 400 paintings."),
        ("It has 400 paintings.\n\n[1]", "It has 400 paintings.\n\n[2]"),
        ("It has 400 paintings [0].", "It has 400 paintings [2]."),
    ],
)
def test_a_guard_corrects_the_number_of_a_citation_and_keeps_its_words(response: str, mended: str) -> None:
    """A sentence that begins with its source stays whole; a line of citations belongs to what stands above it."""
    passages = ["The museum opened in 1956.", "The museum has 400 paintings."]
    answer = ec.Guard(None, metric="attribution").answer("What about the museum?", passages, response=response)
    assert (answer.text, answer.checked) == (mended, True)
