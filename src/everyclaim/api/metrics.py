"""Factories of the metrics that ship: spec and parts in, metric out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from everyclaim.api.components import Parts
from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import Decomposer, Metric
from everyclaim.core.spec import Spec
from everyclaim.metrics import FactualCorrectness, Faithfulness, RagChecker


def faithfulness(spec: Spec, parts: Parts) -> Metric:
    """Build `Faithfulness`; ``mode=one_call`` splits and judges in one request to a language model."""
    check_options(spec, ("mode",))
    mode = chosen(spec, "mode", ("two_calls", "one_call"))
    if mode == "one_call":
        return _in_one_call(parts)
    return Faithfulness(parts.decomposer, parts.verifier, parts.provenance, parts.policy, parts.empty)


def factual_correctness(spec: Spec, parts: Parts) -> Metric:
    """Build `FactualCorrectness` with `mode`, `beta`, `compat`, `atomicity` and `coverage`."""
    check_options(spec, ("mode", "beta", "compat", "atomicity", "coverage"))
    parts = with_degrees(spec, parts)
    return FactualCorrectness(
        parts.decomposer,
        parts.verifier,
        parts.provenance,
        parts.policy,
        parts.empty,
        chosen(spec, "mode", ("f1", "precision", "recall")),
        number(spec, "beta", 1.0, "above 0", lambda beta: beta > 0),
        chosen(spec, "compat", ("", "ragas")),
    )


def ragchecker(spec: Spec, parts: Parts) -> Metric:
    """Build `RagChecker` with `atomicity` and `coverage`."""
    check_options(spec, ("atomicity", "coverage"))
    parts = with_degrees(spec, parts)
    return RagChecker(parts.decomposer, parts.verifier, parts.provenance, parts.policy, parts.empty)


def check_options(spec: Spec, known: tuple[str, ...]) -> None:
    """Refuse an argument, and options that the metric does not take."""
    if spec.argument:
        raise ConfigError(f"the metric {spec.name!r} takes no argument, got {spec.shown!r}; write {spec.name!r} alone")
    spec.check_options(known, f"the metric {spec.name!r}")


def chosen(spec: Spec, name: str, allowed: tuple[str, ...]) -> Any:
    """Return one of the allowed values, the first when the spec says nothing."""
    value = spec.options.get(name, allowed[0])
    if value not in allowed:
        words = ", ".join(word for word in allowed if word)
        raise ConfigError(f"option {name}={value!r} of the metric {spec.name!r}: choose one of {words}")
    return value


def number(spec: Spec, name: str, usual: float, rule: str, fits: Callable[[float], bool]) -> float:
    """Return a finite number that fits its rule."""
    text = spec.options.get(name, "")
    try:
        value = float(text) if name in spec.options else usual
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and fits(value)):
        raise ConfigError(f"option {name}={text!r} of the metric {spec.name!r} must be a number {rule}")
    return value


def whole(spec: Spec, name: str, usual: int, most: int) -> int:
    """Return a whole number from 1 to `most`."""
    text = spec.options.get(name, str(usual))
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not 1 <= int(text) <= most:
        raise ConfigError(f"option {name}={text!r} of the metric {spec.name!r} must be a whole number from 1 to {most}")
    return int(text)


def with_degrees(spec: Spec, parts: Parts) -> Parts:
    """Return the parts with a decomposer that has the spec's `atomicity` and `coverage`, where it says any."""
    degrees = {name: chosen(spec, name, ("", "high", "low")) for name in ("atomicity", "coverage")}
    said = {name: degree for name, degree in degrees.items() if degree}
    if not said:
        return parts
    adjust = getattr(parts.decomposer, "adjusted", None)
    if adjust is None:
        raise ConfigError(f"the decomposer {parts.decomposer.spec!r} has no setting for {' or '.join(said)}")
    decomposer: Decomposer = adjust(**said)
    parameters = {**parts.provenance.parameters, **getattr(decomposer, "parameters", {})}
    provenance = replace(parts.provenance, decomposer=decomposer.spec, parameters=parameters)
    return replace(parts, decomposer=decomposer, provenance=provenance)


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
