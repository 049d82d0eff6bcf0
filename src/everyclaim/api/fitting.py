"""Fitting to labels: the deferral zone of a cascade, the embedded judge itself, and the rubric of a language model."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from everyclaim.analysis.deferral import BandFit, fit_deferral
from everyclaim.analysis.labels import LabelledItem
from everyclaim.api.datasets import ClaimVerdict, in_order, read_labelled, verify_rows
from everyclaim.api.options import DEFAULT_JUDGE, JudgeSpec, LlmJudgingOptions, RowOptions, chosen_of, public
from everyclaim.api.runs import Source
from everyclaim.api.scoring import GivenClaims, given_claim
from everyclaim.api.session import Session
from everyclaim.api.specs import MARKS, create_verifier, joined, refuse_unused, talks
from everyclaim.core.errors import BudgetExceeded, ConfigError, InputError, JudgeError
from everyclaim.core.kinds import OpenShare
from everyclaim.core.lifetime import gather
from everyclaim.core.limits import SizeLimits, within
from everyclaim.core.plaintext import json_text
from everyclaim.core.protocols import Scorer, Verifier
from everyclaim.core.spec import Spec, name_of
from everyclaim.core.types import Label, Outcome, Passage, Probabilities, Result, Sample, Verdict
from everyclaim.engine import score_sample
from everyclaim.io import (
    RUBRIC,
    TUNING,
    ClaimRow,
    ReadReport,
    check_apart,
    check_replaced,
    open_sink,
    read_samples,
)
from everyclaim.prompts.domain import Domain, read_domain
from everyclaim.prompts.verdicts import VerdictPrompt
from everyclaim.retrieve.bm25 import Bm25Ranker
from everyclaim.verify.llm import LlmVerifier

if TYPE_CHECKING:
    from everyclaim.analysis.tuning import Measured, TuningFit
    from everyclaim.verify.embedded.verifier import EmbeddedVerifier

T = TypeVar("T")


def _silent(_: bool) -> None:
    """Tell nobody of a claim that is done."""


class LabelledRowOptions(RowOptions, total=False):
    """Options of labelled rows. `label` and `sample_id` are fields that `mapping` can name."""

    answers: Source  # the answers with the contexts; where another judge says the labels, how many to ask about
    on_claim: Callable[[bool], object]  # told of every claim (of another judge: answer) that is done: did it fail?


class FitOptions(LlmJudgingOptions, LabelledRowOptions, total=False):
    """Options of a fit. `LlmJudgingOptions` apply to the judge that is fitted, or named by `from_judge`."""


@public
def fit_cascade(
    source: Any,
    judge: JudgeSpec | Verifier | Callable[..., Any] = DEFAULT_JUDGE,
    *,
    error: OpenShare = 0.1,
    confidence: OpenShare = 0.95,
    each_side: bool = False,
    **options: Unpack[FitOptions],
) -> BandFit:
    """Fit the deferral zone of a cascade: which claims a judge settles alone with at most `error` of them wrong.

    `source` is anything that `score_file` takes, with rows of `claim`, `contexts` and `label` (`SUPPORTED`,
    `UNSUPPORTED`, `CONTRADICTED`, or `NOT_SUPPORTED` if it is unknown which of the two), and optionally `id`,
    `question` and `sentence`. Rows may have a `sample_id` instead of contexts; `answers` is then the source of the
    answers, as for `score_file`, and a claim with several labels counts once, by the most frequent label. The error
    rate holds with probability `confidence` for claims like these: over all settled claims, or with `each_side`
    separately for those settled as supported and as not supported. Claims with the same passages are one cluster.
    Claims without passages, or on which the judge failed, are left out.

    Raises `InputError` for a source without labelled claims or with an unknown label, and `ConfigError` for a judge
    without probabilities. `cascade_spec` writes the result as a judge.
    """
    check_apart({"the labels": source, "the answers": options.get("answers")}, {"the cache": options.get("cache")})
    with within(SizeLimits.of(options)):
        labelled = read_labelled(source, options.get("answers"), cast("RowOptions", options))
    tell = options.get("on_claim", _silent)
    found: list[Verdict | None] = []

    def take(row: ClaimVerdict) -> None:
        found.append(row.verdict)
        tell(row.verdict is None)

    asked = chosen_of(options, LlmJudgingOptions)
    with closing(Session({**asked, "judge": judge, "strategy": "joint"})) as session:
        verify_rows(session, labelled, take, options.get("concurrency"))
    named, judged = repr(name_of(judge)), list[LabelledItem[Probabilities]]()
    for verdict, row in zip(found, labelled, strict=True):
        if verdict is None or "no_passages" in verdict.flags:
            continue
        if verdict.probabilities is None:
            raise ConfigError(
                f"judge {named} gives no probabilities; use one that does, such as 'embedded' or 'openai:gpt-5-mini'"
            )
        judged.append(_labelled(verdict.probabilities, row))
    if not judged:
        raise InputError(f"judge {named} gave no verdict on any of the {len(labelled)} labelled claims")
    return fit_deferral(judged, error=error, confidence=confidence, each_side=each_side)


def cascade_spec(fit: BandFit, first: str, second: str) -> str:
    """Return the spec of the cascade with this deferral zone, as for `judge`."""
    parts = [Spec.parse(first), Spec.parse(second)]
    if made := next((part for part in parts if part.name in MARKS), None):
        raise ConfigError(f"a cascade here needs plain judges, but {made.shown!r} is a cascade or panel")
    return str(joined("cascade", parts, {"low": f"{fit.low:g}", "high": f"{fit.high:g}"}))


def _labelled(said: T, row: ClaimRow) -> LabelledItem[T]:
    """Put what is said of a claim beside its label; its passages are named by their texts."""
    texts = json.dumps([passage.text for passage in row.passages])
    return LabelledItem(said, row.label, hashlib.sha256(texts.encode("ascii")).digest())


ANSWERS = 200  # that another judge is asked about, unless told


@dataclass(frozen=True, slots=True)
class Tuned:
    """A fit, with its usage."""

    fit: TuningFit
    failed: int = 0  # answers on which the other judge failed
    stopped: str = ""  # the limit at which the other judge stopped
    _reads: Any = field(default=None, repr=False, compare=False)

    @property
    def helps(self) -> bool:
        """Whether it is better than the shipped judge on held-out documents."""
        return self.fit.helps

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file that ``embedded?tuned=FILE`` or the option `rubric` names, atomically.

        Raises `ConfigError` if the fit does not help or the file would overwrite the labels.
        """
        rubric = self.fit.text
        if not (rubric or self.fit.content):
            raise ConfigError("the fit does not improve the judge, so no file is written; see its table")
        check_fit_name(path, is_rubric=bool(rubric))
        check_apart({"the labels": self._reads}, {"the tuning": path})
        check_replaced(path, RUBRIC if rubric else TUNING)
        with open_sink(path) as sink:
            sink.write((rubric or f"{json_text(self.fit.content)}\n").encode())


