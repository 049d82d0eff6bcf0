"""What the judge does not read gets no number, and which judge is of the answer's own family."""

from __future__ import annotations

import pytest

import everyclaim as ec
from everyclaim.verify.languages import families, same_family_warning, unread_language_warning

GERMAN = "Die Pumpe wurde 2021 zurückgerufen. Sie ist rot."
ENGLISH = "The tank holds 5 litres and it is made of steel."


@pytest.mark.parametrize("judge", ["lexical", "embedded"])
@pytest.mark.parametrize("metric", ["faithfulness", "nli", "attribution"])
@pytest.mark.parametrize(("response", "passage"), [(GERMAN, ENGLISH), (ENGLISH, GERMAN)])
def test_an_answer_that_the_judge_does_not_read_is_unread(judge, metric, response, passage):
    """It has no score under any metric, names language and judge, and no sentence of it counts as checked."""
    result = ec.score(response=response, passages=[passage], judge=judge, metric=metric, empty="one")
    assert (result.outcome, result.score) == ("unread", None)
    assert "German" in result.reason
    assert judge in result.reason
    assert result.unchecked


def test_a_sentence_of_two_languages_is_read_in_part():
    """The English half has a verdict, the German one has none."""
    response = "Der Tank fasst zwei Liter; the warranty lasts two years."
    result = ec.score(response=response, passages=["The tank is made of steel. The warranty lasts two years."])
    assert "unread" in {piece.reason for piece in result.skipped} or result.outcome == "unread"


def test_of_an_answer_in_two_languages_the_part_that_is_read_is_scored():
    """What is left out is listed, and a guard does not call the answer validated."""
    response = f"{ENGLISH} {GERMAN}"
    result = ec.score(response=response, passages=[ENGLISH, "It is red."])
    assert (result.outcome, result.score) == ("scored", 1.0)
    assert {piece.reason for piece in result.unchecked} == {"unread"}
    assert any("German" in warning for warning in result.warnings)
    guard = ec.Guard(None)
    assert guard.answer("", [ENGLISH], response=ENGLISH).checked
    assert not guard.answer("", [ENGLISH], response=response).checked
    assert not guard.answer("", [GERMAN], response=GERMAN).checked


@pytest.mark.parametrize(
    ("response", "judge", "said"),
    [
        (GERMAN, "cascade:embedded:2>openai:m?low=0.1", "the answer is in German"),
        (GERMAN, "panel:openai:a|lexical:1", "the answer is in German"),
        ("The tank is red. 塔高330米。", "panel:openai:a|lexical:1", "part of the answer is in Chinese"),
        (GERMAN, "openai:gpt-5-mini", ""),
        (GERMAN, "hf:MoritzLaurer/mDeBERTa-v3-base-xnli", ""),
        (ENGLISH, "cascade:embedded:2>openai:m", ""),
        ("", "cascade:embedded:2>openai:m", ""),
    ],
)
def test_judges_made_of_judges_warn_of_the_one_that_does_not_read(response, judge, said):
    """One of them may read the language: there are verdicts, and a warning."""
    warning = unread_language_warning(response, judge)
    assert said in warning
    assert bool(said) == bool(warning)


NAMES = {
    "GPT": "gpt-4o-mini openai:gpt-5-mini openai/gpt-oss-120b o3-mini o1",
    "Claude": "claude-sonnet-4-5 anthropic.claude-3-haiku-20240307-v1:0",
    "Llama": "meta-llama/Llama-3.1-8B-Instruct",
    "Mistral": "mistralai/Mixtral-8x7B",
    "Qwen": "Qwen2.5-72B QwQ-32B",
    "Gemini": "gemini-2.5-flash google/gemma-3-27b-it",
    "Phi": "microsoft/phi-4",
}


@pytest.mark.parametrize("family", NAMES)
def test_a_models_name_tells_its_family(family: str) -> None:
    """With or without provider, in any case."""
    assert {one for model in NAMES[family].split() for one in families(model)} == {family}


@pytest.mark.parametrize(
    ("generator", "judge", "warns"),
    [
        ("gpt-4o", "openai:gpt-5-mini", True),
        ("gpt-4o", "cascade:lexical>openai:gpt-5-mini?low=0.1", True),
        ("claude-3-opus", "panel:openai:gpt-5|anthropic:claude-haiku-4-5", True),
        ("claude-3-opus", "openai:gpt-5-mini", False),
        ("gpt-4o", "lexical", False),
        (None, "openai:gpt-5-mini", False),
        ("llama-3", "openai:qwen3?base_url=http%3A%2F%2Fllama%2Fv1", False),
    ],
)
def test_the_warning_is_given_for_the_same_family_only(generator: str | None, judge: str, warns: bool) -> None:
    """It names the models and says why it matters."""
    warning = same_family_warning(generator, judge)
    assert bool(warning) == warns
    assert not warns or ("overestimate" in warning and str(generator) in warning)
