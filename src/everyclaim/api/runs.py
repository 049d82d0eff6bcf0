"""A stored run: found again, summed up, written out; how good its judge is, by labels or by what was measured of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from typing import Annotated, Any, Literal

import numpy as np

from everyclaim.analysis.calibration import Calibration
from everyclaim.analysis.deferral import fit_risk
from everyclaim.analysis.gate import worst
from everyclaim.analysis.judge_error import LabelledClaim, calibrate
from everyclaim.analysis.labels import RunLabels, Verdicts, carry_over, settle, settled_as_bad
from everyclaim.analysis.run_differences import AnswerChange
from everyclaim.analysis.slices import expanded, length, values_of
from everyclaim.analysis.summary import ClusterBy, Summary, mean_score, slice_rows, summarise, summary_to_json
from everyclaim.api.options import DEFAULT_JUDGE, DEFAULT_STORE, public
from everyclaim.core.errors import ConfigError, InputError, NoStoreError, needed_for
from everyclaim.core.options import UNDER_TEST
from everyclaim.core.plaintext import json_text, one_line, wrapped
from everyclaim.core.protocols import Kept
from everyclaim.core.spec import Spec
from everyclaim.core.types import Label, Outcome, Result, Sample
from everyclaim.core.wire import result_to_json, sample_to_json
from everyclaim.io import (
    DOCUMENT,
    MARKDOWN,
    PAGE,
    ReadReport,
    check_apart,
    check_replaced,
    open_sink,
    tagged,
    write_results,
)
from everyclaim.io.replacing import FileKind
from everyclaim.stats.intervals import Estimate
from everyclaim.store.records import RunRecord, answer_key_of
from everyclaim.store.store import Store
from everyclaim.verify.verdicts import Policy, apply_policy

_SHOWN = 3  # worst answers, in a notebook

Source = Annotated[Any, UNDER_TEST]
Unit = Literal["claims", "answers", "slices"]  # what a row of a frame is


@dataclass(frozen=True)
class Run:
    """One stored scoring of a data set. No method calls a model."""

    id: str
    store_location: str = field(repr=False)  # a URL may hold a password
    slices: tuple[str, ...] = ()
    read: ReadReport | None = None  # what reading the data said; None for a run found again

    def __str__(self) -> str:
        record = self.record
        made = record.provenance
        status = "" if record.status == "finished" else f"{record.status}: not all samples were scored"
        heads = (
            [f"run {record.id}", record.name, record.dataset, status],
            [made.metric, f"judge {made.verifier}", f"decomposer {made.decomposer}"],
        )
        lines = [wrapped(" · ".join(one_line(part, 120) for part in head if part)) for head in heads]
        return "\n".join([*lines, str(self.summary)])

    @property
    def record(self) -> RunRecord:
        """Configuration, status and counts from the store."""
        with Store.open_to_read(self.store_location) as store:
            return store.run(self.id)

    def results(self) -> Iterator[Result]:
        """Yield the results in input order, a few in memory at a time."""
        for record in self.records():
            yield record.result

    def records(self) -> Iterator[Kept]:
        """Yield results with their samples in input order, a few in memory at a time."""
        with Store.open_to_read(self.store_location) as store:
            yield from store.records(self.id)

    def samples(self) -> Iterator[Sample]:
        """Yield the samples in input order."""
        for record in self.records():
            yield record.sample

    @cached_property
    def summary(self) -> Summary:
        """Rates, means and intervals of the run, clustered by answer."""
        return self.summarise()

    @cached_property
    def score(self) -> Estimate:
        """Mean score with its interval, read from the summary."""
        with Store.open_to_read(self.store_location) as store:
            return mean_score(store.scores(self.id))

    @public
    def summarise(self, *, cluster_by: ClusterBy = "sample", seed: int = 0) -> Summary:
        """Summarise the run; intervals are clustered by answer, or by the question that answers share."""
        bad_rows = self.record.bad_rows
        return summarise(self.results(), slices=self.slices, cluster_by=cluster_by, seed=seed, bad_rows=bad_rows)

    @public
    def write(self, destination: str | os.PathLike[str]) -> None:
        """Write the results: JSONL, JSON, CSV or Parquet, compressed or not, by suffix.

        The file is written atomically. Raises `ConfigError` if it is the data set of the run or its store.
        """
        reads = {"the data set": self.record.dataset, "the store": self.store_location}
        check_apart(reads, {"the destination": destination})
        check_replaced(destination)
        write_results(self.results(), destination)

    @public
    def report(self, destination: str | os.PathLike[str]) -> None:
        """Write a report: one self-contained HTML file, or the JSON of `score --json`, by suffix.

        The file is written atomically. Raises `ConfigError` if it is the data set of the run or its store.
        """
        write_run_report(self, destination)

    @public
    def to_pandas(self, rows: Unit = "claims") -> Any:
        """Return a pandas frame with one row per claim (samples without claims have one), per answer, or per slice."""
        with needed_for("making pandas frames", "pandas"):
            from pandas import DataFrame
        return DataFrame(list(slice_rows(self.summary) if rows == "slices" else tagged(self.results(), rows)))

    def _repr_html_(self) -> str:
        from everyclaim.report.html.pages import run_html

        return run_html(self.record, self.summary, worst(self.records(), _SHOWN))


RunName = Annotated[Run | str | None, "a run, its id or its name"]


@public
def find_run(
    wanted: RunName = None, *, store: str | os.PathLike[str] = DEFAULT_STORE, is_finished: bool = False
) -> Run:
    """Return a run from a store by id, start of an id, or name; without one the newest. A `Run` is returned as is.

    `is_finished`: without one the newest that finished. Raises `InputError` if there is none.
    """
    if isinstance(wanted, Run):
        return wanted
    try:
        with Store.open_to_read(store) as kept:
            newest = kept.runs(limit=1, is_finished=is_finished) if wanted is None else [kept.run(wanted)]
    except NoStoreError as error:
        raise InputError(f"{error}: score a file first") from None
    if not newest:
        raise InputError(f"store {store} has no {'finished run' if is_finished else 'runs'} yet: score a file first")
    return Run(newest[0].id, os.fspath(store), tuple(newest[0].config.get("slices", ())))


def calibration_of(
    run: Run, *, slices: Sequence[str] | None = None, seed: int = 0, risk: float | None = None
) -> Calibration:
    """Compare a run with the labels that its store holds; with a `risk`, fit what a guard may promise.

    Raises `InputError` when there is no label, and `ConfigError` where they allow no promise.
    """
    with Store.open_to_read(run.store_location) as kept:
        human = kept.labels(run.id)
        bad = settled_as_bad(kept.labelling.marks(run.id), human)
        human = [label for label in human if label.key not in bad]
        if not human:
            raise unlabelled(run)
        settled = settle(human)
        population = verdicts_of(kept, run.id)
        claims, answers = _labelled(kept, run.id, settled, expanded(run.slices if slices is None else slices))
        others = {label.origin for label in human if not label.is_of_answer} - {run.id}
        shared = kept.shared_places(run.id, others) if others else None
        found = calibrate(run.id, claims, answers, population, settled, seed, shared=shared)
        if risk is None:
            return found
        usable = [one for one in claims if one.way in {"", "random"}]
        rows = [(one.position, one.supported, one.people) for one in usable]
        records = [(kept_one.sample, kept_one.result) for kept_one in kept.records_at(run.id, {one[0] for one in rows})]
        return replace(found, promise=fit_risk(risk, rows, records, population.supported.tolist()))


def unlabelled(run: Run) -> InputError:
    """Return the error for a run without human labels."""
    return InputError(f"no claim of run {run.id} is labelled: select some with `everyclaim label {run.id} --out FILE`")


def _labelled(
    kept: Store, run: str, settled: RunLabels, slices: tuple[str, ...]
) -> tuple[list[LabelledClaim], list[LabelledClaim]]:
    """Return the labelled claims of the run, and the labelled answers as if each was one claim."""
    claims: list[LabelledClaim] = []
    answers: list[LabelledClaim] = []
    for record in kept.records_at(run, {*settled.claims, *settled.answers}):
        result, sample = record.result, record.sample
        if result.outcome is not Outcome.SCORED:
            continue
        groups = {name: values_of(result, name) for name in slices}
        groups["answer length"] = (length(len(result.claims)),)
        key = answer_key_of(sample)
        labels = settled.claims.get(record.position, {})
        for claim, label, how in carry_over(result.claims, labels, key, sample.response):
            verdict = claim.verdict
            claims.append(
                LabelledClaim(
                    position=record.position,
                    judged=verdict.label,
                    strict=apply_policy(Policy.strict(), verdict).label,
                    people=label.value,
                    supported=verdict.probabilities.supported if verdict.probabilities else None,
                    mode=label.failure_mode,
                    judged_mode=verdict.failure_mode.value if verdict.failure_mode else None,
                    how=how,
                    chosen=label.chosen,
                    groups=groups,
                )
            )
        if (answer := settled.answers.get(record.position)) is not None:
            worst = result.failing[0].verdict.label if result.failing else Label.SUPPORTED
            answers.append(
                LabelledClaim(
                    record.position, worst, worst, answer.value, None, None, None, "text", answer.chosen, groups
                )
            )
    return claims, answers


def verdicts_of(kept: Store, run: str) -> Verdicts:
    """Read every verdict of a run. Raises `InputError` when there is none."""
    figures = kept.figures(run)
    scored, ordinal = np.flatnonzero(figures.scored), np.arange(len(figures.sample))
    _, places, code = np.unique(figures.text[scored], return_index=True, return_inverse=True)
    first = figures.positions.copy()
    first[scored] = figures.positions[scored[places[code]]]
    ordinal -= np.searchsorted(figures.sample, figures.sample)
    rows = figures.scored[figures.sample]
    if not rows.any():
        raise InputError(f"run {run} has no claim of a scored answer: nothing to label")
    sample = figures.sample
    whole = Verdicts(figures.positions[sample], first[sample], ordinal, figures.label, kept.probabilities(run))
    return whole.where(rows)


@dataclass(frozen=True, slots=True)
class Trust:
    """What stands beside the numbers of a run. `known` is what the model card says of the offline judge, by kind."""

    calibration: Calibration | None = None
    known: dict[str, Any] | None = None

    def beside(self, summary: Summary) -> Calibration | None:
        """What labels say, with the run's own rate as its summary has it, which may be over questions; None without."""
        if self.calibration is None:
            return None
        corrected = replace(self.calibration.corrected, raw=summary.overall.supported)
        return replace(self.calibration, corrected=corrected)

    @property
    def line(self) -> str:
        """The judge's known error in one line; empty where nothing is known, or labels say it better."""
        if self.calibration or not self.known:
            return ""
        kinds = self.known["kinds"]
        found, flagged = (
            f"{min(shares):.0f} to {max(shares):.0f} %"
            for shares in (
                [100 * kind["failing_called_so"] for kind in kinds],
                [100 - 100 * kind["supported_called_so"] for kind in kinds],
            )
        )
        return (
            f"on labelled RAG answers and claims, the offline judge finds {found} of failing claims, with {flagged} "
            "false positives; measure it on yours with `everyclaim label` and `calibrate`"
        )