def check_fit_name(path: str | os.PathLike[str], *, is_rubric: bool) -> None:
    """Raise `ConfigError` for the name of a fit's file that says another kind of file."""
    kind, ending = ("TOML", ".toml") if is_rubric else ("JSON", ".json")
    if not os.fspath(path).lower().endswith(ending):
        raise ConfigError(f"{os.fspath(path)}: the file is {kind}; its name must end in {ending}")


@public
def tune(
    source: Any,
    judge: JudgeSpec = DEFAULT_JUDGE,
    *,
    from_judge: JudgeSpec | None = None,
    **options: Unpack[FitOptions],
) -> Tuned:
    """Fit a judge to labelled claims and measure the gain on held-out documents.

    `source` is as for `fit_cascade`: rows with `claim`, `contexts` and `label`, or with `claim`, `sample_id` and
    `label` plus the answers as `answers`. With `from_judge`, the spec of another judge, `source` holds answers as for
    `score_file`; a sample of `answers` (200) is split, judged by that judge, and its verdicts are the labels. At a
    limit such as `max_cost` the fit uses what was judged before. Texts are sent only to that judge and are not written
    to the file.

    The correction is regularised towards the shipped model by cross-validation. `helps` is False if held-out documents
    show no improvement. `fit.table` has balanced accuracy, sensitivity, specificity and ROC-AUC on held-out documents,
    before and after, with intervals of the change. `write` writes the file that ``embedded?tuned=FILE`` names. Takes
    seconds.

    A language model as `judge` gets worked examples, and a rule if that helps: those with which it agrees most with
    the other labels. It judges every claim about eleven times. `write` writes a file for the option `rubric`, which
    contains the texts of its examples. Raises `InputError` for a source without labelled claims, `ConfigError` for a
    judge that cannot be tuned, and `BudgetExceeded` at a limit.
    """
    asked = chosen_of(options, LlmJudgingOptions)
    if from_judge is not None:
        verifier = _tunable(judge)
        check_apart({"the answers": source}, {"the cache": options.get("cache")})
        with closing(Session({**asked, "judge": from_judge, "decomposer": "embedded"})) as session:
            return tune_to_judge(session, source, options, verifier)
    check_apart({"the labels": source, "the answers": options.get("answers")}, {"the cache": options.get("cache")})
    if not talks(judge):
        refuse_unused(options, judge)
        with within(SizeLimits.of(options)):
            return tune_to_labels(source, judge, options)
    if options.get("rubric"):
        raise ConfigError("tuning makes the rubric: leave out the option rubric")
    with closing(Session({**asked, "judge": judge, "strategy": "joint"})) as session:
        with within(session.limits):
            rows = read_labelled(source, _answers_of(options), cast("RowOptions", options))
        fit = session.run(_fitted_rubric(session, rows, options.get("on_claim", _silent)))
    return Tuned(fit, _reads=source)


