"""The integration with MLflow, held against an installed MLflow. Run by ``make integrations``."""

from __future__ import annotations

import mlflow
import pytest
from framework_answers import GOOD, PASSAGES, QUESTION, SHY, WRONG, Away
from mlflow.entities import Document, SpanType

from everyclaim.integrations.mlflow import FaithfulnessScorer


@pytest.fixture(scope="module")
def tracking(tmp_path_factory):
    """Set up one place for traces and runs; making its tables takes long."""
    folder = tmp_path_factory.mktemp("mlflow")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
        yield


def by_name(feedbacks):
    return {one.name: one for one in feedbacks}


def test_it_scores_rows() -> None:
    """With passages in what went in or came out."""
    scorer = FaithfulnessScorer()
    good = by_name(scorer.run(inputs={"question": QUESTION, "contexts": PASSAGES}, outputs=GOOD))
    assert (good["faithfulness"].value, good["faithfulness_outcome"].value) == (1.0, "scored")
    wrong = by_name(scorer.run(inputs={"question": QUESTION}, outputs={"answer": WRONG, "documents": PASSAGES}))
    assert wrong["faithfulness"].value == 0.0
    assert WRONG in wrong["faithfulness"].rationale
    assert wrong["faithfulness"].metadata["judge"].startswith("embedded")


def test_it_takes_passages_from_the_retriever_spans_of_a_trace(tracking) -> None:
    """As MLflow's tracing has them."""

    @mlflow.trace(span_type=SpanType.RETRIEVER)
    def find(question: str) -> list[Document]:
        return [Document(page_content=text, id=str(n)) for n, text in enumerate(PASSAGES)]

    @mlflow.trace
    def answer(question: str) -> str:
        find(question)
        return WRONG

    answer(QUESTION)
    trace = mlflow.get_trace(mlflow.get_last_active_trace_id())
    found = by_name(FaithfulnessScorer().run(inputs={"question": QUESTION}, outputs=WRONG, trace=trace))
    assert found["faithfulness"].value == 0.0
    assert found["faithfulness_outcome"].value == "scored"


def test_what_has_no_score_has_an_outcome_and_a_failure_is_an_error() -> None:
    """And neither is a number."""
    shy = by_name(FaithfulnessScorer().run(inputs={"question": QUESTION, "contexts": PASSAGES}, outputs=SHY))
    assert set(shy) == {"faithfulness_outcome"}
    assert shy["faithfulness_outcome"].value == "abstained"
    failed = by_name(FaithfulnessScorer(judge=Away()).run(inputs={"contexts": PASSAGES}, outputs=GOOD))
    assert failed["faithfulness"].value is None
    assert failed["faithfulness"].error.error_code == "no_reply"


def test_it_is_a_scorer_of_their_evaluate(tracking) -> None:
    """The mean is over what was scored."""
    rows = [{"inputs": {"question": QUESTION, "contexts": PASSAGES}, "outputs": text} for text in (GOOD, WRONG, SHY)]
    found = mlflow.genai.evaluate(data=rows, scorers=[FaithfulnessScorer()])
    assert found.metrics["faithfulness/mean"] == 0.5
