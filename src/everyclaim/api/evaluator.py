"""An evaluator: judge, decomposer, metric, connections, rates, budget and cache, held for many calls; and a guard."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, TypedDict, Unpack, cast

from everyclaim.analysis.deferral import RiskPromise
from everyclaim.api.datasets import ClaimVerdict, DatasetOptions, ascore_into, score_into, verify_rows
from everyclaim.api.fitting import LabelledRowOptions as TuningRows
from everyclaim.api.fitting import Tuned, tune_to_judge, tune_to_labels
from everyclaim.api.options import DEFAULT_JUDGE, DEFAULT_STORE, Options, RowOptions, Share, chosen_of, public
from everyclaim.api.runs import Run, Source
from everyclaim.api.scoring import Answers, Passages, read_sample
from everyclaim.api.session import Session
from everyclaim.api.specs import author_spec, searches, talks
from everyclaim.api.watch import WatchingOptions, watch_into
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.events import CostEstimate
from everyclaim.core.kinds import Range
from everyclaim.core.lifetime import Closing
from everyclaim.core.limits import within
from everyclaim.core.options import OptionalText, Text
from everyclaim.core.plaintext import did_you_mean
from everyclaim.core.protocols import ChatModel
from everyclaim.core.spec import Spec
from everyclaim.core.types import Provenance, Usage
from everyclaim.guard.answers import GuardedAnswer, GuardedSentence
from everyclaim.guard.authors import Author, ChatAuthor, FunctionAuthor, Generate, Task
from everyclaim.guard.loop import Loop, Promise, stream
from everyclaim.guard.rules import Action, OnFailure, Repair, Rules
from everyclaim.io import CLAIMS, ReadReport, read_rows, read_samples
from everyclaim.models.chat.providers import is_provider, provider_names
from everyclaim.monitor.watch.source import WatchPass

if TYPE_CHECKING:
    from everyclaim.api.judges import ChatClients

Generator = Annotated[Generate | ChatModel | str | None, "a function, a chat model or its spec, or None"]


class ShowingRules(TypedDict, total=False):
    """What of an answer may be shown; see `Rules`."""

    threshold: Share
    contradicted: Action
    unsupported: Action
    keep: Share
    refusal: str


class RuleOptions(ShowingRules, total=False):
    """Options of a guard in addition to those of a score: its `Rules` and the rewriter."""

    rewriter: Annotated[str | ChatModel | None, "a chat model or its spec"]  # of single sentences; None: the generator
    max_retries: Annotated[int, Range(0)]
    repair: Repair
    on_failure: OnFailure
    risk: Annotated[
        str | os.PathLike[str] | RiskPromise | None,
        "a limit fitted to labels: the promise of `calibrate(run, labels, risk=0.02)`, or the file that"
        " `everyclaim calibrate RUN LABELS --risk 0.02 --save FILE` writes",
    ]
    judge_of_record: bool


class GuardOptions(Options, RuleOptions, total=False):
    """Options of a guard."""


class Guard(Closing):
    """Generate an answer, check it, repair failing claims, and return the best version.

    `generate` is a function of question, passages and instructions that returns an answer (sync or async, complete or
    in chunks), a chat model or its spec such as ``openai:gpt-5-mini``, or None if answers are passed in. Options:

    - `threshold` (0.8): minimum score; `max_retries` (2): maximum number of further generations.
    - `repair`: `rewrite` the failing sentences (default for chat models), `drop` the failing claims (default for
      functions), or `none`. If that is not enough, another answer is generated with feedback in its instructions.
      Evidence is always the caller's passages. `rewriter`: a chat model used only for rewriting. `base_url` and
      `headers` also apply to the generator and the rewriter.
    - `contradicted` (`block`), `unsupported` (`annotate`): `block`, `annotate` or `pass`. An answer with a blocked
      claim is not shown: the claim is dropped at the end, or `refusal` is returned.
    - `on_failure`: `return` an answer that the judge could not check, not validated and with a warning, or `raise`
      `JudgeError`. `keep` (0.5): minimum share of claims that must remain after dropping.
    - `risk`: a calibrated risk (`calibrate(…, risk=0.02).promise`, or the file of `everyclaim calibrate … --save`):
      claims below its threshold are withheld, and `GuardedAnswer.promise` states the guarantee. `judge_of_record`
      (False): answers that this judge accepts are `validated`; without a calibrated risk they are only `checked`.
    - those of `everyclaim.score`: `metric`, `judge`, `decomposer`, `strategy`, …

    Call it, or `answer`, with a question and passages; `aanswer` and `astream` are for async code. A guard can be
    reused; limits such as `max_cost` apply to all its answers together. Raises `ConfigError` for a wrong option.
    """

    @public
    def __init__(self, generate: Generator, **options: Unpack[GuardOptions]) -> None:
        rules = chosen_of(options, RuleOptions)
        scoring = {name: value for name, value in options.items() if name not in rules}
        models = (model for model in (generate, options.get("rewriter")) if isinstance(model, str))
        session = Session(scoring, *models, kept=True)
        self._owned: Session | None = session
        try:
            self._set_up(session, generate, rules)
        except BaseException:
            session.close()
            raise

    @classmethod
    def within(cls, session: Session, generate: Any, rules: Mapping[str, Any]) -> Self:
        """Return a guard that uses an existing session."""
        session.admit(*(model for model in (generate, rules.get("rewriter")) if isinstance(model, str)))
        guard = cls.__new__(cls)
        guard._owned = None  # noqa: SLF001 - its own class
        guard._set_up(session, generate, rules)  # noqa: SLF001
        return guard

    def _set_up(self, session: Session, generate: Any, rules: Mapping[str, Any]) -> None:
        self._session = session
        author = _author(generate, session)
        rewriter = rules.get("rewriter")
        usual = "rewrite" if rewriter is not None or isinstance(author, ChatAuthor) else "drop"
        chosen = {"repair": usual} | {name: value for name, value in rules.items() if hasattr(Rules, name)}
        risk = _risk(rules.get("risk"))
        if risk is not None:
            risk.check_made_by(session.metric.provenance)
            chosen |= {"shown_from": risk.threshold}
        language = getattr(session.decomposer, "language", "")
        spec = generate if isinstance(generate, str) else getattr(generate, "spec", None)
        self._generator = spec.partition("?")[0] if isinstance(spec, str) else None  # what its model is called
        self._loop = Loop(
            session.metric,
            author,
            Rules(**cast("dict[str, Any]", chosen)),
            None if rewriter is None else ChatAuthor(_chat(rewriter, session)),
            language,
            is_of_record=bool(rules.get("judge_of_record")),
            promise=Promise(risk) if risk else None,
        )

    @property
    def rules(self) -> Rules:
        """Rules for showing, repairing and blocking claims."""
        return self._loop.rules

    @public
    async def aanswer(
        self, question: Text, passages: Passages, *, instructions: Text = "", response: OptionalText = None
    ) -> GuardedAnswer:
        """Return a guarded answer; see `answer`."""
        task, given = self._task(question, passages, instructions, response)
        return await self._session.work(self._loop.answer(task, given))

    @public
    def answer(
        self, question: Text, passages: Passages, *, instructions: Text = "", response: OptionalText = None
    ) -> GuardedAnswer:
        """Return the best answer that the rules allow.

        `response` is a first answer, if there is one; `instructions` go to the generator. Never returns an answer that
        scored less than another candidate. Raises `GeneratorError` if there is none. Also works inside a running event
        loop.
        """
        task, given = self._task(question, passages, instructions, response)
        return self._session.run(self._loop.answer(task, given))

    __call__ = answer

    @public
    async def astream(
        self, question: Text, passages: Passages, *, instructions: Text = ""
    ) -> AsyncIterator[GuardedSentence]:
        """Yield the answer sentence by sentence, each checked; blocked sentences are not shown.

        The generator may yield chunks, so that the first sentence appears before the last is written. There are no
        retries, and the threshold is not used.
        """
        task, _ = self._task(question, passages, instructions, None)
        async with self._session.under_way():
            async for sentence in stream(self._loop, task):
                yield sentence

    def _task(
        self, question: str, passages: Passages, instructions: str, response: str | None
    ) -> tuple[Task, str | None]:
        with within(self._session.limits):
            sample = read_sample(response or "", passages, question)
        task = Task(sample.question, sample.passages, instructions, self._generator)
        return task, None if response is None else sample.response

    def close(self) -> None:
        """Close connections and the reply cache, except those of a shared evaluator."""
        if self._owned:
            self._owned.close()


def _risk(given: Any) -> RiskPromise | None:
    """Read a calibrated risk. Raises `InputError` for a file that is none."""
    if given is None or isinstance(given, RiskPromise):
        return given
    try:
        return RiskPromise.from_json(json.loads(Path(given).read_text("utf-8")))
    except OSError as error:
        raise InputError(f"cannot read {os.fspath(given)}: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise InputError(f"{os.fspath(given)} is not a calibrated risk: {error}") from None


def _author(generate: Any, session: Session) -> Author | None:
    if isinstance(generate, str) or hasattr(generate, "complete"):
        return ChatAuthor(_chat(generate, session))
    return None if generate is None else FunctionAuthor(generate)


def _chat(model: Any, session: Session) -> ChatModel:
    if not isinstance(model, str):
        return cast("ChatModel", model)
    spec = author_spec(model, session.options)
    if not is_provider(spec.name):
        meant = did_you_mean(spec.name, provider_names())
        raise ConfigError(
            f"{spec.shown!r} is not a chat model; use for example 'openai:gpt-5-mini' or 'anthropic:claude-…'{meant}"
        )
    return cast("ChatClients", session.chats).model(spec)


_ESTIMATED = ("faithfulness", "attribution")  # metrics whose calls are known beforehand


class Evaluator(Answers):
    """Scores many answers with one judge, decomposer and metric, sharing connections, budget and cache.

        with ec.Evaluator(judge="openai:gpt-5-mini", max_cost=2.0) as evaluator:
            results = [evaluator.score(row) for row in rows]
        evaluator.usage

    Options are those of `everyclaim.score`. Resources open on first use and stay open until `close`. Limits such as
    `max_cost` and rates apply to the evaluator's whole life; at a limit `BudgetExceeded` is raised. `observe` takes
    destinations of telemetry: ``"otel:http://localhost:4318"``, ``"prometheus:9464"``, a `monitor.Metrics`, any
    function of an event, or a list of these; there is no telemetry by default. Replies of language models are cached
    only with `cache`.

    Safe to share among threads, tasks and event loops. Language models always run on one event loop in a background
    thread. Your own asynchronous components run there too, unless called by the asynchronous methods (`ascore`, …),
    which use the caller's loop. A forked process gets its own connections, limits and usage.

    Raises `ConfigError` for an option that is unknown, wrong or without effect, and `UserError` once it is closed.
    """

    @public
    def __init__(self, **options: Unpack[Options]) -> None:
        self._session = Session(options, kept=True)

    @property
    def usage(self) -> Usage:
        """Calls, tokens, cost and cache hits since it was opened, including calls in progress as far as known."""
        return self._session.usage

    @property
    def spent(self) -> str:
        """Usage of language models as one readable line, including calls in progress; empty if there is none."""
        return self._session.spent

    @property
    def provenance(self) -> Provenance:
        """Metric, decomposer and judge, as stored with each result."""
        return self._session.metric.provenance

    @property
    def concurrency(self) -> int:
        """Default number of answers scored in parallel."""
        return self._session.concurrency

    @public
    def estimate_file(self, source: Source, **options: Unpack[DatasetOptions]) -> CostEstimate | None:
        """Estimate calls, tokens and cost of scoring a data set; needs neither a key nor the judge's extra.

        Replies that are cached cost less. None if the calls are not known beforehand; options are those of
        `score_file`.
        """
        chosen = {name: value for name, value in self._session.options.items() if name != "observe"}
        metric, named = chosen.get("metric", "faithfulness"), (chosen.get("judge"), chosen.get("decomposer"))
        is_offline = not talks(*named, metric) and not searches(metric, chosen.get("knowledge"))
        if not is_offline and not (isinstance(metric, str) and Spec.parse(metric).name in _ESTIMATED):
            return None
        kept = {name: value for name, value in options.items() if name in ("mapping", "format", "turns", "history")}
        with within(self._session.limits):
            samples = islice(read_samples(source, **cast("Any", kept)), options.get("limit"))
            if is_offline:
                return CostEstimate(sum(1 for _ in samples), 0, 0, 0, 0.0)
            from everyclaim.api.judges import CallPlan, NamedModels  # loads the chat models

            with closing(Session(chosen, chats=NamedModels())) as session:
                judge, prices = session.judge, session.options.get("prices")
                plan = CallPlan(judge.alone, judge.strategy, session.decomposer, session.metric.metric, prices)
                return plan.estimate(samples)

    @public
    async def ascore_file(
        self, source: Source, *, store: str | os.PathLike[str] = DEFAULT_STORE, **options: Unpack[DatasetOptions]
    ) -> Run:
        """Score a data set; see `everyclaim.score_file`."""
        return await self._session.work(ascore_into(self._session, source, store, options))

    @public
    def score_file(
        self, source: Source, *, store: str | os.PathLike[str] = DEFAULT_STORE, **options: Unpack[DatasetOptions]
    ) -> Run:
        """Score a data set with the evaluator's cache; see `everyclaim.score_file`."""
        return score_into(self._session, source, store, options)

    @public
    def verify_file(
        self, source: Any, on_verdict: Callable[[ClaimVerdict], None], **options: Unpack[RowOptions]
    ) -> int:
        """Judge a file of claims, pass each verdict on in row order, and return the number of claims.

        Rows have `id`, `claim`, `contexts`, and optionally `question` and `sentence`. A judge's failure is an error on
        its row and stops nothing. Raises `InputError` if the source has no claim, and `BudgetExceeded` at a limit.
        """
        report = options.get("report") or ReadReport()
        with within(self._session.limits):
            mapping, form = options.get("mapping"), options.get("format")
            read = read_rows(CLAIMS, source, mapping=mapping, format=form, report=report, contexts=True)
        rows = islice(read, options.get("limit"))
        count = verify_rows(self._session, rows, on_verdict, options.get("concurrency"))
        if not count:
            named = source if isinstance(source, str) else "the source"
            raise InputError(f"{named} has no claim to judge{report.first_fault}")
        return count

    @public
    def tune(self, source: Any, **options: Unpack[TuningRows]) -> Tuned:
        """Fit the embedded judge to this evaluator's kind of text; see `everyclaim.tune`.

        With the embedded judge, `source` holds labelled claims. With another judge, that judge labels a sample of
        `answers` within its own budget.
        """
        judge = self._session.options.get("judge", DEFAULT_JUDGE)
        if isinstance(judge, str) and Spec.parse(judge).name == "embedded":
            with within(self._session.limits):
                return tune_to_labels(source, judge, options)
        return tune_to_judge(self._session, source, options)

    @public
    def watch(
        self, source: Any, *, store: str | os.PathLike[str] = DEFAULT_STORE, **options: Unpack[WatchingOptions]
    ) -> WatchPass:
        """Score answers as they arrive, within this evaluator's budget; see `everyclaim.watch`."""
        return self._session.run(watch_into(self._session, source, store, options))

    @public
    def guard(self, generate: Generator, **rules: Unpack[RuleOptions]) -> Guard:
        """Return a guard that uses this evaluator and its budget; see `everyclaim.Guard`."""
        return Guard.within(self._session, generate, rules)

    def close(self) -> None:
        """Close connections, cache and background thread, and cancel calls in progress; safe to call twice."""
        self._session.close()

    def __repr__(self) -> str:
        judge = self._session.options.get("judge", DEFAULT_JUDGE)
        return f"Evaluator(judge={Spec.parse(judge).shown if isinstance(judge, str) else type(judge).__name__})"