def tune_to_labels(source: Any, judge: str, options: LabelledRowOptions) -> Tuned:
    """Fit to labelled claims; see `tune`."""
    verifier = _tunable(judge)
    rows = read_labelled(source, _answers_of(options), cast("RowOptions", options))
    tell = options.get("on_claim", _silent)
    return Tuned(_fitted_tuning(rows, verifier, "labels", tell), _reads=source)


def tune_to_judge(
    session: Session, source: Any, options: LabelledRowOptions, verifier: EmbeddedVerifier | None = None
) -> Tuned:
    """Fit to what the judge of a session says of a sample of answers; see `tune`."""
    verifier = verifier or _tunable(DEFAULT_JUDGE)
    answers = options.get("answers", ANSWERS)
    if not isinstance(answers, int) or isinstance(answers, bool) or answers < 1:
        raise ConfigError(f"with from_judge, answers is the number of answers to judge, at least 1; got {answers!r}")
    with within(session.limits):
        samples = _drawn_answers(source, answers, options)
        metric, at_once = session.metric, options.get("concurrency") or session.concurrency
        results, stopped = session.run(_scored_answers(samples, metric, at_once, options.get("on_claim")))
        scored = list(zip(samples, results, strict=False))
        rows = [
            ClaimRow(one.id, one.text, sample.passages, sample.question, one.sentence, one.verdict.label.value)
            for sample, result in scored
            for one in result.claims
        ]
        reasons = [result.reason for _, result in scored if result.outcome is Outcome.FAILED]
        judge = metric.provenance.verifier
        if not rows:
            why = stopped or (reasons[0] if reasons else "their answers contain no claims")
            raise InputError(f"{judge} gave no verdict on any of {len(samples)} answers: {why}")
        return Tuned(_fitted_tuning(rows, verifier, judge, _silent), len(reasons), stopped, _reads=source)


def _answers_of(options: LabelledRowOptions) -> Source | None:
    answers = options.get("answers")
    if isinstance(answers, int):
        raise ConfigError("answers is a number only with from_judge; otherwise pass the file of the answers")
    return answers


def _tunable(judge: str) -> EmbeddedVerifier:
    spec = Spec.parse(judge)
    if spec.name != "embedded":
        raise ConfigError(f"{spec.shown!r} cannot be tuned: 'embedded' and language models such as 'openai:…' can")
    if fixed := sorted({"tuned", "threshold"} & spec.options.keys()):
        raise ConfigError(f"{fixed[0]} is for using a tuned judge: leave it out of {spec.shown!r} when tuning")
    return cast("EmbeddedVerifier", create_verifier(spec))


def _fitted_tuning(
    rows: Iterable[ClaimRow],
    verifier: EmbeddedVerifier,
    labelled_by: str,
    tell: Callable[[bool], object],
) -> TuningFit:
    """Measure labelled claims and fit to them; those with nothing to check are left out."""
    from everyclaim.analysis.tuning import fit_tuning
    from everyclaim.verify.embedded.verifier import shipped_model

    found: list[Measured] = []
    left_out = 0
    for _, together in groupby(rows, key=_about):
        group = list(together)
        for row, features in zip(group, _features(group, verifier), strict=True):
            if features is None:
                left_out += 1
            else:
                found.append(_labelled(features, row))
            tell(features is None)
    fit = fit_tuning(found, shipped_model(), tokens=verifier.tokens, labelled_by=labelled_by)
    return replace(fit, left_out=left_out)


def _about(row: ClaimRow) -> tuple[tuple[Passage, ...], str]:
    """Return what a claim is judged with; claims with the same are judged together."""
    return row.passages, row.question


