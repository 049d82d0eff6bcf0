"""The report of a run as bytes: what it says of runs of every kind, whatever its answers hold."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pages_sample as sample
import pytest

from everyclaim.api.runs import Trust, run_document
from everyclaim.core.types import Outcome
from everyclaim.core.wire import result_from_json, sample_from_json
from everyclaim.report.html.pages import run_report


def written(records, **options):
    """The page of these records, without its data."""
    record, summary, _ = sample.page_parts(records, **options)
    page = run_report(
        record, summary, lambda places: [one for one in records if places is None or one.position in places]
    )
    return page.decode().partition('<script type="text/plain"')[0]


def said(page):
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_every_outcome_is_counted_and_none_is_a_score():
    """Failed, declined and empty answers stand beside the mean, each with its count."""
    records = [sample.plain(0, "ssu", "faq"), sample.without_score(1, Outcome.FAILED, "timeout: slow"),
               sample.without_score(2, Outcome.ABSTAINED), sample.without_score(3, Outcome.NO_CLAIMS)]  # fmt: skip
    text = said(written(records, slices=["source"]))
    assert "1 scored of 4 · 1 without claims · 1 abstained · 1 failed" in text
    assert "2 of 3 claims" in text
    assert "Claims supported 66.7 %" in text


def test_nothing_scored_has_no_number():
    """All failed: no mean, no chart, and the reasons are told."""
    text = said(written([sample.without_score(place, Outcome.FAILED, "timeout: slow") for place in range(3)]))
    assert "No answer was scored" in text
    assert "failed timeout 3" in text
    assert "nan" not in text.lower().split()


@pytest.mark.parametrize("known", ["on labelled answers the judge called 80 % so; `everyclaim label` finds out", ""])
def test_what_is_known_of_the_judge_is_always_said(known):
    """From elsewhere, or that nothing is."""
    records = [sample.plain(0, "su", "")]
    record, summary, _ = sample.page_parts(records)
    page = run_report(record, summary, lambda _: records, known_error=known).decode()
    assert ("<kbd>everyclaim label</kbd>" if known else "accuracy on these texts is unknown") in page


def test_the_document_holds_run_summary_and_worst_answers():
    """Counts and numbers are those of the page; sample and result of an answer become the same objects again."""
    record, summary, worst = sample.example()
    document = json.loads(
        json.dumps(run_document(SimpleNamespace(record=record), summary, worst, Trust()), allow_nan=False)
    )
    assert document["run"]["id"] == "3f2a91c0de11"
    assert document["run"]["counts"] == {
        "scored": 38,
        "no_claims": 1,
        "abstained": 1,
        "failed": 1,
        "unread": 0,
        "not_applicable": 0,
    }
    assert document["run"]["counts"] == document["summary"]["outcomes"]
    assert document["summary"]["labels"]["contradicted"]["count"] == 5
    assert set(document["summary"]["slices"]["source"]) == {"", "faq", "manual", "multi"}
    assert [sample_from_json(one["sample"]) for one in document["worst"]] == [kept.sample for kept in worst]
    assert [result_from_json(one["result"]) for one in document["worst"]] == [kept.result for kept in worst]
