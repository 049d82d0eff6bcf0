"""A detector that needs no Prometheus: it sees every answer once, and says when a rate has risen above its limit.

Evidence is gathered by betting (`stats.sequential`): each answer is one value, the share of its claims that are
contradicted, so that claims of one answer, which go wrong together, count as one look and not as many. Nothing is
assumed of how the values are distributed. While every rate stays within its limit, alarms are on average at least
`answers_between_false_alarms` answers apart, however often one looks and however long it goes on; after an alarm the
gathering begins anew. What the delay is, is measured in `benchmarks/detector.py`.

First comes what is usual, and how the judge errs: what the detector and the rules hold the present against.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Self

from everyclaim.analysis import percent
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import OpenShare
from everyclaim.core.limits import MAX_FAILED
from everyclaim.core.options import check_declared
from everyclaim.core.plaintext import counted, one_line
from everyclaim.core.types import Label, Outcome, Result
from everyclaim.monitor.alerts import Alert
from everyclaim.stats.sequential import Watch, observe
from everyclaim.stats.types import FEW_OF_A_KIND


@dataclass(frozen=True, slots=True)
class JudgeAccuracy:
    """How often the judge calls contradicted what is (`sensitivity`), and not what is not (`specificity`).

    `contradicted` and `others` count the labels behind each, as independent ones. Raises ValueError for a judge that
    is no better than chance: its verdicts say nothing of the true rate.
    """

    sensitivity: float
    specificity: float
    contradicted: float
    others: float

    def __post_init__(self) -> None:
        if not self.sharpness > 0:
            raise ValueError(
                f"the judge finds {self.sensitivity:.3g} of the contradicted claims and clears "
                f"{self.specificity:.3g} of the others, no better than chance: rates cannot be corrected"
            )

    @property
    def sharpness(self) -> float:
        """By how much a rate as judged moves when the true one moves by 1: sensitivity + specificity − 1."""
        return self.sensitivity + self.specificity - 1

    def corrected(self, judged: float) -> float:
        """Return the true rate behind a judged one (Rogan and Gladen), within [0, 1]."""
        return min(1.0, max(0.0, (judged + self.specificity - 1) / self.sharpness))

    def judged(self, true: float) -> float:
        """Return the rate that the judge would find where this one is true."""
        return true * self.sharpness + 1 - self.specificity

    def error(self, rate: float) -> float:
        """Return the standard error of a corrected rate that comes from the few labels alone.

        Counts are taken with one more of each kind, so that a judge without a known error is not without doubt.
        """
        doubt = 0.0
        for share, right, labels in (
            (1 - rate, self.specificity, self.others),
            (rate, self.sensitivity, self.contradicted),
        ):
            kept = (right * labels + 1) / (labels + 2)
            doubt += share**2 * kept * (1 - kept) / (labels + 2)
        return math.sqrt(doubt) / self.sharpness


PERFECT = JudgeAccuracy(1.0, 1.0, math.inf, math.inf)  # no correction


@dataclass(frozen=True, slots=True)
class Level:
    """A rate within [0, 1] with its standard error and the ends of its 95 % interval, as judged."""

    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Baseline:
    """A run that later answers are held against. Rates are as the judge has them; `judge` corrects them."""

    run: str
    answers: int  # scored
    claims: int
    contradicted: Level  # of the claims
    contradicted_by_answer: Level  # mean over answers of the share of their claims
    score: Level  # mean over answers
    failed: float  # share of the answers
    judge: JudgeAccuracy | None = None  # None: there are no labels, or too few
    labels: tuple[int, int] = (0, 0)  # of contradicted claims and of others

    @property
    def uncorrected(self) -> str:
        """Why rates are not corrected for the judge's error; empty if they are."""
        if self.judge is not None:
            return ""
        contradicted, others = self.labels
        return (
            f"not corrected for judge error: run {one_line(self.run, 60)} has labels of {contradicted:,} contradicted "
            f"and {others:,} other claims, {FEW_OF_A_KIND} of each are needed"
        )


