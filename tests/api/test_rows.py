"""One positional row for `score`: a `Sample`, or a mapping with any of the field names that files may have."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import everyclaim as ec

TEXT = "The kettle is red."


@pytest.mark.parametrize(
    "row",
    [
        {"response": TEXT, "passages": [TEXT]},
        {"answer": TEXT, "contexts": [TEXT]},
        {"actual_output": TEXT, "retrieval_context": [TEXT], "input": "What colour?"},
        {"output": TEXT, "documents": [{"id": "d", "text": TEXT}], "domain": "kitchen", "id": "one"},
        ec.Sample("one", TEXT, (ec.Passage("p1", TEXT),)),
    ],
)
def test_a_row_is_read_as_in_a_file(row: Any) -> None:
    """By every name that is known for a field; other fields are nobody's business here."""
    with ec.Evaluator(judge="lexical") as evaluator:
        assert ec.score(row, judge="lexical") == evaluator.score(row)
        assert evaluator.score(row).score == 1.0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (ec.score, "score() needs 'response', or a row with one"),
        (lambda: ec.score(TEXT), "row of score() must be a Sample or a mapping"),
        (lambda: ec.score([{"answer": TEXT}]), "many rows to score_file()"),
        (lambda: ec.score(pd.DataFrame([{"answer": TEXT}, {"answer": "B."}])), "got a DataFrame"),
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
