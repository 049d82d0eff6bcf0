"""Which judge is of the answer's own family."""

from __future__ import annotations

import pytest

from everyclaim.verify.families import families, same_family_warning


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4o-mini", "GPT"),
        ("openai:gpt-5-mini", "GPT"),
        ("openai/gpt-oss-120b", "GPT"),
        ("o3-mini", "GPT"),
        ("o1", "GPT"),
        ("claude-sonnet-4-5", "Claude"),
        ("anthropic.claude-3-haiku-20240307-v1:0", "Claude"),
        ("gemini-2.5-flash", "Gemini"),
        ("google/gemma-3-27b-it", "Gemini"),
        ("meta-llama/Llama-3.1-8B-Instruct", "Llama"),
        ("mistralai/Mixtral-8x7B", "Mistral"),
        ("Qwen2.5-72B", "Qwen"),
        ("QwQ-32B", "Qwen"),
        ("deepseek-chat", "DeepSeek"),
        ("microsoft/phi-4", "Phi"),
        ("command-r-plus", "Command"),
        ("ibm-granite/granite-3.3-8b", "Granite"),
        ("grok-4", "Grok"),
    ],
)
def test_a_models_name_tells_its_family(model: str, family: str) -> None:
    """With or without provider, in any case."""
    assert families(model) == {family}


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