CONTRADICTED, UNFAITHFUL, FAILED = "contradicted", "unfaithful", "failed"
MEASURES = {
    CONTRADICTED: "contradicted claims",  # share of an answer's claims
    UNFAITHFUL: "1 − mean score",
    FAILED: "failed answers",
}
STATE_SCHEMA = 2
FACTOR = 1.5  # by which a rate may exceed its baseline
TOO_LATE = 0.1  # share of contradicted claims: an alert only above it says what users know already
NEVER = 0.5  # and one above this is not to be expected


@dataclass(frozen=True, slots=True)
class Limits:
    """The rates that are still in order, of what is true and not of what the judge says; None: not watched."""

    contradicted: OpenShare | None = None  # share of the claims of an answer, in the mean
    unfaithful: OpenShare | None = None  # 1 − score, in the mean
    failed: OpenShare | None = MAX_FAILED

    def __post_init__(self) -> None:
        check_declared(self)
        if not self.watched:
            raise ConfigError("a detector needs a limit, as in Limits(contradicted=0.03)")

    @property
    def watched(self) -> dict[str, float]:
        """The limits there are, by measure."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def above(cls, baseline: Baseline, factor: float = FACTOR, failed: float | None = MAX_FAILED) -> Self:
        """Return limits `factor` times above a baseline's rates, and above all they may be by its intervals."""
        if not (math.isfinite(factor) and factor > 1):
            raise ConfigError(f"factor must be above 1, got {factor!r}")
        judge = baseline.judge or PERFECT
        usual, lost = baseline.contradicted_by_answer, baseline.score
        limits = (
            max(factor * judge.corrected(usual.value), judge.corrected(usual.high)),
            max(factor * (1 - lost.value), 1 - lost.low),
        )
        contradicted, unfaithful = (min(0.99, max(1e-4, limit)) for limit in limits)
        return cls(contradicted, unfaithful, failed)


def why_too_high(limit: float, baseline: Baseline) -> str:
    """Return why the limit of contradicted claims that a baseline sets is too high to be of use; empty if it is not."""
    usual, judge = baseline.contradicted_by_answer, baseline.judge or PERFECT
    rate, told = judge.corrected(usual.value), f"the alert limit of {percent(limit)} contradicted claims is too high"
    # For a sensitivity that is known to within a half of itself: 1.96² (1 − s) / (s n) = 0.5².
    labels = max(FEW_OF_A_KIND, math.ceil(15.4 * (1 - judge.sensitivity) / max(judge.sensitivity, 0.01)))
    if limit <= TOO_LATE:
        return ""
    if judge.contradicted < labels:
        return (
            f"{told}: the baseline has {counted(round(judge.contradicted), 'label')} of contradicted claims, of which "
            f"the judge finds {percent(judge.sensitivity, 0)}; label at least {labels} contradicted "
            f"claims, or set --alert-above"
        )
    if judge.corrected(usual.high) <= FACTOR * rate:
        return ""
    ends = f"{percent(judge.corrected(usual.low))} and {percent(judge.corrected(usual.high))}"
    need = math.ceil(baseline.answers * ((usual.high - usual.value) / max(usual.value / 2, TOO_LATE / 2)) ** 2)
    return (
        f"{told}: with only {counted(baseline.answers, 'answer')} the baseline rate is between {ends} (95 % interval); "
        f"score about {need:,} answers for the baseline, or set --alert-above"
    )