def trust_of(run: Run) -> Trust:
    """Find what is known of a run's judge."""
    with Store.open_to_read(run.store_location) as kept:
        record, labelled = kept.run(run.id), kept.has_labels(run.id)
    if labelled:
        try:
            return Trust(calibration_of(run))
        except InputError:
            pass  # no claim was scored
    try:
        judge = Spec.parse(record.provenance.verifier)
    except ConfigError:
        return Trust()  # of a function
    if judge.name != DEFAULT_JUDGE or judge.options.keys() & {"tuned", "threshold"}:
        return Trust()
    known = files("everyclaim.verify.embedded").joinpath("data/known_error.json").read_text("utf-8")
    return Trust(known=json.loads(known))


REPORT_SCHEMA = 1
WORST = 5  # answers in a report as JSON
_KINDS = {".html": PAGE, ".htm": PAGE, ".json": DOCUMENT, ".md": MARKDOWN, ".markdown": MARKDOWN}


def kind_of_report(destination: str | os.PathLike[str], *, is_of_release: bool = False) -> FileKind:
    """Return what a name says is to be written. Raises `ConfigError` where it says nothing, or what there is not."""
    name = os.fspath(destination)
    kind = next((kind for suffix, kind in _KINDS.items() if name.lower().endswith(suffix)), None)
    if is_of_release and kind is None:
        raise ConfigError(f"a release report is .html, .md or .json, got {name}")
    if kind is None or (kind is MARKDOWN and not is_of_release):
        raise ConfigError(f"a report ends in .html or .json, got {name}")
    return kind


