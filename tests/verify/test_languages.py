"""Answers in a language that the judge does not read."""

import json

import pytest
from typer.testing import CliRunner

import everyclaim as ec
from everyclaim.cli.app import app
from everyclaim.verify.languages import unread_language_warning

GERMAN = "Die Pumpe wurde 2021 zurückgerufen. Sie ist rot."


def test_an_answer_the_judge_does_not_read_has_a_warning():
    """The offline judges read English; another language is named in the warnings of every metric."""
    for metric in ("faithfulness", "nli"):
        result = ec.score(response=GERMAN, passages=["The pump is red."], judge="lexical", metric=metric)
        assert any("German" in warning and "lexical" in warning for warning in result.warnings)
    assert not any(
        "reads" in w for w in ec.score(response="The pump is red.", passages=["It is."], judge="lexical").warnings
    )


@pytest.mark.parametrize(
    ("response", "judge", "said"),
    [
        (GERMAN, "embedded:2", "the answer is in German"),
        (GERMAN, "cascade:embedded:2>openai:m?low=0.1", "the answer is in German"),
        (GERMAN, "panel:openai:a|lexical:1", "the answer is in German"),
        (GERMAN, "hf:vectara/hallucination_evaluation_model", "the answer is in German"),
        (
            f"{'The tank holds 5 litres and it is made of steel. ' * 9}{GERMAN}",
            "lexical",
            "part of the answer is in German",
        ),
        ("The tank is red. 塔高330米。", "lexical", "part of the answer is in Chinese"),
        (GERMAN, "openai:gpt-5-mini", ""),
        (GERMAN, "hf:MoritzLaurer/mDeBERTa-v3-base-xnli", ""),
        ("The tank holds 5 litres.", "embedded:2", ""),
        ("Paris", "embedded:2", ""),
        ("", "embedded:2", ""),
    ],
)
def test_the_warning_names_language_and_judge(response, judge, said):
    """Judges made of judges are looked into; language models read every language."""
    warning = unread_language_warning(response, judge)
    assert said in warning
    assert bool(said) == bool(warning)


def test_a_run_counts_them_on_the_page_and_in_json(tmp_path):
    """The terminal page and the summary in JSON say how many answers the judge did not read."""
    rows = [
        {"response": GERMAN, "contexts": ["The pump is red."]},
        {"response": "It is red.", "contexts": ["It is red."]},
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = ["score", str(answers), "--judge", "lexical", "--store", str(tmp_path / "store.db")]
    page = CliRunner().invoke(app, options, env={"COLUMNS": "200"})
    assert "in German" in page.output
    found = CliRunner().invoke(app, [*options, "--json"])
    texts = json.loads(found.stdout)["summary"]["warning_texts"]
    assert [count for text, count in texts.items() if "German" in text] == [1]
