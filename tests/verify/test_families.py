"""Which judge is of the answer's own family."""

from __future__ import annotations

import pytest

from everyclaim.verify.families import families, same_family_warning

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