def write_run_report(
    run: Run,
    destination: str | os.PathLike[str],
    *,
    summary: Summary | None = None,
    found: Sequence[Kept] | None = None,
    trust: Trust | None = None,
) -> None:
    """Write the report of a run: a page, or the JSON document that `score --json` prints, by the suffix.

    Summary, worst answers and what is known of the judge are found where they are not given. The file appears whole or
    not at all. Raises `ConfigError` when it is the data set of the run or its store.
    """
    kind = kind_of_report(destination)

    def content() -> bytes:
        known, shown = trust or trust_of(run), summary or run.summary
        if kind is PAGE:
            return run_html(run, shown, known)
        answers = worst(run.records(), WORST) if found is None else found
        return json_text(run_document(run, shown, answers, known), indent=2).encode() + b"\n"

    write_beside((run,), destination, kind, content)


def run_document(run: Run, summary: Summary, found: Sequence[Kept], trust: Trust) -> dict[str, Any]:
    """Return the JSON document of a run: the run, its summary, its judge, its worst answers with their samples."""
    labelled = trust.beside(summary)
    return {
        "schema": REPORT_SCHEMA,
        "run": run.record.to_json(),
        "summary": summary_to_json(summary),
        "calibration": labelled.to_json() if labelled else None,
        "known_error": None if labelled else trust.known,
        "worst": [
            {"position": kept.position, "sample": sample_to_json(kept.sample), "result": result_to_json(kept.result)}
            for kept in found
        ],
    }


