"""A wrong spec of a judge or a metric is one line that says what is wrong, before anything is sent or scored."""

from __future__ import annotations

from pathlib import Path

import pytest

import everyclaim as ec

ROWS = [line.split(" | ") for line in Path(__file__).with_name("wrong_specs.txt").read_text("utf-8").splitlines()[1:]]


@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_a_wrong_spec_is_one_line_that_says_what_is_wrong(row: list[str]) -> None:
    """The option, its value, and what may be."""
    kind, spec, *said = row
    knowledge = {"knowledge": lambda _: []} if spec.startswith(("safe", "factscore")) else {}
    with pytest.raises(ec.ConfigError) as caught:
        ec.score(response="x is y.", passages=["x is y."], reference="x is y.", **{kind: spec}, **knowledge)
    assert "\n" not in str(caught.value)
    assert all(words in str(caught.value) for words in said)