class Detector:
    """Watches rates answer by answer. Not safe among threads: one stream has one detector.

        detector = Detector(Limits(contradicted=0.03))
        if alert := detector.update(result):
            sink.send(alert)

    `judge` corrects the rate of contradicted claims for the judge's error. `name` says in alerts whose answers these
    are. Keep `to_json()` beside your own place in the stream, go on with `Detector.from_json`.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        judge: JudgeAccuracy | None = None,
        answers_between_false_alarms: int = 100_000,
        name: str = "",
    ) -> None:
        if not answers_between_false_alarms >= 1:
            raise ConfigError(f"answers_between_false_alarms must be at least 1, got {answers_between_false_alarms!r}")
        self.limits = limits
        self.judge = judge
        self.answers_between_false_alarms = answers_between_false_alarms
        self.name = name
        self.seen = 0  # answers
        # What the judge may find at most where the true rate is at its limit.
        bars = {name: judge.judged(at) if judge and name == CONTRADICTED else at for name, at in limits.watched.items()}
        self._watched = {name: Watch(bar) for name, bar in bars.items()}

    def update(self, result: Result, *, at: datetime | None = None) -> Alert | None:
        """Take the next answer; return an alert when a rate has risen above its limit, else None.

        `at` is when it was given, else the result's own time stamp, else now.
        """
        when = (at or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
        if at is None and result.timestamp:
            when = one_line(result.timestamp, 40)
        self.seen += 1
        for name, value in _values(result).items():
            if name in self._watched:
                self._watched[name] = observe(self._watched[name], [value], when)
        # Shared out, so that the rate holds for all measures together. One at a time: the next answer has the others.
        between = self.answers_between_false_alarms * len(self._watched)
        risen = next((name for name, rate in self._watched.items() if rate.has_risen(between)), None)
        if risen is None:
            return None
        watched = self._watched[risen]
        self._watched[risen] = Watch(watched.limit)
        return self._alert(risen, watched, when)

    def to_json(self) -> dict[str, Any]:
        """Return where it stands as plain JSON values; no text of the users is among them."""
        return {
            "schema": STATE_SCHEMA,
            "limits": asdict(self.limits),
            "judge": None if self.judge is None else asdict(self.judge),
            "answers_between_false_alarms": self.answers_between_false_alarms,
            "name": self.name,
            "seen": self.seen,
            "watched": {name: asdict(rate) for name, rate in self._watched.items()},
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """Go on where `to_json` left off. Raises `ConfigError` for what is no such state."""
        try:
            if state["schema"] != STATE_SCHEMA:
                raise ConfigError(
                    f"the state of a detector has schema {state['schema']!r}, this version reads {STATE_SCHEMA}"
                )
            judge = state["judge"]
            detector = cls(
                Limits(**state["limits"]),
                judge=None if judge is None else JudgeAccuracy(**judge),
                answers_between_false_alarms=state["answers_between_false_alarms"],
                name=state["name"],
            )
            detector.seen = int(state["seen"])
            for name in detector._watched:
                kept = state["watched"][name].items()
                parts: Any = {part: tuple(value) if isinstance(value, list) else value for part, value in kept}
                detector._watched[name] = Watch(**parts)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"not the state of a detector: {type(error).__name__}: {error}") from None
        return detector

    def is_alike(self, other: Detector) -> bool:
        """Whether another one watches the same by the same rules, so that its state may be gone on with."""
        mine, theirs = self.to_json(), other.to_json()
        return all(mine[name] == theirs[name] for name in ("limits", "judge", "answers_between_false_alarms"))

    def _alert(self, name: str, watch: Watch, when: str) -> Alert:
        since = watch.since[watch.leader]
        answers = watch.seen - watch.begun[watch.leader]
        raw = watch.totals[watch.leader] / answers
        is_corrected = name == CONTRADICTED and self.judge is not None
        rate = self.judge.corrected(raw) if is_corrected and self.judge else raw
        limit = self.limits.watched[name]
        title = f"{MEASURES[name]} at {percent(rate)}, above the limit of {percent(limit)}"
        began = f"{since[:19].replace('T', ' ')} UTC"
        corrected = f"; corrected for the judge's error, raw {percent(raw)}" if is_corrected else ""
        text = (
            f"{title} (mean per answer over the last {counted(answers, 'answer')}, since {began}{corrected})."
            f" False alarms are on average at least {self.answers_between_false_alarms:,} answers apart."
        )
        return Alert(
            measure=name,
            title=f"{one_line(self.name, 60) or 'everyclaim'}: {title}",
            text=text,
            at=when,
            since=since,
            answers=answers,
            rate=rate,
            raw=raw,
            limit=limit,
            answers_between_false_alarms=self.answers_between_false_alarms,
            source=self.name,
        )


def _values(result: Result) -> dict[str, float]:
    """Return what an answer says of each measure; nothing of those it says nothing of."""
    values = {FAILED: float(result.outcome is Outcome.FAILED)}
    if result.outcome is Outcome.SCORED:
        if result.claims:
            values[CONTRADICTED] = result.count(Label.CONTRADICTED) / len(result.claims)
        if result.score is not None:
            values[UNFAITHFUL] = 1 - result.score
    return values