def _features(group: Sequence[ClaimRow], verifier: EmbeddedVerifier) -> list[dict[str, float] | None]:
    claims = [given_claim(number, row.claim, row.sentence) for number, row in enumerate(group, start=1)]
    passages, question = group[0].passages, group[0].question
    try:
        return verifier.measure(claims, passages, question=question)
    except JudgeError:  # one of them is too long to be read: the others are not
        if len(group) == 1:
            return [None]
        return [features for row in group for features in _features([row], verifier)]


def _drawn_answers(source: Any, count: int, options: LabelledRowOptions) -> list[Sample]:
    """Draw answers from a source of any length, every one as likely as any other, the same ones every time."""
    report = options.get("report") or ReadReport()
    read = read_samples(source, mapping=options.get("mapping"), format=options.get("format"), report=report)
    chance = random.Random(0)  # noqa: S311 -- a sample, no secret
    kept: list[tuple[int, Sample]] = []
    for number, sample in enumerate(it for it in islice(read, options.get("limit")) if it.response and it.passages):
        if len(kept) < count:
            kept.append((number, sample))
        elif (place := chance.randrange(number + 1)) < count:
            kept[place] = (number, sample)
    if not kept:
        raise InputError(f"the source has no answer with contexts{report.first_fault}")
    return [sample for _, sample in sorted(kept, key=lambda one: one[0])]


async def _scored_answers(
    samples: Sequence[Sample], metric: Scorer, at_once: int, tell: Callable[[bool], object] | None
) -> tuple[list[Result], str]:
    """Put a sample of answers to another judge, many at once; a limit ends the asking, which is said beside."""
    results: list[Result] = []

    def take(result: Result) -> None:
        results.append(result)
        if tell:
            tell(result.outcome is Outcome.FAILED)

    try:
        await in_order((score_sample(metric, sample, purpose="trial") for sample in samples), at_once, take)
    except BudgetExceeded as error:
        return results, str(error.limit or error)
    return results, ""


_FARTHEST = 0.999  # from 0 to 1, a probability that is taken at its word


async def _fitted_rubric(session: Session, rows: Sequence[ClaimRow], tell: Callable[[bool], object]) -> TuningFit:
    """Fit a rubric for the judge of a session. Raises `ConfigError` for a judge that takes no rubric, or has one."""
    from everyclaim.analysis.tuning import fit_rubric

    usable = [row for row in rows if row.passages]
    ranks = Bm25Ranker()
    found = [_labelled((row.claim, row.passages[ranks.rank(row.claim, row.passages)[0]].text), row) for row in usable]
    judge = session.judge.alone
    prompt = judge.prompt if isinstance(judge, LlmVerifier) else None
    if not isinstance(judge, LlmVerifier) or not isinstance(prompt, VerdictPrompt):
        raise ConfigError(f"{judge.spec!r} takes no rubric: tune 'embedded', or a language model such as 'openai:…'")
    if prompt.domain.version:
        raise ConfigError("tuning makes a rubric: pass a judge without one")
    plain = GivenClaims.of(session, "tune", labels_only=True)

    async def odds(rubric: str, places: Sequence[int]) -> list[float | None]:
        """Judge the claims at these places; None where no verdict came. Claims of the same passages go together."""
        domain = read_domain(rubric, name="the rubric") if rubric else Domain()
        judging = replace(plain, judge=replace(judge, prompt=replace(prompt, domain=domain)))
        groups = groupby((usable[place] for place in places), key=_about)
        several = await gather(_odds_of_group(judging, list(group), tell) for _, group in groups)
        return [one for group in several for one in group]

    fit = await fit_rubric(found, odds, judge.spec)
    return replace(fit, left_out=len(rows) - len(found), usage=session.usage)


async def _odds_of_group(
    judging: GivenClaims, rows: Sequence[ClaimRow], tell: Callable[[bool], object]
) -> list[float | None]:
    claims = [given_claim(number, row.claim, row.sentence) for number, row in enumerate(rows, start=1)]
    sample = Sample("", "\n".join(row.claim for row in rows), rows[0].passages, rows[0].question)
    result = await judging.result(sample, claims)
    is_judged = result.outcome is Outcome.SCORED
    found: list[float | None] = []
    for claim in result.claims if is_judged else [None] * len(rows):
        tell(not is_judged)
        found.append(None if claim is None else _log_odds(claim.verdict))
    return found


def _log_odds(verdict: Verdict) -> float:
    """Return a verdict's log-odds of support, on the side of its label."""
    is_supported = verdict.label is Label.SUPPORTED
    stated = verdict.probabilities.supported if verdict.probabilities else float(is_supported)
    held = min(max(stated, 1 - _FARTHEST), _FARTHEST)
    odds = math.log(held / (1 - held))
    return max(odds, 1e-6) if is_supported else min(odds, 0.0)
