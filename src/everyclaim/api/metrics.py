"""Factories of the metrics that ship: spec and parts in, metric out."""

from __future__ import annotations

from dataclasses import replace

from everyclaim.api.components import Parts
from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import Metric
from everyclaim.core.spec import Spec
from everyclaim.metrics import Faithfulness


def faithfulness(spec: Spec, parts: Parts) -> Metric:
    """Build `Faithfulness`; ``mode=one_call`` splits and judges in one request to a language model."""
    mode = spec.options.get("mode", "two_calls")
    if spec.argument or set(spec.options) - {"mode"} or mode not in {"two_calls", "one_call"}:
        raise ConfigError(f"the metric 'faithfulness' takes only mode=two_calls or mode=one_call, got {str(spec)!r}")
    if mode == "one_call":
        return _in_one_call(parts)
    return Faithfulness(parts.decomposer, parts.verifier, parts.provenance, parts.policy, parts.empty)


def _in_one_call(parts: Parts) -> Metric:
    from everyclaim.decompose.llm import LlmDecomposer
    from everyclaim.metrics.one_call import OneCallFaithfulness
    from everyclaim.prompts import OneCallPrompt, VerdictPrompt
    from everyclaim.verify.llm import LlmVerifier

    judge = parts.verifier
    if not isinstance(judge, LlmVerifier) or not isinstance(judge.prompt, VerdictPrompt) or judge.repeats > 1:
        raise ConfigError(
            "mode=one_call needs a language model as the judge, as in 'openai:gpt-5-mini', with the strategy "
            f"'joint' and without prompt or repeats; got {judge.spec!r}, strategy {parts.provenance.strategy!r}"
        )
    given = parts.decomposer
    decomposer = given if isinstance(given, LlmDecomposer) else LlmDecomposer(judge.chat)
    prompt = OneCallPrompt(decomposer.prompt, judge.prompt)
    parameters = {**parts.provenance.parameters, "one_call_prompt": prompt.version}
    provenance = replace(parts.provenance, decomposer=judge.spec, parameters=parameters)
    return OneCallFaithfulness(decomposer, judge, prompt, provenance, parts.policy, parts.empty)
