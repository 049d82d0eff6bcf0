"""The metrics, called as Ragas calls them, with claims, reasons and outcomes in what they return."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, Unpack, cast

from everyclaim.api.options import InFlight, Options, public
from everyclaim.api.session import Session, default_concurrency, default_decomposer
from everyclaim.core.cited import failing_lines
from everyclaim.core.errors import BudgetExceeded, ConfigError, InputError, JudgeError
from everyclaim.core.events import Event, SampleFinished
from everyclaim.core.kinds import Range
from everyclaim.core.options import UNDER_TEST
from everyclaim.core.protocols import ChatModel, Decomposer, Scorer, Verifier
from everyclaim.core.spec import Spec
from everyclaim.core.types import JudgedClaim, Label, Outcome, Result, Sample
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.engine import EngineOptions, run, score_sample
from everyclaim.integrations.ragas.dataset import row_of, rows_of, sample_of
from everyclaim.verify.llm import LlmVerifier

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

    @property
    def llm(self) -> Llm:
        """The model that judges and splits; None where that is the one that ships, or the `judge` of the options."""
        return self._llm

    @llm.setter
    def llm(self, _: Llm) -> None:
        raise ConfigError(
            f"{self.name} may be in use elsewhere, so its llm is not replaced: use {self.name}.with_llm(…)"
        )

    def _take(self, llm: Llm) -> None:
        self._llm = llm
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
        sample = sample_of(row_of(row), 1)
        if isinstance(sample, str):
            raise InputError(sample)
        return self.shown(await self._session.work(score_sample(self.metric, sample)))

    @public
    async def abatch_score(self, inputs: Given) -> list[MetricResult]:
        """Score many rows, `concurrency` at a time; one that fails or cannot be read changes no other."""
        samples = [sample_of(row, number) for number, row in enumerate(rows_of(inputs), start=1)]
        return [self.shown(result) for result in await self.results_of(samples)]

    @public
    def batch_score(self, inputs: Given) -> list[MetricResult]:
        """Score many rows; also inside a running event loop."""
        return self._session.run(self.abatch_score(inputs))

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
    def single_turn_score(self, sample: Given) -> float | None:
        """Score a `SingleTurnSample`; also inside a running event loop."""
        return self._session.run(self.single_turn_ascore(sample))

    @public
    async def results_of(
        self, samples: Sequence[Sample | str], *, concurrency: InFlight | None = None, stop: bool = False
    ) -> list[Result]:
        """Score samples; a text in place of one says why it could not be read. With `stop` the first failure is raised.

        At a limit on cost, calls or tokens what is left is `failed: budget_exceeded`.
        """
        results = [self._unread(number, sample) for number, sample in enumerate(samples, start=1)]

        def keep(event: Event) -> None:
            if isinstance(event, SampleFinished):
                results[int(event.result.id) - 1] = event.result

        pace = EngineOptions(concurrency=concurrency or self.concurrency, max_failures=0 if stop else None)
        readable = [sample for sample in samples if isinstance(sample, Sample)]
        async with self._session.under_way():
            try:
                await run(readable, self.metric, options=pace, hooks=[keep])
            except BudgetExceeded as spent:
                if stop:
                    raise
                why = f"budget_exceeded: {spent}"
                results = [found or _failed(self.metric, i, why) for i, found in enumerate(results, start=1)]
        if stop:
            for found in results:
                if found is not None and found.outcome is Outcome.FAILED:
                    raise JudgeError.from_reason(found.reason)
        return [cast("Result", found) for found in results]

    @public
    def shown(self, result: Result) -> MetricResult:
        """Wrap a result."""
        value = float("nan") if result.score is None and self.unscored == "nan" else result.score
        return MetricResult(value, result)

    def _unread(self, number: int, sample: Sample | str) -> Result | None:
        return None if isinstance(sample, Sample) else _failed(self.metric, number, f"bad_input: {sample}")

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
    told = failing_lines(result)
    parts = [f"{result.count(Label.SUPPORTED)} of {len(result.claims)} claims are supported", *told[:_SHOWN]]
    parts += [f"and {len(told) - _SHOWN} more"] if len(told) > _SHOWN else []
    if reference := result.reference_claims:
        missing = [claim.text for claim in reference if claim.verdict.label is not Label.SUPPORTED]
        parts.append(f"{len(reference) - len(missing)} of {len(reference)} claims of the reference are in the response")
        parts += [f"missing: {text}" for text in missing[:_SHOWN]]
        parts += [f"and {len(missing) - _SHOWN} more"] if len(missing) > _SHOWN else []
    parts += [f"{name.replace('_', ' ')} {value:.3f}" for name, value in result.components.items()]
    return "; ".join(parts)


def _with_llm(llm: Llm, given: Options) -> Options:
    """Put the model in the places that are free: it judges, and splits where it can."""
    options = cast("Options", dict(given))
    if llm is None:
        return options
    judge, splitter = _roles(llm)
    if options.get("judge") is None:
        options["judge"] = judge
    elif splitter is None and isinstance(judge, str):
        splitter = default_decomposer(judge)
    if splitter is not None and options.get("decomposer") is None:
        options["decomposer"] = splitter
    return options


def _roles(llm: str | ChatModel | Verifier) -> tuple[str | Verifier, str | Decomposer | None]:
    """Return the model as a judge and as a decomposer; None for the decomposer that goes with the judge."""
    if isinstance(llm, str):
        return llm, None
    if hasattr(llm, "complete"):
        chat = cast("ChatModel", llm)
        return LlmVerifier(chat), LlmDecomposer(chat)
    return llm, None


def _refuse_own(metric: ClaimMetric, options: MetricOptions, name: Literal["judge", "metric"]) -> None:
    if name in options:
        kind = type(metric).__name__
        raise ConfigError(f"{kind}() sets its {name}; for another use Faithfulness({name}=…)")


def _failed(metric: Scorer, number: int, reason: str) -> Result:
    return Result(str(number), Outcome.FAILED, None, metric.provenance, reason)


# The objects of Ragas' older form, such as ``from ragas.metrics import faithfulness``; nothing in them changes.
faithfulness = Faithfulness()
factual_correctness = FactualCorrectness()
