"""Reports and notebooks from Python: files that are whole, frames of three kinds, pages that stay in their output."""

from __future__ import annotations

import re
import subprocess
import sys

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
    with pytest.raises(ec.ConfigError, match=r"report\.pdf ends in neither \.html nor \.json"):
        run.report("report.pdf")
    with pytest.raises(ec.ConfigError, match="destination"):
        run.report(3)


def test_a_report_never_replaces_the_store(run):
    """Not even under a name that fits."""
    ec.score_file(ROWS, judge="lexical", store="store.html")
    with pytest.raises(ec.ConfigError, match="which is read"):
        ec.find_run(store="store.html").report("store.html")


def test_frames_have_a_row_per_claim_answer_or_slice(run):
    """Pandas and polars alike."""
    for frame in (run.to_pandas, run.to_polars):
        claims, answers, slices = frame(), frame("answers"), frame(rows="slices")
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
    for value, said in ((result, "contradicted"), (run, "claims supported"), (ec.compare(run, run), "Too few samples")):
        html = value._repr_html_()
        assert said in html
        assert "<b>" not in html
        assert "<script" not in html
        style = re.search(r"<style>(.*)</style>", html, re.DOTALL)[1]
        assert style.strip().startswith(".everyclaim {")
        assert not re.search(r"^(html|body|:root|\*)", style.partition(".everyclaim { background")[0], re.MULTILINE)


def test_a_result_of_any_outcome_shows_itself():
    """Failed, declined, empty: the reason and no number."""
    assert "abstained" in ec.score(response="I do not know.", passages=["x"], judge="lexical")._repr_html_()
    assert "no claims" in ec.score(response="", passages=["x"], judge="lexical")._repr_html_()


def test_scoring_loads_no_template_engine():
    """Pages are made where they are asked for: neither the import nor a score pays for them."""
    code = (
        "import sys, everyclaim as ec; ec.score(response='It is red.', passages=['It is red.'], judge='lexical');"
        "print('jinja2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
