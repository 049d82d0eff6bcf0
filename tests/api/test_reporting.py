"""Reports and notebooks from Python: files that are whole, frames of three kinds, pages that stay in their output."""

from __future__ import annotations

import re

import pytest

import everyclaim as ec

ROWS = [
    {"id": "good", "response": "It is red. It is big.", "contexts": ["It is red and big. It is big."], "topic": "look"},
    {"id": "bad", "question": "<b>How old?</b>", "response": "It was made in 1990.",
     "contexts": ["It was made in 1998."], "topic": "age"},
    {"id": "shy", "response": "I do not know.", "contexts": ["x"]},
]  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of three answers, judged by word checks."""
    monkeypatch.chdir(tmp_path)
    return ec.score_file(ROWS, judge="lexical", slices=["topic"], store="runs.db", name="first")


def test_a_run_writes_its_report(run, tmp_path):
    """A page or JSON by the suffix; anything else is told."""
    run.report("report.html")
    run.report(tmp_path / "report.json")
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    assert '"summary"' in (tmp_path / "report.json").read_text()
    with pytest.raises(ec.ConfigError, match=r"ends in \.html or \.json, got .*report\.pdf"):
        run.report("report.pdf")
    with pytest.raises(ec.ConfigError, match="destination"):
        run.report(3)


def test_frames_have_a_row_per_claim_answer_or_slice(run):
    """As pandas has them."""
    claims, answers, slices = run.to_pandas(), run.to_pandas("answers"), run.to_pandas(rows="slices")
    assert list(claims["id"]) == ["good", "good", "bad", "shy"]
    assert list(answers["id"]) == ["good", "bad", "shy"]
    assert list(answers["claims"]) == [2, 1, 0]
    assert list(answers["supported"]) == [2, 0, 0]
    assert list(slices["tag"]) == ["topic"] * 3
    assert sorted(zip(slices["value"], slices["scored"], strict=True)) == [("", 0), ("age", 1), ("look", 1)]
    with pytest.raises(ec.ConfigError, match="claims"):
        run.to_pandas("slice")


def test_a_notebook_shows_result_run_and_comparison(run):
    """As HTML with the words that a print has; text under test stays text; styles stay inside."""
    result = next(one for one in run.results() if one.id == "bad")
    for value, said in ((result, "contradicted"), (run, "claims supported"), (ec.compare(run, run), "too few samples")):
        html = value._repr_html_()
        assert said in html
        assert "<b>" not in html
        assert "<script" not in html
        style = re.search(r"<style>(.*)</style>", html, re.DOTALL)[1]
        assert style.strip().startswith(".everyclaim {")
        assert not re.search(r"^(html|body|:root|\*)", style.partition(".everyclaim { background")[0], re.MULTILINE)
