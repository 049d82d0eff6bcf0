"""Factories of the metrics that ship: spec and parts in, metric out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from everyclaim.api.assembly import Parts, assemble
from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import Decomposer
from everyclaim.core.spec import Spec
from everyclaim.decompose.embedded import EmbeddedDecomposer
from everyclaim.metrics.assembled import Assembled
from everyclaim.metrics.combined import WEIGHTS, Combined, Part
from everyclaim.metrics.factual_correctness import FactualCorrectness
from everyclaim.metrics.faithfulness import Faithfulness
from everyclaim.metrics.nli import NliFaithfulness
from everyclaim.metrics.ragchecker import RagChecker

_PARTS = {"claim": "faithfulness", "nli": "nli", "qa": "qa"}
_COMPARISONS = ("token_f1", "exact", "nli", "judge")


def faithfulness(spec: Spec, parts: Parts) -> Assembled:
    """Build `Faithfulness`; ``mode=one_call`` splits and judges in one request to a language model."""
    check_options(spec, ("mode",))
    one_call = chosen(spec, "mode", ("two_calls", "one_call")) == "one_call"
    return _in_one_call(parts) if one_call else parts.assembled(Faithfulness())


def nli(spec: Spec, parts: Parts) -> Assembled:
    """Build `NliFaithfulness`; ``unit=claim`` judges the decomposer's claims instead of whole sentences."""
    unit = chosen(spec, "unit", ("sentence", "claim"))
    check_options(spec, ("unit",))
    return parts.assembled(NliFaithfulness(), decomposer=None if unit == "claim" else _sentences(parts.decomposer))


def factual_correctness(spec: Spec, parts: Parts) -> Assembled:
    """Build `FactualCorrectness` with `mode`, `beta`, `compat`, `atomicity` and `coverage`."""
    check_options(spec, ("mode", "beta", "compat", "atomicity", "coverage"))
    metric = FactualCorrectness(
        chosen(spec, "mode", ("f1", "precision", "recall")),
        number(spec, "beta", 1.0, "above 0", lambda beta: beta > 0),
        chosen(spec, "compat", ("", "ragas")),
    )
    return with_degrees(spec, parts).assembled(metric)


def ragchecker(spec: Spec, parts: Parts) -> Assembled:
    """Build `RagChecker` with `atomicity` and `coverage`."""
    check_options(spec, ("atomicity", "coverage"))
    return with_degrees(spec, parts).assembled(RagChecker())


def qa(spec: Spec, parts: Parts) -> Assembled:
    """Build `QaConsistency`.

    ``by=chat`` asks and answers with the judge's language model, or the decomposer's where the judge has none (the
    default where there is one), ``by=cloze`` without any. ``compare`` is ``token_f1``, ``exact``, ``nli`` or
    ``judge``; ``questions`` is how many a language model may ask about one sentence (3). Raises `ConfigError` for a
    language model that is not there.
    """
    from everyclaim.metrics.qa import Comparison, QaConsistency
    from everyclaim.metrics.qa_compare import Agreement, Entailment, Exact, TokenF1

    has_chat = parts.chat is not None
    by = chosen(spec, "by", ("chat", "cloze") if has_chat else ("cloze", "chat"))
    compare = chosen(spec, "compare", _COMPARISONS)
    check_options(spec, ("by", "compare", "questions"))
    if not has_chat and (compare == "judge" or by == "chat"):
        raise ConfigError(
            f"{spec.shown!r} needs a language model as judge or decomposer, as in 'openai:gpt-5-mini', got "
            f"{parts.provenance.verifier!r}; without one use by=cloze and another comparison"
        )
    comparisons: tuple[Comparison, ...] = (TokenF1(), Exact(), Entailment(), Agreement())
    comparison = comparisons[_COMPARISONS.index(compare)]
    if by == "cloze":
        from everyclaim.metrics.qa_cloze import ClozeExaminer

        if "questions" in spec.options:
            raise ConfigError("the option questions of 'qa' is for language models; by=cloze asks for what it finds")
        return parts.assembled(QaConsistency(ClozeExaminer(), comparison))
    from everyclaim.metrics.qa_chat import ChatExaminer
    from everyclaim.prompts.questions import QuestionPrompt

    examiner = ChatExaminer(QuestionPrompt(whole(spec, "questions", 3, 20)))
    return parts.assembled(QaConsistency(examiner, comparison), decomposer=_sentences(parts.decomposer))


def combined(spec: Spec, parts: Parts) -> Assembled:
    """Build `Combined` of faithfulness (``claim``), ``nli`` and ``qa``.

    Options: a weight for each name (0.4, 0.3 and 0.3 where none is given), ``missing=reweight`` or ``fail``,
    and the parts' own options behind their names, as in ``qa.compare=nli``.
    """
    missing = chosen(spec, "missing", ("reweight", "fail"))
    own = {key: value for key, value in spec.options.items() if "." in key}
    check_options(spec, ("missing", *_PARTS, *own))
    weights = {name: number(spec, name, usual, "of at least 0", lambda w: w >= 0) for name, usual in WEIGHTS.items()}
    inner = replace(parts, empty="exclude")
    built: dict[str, Part] = {}
    for name, weight in weights.items():
        options = {key.partition(".")[2]: value for key, value in own.items() if key.partition(".")[0] == name}
        if weight == 0:  # not run, so that it needs no model either
            continue
        built[name] = Part(assemble(Spec(_PARTS[name], "", options), inner), weight)
    if strange := [key for key in own if key.partition(".")[0] not in _PARTS]:
        raise ConfigError(f"option {strange[0]!r} of 'combined' is for no part of it; its parts: {', '.join(_PARTS)}")
    parameters = {
        f"{name}.{key}": value
        for name, part in built.items()
        for key, value in part.metric.provenance.parameters.items()
        if parts.provenance.parameters.get(key) != value and key != "empty"
    }
    return parts.assembled(Combined(built, missing), parameters=parameters)


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


def _sentences(decomposer: Decomposer) -> EmbeddedDecomposer:
    """Return the decomposer into sentences, in the language of the one given where that has one."""
    return EmbeddedDecomposer("low", getattr(decomposer, "language", ""))


def _in_one_call(parts: Parts) -> Assembled:
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
    signed = replace(parts, provenance=replace(parts.provenance, decomposer=judge.spec), decomposer=decomposer)
    return signed.assembled(OneCallFaithfulness(decomposer, judge, prompt))