def run_html(run: Run, summary: Summary, trust: Trust) -> bytes:
    """Write the page of a run."""
    from everyclaim.report.html.pages import run_report

    def read(places: Sequence[int] | None) -> Iterator[Kept]:
        with Store.open_to_read(run.store_location) as store:
            yield from store.records(run.id) if places is None else store.records_at(run.id, places)

    return run_report(run.record, summary, read, calibration=trust.beside(summary), known_error=trust.line)


def write_beside(
    runs: Sequence[Run], destination: str | os.PathLike[str], kind: FileKind, content: Callable[[], bytes]
) -> None:
    """Write a document of one run, or of an older and a newer one, whole or not at all.

    Raises `ConfigError` where it would stand in the place of their data, or of what is no such document.
    """
    reads: dict[str, str] = {}
    for whose, run in zip(("",) if len(runs) == 1 else (" of the older run", " of the newer run"), runs, strict=True):
        reads |= {f"the data set{whose}": run.record.dataset, f"the store{whose}": run.store_location}
    check_apart(reads, {"the report": destination})
    check_replaced(destination, kind)
    written = content()
    with open_sink(destination) as sink:
        sink.write(written)


def moved_answers(moved: Sequence[AnswerChange], runs: tuple[Run, Run]) -> list[dict[int, Kept]]:
    """Return the answers that moved, of the older run and of the newer one, by their places."""
    found = []
    for side, run in enumerate(runs):
        with Store.open_to_read(run.store_location) as store:
            kept = store.records_at(run.id, (change.places[side] for change in moved))
            found.append({answer.position: answer for answer in kept})
    return found
