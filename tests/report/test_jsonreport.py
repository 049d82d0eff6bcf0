"""The JSON document of a run."""

import json

import pages_sample as sample

from everyclaim.core.wire import result_from_json, sample_from_json
from everyclaim.report.jsonreport import report_to_json


def test_the_document_holds_run_summary_and_worst_answers():
    """Counts and numbers are those of the page; sample and result of an answer become the same objects again."""
    record, summary, worst = sample.example()
    document = json.loads(json.dumps(report_to_json(record, summary, worst), allow_nan=False))
    assert document["run"]["id"] == "3f2a91c0de11"
    assert document["run"]["counts"] == {"scored": 38, "no_claims": 1, "abstained": 1, "failed": 1, "unread": 0}
    assert document["run"]["counts"] == document["summary"]["outcomes"]
    assert document["summary"]["labels"]["contradicted"]["count"] == 5
    assert set(document["summary"]["slices"]["source"]) == {"", "faq", "manual", "multi"}
    assert [sample_from_json(one["sample"]) for one in document["worst"]] == [kept.sample for kept in worst]
    assert [result_from_json(one["result"]) for one in document["worst"]] == [kept.result for kept in worst]
