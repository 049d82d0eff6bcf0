"""The metrics, called as Ragas calls them, with claims, reasons and outcomes in what they return; and what they take.

Rows are read by the readers of `everyclaim.io`, which know the field names of both tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, Unpack, cast

from everyclaim.api.options import InFlight, Options, public
from everyclaim.api.session import Session, default_concurrency, default_decomposer
from everyclaim.core.cited import failing_lines
from everyclaim.core.errors import BudgetExceeded, ConfigError, InputError, JudgeError
from everyclaim.core.events import Event, SampleFinished
from everyclaim.core.kinds import Range
from everyclaim.core.limits import limits_here
from everyclaim.core.options import UNDER_TEST
from everyclaim.core.protocols import ChatModel, Decomposer, Scorer, Verifier
from everyclaim.core.spec import Spec
from everyclaim.core.types import JudgedClaim, Label, Outcome, Result, Sample
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.engine import run, score_sample
from everyclaim.io import read_samples
from everyclaim.io.fields import BadRow, RawRow
from everyclaim.io.tables import rows_of_object
from everyclaim.io.values import row_mapping
from everyclaim.models.build import build_chat_model
from everyclaim.models.chat.options import SAMPLING
from everyclaim.models.chat.providers import find_provider
from everyclaim.verify.llm import LlmVerifier

Row = Mapping[str, Any]
Unscored = Literal["none", "nan"]
Given = Annotated[Any, UNDER_TEST]  # checked as a row is, where null and lists of one text are known, too
Llm = Annotated[
    str | ChatModel | Verifier | None,
    "a spec such as 'openai:gpt-5-mini', what llm_factory of everyclaim.integrations.ragas returns for your client, "
    "a ChatModel or a Verifier",
]
HHEM = "vectara/hallucination_evaluation_model"
_TALKING = 32  # samples in flight where a score is mostly waiting
_SHOWN = 3  # claims that a reason names
_OF_A_SPEC = {name: name for name in (*SAMPLING, "timeout")} | {"max_tokens": "reply_tokens"}


@dataclass(frozen=True, slots=True)
class SingleTurnSample:
    """One question, the response to it, what was retrieved, and perhaps a reference answer."""

    user_input: str | None = None
    retrieved_contexts: Sequence[Any] | None = None  # texts, or mappings with `id`, `text`, `title`
    response: str | None = None
    reference: str | None = None
    reference_contexts: Sequence[str] | None = None  # carried along; no metric here reads it


@dataclass(frozen=True)
class EvaluationDataset:
    """Samples in order. Columns that no metric reads come out again beside the scores."""

    samples: Sequence[Any]  # `SingleTurnSample`s, mappings, or samples of an installed Ragas


def rows_of(dataset: Any) -> tuple[Row, ...]:
    """Return the rows of a data set: ours, Ragas' own, a frame, an Arrow table, a `datasets.Dataset`, a list.

    Raises `InputError` for anything else.
    """
    if isinstance(dataset, EvaluationDataset):
        dataset = dataset.samples
    if isinstance(dataset, str | bytes | Mapping):
        raise InputError(f"cannot read samples from a {type(dataset).__name__}; pass a list of mappings or a table")
    rows = list(rows_of_object(dataset, limits_here().row)[1])
    if bad := next((row for row in rows if isinstance(row, BadRow)), None):
        raise InputError(f"cannot read samples: {bad}")
    return tuple(row.values for row in rows if isinstance(row, RawRow))


def sample_of(row: Row, number: int, mapping: Mapping[str, str] | None = None) -> Sample | str:
    """Read a row as a sample whose id is its number, or say why it is none."""
    why: list[str] = []
    numbered = {**row, "id": str(number)}
    found = list(read_samples([numbered], mapping=mapping, on_bad_row=lambda bad: why.append(bad.reason)))
    return found[0] if found else "; ".join(why)


@public
def llm_factory(
    model: str, provider: str = "openai", client: Any = None, *, base_url: str | None = None, **model_args: Any
) -> ChatModel:
    """Make a judge's chat model the way Ragas' `llm_factory` is called.

    Of a `client` (`openai.AsyncOpenAI`, `anthropic.AsyncAnthropic`, synchronous ones as well) only the address and
    the key are used: requests go out by our own transport, with its retries and limits. `model_args` are
    `temperature`, `max_tokens` and other fields of the request; none is sent unless it is given.
    Raises `ConfigError` for an unknown provider or a missing key.
    """
    options = {
        _OF_A_SPEC.get(name, f"body.{name}"): str(value) if name in _OF_A_SPEC else json.dumps(value)
        for name, value in model_args.items()
    }
    address = (base_url or str(getattr(client, "base_url", None) or "")).rstrip("/")
    if address and address.removesuffix("/v1") != find_provider(provider).address.removesuffix("/v1"):
        options["base_url"] = address
    key = getattr(client, "api_key", None)
    return build_chat_model(Spec(provider, model, options), key=key if isinstance(key, str) else None)


@dataclass(frozen=True, slots=True)
class MetricResult:
    """A score with all that led to it. `value` is None for what was not scored, or NaN where that was asked for."""

    value: float | None
    result: Result

    @property
    def outcome(self) -> Outcome:
        """What became of the sample; only `scored` has a number."""
        return self.result.outcome

    @property
    def claims(self) -> tuple[JudgedClaim, ...]:
        """The claims of the response with their verdicts."""
        return self.result.claims

    @property
    def reason(self) -> str:
        """Why it is this value, in words: the claims that are not supported, or why there is no score."""
        return reason_of(self.result)

    def __float__(self) -> float:
        if self.value is None:
            raise TypeError(f"the sample has no score ({self.outcome}): {self.reason}")
        return self.value


class MetricOptions(Options, total=False):
    """What can be chosen about a metric, beside its model and its name."""

    unscored: Unscored
    concurrency: InFlight | None


class ClaimMetric:
    """Any metric of ours, called as Ragas calls its own.

    `llm` splits and judges: a spec ("openai:gpt-5-mini"), what `llm_factory` returns or any other `ChatModel`, or a
    `Verifier`; None is the judge that ships with the package. `options` are those of `everyclaim.score` (`metric`,
    `judge`, `decomposer`, `strategy`, `base_url`, `max_cost`, ...); a `judge` among them judges instead of `llm`.
    `unscored="nan"` gives NaN where Ragas does. `concurrency` is how many samples of a batch are in flight.

    Calls that are under way together share connections, limits and budget. Nothing here keeps a score.
    """

    usual_name = "claim_metric"

    @public
    def __init__(self, llm: Llm = None, name: str = "", **options: Unpack[MetricOptions]) -> None:
        self.name = name or self.usual_name
        self.unscored = options.pop("unscored", "none")
        self._wanted = options.pop("concurrency", None)
        self._given = cast("Options", options)
        self._take(llm)

    def _take(self, llm: Llm) -> None:
        self.llm = llm
        self.options = _with_llm(llm, self._given)
        usual = _TALKING if hasattr(llm, "complete") else default_concurrency(self.options)
        self.concurrency = self._wanted or usual
        self._session = Session(self.options, kept=True)
        if llm is not None and self._given.get("judge") is None:
            _ = self.metric  # a wrong spec or a missing key shows at once

    @public
    def with_llm(self, llm: Llm) -> Self:
        """Return this metric with another model; what it was given besides stays."""
        other = copy(self)
        other._take(llm)  # noqa: SLF001 - another of its own class
        return other

    @property
    def metric(self) -> Scorer:
        """The metric inside, with its decomposer and its judge."""
        return self._session.metric

    @public
    async def ascore_row(self, row: Given) -> MetricResult:
        """Score one row under any of the field names of `everyclaim` and Ragas."""
        values = row_mapping(row)
        sample = "a sample must be a SingleTurnSample or a mapping" if values is None else sample_of(values, 1)
        if isinstance(sample, str):
            raise InputError(sample)
        return self._shown(await self._session.work(score_sample(self.metric, sample)))

    @public
    async def abatch_score(self, inputs: Given) -> list[MetricResult]:
        """Score many rows, `concurrency` at a time; one that fails or cannot be read changes no other."""
        return [self._shown(result) for result in await self.results_of(rows_of(inputs))]

    @public
    async def single_turn_ascore(self, sample: Given) -> float | None:
        """Score a `SingleTurnSample` and return only the number, as Ragas' older form does.

        None (or NaN) where there is nothing to score. Raises `JudgeError` when the judge failed.
        """
        found = await self.ascore_row(sample)
        if found.outcome is Outcome.FAILED and self.unscored == "none":
            raise JudgeError.from_reason(found.result.reason)
        return found.value

    @public
    async def results_of(
        self,
        rows: Sequence[Row],
        *,
        mapping: Mapping[str, str] | None = None,
        concurrency: InFlight | None = None,
        stop: bool = False,
    ) -> list[Result]:
        """Score rows, one result for each. With `stop` the first failure is raised.

        What cannot be read is `failed: bad_input`; at a limit on cost, calls or tokens what is left is
        `failed: budget_exceeded`.
        """
        results: dict[str, Result] = {}
        readable = []
        for number, row in enumerate(rows, start=1):
            sample = sample_of(row, number, mapping)
            if isinstance(sample, Sample):
                readable.append(sample)
            else:
                results[str(number)] = self._failed(str(number), f"bad_input: {sample}")

        def keep(event: Event) -> None:
            if isinstance(event, SampleFinished):
                results[event.result.id] = event.result
                if stop and event.result.outcome is Outcome.FAILED:
                    raise JudgeError.from_reason(event.result.reason)

        at_once = concurrency or self.concurrency
        async with self._session.under_way():
            try:
                await run(readable, self.metric, concurrency=at_once, hooks=[keep])
            except BudgetExceeded as spent:
                if stop:
                    raise
                left = {sample.id: self._failed(sample.id, f"budget_exceeded: {spent}") for sample in readable}
                results = left | results
        if failed := next((result for result in results.values() if result.outcome is Outcome.FAILED and stop), None):
            raise JudgeError.from_reason(failed.reason)
        return [results[str(number)] for number in range(1, len(rows) + 1)]

    def _failed(self, name: str, reason: str) -> Result:
        return Result(name, Outcome.FAILED, None, self.metric.provenance, reason)

    def _shown(self, result: Result) -> MetricResult:
        value = float("nan") if result.score is None and self.unscored == "nan" else result.score
        return MetricResult(value, result)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.metric.provenance.metric}, judge={self.metric.provenance.verifier})"


class Faithfulness(ClaimMetric):
    """The share of the response's claims that the retrieved contexts support (Es et al., arXiv 2309.15217).

    >>> from everyclaim.integrations.ragas import Faithfulness
    >>> result = Faithfulness().score(
    ...     user_input="When and where was the tower built?",
    ...     response="The Eiffel Tower was built in 1889. It is the tallest tower in the world.",
    ...     retrieved_contexts=["The Eiffel Tower was built in 1889 in Paris."],
    ... )
    >>> result.value
    0.5
    """

    usual_name = "faithfulness"

    @public
    async def ascore(
        self, user_input: Given = "", response: Given = "", retrieved_contexts: Given = ()
    ) -> MetricResult:
        """Score one response against its contexts."""
        return await self.ascore_row(
            {"user_input": user_input, "response": response, "retrieved_contexts": retrieved_contexts}
        )

    @public
    def score(self, user_input: Given = "", response: Given = "", retrieved_contexts: Given = ()) -> MetricResult:
        """Score one response; also inside a running event loop."""
        return self._session.run(self.ascore(user_input, response, retrieved_contexts))


class FaithfulnesswithHHEM(Faithfulness):
    """Faithfulness with the HHEM classifier as the judge; `llm` only splits, None splits without a model.

    `model` names another revision or a folder; `device` and `batch_size` are the classifier's.
    """

    usual_name = "faithfulness_with_hhem"

    @public
    def __init__(
        self,
        llm: Llm = None,
        name: str = "",
        *,
        model: str = HHEM,
        device: str = "cpu",
        batch_size: Annotated[int, Range(1)] = 10,
        **options: Unpack[MetricOptions],
    ) -> None:
        _refuse_own(self, options, "judge")
        options["judge"] = str(Spec("hf", model, {"device": device, "batch_size": str(batch_size)}))
        super().__init__(llm, name, **options)


class FactualCorrectness(ClaimMetric):
    """Claims of response and reference, each judged by the other: `precision`, `recall` or F-beta.

    The defaults are those of Ragas: `mode="f1"`, `atomicity` and `coverage` low. Recall is over the reference's
    claims; ``compat="ragas"`` gives the number of Ragas, which divides response claims by reference claims.
    """

    usual_name = "factual_correctness"

    @public
    def __init__(
        self,
        llm: Llm = None,
        mode: Literal["precision", "recall", "f1"] = "f1",
        beta: Annotated[float, Range(above=0)] = 1.0,
        atomicity: Literal["low", "high"] = "low",
        coverage: Literal["low", "high"] = "low",
        name: str = "",
        *,
        compat: Literal["ragas", ""] = "",
        **options: Unpack[MetricOptions],
    ) -> None:
        _refuse_own(self, options, "metric")
        chosen = {"mode": mode, "beta": f"{beta:g}", "atomicity": atomicity, "coverage": coverage}
        if compat:
            chosen["compat"] = compat
        self.mode = mode
        options["metric"] = str(Spec("factual_correctness", "", chosen))
        super().__init__(llm, name, **options)

    @public
    async def ascore(self, response: Given = "", reference: Given = "", user_input: Given = "") -> MetricResult:
        """Score one response against its reference."""
        return await self.ascore_row({"user_input": user_input, "response": response, "reference": reference})

    @public
    def score(self, response: Given = "", reference: Given = "", user_input: Given = "") -> MetricResult:
        """Score one response; also inside a running event loop."""
        return self._session.run(self.ascore(response, reference, user_input))


def reason_of(result: Result) -> str:
    """Say why a result has its value: the claims that are not supported, or why there is no score."""
    if result.reason:
        return result.reason
    parts = [f"{result.count(Label.SUPPORTED)} of {len(result.claims)} claims are supported"]
    parts += _few(failing_lines(result))
    if reference := result.reference_claims:
        missing = [f"missing: {claim.text}" for claim in reference if claim.verdict.label is not Label.SUPPORTED]
        parts.append(f"{len(reference) - len(missing)} of {len(reference)} claims of the reference are in the response")
        parts += _few(missing)
    parts += [f"{name.replace('_', ' ')} {value:.3f}" for name, value in result.components.items()]
    return "; ".join(parts)


def _few(lines: Sequence[str]) -> list[str]:
    return [*lines[:_SHOWN], *([f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])]


def _with_llm(llm: Llm, given: Options) -> Options:
    """Put the model in the places that are free: it judges, and splits where it can."""
    options = cast("Options", dict(given))
    if llm is None:
        return options
    judge: str | Verifier
    splitter: str | Decomposer | None = None  # None: the one that goes with the judge
    if not isinstance(llm, str) and hasattr(llm, "complete"):
        chat = cast("ChatModel", llm)
        judge, splitter = LlmVerifier(chat), LlmDecomposer(chat)
    else:
        judge = llm
    if options.get("judge") is None:
        options["judge"] = judge
    elif isinstance(judge, str):
        splitter = default_decomposer(judge)
    if splitter is not None and options.get("decomposer") is None:
        options["decomposer"] = splitter
    return options


def _refuse_own(metric: ClaimMetric, options: MetricOptions, name: Literal["judge", "metric"]) -> None:
    if name in options:
        kind = type(metric).__name__
        raise ConfigError(f"{kind}() sets its {name}; for another use Faithfulness({name}=…)")


# The objects of Ragas' older form, such as ``from ragas.metrics import faithfulness``; nothing in them changes.
faithfulness = Faithfulness()
factual_correctness = FactualCorrectness()
