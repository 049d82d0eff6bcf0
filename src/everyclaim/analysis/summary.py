"""Results, streamed into one summary: every outcome counted, every rate with its interval.

Only what statistics need is kept, a few numbers per sample in flat arrays, so a million results fit
in memory. The order of the results changes nothing in the summary.

Read `summarise` first; `Group` says what each number means.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from everyclaim.analysis import SHOWN_FROM, interval, percent, plain, span, written
from everyclaim.analysis import score as score_text
from everyclaim.analysis.slices import FEW, JudgingCollector, JudgingSummary, NumberColumns, expanded, values_of
from everyclaim.core.cited import citation_counts, refusal_of
from everyclaim.core.plaintext import counted, listed, one_line, wrapped
from everyclaim.core.printing import LOWER_BOUNDS, Band, band_of
from everyclaim.core.protocols import Kept
from everyclaim.core.types import FailureMode, Label, Outcome, Result, Usage
from everyclaim.stats.intervals import Estimate, clustered_ratio, clustered_ratios
from everyclaim.stats.types import DEFAULT, Floats, Sampling

SUMMARY_SCHEMA = 1
TEXTS_KEPT = 100
_WARNINGS_SHOWN = 3  # kinds of warnings of a printed summary
_OUTCOMES = tuple(Outcome)
_PART, _SLICE, _MODE = "part:", "slice:", "mode:"  # of columns: parts of the score, values of a tag, failing claims
_NUMBERS = ("conflicts", "warnings", "warned", "unchecked", "all_skipped")  # that a summary counts
_COUNTS = ("failures", "flags", "warning_texts", "citations", "refusals")  # by name
_ROUNDING = 1e-9  # a mean of exact fractions may come out this much below 1

ClusterBy = Literal["sample", "question"]
CONVERSATION = "conversation"  # the tag of answers that are clustered as they are of one


@dataclass(frozen=True, slots=True)
class Group:
    """The essentials of a set of results: a whole run, or one slice of it."""

    total: int
    outcomes: Mapping[Outcome, int]  # every outcome, also those that did not occur
    score: Estimate  # mean over answers that have a score, each weighing the same; no value when none has
    band: Band | None  # of the mean
    bands: Mapping[Band, int]  # answers per band
    counted_unscored: int  # answers in the mean only because a policy gave them a number
    claims: int  # of scored answers
    labels: Mapping[Label, int]  # claims per label
    rates: Mapping[Label, Estimate]  # over all claims, each weighing the same, answers as clusters
    below_one: Estimate  # share of scored answers whose score is below 1, or above 0 where that is the best
    any_unsupported: Estimate  # share of scored answers with an unsupported claim
    any_contradicted: Estimate  # share of scored answers with a contradicted claim
    failing: int  # scored answers with an unsupported or a contradicted claim
    unsupported_per_failing: float | None  # mean number of unsupported claims in those
    contradicted_per_failing: float | None
    claims_per_answer: float | None  # of scored answers: longer answers have more chances to fail
    failure_modes: Mapping[str, int]  # claims by why they are not supported, `other` last
    # mean of each part of the score over the scored answers where it is defined, in the metric's order
    components: Mapping[str, Estimate] = field(default_factory=dict)
    lower_is_better: bool = False  # the best score is 0

    @property
    def imperfect(self) -> str:
        """What `below_one` counts, in words."""
        return "answers scored above 0.0" if self.lower_is_better else "answers scored below 1.0"

    @property
    def supported(self) -> Estimate:
        """The share of claims that are supported: the rate per claim, beside the mean per answer."""
        return self.rates[Label.SUPPORTED]

    @property
    def is_small(self) -> bool:
        """Whether there are so few scored answers that only the interval says something."""
        return self.scored < FEW

    @property
    def is_tiny(self) -> bool:
        """Whether there are too few scored answers for any rate."""
        return self.scored < SHOWN_FROM

    @property
    def is_rough(self) -> bool:
        """Whether rates are shown, with the note that only the interval says something."""
        return self.is_small and not self.is_tiny

    @property
    def scored(self) -> int:
        """How many answers have the outcome `scored`."""
        return self.outcomes[Outcome.SCORED]

    @property
    def response_ratio(self) -> float | None:
        """Share of the answers that made a claim, among those that did not fail: FActScore's response ratio."""
        answers = self.total - self.outcomes[Outcome.FAILED]
        return self.scored / answers if answers else None


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run adds up to. Mappings of counts hold what occurred, sorted by name."""

    overall: Group
    failures: Mapping[str, int]  # failed samples by the code of their reason
    failed_example: str  # one of them with its reason; empty where none failed
    conflicts: int  # claims that one passage supports and another contradicts
    flags: Mapping[str, int]  # claims by flag
    warnings: int  # warnings in all, over all results
    warned: int  # results with a warning
    warning_texts: Mapping[str, int]  # results by what the warning says, the first hundred different ones
    warned_examples: Mapping[str, str]  # the id of one result with each
    unchecked: int  # answers with a skipped sentence that may contain a claim
    all_skipped: int  # answers of which every sentence was skipped
    usage: Usage
    judging: JudgingSummary
    slices: Mapping[str, Mapping[str, Group]]  # tag → value → group; value "" is "no such tag"
    cluster_by: ClusterBy | Literal["conversation"]
    sampling: Sampling
    bad_rows: int = 0  # of the data set, which could not be read as samples and are in no count above
    citations: Mapping[str, int] = field(default_factory=dict)  # findings on citations, where the metric has them
    refusals: Mapping[str, int] = field(default_factory=dict)  # answers that decline: right, or wrong

    @property
    def failure_modes(self) -> Mapping[str, int]:
        """Claims by why they are not supported, `other` last."""
        return self.overall.failure_modes

    def __str__(self) -> str:
        group = self.overall
        rows = [
            ("claims supported", group.supported, percent(group.supported.value), interval(group.supported)),
            (group.imperfect, group.below_one, percent(group.below_one.value), interval(group.below_one)),
            ("mean score", group.score, score_text(group.score), span(group.score)),
        ]
        rest = [
            f"{count:,} {outcome.display_name}"
            for outcome, count in group.outcomes.items()
            if count and outcome is not Outcome.SCORED
        ]
        unread = [f"{counted(self.bad_rows, 'row')} unreadable"] if self.bad_rows else []
        answers = " · ".join([f"{group.scored:,} scored of {group.total:,}", *rest, *unread])
        shown = [f"{name:26}{value:>7}   95 % interval {low_high}" for name, one, value, low_high in rows if one.n]
        kinds = sorted(self.warning_texts.items(), key=lambda kind: (-kind[1], kind[0]))
        warnings = [f"warning: {one_line(text, 240)} ({counted(count, 'answer')})" for text, count in kinds]
        said = [wrapped(line) for line in listed(warnings, _WARNINGS_SHOWN, "kind of warning")]
        return "\n".join([*shown, wrapped(f"{'answers':26}{answers}"), *said])


class Collector:
    """Collects results one by one. `summarise` is the loop around it; use it to share one pass."""

    def __init__(
        self,
        slices: Sequence[str] = (),
        cluster_by: ClusterBy = "sample",
        sampling: Sampling = DEFAULT,
        bad_rows: int = 0,
    ) -> None:
        self.bad_rows = bad_rows  # see `Summary`
        self._slices, self._cluster_by, self._sampling = expanded(slices), cluster_by, sampling
        self._rows = NumberColumns()
        self._questions = array("Q")
        self._conversations = 0  # answers that are one of several of a conversation
        self._values: dict[str, dict[tuple[str, ...], int]] = {tag: {} for tag in self._slices}
        self._numbers: Counter[str] = Counter(dict.fromkeys(_NUMBERS, 0))
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in _COUNTS}
        self._failed_example = ""
        self._warned: dict[str, str] = {}
        self._usage = Usage()
        self._judging = JudgingCollector()
        self._lower_is_better = False

    def watching(self, records: Iterable[Kept]) -> Iterator[Kept]:
        """Pass kept results on unchanged, collecting each."""
        for record in records:
            self.add(record.result)
            yield record

    def add(self, result: Result) -> None:
        """Collect one result."""
        is_scored, place = result.outcome is Outcome.SCORED, self._rows.length
        self._lower_is_better |= result.provenance.lower_is_better
        codes = self._values.items()
        of_slices = {_SLICE + tag: known.setdefault(values_of(result, tag), len(known)) for tag, known in codes}
        parts = {_PART + name: part for name, part in result.components.items()} if is_scored else {}
        labels = {label.value: float(count if is_scored else 0) for label, count in result.counts.items()}
        modes = Counter(claim.verdict.failure_mode for claim in result.claims if is_scored)
        of_modes = {_MODE + mode.value: count for mode, count in modes.items() if mode}
        of_judges = self._judging.add(result) if is_scored else {}
        row = {"outcome": float(_OUTCOMES.index(result.outcome)), "score": result.score, "cost": result.usage.cost}
        self._rows.append({**row, **labels, **parts, **of_slices, **of_modes, **of_judges})
        self._conversations += bool(together := result.tags.get(CONVERSATION, ""))
        by_question = self._cluster_by == "question"
        self._questions.append(_question_key(str(together) or (result.question if by_question else ""), place))
        self._usage += replace(result.usage, cost=None if result.usage.cost is None else 0.0)
        self._numbers["warnings"] += len(result.warnings)
        self._numbers["warned"] += bool(result.warnings)
        self._numbers["unchecked"] += bool(result.unchecked)
        self._numbers["all_skipped"] += result.is_all_skipped
        kinds = self._counts["warning_texts"]
        for text in sorted(set(result.warnings)):
            if text in kinds or len(kinds) < TEXTS_KEPT:
                kinds[text] += 1
                self._warned[text] = min(self._warned.get(text, result.id), result.id)
        if refused := refusal_of(result):
            self._counts["refusals"][str(refused.get("finding"))] += 1
        if result.outcome is Outcome.FAILED:
            code = failure_code(result.reason)
            self._counts["failures"][code] += 1
            example = f"{result.id}: {result.reason.removeprefix(code).lstrip(': ') or code}"
            self._failed_example = min(self._failed_example or example, example)
        if not is_scored:
            return  # what a failed sample found before it failed is not in any rate, nor in any count
        for claim in result.claims:
            verdict = claim.verdict
            self._numbers["conflicts"] += verdict.conflict
            self._counts["flags"].update(set(verdict.flags))
        self._counts["citations"].update(citation_counts(result))

    def finish(self) -> Summary:
        """Add up what was collected so far."""
        is_clustered = self._cluster_by == "question" or self._conversations
        clusters = np.array(self._questions, dtype=np.uint64) if is_clustered else None
        table = _ResultRows(self._rows.arrays(), clusters, self._lower_is_better)
        cost = None if self._usage.cost is None else table.total("cost")  # as a whole: order changes nothing
        counts: dict[str, Any] = {name: dict(sorted(found.items())) for name, found in self._counts.items()}
        counts |= self._numbers
        return Summary(
            overall=_group(table, self._sampling),
            failed_example=self._failed_example,
            warned_examples=self._warned,
            usage=replace(self._usage, cost=cost),
            judging=self._judging.finish(table.numbers, clusters, self._sampling),
            slices={tag: self._groups(table, tag) for tag in self._slices},
            cluster_by="conversation" if self._conversations else self._cluster_by,
            sampling=self._sampling,
            bad_rows=self.bad_rows,
            **counts,
        )

    def _groups(self, table: _ResultRows, tag: str) -> dict[str, Group]:
        """Add up the results of every value of a tag, values sorted; one with several values is in each."""
        having: dict[str, list[int]] = {}
        for values, code in self._values[tag].items():
            for value in values:
                having.setdefault(value, []).append(code)
        codes = table.numbers[_SLICE + tag] if having else np.zeros(0)
        return {
            value: _group(table.part(np.flatnonzero(np.isin(codes, own))), self._sampling)
            for value, own in sorted(having.items())
        }


@dataclass(frozen=True, slots=True)
class _ResultRows:
    """The numbers of some results, a row each; NaN where a result has none."""

    numbers: Mapping[str, Floats]
    clusters: NDArray[np.uint64] | None  # None: every result is its own
    lower_is_better: bool

    def part(self, rows: NDArray[np.intp]) -> _ResultRows:
        numbers = {name: column[rows] for name, column in self.numbers.items()}
        return replace(self, numbers=numbers, clusters=None if self.clusters is None else self.clusters[rows])

    def total(self, name: str) -> float:
        """Return the sum of a column, 0 where there is none."""
        column = self.numbers.get(name, np.zeros(0))
        return math.fsum(column[np.isfinite(column)])


def _question_key(question: str, position: int) -> int:
    """Name the cluster of a question in 64 bits; without a question a sample is alone."""
    text = question.strip()
    body = text.encode("utf-8", "surrogatepass") if text else b"\0" + position.to_bytes(8, "big")
    return int.from_bytes(blake2b(body, digest_size=8).digest(), "big")


def summarise(
    results: Iterable[Result],
    *,
    slices: Sequence[str] = (),
    cluster_by: ClusterBy = "sample",
    seed: int = 0,
    bad_rows: int = 0,
) -> Summary:
    """Add results up: outcomes, mean score, rates per label, shares of answers, slices.

    `slices` names tags, automatic slices (`auto:length`, …; `auto` is all of them), or cuts (`source+auto:length`);
    `model` and `release` may be named too when no tag has that name.
    `cluster_by="question"` takes answers to the same question as dependent; answers with the same tag `conversation`
    always are. Scores that are not a
    number (the `nan` policy) never enter a mean. `bad_rows` could not be read as samples; see `Summary`.
    """
    collector = Collector(slices, cluster_by, Sampling(seed=seed), bad_rows)
    for result in results:
        collector.add(result)
    return collector.finish()


def mean_score(scores: Sequence[float | None]) -> Estimate:
    """Estimate the mean score as `summarise` does, from the scores alone."""
    values = np.array(scores, dtype=np.float64)  # None becomes NaN
    has = np.isfinite(values)
    return clustered_ratio(np.where(has, values, 0.0), has)


def failure_code(reason: str) -> str:
    """Return the stable code at the start of a failure's reason (`missing_verdict: …`), or `unknown`."""
    code, separator, _ = reason.partition(":")
    return code if (separator or code == reason) and code.isidentifier() and len(code) <= 60 else "unknown"


