"""The integration with Haystack, held against an installed Haystack. Run by ``make integrations``."""

from __future__ import annotations

import pytest
from framework_answers import GOOD, PASSAGES, QUESTION, SHY, WRONG, Away
from haystack import Document, Pipeline

import everyclaim as ec
from everyclaim.integrations.haystack import EveryclaimEvaluator


def test_it_runs_in_a_pipeline() -> None:
    """With the sockets of Haystack's own evaluator; answers without a score are in no mean."""
    pipeline = Pipeline()
    pipeline.add_component("faithfulness", EveryclaimEvaluator(judge="embedded"))
    documents = [Document(content=text) for text in PASSAGES]
    asked = {
        "questions": [QUESTION] * 3,
        "contexts": [PASSAGES, documents, PASSAGES],
        "predicted_answers": [GOOD, WRONG, SHY],
    }
    found = pipeline.run({"faithfulness": asked})["faithfulness"]
    assert found["individual_scores"] == [1.0, 0.0, None]
    assert found["score"] == 0.5
    assert found["results"][1]["claims"][0]["verdict"]["evidence"][0]["passage_id"] == documents[0].id
    assert [one["outcome"] for one in found["results"]] == ["scored", "scored", "abstained"]


def test_a_pipeline_with_it_can_be_saved_and_loaded() -> None:
    """Its options are kept; what is an object cannot be, and that is told."""
    pipeline = Pipeline()
    pipeline.add_component("faithfulness", EveryclaimEvaluator(judge="lexical", strict=True))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["everyclaim.integrations.haystack"])
    assert again.get_component("faithfulness")._options == {"judge": "lexical", "strict": True}
    with pytest.raises(ec.ConfigError, match="judge cannot be serialised"):
        EveryclaimEvaluator(judge=Away()).to_dict()


def test_failures_are_told_and_lengths_are_checked() -> None:
    """A judge that is away makes no score."""
    failed = EveryclaimEvaluator(judge=Away()).run([QUESTION], [PASSAGES], [GOOD])
    assert (failed["score"], failed["individual_scores"]) == (None, [None])
    assert "the judge is away" in failed["results"][0]["explanation"]
    with pytest.raises(ec.InputError, match="1 questions, 2 contexts"):
        EveryclaimEvaluator().run([QUESTION], [PASSAGES, PASSAGES], [GOOD])
