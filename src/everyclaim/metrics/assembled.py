"""A metric with all that is done for every metric alike: limits, policy, outcomes, warnings, provenance.

No metric does any of this for itself, so none can forget it: what a result says of its policy and of `empty` holds for
our metrics, for objects and for plain functions alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from numbers import Real
from typing import Any, get_type_hints

from everyclaim.core.errors import ConfigError, InputError, JudgeError
from everyclaim.core.kinds import Kind, WrongValueError, kind_of
from everyclaim.core.limits import within
from everyclaim.core.protocols import Decomposer, KnowledgeSource
from everyclaim.core.spec import Taken, call, places
from everyclaim.core.types import BETTER, Decomposition, Outcome, Provenance, Result, Sample
from everyclaim.metrics.context import Empty, MetricContext, Noted, NothingToCheckError, Parts, Score

NO_PASSAGES = "no passages, so no claim can be supported"
DECLINED = "declines to answer, although a passage answers the question"
DECLINED_PART = "declines to tell something that a passage tells"
_NUMBER_WHEN_EMPTY: Mapping[Empty, float | None] = {"exclude": None, "one": 1.0, "zero": 0.0, "nan": math.nan}
_A_METRIC = "a metric"
_GIVEN = ("sample", "ctx")


@dataclass(frozen=True, slots=True)
class Assembled:
    """The metric inside, with what it may ask for. It is a `Metric`, or a function of the sample and the context."""

    metric: Any
    parts: Parts
    _taken: Taken = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_taken", places(_function(self.metric), _GIVEN, _A_METRIC))

    @property
    def provenance(self) -> Provenance:
        """What makes the number."""
        return self.parts.provenance

    async def score(self, sample: Sample) -> Result:
        """Score. Raises `InputError` for a sample beyond the limits, and `JudgeError` when a judge fails."""
        if fault := self.parts.limits.fault_of(sample):
            raise InputError(fault)
        noted = Noted()
        with within(self.parts.limits):
            context = MetricContext(sample, self.parts, noted)
            try:
                given = {"sample": sample, "ctx": context}
                returned = await call(_function(self.metric), given, _A_METRIC, self._taken)
                found, is_applicable = _as_score(returned), returned is not None
                if noted.failure:
                    raise noted.failure
            except NothingToCheckError as nothing:
                found, is_applicable = Score(None, reason=nothing.reason), True
            found = await self._with_refusal(sample, found, noted)
        result = self._result(sample, found, noted)
        return result if is_applicable else replace(result, outcome=Outcome.NOT_APPLICABLE, score=None)

    async def _with_refusal(self, sample: Sample, found: Score, noted: Noted) -> Score:
        """Add whether what an answer declines to tell is in the passages."""
        is_whole = found.value is None and _is_abstained(found, noted)
        parts = noted.parts or Decomposition(())
        if not is_whole and not any(piece.reason == "abstention" for piece in parts.skipped):
            return found
        from everyclaim.metrics.refusals import refusal

        parts = replace(parts, abstained=is_whole)
        judged = await refusal(sample.question, sample.passages, self.parts.verifier, parts)
        if judged is None:
            return found
        told = [DECLINED if is_whole else DECLINED_PART] if judged["finding"] == "wrong" else []
        return replace(found, details={**found.details, "refusal": judged}, warnings=[*found.warnings, *told])

    def over_run(self, results: Callable[[], Iterator[Result]]) -> Iterator[Result] | None:
        """Give the results of a run their final numbers; None where the metric's numbers do not need the whole run.

        `results` yields them anew with every call. Only score, components, details and warnings may change.
        """
        own = getattr(self.metric, "over_run", None)
        return own(results) if own else None

    def _result(self, sample: Sample, found: Score, noted: Noted) -> Result:
        from everyclaim.verify.languages import same_family_warning, unread_language_warning

        is_scored = found.value is not None
        abstained = _is_abstained(found, noted)
        usual = "the response declines to answer" if abstained else "the response contains no checkable claim"
        unscored = Outcome.ABSTAINED if abstained else Outcome.UNREAD if noted.unread else Outcome.NO_CLAIMS
        without = None if unscored is Outcome.UNREAD else _NUMBER_WHEN_EMPTY[self.parts.empty]
        claims = found.claims
        if claims is None:
            claims = noted.of_response() if is_scored else noted.contradicted
        warnings = [same_family_warning(sample.model, self.provenance.verifier)]
        warnings += [unread_language_warning(sample.response, self.provenance.verifier)]
        warnings += [NO_PASSAGES] if is_scored and noted.is_without_passages else []
        warnings += [noted.unread] if is_scored and noted.unread else []
        if noted.parts and noted.parts.kept_whole:
            warnings.append("a sentence was judged whole, because splitting it would have added content")
        return Result.of(
            sample,
            self._signed(found, noted),
            Outcome.SCORED if is_scored else unscored,
            found.value if is_scored else without,
            reason="" if is_scored else found.reason or noted.unread or usual,
            claims=tuple(claims),
            skipped=tuple(found.skipped if found.skipped is not None else noted.parts.skipped if noted.parts else ()),
            warnings=(*(one for one in warnings if one and one not in found.warnings), *found.warnings),
            components=found.components,
            reference_claims=tuple(found.reference_claims),
            details=found.details,
            probability=found.probability,
        )

    def _signed(self, found: Score, noted: Noted) -> Provenance:
        """Say where the metric went its own way: what it did not ask for did not make its number."""
        said: dict[str, str] = {}
        if found.value is not None and not noted.judges and not noted.is_model_used:
            said["judge"] = "not asked"
        others = [spec for spec in noted.judges if spec != self.parts.verifier.spec]
        if others:
            said["judge"] = ", ".join(noted.judges)
        if not all(noted.is_checked(claim) for claim in (*(found.claims or ()), *found.reference_claims)):
            said["policy"] = "not applied: verdicts of the metric's own"
        if not said:
            return self.provenance
        return replace(self.provenance, parameters={**self.provenance.parameters, **said})


def put_together(
    parts: Parts,
    metric: Any,
    *,
    decomposer: Decomposer | None = None,
    knowledge: KnowledgeSource | None = None,
    shown: str = "",
    parameters: Mapping[str, str] | None = None,
) -> Assembled:
    """Put a metric (an object or a function) together with all that it needs; what is not said is as in the parts.

    `shown` is its spec in results. `parameters`, and the metric's own of that name, go into them as well, and that
    it says `lower_is_better`.
    """
    own, made_by = getattr(metric, "parameters", None), parts.provenance
    stored = {**made_by.parameters, **(parameters or {}), **(own if isinstance(own, Mapping) else {})}
    if getattr(metric, "lower_is_better", False):
        stored[BETTER] = "lower"
    named = made_by.decomposer if decomposer is None else decomposer.spec
    provenance = replace(made_by, metric=shown or made_by.metric, decomposer=named, parameters=stored)
    splitter = decomposer or parts.decomposer
    return Assembled(metric, replace(parts, decomposer=splitter, knowledge=knowledge, provenance=provenance))


def _is_abstained(found: Score, noted: Noted) -> bool:
    return found.abstained if found.abstained is not None else bool(noted.parts and noted.parts.abstained)


def check_metric_shape(given: Any) -> None:
    """Raise `ConfigError` for what is neither a metric nor a function of a sample."""
    if isinstance(given, type):
        made = f"{given.__name__.lower()} = {given.__name__}()"
        raise ConfigError(f"{given.__name__} is a class: create an instance (`{made}`) and name that")
    if not callable(_function(given)):
        named = type(given).__name__
        raise ConfigError(f"a metric is a spec, an object with `score`, or a function of a sample; got a {named}")
    places(_function(given), _GIVEN, _A_METRIC)


def _function(metric: Any) -> Any:
    return getattr(metric, "score", metric)


def _as_score(found: Any) -> Score:
    """Take what a metric returned: a score, a number, or None where there is nothing to score."""
    if isinstance(found, Score):
        return _checked(found)
    if found is None:
        return Score(None, reason="the metric returned no value")
    if isinstance(found, Real):
        return Score(float(found))
    raise JudgeError("bad_result", f"the metric returned {type(found).__name__}, not a Score, a number or None")


def _checked(score: Score) -> Score:
    """Return a score whose parts are what they are declared to be."""
    taken: dict[str, Any] = {}
    for name, kind in _kinds().items():
        try:
            taken[name] = kind.take(getattr(score, name))
        except WrongValueError as wrong:
            told = f"the metric returned a Score whose {name} is {wrong.got}, not {wrong.expected}"
            raise JudgeError("bad_result", told) from None
    return Score(**taken)


@cache
def _kinds() -> Mapping[str, Kind]:
    return {name: kind_of(hint) for name, hint in get_type_hints(Score).items()}