def _group(table: _ResultRows, sampling: Sampling) -> Group:
    none = np.zeros(0)
    outcome, score = table.numbers.get("outcome", none), table.numbers.get("score", none)
    labels = {label: table.numbers.get(label.value, none) for label in Label}
    parts = {name.removeprefix(_PART): part for name, part in table.numbers.items() if name.startswith(_PART)}
    scored, numbered = outcome == _OUTCOMES.index(Outcome.SCORED), np.isfinite(score)
    quality = 1 - score if table.lower_is_better else score
    unsupported, contradicted = labels[Label.UNSUPPORTED], labels[Label.CONTRADICTED]
    per_answer = np.sum(list(labels.values()), axis=0)
    defined = [np.isfinite(part) for part in parts.values()]
    whole = scored & numbered
    mean, below_one, any_unsupported, any_contradicted, *rest = clustered_ratios(
        [
            np.where(numbered, score, 0.0),
            whole & (quality < 1 - _ROUNDING),
            unsupported > 0,
            contradicted > 0,
            *labels.values(),
            *(np.where(has, part, 0.0) for has, part in zip(defined, parts.values(), strict=True)),
        ],
        [numbered, whole, scored, scored, *[per_answer] * len(labels), *defined],
        table.clusters,
        sampling,
    )
    rates, components = rest[: len(labels)], rest[len(labels) :]
    answers, claims = int(scored.sum()), int(per_answer.sum())
    failing = int(np.count_nonzero(unsupported + contradicted))
    outcomes = np.bincount(outcome.astype(int), minlength=len(_OUTCOMES)).tolist()
    modes = {mode.value: int(table.total(_MODE + mode.value)) for mode in FailureMode}
    bands = dict.fromkeys(LOWER_BOUNDS, 0)
    for value, count in zip(*np.unique(quality[numbered], return_counts=True), strict=True):
        bands[band_of(float(value))] += int(count)
    return Group(
        total=len(scored),
        outcomes=dict(zip(_OUTCOMES, outcomes, strict=True)),
        score=mean,
        band=None if mean.value is None else band_of(1 - mean.value if table.lower_is_better else mean.value),
        bands=bands,
        counted_unscored=int(np.count_nonzero(numbered & ~scored)),
        claims=claims,
        labels={label: int(counts.sum()) for label, counts in labels.items()},
        rates=dict(zip(labels, rates, strict=True)),
        below_one=below_one,
        any_unsupported=any_unsupported,
        any_contradicted=any_contradicted,
        failing=failing,
        unsupported_per_failing=int(unsupported.sum()) / failing if failing else None,
        contradicted_per_failing=int(contradicted.sum()) / failing if failing else None,
        claims_per_answer=claims / answers if answers else None,
        failure_modes={mode: count for mode, count in modes.items() if count},
        components=dict(zip(parts, components, strict=True)),
        lower_is_better=table.lower_is_better,
    )


