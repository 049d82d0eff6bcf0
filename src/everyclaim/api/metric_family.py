"""Factories of NLI faithfulness, QA consistency and their combination: spec and parts in, metric out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from everyclaim.api.components import METRICS, Parts
from everyclaim.api.metrics import check_options, chosen, number, whole
from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import ChatModel, Decomposer, Metric, chat_of
from everyclaim.core.spec import Spec
from everyclaim.core.types import Provenance
from everyclaim.decompose.embedded import EmbeddedDecomposer
from everyclaim.metrics.combined import WEIGHTS, Combined, Part
from everyclaim.metrics.nli import NliFaithfulness
from everyclaim.metrics.qa import Comparison, QaConsistency

_PARTS = {"claim": "faithfulness", "nli": "nli", "qa": "qa"}
_COMPARISONS = ("token_f1", "exact", "nli", "judge")


def nli(spec: Spec, parts: Parts) -> Metric:
    """Build `NliFaithfulness`; ``unit=claim`` judges the decomposer's claims instead of whole sentences."""
    unit = chosen(spec, "unit", ("sentence", "claim"))
    check_options(spec, ("unit",))
    decomposer = parts.decomposer if unit == "claim" else _sentences(parts.decomposer)
    provenance = _signed(parts.provenance, decomposer)
    return NliFaithfulness(decomposer, parts.verifier, provenance, parts.policy, parts.empty)


def qa(spec: Spec, parts: Parts) -> Metric:
    """Build `QaConsistency`.

    ``by=chat`` asks and answers with the judge's language model, or the decomposer's where the judge has none (the
    default where there is one), ``by=cloze`` without any. ``compare`` is ``token_f1``, ``exact``, ``nli`` or
    ``judge``; ``questions`` is how many a language model may ask about one sentence (3). Raises `ConfigError` for a
    language model that is not there.
    """
    chat = chat_of(parts.verifier, parts.decomposer)
    by = chosen(spec, "by", ("chat", "cloze") if chat else ("cloze", "chat"))
    compare = chosen(spec, "compare", _COMPARISONS)
    check_options(spec, ("by", "compare", "questions"))
    if chat is None and "judge" in (compare, "judge" if by == "chat" else ""):
        raise ConfigError(
            f"{spec.shown!r} needs a language model as judge or decomposer, as in 'openai:gpt-5-mini', got "
            f"{parts.provenance.verifier!r}; without one use by=cloze and another comparison"
        )
    parameters: Mapping[str, str]
    if by == "cloze":
        from everyclaim.metrics.qa_cloze import ClozeExaminer

        if "questions" in spec.options:
            raise ConfigError("the option questions of 'qa' is for language models; by=cloze asks for what it finds")
        cloze = ClozeExaminer()
        parameters = {**cloze.parameters, "compare": compare}
        provenance = _signed(parts.provenance, parts.decomposer, parameters)
        return QaConsistency(parts.decomposer, cloze, _comparison(compare, chat, parts), provenance, parts.empty)
    from everyclaim.metrics.qa_chat import ChatExaminer
    from everyclaim.prompts.questions import QuestionPrompt

    examiner = ChatExaminer(_present(chat), QuestionPrompt(whole(spec, "questions", 3, 20)))
    decomposer = _sentences(parts.decomposer)
    parameters = {**examiner.parameters, "compare": compare}
    provenance = _signed(parts.provenance, decomposer, parameters)
    return QaConsistency(decomposer, examiner, _comparison(compare, chat, parts), provenance, parts.empty)


def combined(spec: Spec, parts: Parts) -> Metric:
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
        built[name] = Part(METRICS.create(Spec(_PARTS[name], "", options), inner), weight)
    if strange := [key for key in own if key.partition(".")[0] not in _PARTS]:
        raise ConfigError(f"option {strange[0]!r} of 'combined' is for no part of it; its parts: {', '.join(_PARTS)}")
    parameters = {
        f"{name}.{key}": value
        for name, part in built.items()
        for key, value in part.metric.provenance.parameters.items()
        if parts.provenance.parameters.get(key) != value and key != "empty"
    }
    provenance = _signed(parts.provenance, parts.decomposer, parameters)
    return Combined(built, provenance, missing, parts.empty)


def _sentences(decomposer: Decomposer) -> EmbeddedDecomposer:
    """Return the decomposer into sentences, in the language of the one given where that has one."""
    return EmbeddedDecomposer("low", getattr(decomposer, "language", ""))


def _signed(provenance: Provenance, decomposer: Decomposer, parameters: Mapping[str, str] | None = None) -> Provenance:
    return replace(provenance, decomposer=decomposer.spec, parameters={**provenance.parameters, **(parameters or {})})


def _present(chat: ChatModel | None) -> ChatModel:
    if chat is None:
        raise ConfigError("the metric 'qa' with by=chat needs a language model as judge or decomposer")
    return chat


def _comparison(compare: str, chat: ChatModel | None, parts: Parts) -> Comparison:
    from everyclaim.metrics.qa_compare import Agreement, Entailment, Exact, TokenF1

    if compare == "judge":
        return Agreement(_present(chat))
    if compare == "nli":
        return Entailment(parts.verifier)
    return Exact() if compare == "exact" else TokenF1()