def slice_rows(summary: Summary) -> Iterator[dict[str, Any]]:
    """Yield one row per slice for tables: tag and value, counts, and every rate with its interval."""
    for tag, groups in summary.slices.items():
        for value, group in groups.items():
            row: dict[str, Any] = {"tag": tag, "value": value, "total": group.total, "scored": group.scored}
            row["claims"] = group.claims
            rates = {"score": group.score, "below_one": group.below_one}
            for name, rate in (rates | {label.value.lower(): group.rates[label] for label in Label}).items():
                row |= {name: rate.value, f"{name}_low": rate.low, f"{name}_high": rate.high}
            yield row


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """Write a summary as plain JSON values; what has no number is null."""
    found = written(summary, "citations refusals")
    return {
        "schema": SUMMARY_SCHEMA,
        **group_to_json(summary.overall),
        **written(summary, "bad_rows failures conflicts flags warnings warned warning_texts"),
        **{name: counts for name, counts in found.items() if counts},
        **written(summary, "unchecked all_skipped usage judging"),
        "slices": {
            tag: {value: group_to_json(group) | {"is_small": group.is_small} for value, group in groups.items()}
            for tag, groups in summary.slices.items()
        },
        "intervals": written(summary, "cluster_by") | plain(summary.sampling),
    }


def group_to_json(group: Group) -> dict[str, Any]:
    """Write one group as plain JSON values."""
    labels = {label.value.lower(): {"count": group.labels[label], "rate": plain(group.rates[label])} for label in Label}
    row = (
        written(group, "total outcomes score band bands response_ratio counted_unscored claims")
        | {"labels": labels}
        | written(group, "below_one any_unsupported any_contradicted failing unsupported_per_failing")
        | written(group, "contradicted_per_failing claims_per_answer failure_modes")
    )
    if group.lower_is_better:
        row["lower_is_better"] = True
    if group.components:
        row["components"] = plain(group.components)
    return row
